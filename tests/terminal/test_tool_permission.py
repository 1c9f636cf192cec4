"""Approving what the model wants to run, at a terminal: each key, edits, accidents, and where nobody is there."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.terminal import CTRL_C, ESC, Terminal
from tests.support.tools import GUARD, Make, answer, configure, editing, query, ran, responses, sent
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import ModelServer, text, tool_call, tool_calls

ASKED = "Run note [y,Y,n,N,p,r,e,?]?"
STREAMING = "Interrupted: [c,r,s,a,b,?]?"
REJECTED = "intentionally rejected"
SCRIPT = 'echo "$1" >> $DIR/ran; echo noted'


@pytest.fixture
def note(tool: Make) -> Path:
    """A tool that must be approved, and leaves its call in a file; returns that file's path."""
    parameters = {"text": {"type": "string", "required": True}, "times": {"type": "integer"}}
    return tool("note", SCRIPT, run="ask", parameters=parameters) / "ran"


@pytest.fixture
def called(server: ModelServer) -> ModelServer:
    server.then(tool_call("note", {"text": "one"}), text("All done."))
    return server


def test_y_runs_it_once_and_the_model_gets_the_result(called: ModelServer, workspace: Path, note: Path):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        assert '"one"' in terminal.screen
        assert ran(note) == []
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert ASKED not in terminal.screen
        assert "All done." in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert ran(note) == [{"text": "one"}]
    assert responses(workspace) == [("noted\n", False)]
    assert sent(called)[-1]["content"] == "noted\n"


def test_upper_case_y_and_n_hold_for_the_turn(server: ModelServer, workspace: Path, note: Path, tool: Make):
    tool("other", SCRIPT, run="ask")
    calls = [("note", {"text": "one"}), ("other", {}), ("note", {"text": "two"}), ("other", {})]
    server.then(tool_calls(*calls), tool_calls(("note", {"text": "three"}), ("other", {})), text("End."))
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"Y")
        terminal.until("Run other")
        answer(terminal, b"N")
        assert terminal.wait() == "exited 0"
    assert sorted(each["text"] for each in ran(note) if each) == ["one", "three", "two"]
    assert len(ran(note)) == 3
    assert sum(REJECTED in content for content, _ in responses(workspace)) == 3


@pytest.mark.parametrize("key", [b"n", ESC], ids=["n", "ESC"])
@pytest.mark.req("092-83")
def test_skipped_it_does_not_run_and_the_model_is_told(called: ModelServer, workspace: Path, note: Path, key: bytes):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, key)
        assert terminal.wait() == "exited 0"
    assert ran(note) == []
    assert REJECTED in responses(workspace)[0][0]


def test_p_prints_all_arguments_and_asks_on(server: ModelServer, workspace: Path, note: Path):
    long = "\n".join(f"line {number}" for number in range(90))
    server.then(tool_call("note", {"text": long, "times": 7}), text("All done."))
    with query(workspace, rows=24) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"p")
        terminal.until(lambda screen: terminal.output.count(b"line 0\\nline 1") > 2 and ASKED in screen)
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
    assert ran(note) == []


# --- edits


@pytest.mark.req("088-99", "088-100", "088-101")
def test_r_skips_with_a_reason(called: ModelServer, workspace: Path, note: Path):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"r")
        terminal.until("Why should it not run?")
        terminal.send(b"not on a Friday\r")
        assert terminal.wait() == "exited 0"
    assert ran(note) == []
    assert "not on a Friday" in responses(workspace)[0][0]
    assert "not on a Friday" in sent(called)[-1]["content"]


@pytest.mark.req("088-102")
def test_an_empty_reason_skips_without_one(called: ModelServer, workspace: Path, note: Path):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"r")
        terminal.until("Skip note:")
        terminal.send(b"  \r")
        assert terminal.wait() == "exited 0"
    assert ran(note) == []
    assert REJECTED in responses(workspace)[0][0]


EMPTY = b"\x7f" * 60  # whatever a short buffer holds


def replace(terminal: Terminal, new: bytes) -> None:
    """Empty the buffer of a few lines and write another text."""
    terminal.send(EMPTY + new)


