"""The interrupt menus on a real terminal: what opens them, what each key does, and that they leave no trace."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.terminal import CTRL_C, ESC, Terminal, shell
from tests.support.workspace import events, messages
from tests.wire.model_server import ModelServer, text

FALLBACK = "Interrupted: [c,q,?]?"
GRACEFUL = "gracefully shutting down…"

Press = Callable[[Terminal], None]
PRESSES: dict[str, Press] = {"key": lambda t: t.send(CTRL_C), "signal": lambda t: t.kill(signal.SIGINT)}
by_key_and_by_signal = pytest.mark.parametrize("press", PRESSES.values(), ids=PRESSES)


class Slow:
    """A configuration file of the user's that is a pipe: the start waits for it until it is given."""

    def __init__(self, home: Path) -> None:
        self.path = home / ".config" / "jp" / "config.toml"
        self.path.parent.mkdir(parents=True)
        os.mkfifo(self.path)
        self._opened = threading.Event()
        self._given = threading.Event()
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        with self.path.open("wb"):
            self._opened.set()
            self._given.wait()

    def read(self) -> bool:
        """Whether the program waits for it."""
        return self._opened.is_set()

    def give(self) -> None:
        """Let the start go on."""
        self._given.set()


@pytest.fixture
def slow(hermetic: Path) -> Slow:
    return Slow(hermetic)


# --- the fallback menu


@pytest.mark.req("092-1", "092-9", "092-63", "092-30")
@by_key_and_by_signal
def test_a_press_during_the_start_opens_the_fallback_menu(slow: Slow, workspace: Path, press: Press):
    with Terminal([*program(), "q", "hi"], cwd=workspace) as terminal:
        terminal.until(lambda _: slow.read())
        press(terminal)
        terminal.until(FALLBACK)
        terminal.send(b"c")
        terminal.until(lambda screen: FALLBACK not in screen)
        slow.give()
        assert terminal.wait() == "exited 0"
        assert terminal.screen.text.strip("^C\n ") == "Hello from the test model."
        assert terminal.modes() == terminal.modes_before


# --- the streaming menu

STREAMING = "Interrupted: [c,r,s,a,?]?"
WORDS = "".join(f"word{n:03} " for n in range(400))
SLOW = text(WORDS, chunk=8, delay_ms=10)


def query(workspace: Path, *args: str, **options) -> Terminal:
    return Terminal([*program(), "q", *args, "hi"], cwd=workspace, env={"JP_SESSION": "test"}, **options)


@pytest.fixture
def streaming(server: ModelServer) -> ModelServer:
    """An answer that goes on for a few seconds."""
    server.then(SLOW)
    return server


@pytest.mark.req("092-39", "092-40", "088-55", "088-56", "092-33", "092-34", "092-140")
@by_key_and_by_signal
def test_continue_goes_on_in_mid_line(streaming, workspace: Path, press: Press):
    with query(workspace) as terminal:
        terminal.until("word010")
        press(terminal)
        terminal.until(STREAMING)
        assert "word010" in terminal.screen
        terminal.send(b"c")
        terminal.until(lambda screen: STREAMING not in screen)
        assert terminal.wait() == "exited 0"
        assert " ".join(terminal.screen.contents.split()) == WORDS.strip()
        assert terminal.modes() == terminal.modes_before
    assert messages(workspace) == [WORDS]


def said(server: ModelServer) -> list[list[tuple[str, str]]]:
    """What each request told the model, without the instructions."""
    bodies = [json.loads(each.body)["messages"] for each in server.requests]
    return [[(one["role"], one["content"]) for one in body if one["role"] != "system"] for body in bodies]


@pytest.mark.req("092-42", "092-141", "092-14", "088-55", "088-1")
@by_key_and_by_signal
def test_a_reply_keeps_what_came_and_is_answered(server: ModelServer, workspace: Path, press: Press):
    server.then(SLOW, text("Second answer."))
    with query(workspace) as terminal:
        terminal.until("word010")
        press(terminal)
        terminal.until(STREAMING)
        terminal.send(b"r")
        terminal.until("Ctrl+C back")
        terminal.send(b"no, not that\r")
        assert terminal.wait() == "exited 0"
        shown = terminal.screen.contents
        assert shown.count("no, not that") == 1
        assert "Ctrl+C back" not in shown
        assert "> no, not that\nSecond answer." in shown
        assert terminal.modes() == terminal.modes_before
    partial, answer = messages(workspace)
    assert WORDS.startswith(partial)
    assert answer == "Second answer."
    kinds = [event["type"] for event in events(workspace)]
    assert kinds == ["turn_start", "chat_request", "chat_response", "chat_request", "chat_response"]
    assert said(server)[1] == [("user", "hi"), ("assistant", partial), ("user", "no, not that")]


