"""Where JP is run: multiplexers, containers, remote shells, services; each asks where somebody is, and nowhere else."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.process import Process
from tests.support.terminal import Terminal
from tests.terminal.test_compose import HELP, compose, requests
from tests.wire.model_server import ModelServer

JP = " ".join(program())


class Tmux:
    """A window of a tmux server of its own."""

    def __init__(self, socket: Path, cwd: Path, columns: int = 80, rows: int = 24) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", os.devnull]
        size = ["-x", str(columns), "-y", str(rows)]
        shell = "PS1='$ ' HISTFILE= exec bash --norc --noprofile -i"
        self("new-session", "-d", *size, "-c", str(cwd), shell)
        self.until("$")

    def __call__(self, *args: str) -> str:
        done = subprocess.run([*self._tmux, *args], capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    def keys(self, *names: str) -> None:
        self("send-keys", *names)

    def type(self, text: str) -> None:
        self("send-keys", "-l", text)

    @property
    def text(self) -> str:
        return self("capture-pane", "-p")

    def value(self, name: str) -> str:
        return self("display-message", "-p", f"#{{{name}}}").strip()

    def until(self, condition: "Callable[[str], object] | str", deadline: float = 30) -> str:
        met = condition if callable(condition) else lambda text: condition in text
        end = time.monotonic() + deadline
        while not met(text := self.text):
            assert time.monotonic() < end, f"not within {deadline} s:\n{text}"
            time.sleep(0.02)
        return text

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("no tmux here")
    monkeypatch.setenv("JP_SESSION", "test")
    monkeypatch.delenv("EDITOR")
    socket = Path("/tmp") / f"jp-{os.getpid()}-{os.urandom(3).hex()}"  # a socket's path has 100 characters
    window = Tmux(socket, workspace)
    yield window
    window.close()
    socket.unlink(missing_ok=True)


@pytest.mark.req("104-104", "088-3", "088-6")
def test_a_query_is_written_in_tmux(tmux: Tmux, server: ModelServer):
    tmux.type(f"{JP} q")
    tmux.keys("Enter")
    tmux.until(HELP)
    tmux.type("first 🎉 é")
    tmux.keys("M-Enter")
    tmux.type("second")
    tmux.until("second")
    tmux("resize-window", "-x", "50", "-y", "20")
    tmux.until(lambda text: text.count("second") == 1 and HELP in text)
    tmux.keys("Enter")
    tmux.until("Hello from the test model.")
    text = tmux.until(lambda text: text.rstrip().endswith("$"))
    assert HELP not in text
    assert requests(server) == ["first 🎉 é\nsecond"]
    assert tmux.value("cursor_flag") == "1"
    assert tmux.value("alternate_on") == "0"
    assert tmux.value("pane_dead") == "0"


def test_a_paste_in_tmux_is_one_text(tmux: Tmux, server: ModelServer, tmp_path: Path):
    tmux.type(f"{JP} q")
    tmux.keys("Enter")
    tmux.until(HELP)
    pasted = tmp_path / "pasted"
    pasted.write_text("one\ntwo\nthree\n")
    tmux("load-buffer", str(pasted))
    tmux("paste-buffer", "-p")
    tmux.until("three")
    tmux.keys("Enter")
    tmux.until("Hello from the test model.")
    assert requests(server) == ["one\ntwo\nthree\n"]


def test_an_aborted_composition_leaves_tmux_as_it_was(tmux: Tmux):
    before = tmux("display-message", "-p", "#{cursor_flag} #{keypad_cursor_flag} #{keypad_flag} #{insert_flag}")
    tmux.type(f"{JP} q")
    tmux.keys("Enter")
    tmux.until(HELP)
    tmux.type("begun")
    tmux.keys("C-c")
    tmux.until("kept for the next")
    tmux.until(lambda text: text.rstrip().endswith("$"))
    assert tmux("display-message", "-p", "#{cursor_flag} #{keypad_cursor_flag} #{keypad_flag} #{insert_flag}") == before
    tmux.type("echo alive; stty -a | grep -o -e '-\\?icanon' -e '-\\?echo\\b'")
    tmux.keys("Enter")
    tmux.until("\nicanon\necho\n")


@pytest.mark.skipif(shutil.which("script") is None, reason="no script(1) here")
def test_through_a_relay_of_the_terminal_as_ssh_t_is_one(workspace: Path, server: ModelServer):
    with Terminal(
        ["script", "-qec", f"{JP} q", os.devnull], cwd=workspace, env={"JP_SESSION": "x", "EDITOR": None}
    ) as far:
        far.until(HELP)
        far.send(b"over the wire\r")
        assert far.wait() == "exited 0"
    assert requests(server) == ["over the wire"]


def test_a_terminal_that_answers_no_question_is_enough(workspace: Path, server: ModelServer):
    """A relay may swallow the answers to what terminals are asked; nothing waits for them."""
    with compose(workspace) as terminal:
        terminal._emulator.on_reply(lambda _: None)
        terminal.until(HELP)
        terminal.send(b"no answer")
        terminal.until("no answer")
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert b"\x1b[>1u" not in terminal.output
    assert requests(server) == ["no answer"]


UNATTENDED = {
    "a container without -t, cron, a service, ssh without -t": {},
    "continuous integration": {"CI": "true", "GITHUB_ACTIONS": "true", "TERM": "dumb"},
    "an agent's harness": {"JP_NONINTERACTIVE": "1", "TERM": "xterm-256color"},
}


@pytest.mark.parametrize("env", UNATTENDED.values(), ids=UNATTENDED)
def test_where_nobody_is_a_bare_query_is_an_error_at_once(workspace: Path, server: ModelServer, env: dict[str, str]):
    with Process([*program(), "q"], cwd=workspace, env={"JP_SESSION": "x", **env}) as process:
        assert process.wait(20) == "exited 1"
    assert b"there is nothing to ask" in process.err
    with Process([*program(), "q", "asked"], cwd=workspace, env={"JP_SESSION": "x", **env}) as process:
        assert process.wait(20) == "exited 0"
    assert requests(server) == ["asked"]


def test_a_terminal_in_a_container_with_t_is_asked_whatever_ci_says(workspace: Path, server: ModelServer):
    with compose(workspace, env={"CI": "true"}) as terminal:
        terminal.until(HELP)
        terminal.send(b"asked\r")
        assert terminal.wait() == "exited 0"
    assert requests(server) == ["asked"]


def test_a_dumb_terminal_gets_a_line(workspace: Path, server: ModelServer):
    with compose(workspace, env={"TERM": "dumb"}) as terminal:
        terminal.until("Query:")
        terminal.send(b"one \\\rtwo\r")
        assert terminal.wait() == "exited 0"
        assert b"\x1b" not in terminal.output
        assert terminal.modes() == terminal.modes_before
    assert len(requests(server)) == 1
    assert "two" in requests(server)[0]
