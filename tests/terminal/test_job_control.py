"""Ctrl-Z and `fg`, Ctrl-S, background jobs, pagers and pipelines while an answer streams."""

import os
import re
import signal
import termios
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.process import Process
from tests.support.terminal import CTRL_Q, CTRL_S, CTRL_Z, Terminal, shell, shut_down
from tests.support.workspace import messages
from tests.wire.model_server import ModelServer, silent, status, text

JP = " ".join(program())
NUMBERS = "".join(f"n{n}. " for n in range(400))


def numbers(shown: str) -> list[int]:
    return [int(n) for n in re.findall(r"n(\d+)\.", shown)]


def goes_on(shown: list[int]) -> None:
    """Nothing is missing; the line that was unfinished at the stop is written once more, for the rest to go on."""
    back = next(i for i in range(1, len(shown)) if shown[i] <= shown[i - 1])
    assert shown[:back] == list(range(back))
    assert shown[back:] == list(range(shown[back], 400))
    assert back - shown[back] <= 20


@pytest.fixture
def counting(server: ModelServer) -> ModelServer:
    """An answer that counts, so that a gap or a repetition shows."""
    server.then(text(NUMBERS, chunk=6, delay_ms=8))
    return server


@pytest.mark.parametrize("by", ["key", "signal"])
@pytest.mark.parametrize("name", ["bash", "dash"])
def test_stopped_and_continued_nothing_is_lost_and_the_modes_are_the_shells(
    counting, workspace: Path, name, by, shells, monkeypatch
):
    if name not in shells:
        pytest.skip(f"no {name}")
    with shell(name, cwd=workspace, columns=100, rows=60) as terminal:
        before = terminal.modes()
        terminal.send(f"{JP} q hi; echo status $?\n".encode())
        terminal.until("n20.")
        if by == "key":
            terminal.send(CTRL_Z)
        else:
            os.killpg(terminal.foreground, signal.SIGTSTP)
        terminal.until(lambda screen: "topped" in screen.text and screen.text.rstrip().endswith("$"))
        assert _plain(terminal.modes()) == _plain(before)
        terminal.send(b"fg\n")
        terminal.until("n399.")
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
        assert _plain(terminal.modes()) == _plain(before)
        goes_on(numbers(terminal.screen.contents))
    assert messages(workspace) == [NUMBERS]


@pytest.mark.parametrize("stopped_secs", [0.0, 2.5])
def test_stopped_while_it_waits_to_try_again_it_tries_again(server: ModelServer, workspace: Path, stopped_secs):
    server.then(status(503), text("here it is"))
    with shell("bash", cwd=workspace, columns=100) as terminal:
        terminal.send(f"{JP} q -c assistant.request.base_backoff_ms=2000 hi; echo status $?\n".encode())
        terminal.until("Trying again")
        terminal.send(CTRL_Z)
        terminal.until(lambda screen: "topped" in screen.text)
        terminal.pump(stopped_secs)
        terminal.send(b"fg\n")
        terminal.until("here it is")


def _plain(modes: list) -> list:
    """Modes without what a line editor sets while it waits for a command."""
    return [*modes[:3], modes[3] & ~0xFFFF, *modes[4:6]]


def test_a_stopped_terminal_loses_nothing(counting, workspace: Path):
    with Terminal([*program(), "q", "hi"], cwd=workspace, columns=100, rows=60) as terminal:
        terminal.until("n10.")
        terminal.send(CTRL_S)
        held = numbers(terminal.screen.text)[-1]
        journal = next(Path(os.environ["HOME"]).rglob("journal.jsonl"))
        terminal.until(lambda _: not journal.exists() or f"n{held + 100}." in journal.read_text())
        terminal.send(CTRL_Q)
        terminal.until("n399.")
        assert terminal.wait() == "exited 0"
        assert numbers(terminal.screen.contents) == list(range(400))


def test_a_press_on_a_stopped_terminal_ends_the_run(counting, workspace: Path):
    with Terminal([*program(), "q", "-c", "interrupt.shutdown.timeout_secs=1", "hi"], cwd=workspace) as terminal:
        terminal.until("n10.")
        terminal.send(CTRL_S)
        terminal.kill(signal.SIGINT)
        terminal.until(lambda _: not terminal.modes()[3] & termios.ICANON)  # the menu, which nobody sees
        terminal.kill(signal.SIGINT)
        assert terminal.process.wait(30) == -signal.SIGINT
    assert messages(workspace)[0].startswith("n0. n1.")