@pytest.mark.req("088-103", "088-104")
def test_e_edits_the_arguments_until_they_are_json(called: ModelServer, workspace: Path, note: Path):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"e")
        terminal.until("Arguments of note:")
        for broken in (b'{"text": }', b'{"text": "a" "b"}'):
            replace(terminal, broken + b"\r")
            terminal.until(lambda screen, broken=broken: broken.decode() in screen and "line 1, column" in screen)
            assert ran(note) == []
        replace(terminal, b"[1]\r")
        terminal.until("arguments are an object")
        replace(terminal, b'{"text": "mine"}\r')
        assert terminal.wait() == "exited 0"
        assert "[y" not in terminal.screen
    assert ran(note) == [{"text": "mine"}]


@pytest.mark.req("088-106", "088-107")
@pytest.mark.parametrize("leave", [EMPTY + b" \r", ESC], ids=["emptied", "ESC"])
def test_an_edit_that_is_left_changes_nothing(called: ModelServer, workspace: Path, note: Path, leave: bytes):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"e")
        terminal.until("Arguments of note:")
        terminal.send(leave)
        terminal.until(lambda screen: ASKED in screen and "Arguments of" not in screen)
        assert ran(note) == []
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
    assert ran(note) == [{"text": "one"}]


@pytest.mark.req("088-108")
def test_mode_edit_opens_the_arguments_and_falls_back(called: ModelServer, workspace: Path, note: Path):
    configure(**{"conversation.tools.'*'.timeout_secs": 60})
    with query(workspace, "-c", "conversation.tools.note.run=edit") as terminal:
        editing(terminal, "Arguments of note:")
        assert ran(note) == []
        terminal.send(EMPTY + b"\r")
        terminal.until(ASKED)
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
    assert ran(note) == [{"text": "one"}]


def test_edited_arguments_that_do_not_fit_are_refused_in_the_prompt(called: ModelServer, workspace: Path, note: Path):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"e")
        terminal.until("Arguments of note:")
        replace(terminal, b'{"text": 5}\r')
        terminal.until(lambda screen: "is not of type" in screen and '{"text": 5}' in screen)
        assert ran(note) == []
        terminal.send(ESC)
        terminal.until(ASKED)
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
    assert ran(note) == []


@pytest.mark.req("088-105", "088-113", "088-52", "088-40")
def test_ctrl_x_edits_in_the_editor_and_comes_back(called: ModelServer, workspace: Path, note: Path, tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text(
        f"""#!/bin/sh
echo "$@" >> {tmp_path}/argv
echo '{{"text": ' > "$2"
"""
    )
    editor.chmod(0o755)
    with Terminal(
        [*program(), "q", "hi"], cwd=workspace, env={"JP_SESSION": "test", "JP_EDITOR": f"{editor} -w"}
    ) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"e")
        terminal.until("Arguments of note:")
        terminal.send(b"\x18")
        terminal.until(lambda screen: 'Arguments of note: {"text":' in screen)
        terminal.send(b"\r")
        terminal.until("line 1, column")
        replace(terminal, b'{"text": "two"}\r')
        assert terminal.wait() == "exited 0"
    assert ran(note) == [{"text": "two"}]
    assert (tmp_path / "argv").read_text().startswith("-w ")


# --- Ctrl-C


@pytest.mark.req("092-72", "092-78", "092-87", "092-88", "092-81")
@pytest.mark.parametrize("press", [lambda t: t.send(CTRL_C), lambda t: t.kill(signal.SIGINT)], ids=["key", "signal"])
@pytest.mark.parametrize("back", [b"b", b"c", ESC], ids=["b", "c", "ESC"])
def test_ctrl_c_opens_the_menu_and_comes_back(
    server: ModelServer, workspace: Path, note: Path, press: Any, back: bytes
):
    server.then(tool_calls(("note", {"text": "one"}), after="And then some words."), text("All done."))
    ollama = ("-m", "ollama/test", "-c", f"providers.llm.ollama.base_url={server.base_url}")
    with query(workspace, *ollama) as terminal:
        terminal.until(ASKED)
        shown = terminal.screen.text
        press(terminal)
        terminal.until(STREAMING)
        assert "And then" not in terminal.screen
        terminal.send(back if back == ESC else back + b"y")  # a key that is there before the prompt is
        terminal.until(lambda screen: STREAMING not in screen and ASKED in screen)
        assert terminal.screen.text == shown
        terminal.pump(GUARD)
        assert ran(note) == []
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.text.index("And then some words.") < terminal.screen.text.index("All done.")
    assert ran(note) == [{"text": "one"}]