@pytest.mark.req("092-43", "092-138", "088-57")
def test_stop_stores_what_came(streaming, workspace: Path):
    with query(workspace) as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        shown = terminal.screen.contents
        assert "Interrupted" not in shown
        assert "^C" not in shown
    (stored,) = messages(workspace)
    assert WORDS.startswith(stored)
    assert shown.split() == stored.split()


@pytest.mark.req("092-44", "088-57")
def test_abort_stores_nothing_and_keeps_the_question(streaming, workspace: Path, server: ModelServer, hermetic: Path):
    with query(workspace) as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"a")
        assert terminal.wait() == "exited 1"
        assert "Interrupted" not in terminal.screen.contents
    assert events(workspace) == []
    assert [path.read_text() for path in hermetic.rglob("drafts/*.md")] == ["hi"]
    server.then(text("Done."))
    with Terminal([*program(), "q"], cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        terminal.until("Enter sends")
        assert terminal.screen.text.startswith("Query: hi")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
    assert said(server)[-1] == [("user", "hi")]
    assert [path.read_text() for path in hermetic.rglob("drafts/*.md")] == []


@pytest.mark.req("092-29", "092-32", "092-10")
@by_key_and_by_signal
def test_ctrl_c_in_the_menu_is_the_graceful_shutdown(streaming, workspace: Path, press: Press, no_leftovers):
    with query(workspace) as terminal:
        terminal.until("word010")
        press(terminal)
        terminal.until(STREAMING)
        terminal.send(b"xyz")  # no options
        terminal.send(b"?")
        terminal.until("a - Abort (discard & exit)")
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        shown = terminal.screen.contents
        assert shown.splitlines()[-1] == GRACEFUL
        assert "Abort" not in shown
        assert terminal.modes() == terminal.modes_before
    (stored,) = messages(workspace)
    assert WORDS.startswith(stored)
    assert "word010" in stored


@pytest.mark.req("092-27", "092-23", "092-32")
def test_escape_continues_and_the_next_press_is_a_first_one(streaming, workspace: Path):
    with query(workspace) as terminal:
        for word, key in (("word010", ESC), ("word015", b"c"), ("word020", ESC)):
            terminal.until(word)
            terminal.press()
            terminal.until(STREAMING)
            terminal.send(key)
            terminal.until(lambda screen: STREAMING not in screen)
        assert terminal.wait() == "exited 0"
        assert " ".join(terminal.screen.contents.split()) == WORDS.strip()


@pytest.mark.req("092-22")
def test_a_press_in_the_menu_climbs_however_late(streaming, workspace: Path):
    with query(workspace, "-c", "interrupt.escalation_cooldown_secs=1") as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        deadline = time.monotonic() + 1.3
        terminal.until(lambda _: time.monotonic() > deadline)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert GRACEFUL in terminal.screen.contents


# --- what a menu is not answered by


@pytest.mark.req("092-32")
@pytest.mark.parametrize("typed", [b"ls -l; rm -r build\r", b"cd /tmp\r", b"make\r", b"s", b"c", ESC])
def test_what_was_typed_before_the_press_answers_no_menu(streaming, workspace: Path, server: ModelServer, typed: bytes):
    with query(workspace) as terminal:
        terminal.until("word005")
        terminal.send(typed)
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        quiet = time.monotonic() + 0.2
        terminal.until(lambda _: time.monotonic() > quiet)
        assert STREAMING in terminal.screen
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert " ".join(terminal.screen.contents.split()) == WORDS.strip()
    assert len(server.requests) == 1


@pytest.mark.req("092-32")
def test_a_paste_answers_no_menu(streaming, workspace: Path, server: ModelServer):
    with query(workspace) as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        assert terminal.screen.mode(2004)
        terminal.send(b"\x1b[200~please stop and abort\rall\x1b[201~")
        quiet = time.monotonic() + 0.2
        terminal.until(lambda _: time.monotonic() > quiet)
        assert STREAMING in terminal.screen
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        assert not terminal.screen.mode(2004)


def test_what_is_typed_while_it_streams_is_not_shown_in_it(streaming, workspace: Path):
    with query(workspace) as terminal:
        for word in ("word005", "word010", "word015"):
            terminal.until(word)
            terminal.send(b"\x1b[A\x1b[Aabc\x1b")
        assert terminal.wait() == "exited 0"
        assert " ".join(terminal.screen.contents.split()) == WORDS.strip()
        assert terminal.modes() == terminal.modes_before


def test_what_another_program_of_the_pipeline_is_told_is_shown(workspace: Path, server: ModelServer):
    line = f"cat | {' '.join(program())} q hi"
    with Terminal(["sh", "-c", line], cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        terminal.until("Reading stdin…")
        terminal.send(b"for the model\r")
        terminal.until("for the model")
        terminal.send(b"\x04")
        terminal.until("Hello from the test model.")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert said(server)[0][0][1] == "hi\n\nfor the model"


def test_an_editor_gets_the_terminal_as_it_was(streaming, workspace: Path, tmp_path: Path):
    seen = tmp_path / "modes"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nstty -a >{seen}\necho text >"$1"\n')
    editor.chmod(0o755)
    env: dict[str, str | None] = {"JP_SESSION": "test", "JP_EDITOR": str(editor)}
    always = "interrupt.streaming.compose_in_editor=always"
    with Terminal([*program(), "q", "-c", always, "hi"], cwd=workspace, env=env) as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"r")
        terminal.until("> text")
        assert seen.read_text().split().count("echo") == 1
        assert "-noflsh" in seen.read_text().split()
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-138", "092-139")
@pytest.mark.parametrize("rows", [2, 3, 5, 6])
def test_a_menu_never_fills_a_small_window(streaming, workspace: Path, rows: int):
    with query(workspace, rows=rows) as terminal:
        terminal.until("word010")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"?")
        terminal.until(lambda screen: rows == 2 or "a - Abort" in screen or "more lines" in screen)
        assert "word" in terminal.screen.lines[0]  # else some terminals keep what is erased
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert " ".join(terminal.screen.contents.split()) == WORDS.strip()


