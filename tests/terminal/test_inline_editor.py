"""`jp query` without a text, on a real terminal: the inline editor in the whole program, in both modes of editing."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.terminal import CTRL_Z, Terminal, shell
from tests.support.workspace import events
from tests.wire.model_server import ModelServer

ESC = b"\x1b[27u"
POPPED = b"\x1b[<u"
NO_EDITOR: dict[str, str | None] = {"EDITOR": None, "VISUAL": None, "JP_EDITOR": None, "JP_SESSION": "test"}

both_modes = pytest.mark.parametrize("mode", ["emacs", "vi"])


def query(workspace: Path, mode: str = "emacs", *args: str, **options: Any) -> Terminal:
    env = {**NO_EDITOR, "JP_EDITOR_INLINE_EDIT_MODE": mode, **options.pop("env", {})}
    return Terminal([*program(), "q", *args], cwd=workspace, env=env, **options)


def request(workspace: Path) -> str:
    (only,) = [event["content"] for event in events(workspace) if event["type"] == "chat_request"]
    return str(only)


def on_disk(directory: Path, text: bytes) -> bool:
    """Whether some file holds it."""
    try:
        return any(text in path.read_bytes() for path in directory.rglob("*") if path.is_file())
    except FileNotFoundError:  # a temporary file has been renamed meanwhile
        return False


def left_clean(terminal: Terminal) -> None:
    """Nothing of the prompt is seen, and the terminal is as it was found."""
    assert terminal.modes() == terminal.modes_before
    assert "Query:" not in terminal.screen.contents
    assert "Enter" not in terminal.screen.contents
    assert not terminal.screen.mode(2004)
    assert terminal.screen.mode(25)
    assert not terminal.screen.mode(2027)
    assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(POPPED)


@pytest.mark.req("088-2", "088-3", "088-4", "088-6", "088-25", "088-58", "088-70")
@both_modes
def test_what_was_written_is_sent_exactly(workspace: Path, server: ModelServer, mode: str) -> None:
    with query(workspace, mode) as terminal:
        terminal.until("Shift+Enter or Alt+Enter new line")
        assert "Ctrl+X" not in terminal.screen  # there is no editor
        terminal.send(b"  one\x1b\rtwo\x1b[13;2uthree\x1b[200~\n\tfour \n\x1b[201~")
        terminal.until("four")
        if mode == "vi":
            terminal.send(ESC)
            terminal.until("NORMAL")
        terminal.send(b"\x18\x11")  # neither means anything here
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        left_clean(terminal)
        assert "Hello from the test model." in terminal.screen
    assert request(workspace) == "  one\ntwo\nthree\n\tfour \n"


PRESSES = {
    "key": lambda t: t.press(),
    "signal": lambda t: t.kill(signal.SIGINT),
    "kitty's key": lambda t: t.send(b"\x1b[99;5u"),
}


@pytest.mark.req("088-6", "088-9", "088-10", "088-18")
@both_modes
@pytest.mark.parametrize("press", PRESSES)
def test_ctrl_c_sends_nothing_and_the_text_is_there_again(
    workspace: Path, server: ModelServer, mode: str, press: str
) -> None:
    with query(workspace, mode) as terminal:
        terminal.until("Enter sends")
        terminal.send(b"kept words")
        terminal.until("kept words")
        if mode == "vi":
            terminal.send(ESC)
            terminal.until("NORMAL")
        PRESSES[press](terminal)
        assert terminal.wait() == "killed SIGINT"
        left_clean(terminal)
    assert not server.requests
    with query(workspace, mode) as terminal:
        terminal.until("Query: kept words")
        terminal.send(b"!\r")
        assert terminal.wait() == "exited 0"
    assert request(workspace) == "kept words!"


@pytest.mark.req("088-6", "088-11", "088-24")
@both_modes
def test_escape_leaves_it(workspace: Path, server: ModelServer, mode: str) -> None:
    with query(workspace, mode) as terminal:
        terminal.until("Enter sends")
        terminal.send(b"ab" + ESC)
        if mode == "vi":
            terminal.until("NORMAL")
            terminal.send(ESC)
        assert terminal.wait() == "exited 0"
        left_clean(terminal)
    assert not server.requests


@pytest.mark.req("088-6", "088-7", "088-8")
@both_modes
def test_ctrl_x_opens_the_editor_with_the_text_and_it_comes_back(workspace: Path, mode: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nstty -a <&0 >" + str(tmp_path / "modes") + "\nsed -i '1s/$/ edited/' \"$1\"\n")
    editor.chmod(0o755)
    with query(workspace, mode, env={"JP_EDITOR": str(editor)}) as terminal:
        terminal.until("Ctrl+X editor")
        terminal.send(b"words")
        terminal.until("words")
        terminal.send(b"\x18")
        terminal.until("Query: words edited")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        left_clean(terminal)
    assert request(workspace) == "words edited"
    assert " icanon" in (tmp_path / "modes").read_text()


@pytest.mark.req("104-72")
def test_what_was_typed_before_it_is_in_it(workspace: Path) -> None:
    with query(workspace) as terminal:
        terminal.send(b"typed ahead")
        terminal.until("Query: typed ahead")
        terminal.send(b"\x01before, \r")
        assert terminal.wait() == "exited 0"
        assert "Hello from the test model." in terminal.screen
    assert request(workspace) == "before, typed ahead"


@pytest.mark.req("088-125", "088-126", "088-127", "088-128", "088-129")
def test_with_all_three_redirected_it_is_on_the_terminal_and_nowhere_else(workspace: Path) -> None:
    redirected = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with query(workspace, "emacs", "--format", "json", **redirected) as terminal:
        terminal.until("Enter sends")
        terminal.resize(30, 10)
        terminal.send(b"a question that is longer than the window")
        terminal.until(lambda screen: screen.lines[0] == "Query: a question that is long")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
        assert "Query:" not in terminal.screen
        records = [json.loads(line) for line in terminal.piped[1].splitlines()]
        assert records
        for stream in terminal.piped.values():
            assert b"\x1b" not in stream
            assert b"Query" not in stream
    assert request(workspace) == "a question that is longer than the window"


@pytest.mark.req("088-18")
def test_a_change_of_size_at_any_moment(workspace: Path) -> None:
    text = "0123456789 " * 12
    with query(workspace) as terminal:
        terminal.until("Enter sends")
        terminal.send(text.encode())
        terminal.until(lambda screen: screen.cursor == (59, 1))
        terminal.resize(120, 24)
        terminal.until(lambda screen: screen.cursor == (19, 1))
        terminal.resize(40, 24)
        terminal.until(lambda screen: screen.cursor == (19, 3))
        for size in ((1, 24), (1, 1), (0, 0), (3, 2)):
            terminal._size(*size)
            terminal.send(b"x")
        for number in range(30):
            terminal.resize(20 + number * 7 % 41, 6 + number % 7)
            terminal.send(b"y")
        terminal.resize(80, 24)
        terminal.until(lambda screen: screen.text.rstrip().endswith("Ctrl+C aborts"))
        terminal.until(lambda screen: "y" * 30 in screen.text.replace("\n", ""))
        assert terminal.screen.text.count("Enter sends") == 1
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert request(workspace) == text + "x" * 4 + "y" * 30


@pytest.mark.req("088-6", "104-73")
@both_modes
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_a_signal_ends_it_with_the_terminal_as_it_was_and_the_text_kept(
    workspace: Path, server: ModelServer, hermetic: Path, mode: str, number: signal.Signals
) -> None:
    with query(workspace, mode) as terminal:
        terminal.until("Shift+Enter")
        terminal.send(b"kept words")
        terminal.until("kept words")
        terminal.until(lambda _: on_disk(hermetic, b"kept words"))  # SIGQUIT waits for nothing
        terminal.kill(number)
        assert terminal.wait() == f"killed {number.name}"
        left_clean(terminal)
    assert not server.requests
    with query(workspace, mode) as terminal:
        terminal.until("Query: kept words")
        terminal.press()
        terminal.wait()


def test_the_encoded_quit_key_is_the_quit_key(workspace: Path) -> None:
    with query(workspace) as terminal:
        terminal.until("Shift+Enter")
        terminal.send(b"\x1b[92;5u")
        assert terminal.wait() == "killed SIGQUIT"
        left_clean(terminal)


@pytest.mark.req("088-18")
@pytest.mark.parametrize("key", [CTRL_Z, b"\x1b[122;5u"], ids=["key", "encoded key"])
def test_stopped_and_continued_it_is_as_it_was(workspace: Path, shells, key: bytes) -> None:
    if "bash" not in shells:
        pytest.skip("no bash")
    with shell("bash", cwd=workspace, env=NO_EDITOR) as terminal:
        before = terminal.modes()
        terminal.send(" ".join(program()).encode() + b" q; echo status $?\n")
        terminal.until("Enter sends")
        terminal.send(b"one\x1b\rtwo\x02")
        terminal.until("two")
        terminal.send(key)
        terminal.until(lambda screen: "topped" in screen.text and screen.text.rstrip().endswith("$"))
        assert "Query:" not in terminal.screen
        assert terminal.output.count(b"\x1b[>1u") == terminal.output.count(POPPED)
        terminal.send(b"fg\n")
        terminal.until("Query: one")
        terminal.send(b"X\r")
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
        assert "Query:" not in terminal.screen
        assert terminal.modes()[3] == before[3]
    assert request(workspace) == "one\ntwXo"


def test_a_large_paste_is_taken_whole(workspace: Path) -> None:
    text = "\n".join(f"line {number} of what was pasted, and some more words" for number in range(2000))
    with query(workspace) as terminal:
        terminal.until("Enter sends")
        data = b"\x1b[200~" + text.encode() + b"\x1b[201~"
        writer = threading.Thread(target=lambda: os.write(terminal.master, data))
        writer.start()
        terminal.until("line 1999 of")
        writer.join()
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
    assert request(workspace) == text