@pytest.mark.req("104-81")
def test_a_background_job_without_a_question_runs_to_its_end(counting, workspace: Path):
    with Terminal([*program(), "q", "hi"], cwd=workspace, background=True) as terminal:
        terminal.until("n399.")
        assert terminal.wait() == "exited 0"
        assert terminal.reports == ["exited 0"]
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("104-97")
def test_a_pager_gets_no_escapes_while_the_indicator_repaints(workspace: Path, server: ModelServer):
    server.then(text("# A heading\n\nsome *words*\n", chunk=4, delay_ms=300))
    with Terminal(["sh", "-c", f"{JP} q hi | cat -v"], cwd=workspace) as terminal:
        terminal.until("Waiting…")
        terminal.until("some *words*")
        terminal.wait()
        assert "# A heading" in terminal.screen.text
        assert "^[" not in terminal.screen.text
        assert "Waiting" not in terminal.screen.text


def test_leaving_a_pager_early_wedges_nothing(counting, workspace: Path):
    with shell("bash", cwd=workspace) as terminal:
        before = _plain(terminal.modes())
        terminal.send(f"{JP} q hi | head -c 30; echo \\ status ${{PIPESTATUS[0]}}\n".encode())
        terminal.until("status 141")
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
        assert _plain(terminal.modes()) == before
    assert messages(workspace)[0].startswith("n0. n1.")


def test_one_answer_is_the_next_question(workspace: Path, server: ModelServer):
    server.then(text("first answer"), text("second answer"))
    with Terminal(["sh", "-c", f"{JP} q -n one | {JP} q -n two"], cwd=workspace) as terminal:
        terminal.until("second answer")
        assert terminal.wait() == "exited 0"
    sent = [body["messages"][-1]["content"] for body in server.bodies()]
    assert sent == ["one", "two\n\nfirst answer"]


@pytest.mark.req("104-98")
def test_stderr_in_a_file_holds_no_escape_while_stdout_has_colour(workspace: Path, tmp_path: Path, server: ModelServer):
    server.then(text("some **bold** words", reasoning="thinking", chunk=4, delay_ms=100))
    log = tmp_path / "err.txt"
    with Terminal(["sh", "-c", f"{JP} q hi 2> {log}"], cwd=workspace) as terminal:
        assert terminal.wait() == "exited 0"
        assert b"\x1b[1m" in terminal.output
    assert b"\x1b" not in log.read_bytes()
    assert b"\r" not in log.read_bytes()


@pytest.mark.req("104-26", "104-155")
def test_a_retry_is_one_line_in_place_and_gone_when_the_answer_goes_on(workspace: Path, server: ModelServer):
    from tests.wire.model_server import status

    server.then(status(503), status(503), status(503), text("At last."))
    with Terminal([*program(), "q", "-c", "assistant.request.base_backoff_ms=400", "hi"], cwd=workspace) as terminal:
        terminal.until("Trying again (1/5)")
        terminal.until(lambda s: "Trying again (3/5)" in s.text and "(1/5)" not in s.text and "(2/5)" not in s.text)
        terminal.until("At last.")
        assert terminal.wait() == "exited 0"
        assert "Trying again" not in terminal.screen.contents


@pytest.mark.req("104-27")
def test_a_retry_is_a_plain_line_an_attempt_where_nothing_can_be_repainted(ask, server: ModelServer):
    from tests.wire.model_server import status

    done = ask("q", "hi", replies=(status(503), status(503), status(503), text("At last.")))
    assert done.stdout == "At last.\n"
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    assert all(f"({n}/5)" in line for n, line in enumerate(lines, 1))
    assert "\r" not in done.stderr
    assert "\x1b" not in done.stderr


def test_the_waiting_indicator_is_gone_when_the_answer_comes(workspace: Path, server: ModelServer):
    server.then(silent())
    with Terminal([*program(), "q", "hi"], cwd=workspace) as terminal:
        terminal.until("Waiting…")
        shut_down(terminal)
        terminal.wait()
        assert "Waiting" not in terminal.screen.contents


def test_the_idle_timer_stands_still_while_stopped(counting, workspace: Path):
    with shell("bash", cwd=workspace, columns=100, rows=60) as terminal:
        terminal.send(f"{JP} q -c assistant.request.stream_idle_timeout_secs=1 hi; echo status $?\n".encode())
        terminal.until("n20.")
        terminal.send(CTRL_Z)
        terminal.until("topped")
        with Process(["sleep", "2.5"]) as pause:
            pause.wait()
        terminal.send(b"fg\n")
        terminal.until("n399.")
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
        assert "Trying again" not in terminal.output.decode(errors="replace")
        goes_on(numbers(terminal.screen.contents))