# --- nobody to be asked


@pytest.mark.req("092-132")
def test_in_a_background_job_of_a_shell_one_press_is_enough(streaming, workspace: Path, tmp_path: Path):
    out = tmp_path / "out"
    with shell("bash", cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        terminal.send(f"{' '.join(program())} q hi >{out} 2>&1 & echo job $!.\r".encode())
        terminal.until(lambda screen: re.search(r"job \d+\.", screen.text))
        job = re.search(r"job (\d+)\.", terminal.screen.text)
        assert job
        terminal.until(lambda _: out.exists() and "word010" in out.read_text())
        os.kill(int(job[1]), signal.SIGINT)
        terminal.until(lambda _: GRACEFUL in out.read_text())
        terminal.send(b"wait $!; echo status $?\r")
        terminal.until("status 130")
    assert len(out.read_text()) < len(WORDS)


# --- nothing is lost


@pytest.mark.req("092-44")
def test_an_aborted_question_is_kept_though_another_writes_one_there(streaming, workspace: Path, hermetic: Path):
    with query(workspace) as terminal:
        terminal.until("word010")
        with Terminal([*program(), "q", "--id", "newest"], cwd=workspace, env={"JP_SESSION": "other"}) as other:
            other.until("Enter sends")
            other.send(b"theirs")
            other.until("theirs")
            terminal.press()
            terminal.until(STREAMING)
            terminal.send(b"a")
            assert terminal.wait() == "exited 1"
            other.press()
            assert other.wait() == "killed SIGINT"
    assert sorted(path.read_text() for path in hermetic.rglob("drafts/*.md")) == ["hi", "theirs"]


@pytest.mark.req("092-44")
def test_an_aborted_question_that_no_draft_takes_is_said(streaming, workspace: Path, hermetic: Path):
    with query(workspace) as terminal:
        terminal.until("word010")
        drafts = next(hermetic.rglob("conversations")).parent / "drafts"
        drafts.write_text("in the way")
        terminal.press()
        terminal.until(STREAMING)
        terminal.send(b"a")
        assert terminal.wait() == "exited 1"
        assert "is kept for the next" not in terminal.screen.contents
        assert "could not be kept in its place; it is in" in " ".join(terminal.screen.contents.split())