@pytest.mark.req("092-82", "092-49")
@pytest.mark.parametrize("key", [b"s", b"r", b"a"])
def test_what_the_menu_ends_never_runs(server: ModelServer, workspace: Path, note: Path, key: bytes):
    server.then(tool_calls(("note", {"text": "one"}), ("note", {"text": "two"})), text("I see."))
    with query(workspace) as terminal:
        terminal.until(ASKED)
        terminal.send(CTRL_C)
        terminal.until(STREAMING)
        terminal.send(key)
        if key == b"r":
            terminal.until("Reply:")
            terminal.send(b"leave it\r")
        assert terminal.wait() == ("exited 1" if key == b"a" else "exited 0")
    assert ran(note) == []
    found = events(workspace)
    calls = [event["id"] for event in found if event["type"] == "tool_call_request"]
    assert [event["id"] for event in found if event["type"] == "tool_call_response"] == calls
    assert bool(calls) == (key != b"a")
    if key == b"r":
        roles = [message["role"] for message in sent(server)]
        assert roles[-4:] == ["assistant", "tool", "tool", "user"]
        assert sent(server)[-1]["content"] == "leave it"


@pytest.mark.req("088-114")
@pytest.mark.parametrize(("key", "seen"), [(b"e", "Arguments of note:"), (b"r", "Skip note:")])
def test_ctrl_c_in_an_edit_comes_back_to_the_buffer(
    called: ModelServer, workspace: Path, note: Path, key: bytes, seen: str
):
    with query(workspace) as terminal:
        terminal.until(ASKED)
        answer(terminal, key)
        terminal.until(seen)
        terminal.send(b"typed")
        terminal.until("typed")
        shown = terminal.screen.text
        terminal.send(CTRL_C)
        terminal.until(STREAMING)
        terminal.send(b"b")
        terminal.until(lambda screen: STREAMING not in screen)
        terminal.until(lambda screen: screen.text == shown)
        terminal.send(CTRL_C)
        terminal.until(STREAMING)
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"
    assert ran(note) == []
    assert len(responses(workspace)) == 1


# --- accidents


@pytest.mark.req("104-71")
@pytest.mark.parametrize(
    "typed", [b"y", b"yyyy\r", b"\x1b[200~y\x1b[201~", b"Y\n"], ids=["key", "keys", "paste", "line"]
)
def test_what_was_typed_before_approves_nothing(server: ModelServer, workspace: Path, note: Path, typed: bytes):
    server.then(tool_call("note", {"text": "one"}, message="Hm. "), text("All done."))
    with query(workspace) as terminal:
        terminal.send(typed)
        terminal.until(ASKED)
        terminal.pump(GUARD)
        assert ran(note) == []
        assert ASKED in terminal.screen
        terminal.send(typed[:-1] * 2 + typed if len(typed) > 3 else typed * 2)  # not alone
        terminal.pump(GUARD)
        terminal.resize(70, 20)
        terminal.until(ASKED)
        terminal.kill(signal.SIGWINCH)
        terminal.kill(signal.SIGCONT)
        terminal.pump(GUARD)
        assert ran(note) == []
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
    assert ran(note) == []


@pytest.mark.req("104-82", "092-38")
def test_piped_output_does_not_keep_it_from_asking(called: ModelServer, workspace: Path, note: Path):
    with query(workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as terminal:
        terminal.until(ASKED)
        assert '"one"' in terminal.screen
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
    assert ran(note) == [{"text": "one"}]


# --- nobody there


@pytest.mark.req("104-82", "088-115")
@pytest.mark.parametrize("mode", ["ask", "edit"])
def test_denied_where_nobody_can_be_asked(server: ModelServer, workspace: Path, note: Path, ask: Ask, mode: str):
    server.then(tool_call("note", {"text": "one"}), text("Unreachable."))
    result = ask("q", "hi", "-c", f"conversation.tools.note.run={mode}", "--no-interactive")
    assert result.status == "exited 3"
    assert "conversation.tools.note.detached.run" in result.stderr
    assert "--no-interactive" in result.stderr
    assert ran(note) == []
    assert [is_error for _, is_error in responses(workspace)] == [True]
    assert len(server.requests) == 1
    assert messages(workspace) == []


def test_auto_approves_it(server: ModelServer, workspace: Path, note: Path, ask: Ask):
    server.then(tool_call("note", {"text": "one"}), text("All done."))
    result = ask("q", "hi", "-c", "conversation.tools.note.detached.run=auto")
    assert result.status == "exited 0"
    assert result.stdout == "All done.\n"
    assert ran(note) == [{"text": "one"}]
