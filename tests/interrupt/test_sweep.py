"""Signals at every point of a life: a documented end within a bound, and nothing left behind."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, program
from tests.interrupt.start import HUP, INT, QUIT, TERM, argv
from tests.support.process import Process
from tests.support.terminal import Terminal

pytestmark = pytest.mark.usefixtures("no_leftovers")

POINTS = ["start", "registered", "prompt", "restored", "child", "stream", "held", "done", "saving"]
VOLLEYS = {
    "press": [INT],
    "2 presses": [INT] * 2,
    "3 presses": [INT] * 3,
    "10 presses": [INT] * 10,
    "TERM": [TERM],
    "HUP": [HUP],
    "QUIT": [QUIT],
    "TERM and a press": [TERM, INT],
}


def stopped(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None


def sound(running: Terminal, saved: Path) -> None:
    """What holds after every end."""
    assert "Traceback" not in running.screen.contents
    assert "Exception" not in running.screen.contents
    assert running.modes() == running.modes_before
    assert running.screen.mode(25)
    assert not running.screen.mode(2004)
    assert not saved.exists() or saved.read_text() == "whole\n"


@pytest.mark.req("092-124", "092-6")
@pytest.mark.parametrize("point", POINTS)
def test_at_each_point(point: str, tmp_path: Path) -> None:
    for name, volley in VOLLEYS.items():
        saved = tmp_path / name.replace(" ", "-")
        with Terminal(argv("session", str(saved), point), cwd=REPOSITORY) as running:
            running.until(lambda _, pid=running.pid: stopped(pid))  # type: ignore[misc]
            running.kill(volley[0])
            running.kill(signal.SIGCONT)
            for sig in volley[1:]:
                running.pump(0.005)
                if running.process.poll() is None:
                    running.kill(sig)
            status = running.wait()
            first = f"killed {volley[0].name}"
            assert status in ({first, "killed SIGINT"} if len(volley) > 1 else {first}), name
            sound(running, saved)
            if len(volley) == 1 and volley != [QUIT]:
                assert saved.exists(), name
            if volley[0] in (INT, TERM):
                assert "gracefully shutting down…" in running.screen.contents


@pytest.mark.req("092-124", "092-6")
@pytest.mark.parametrize("name", ["press", "3 presses", "TERM", "QUIT"])
def test_at_any_time(name: str, tmp_path: Path) -> None:
    """From the first instruction to the end; before the router the interpreter may fail in its own way."""
    saved = tmp_path / "saved"
    with Terminal(argv("session", str(saved)), cwd=REPOSITORY) as running:
        began = time.monotonic()
        assert running.wait() == "exited 0"
        whole = time.monotonic() - began
    rounds = 16
    for number in range(rounds):
        saved.unlink(missing_ok=True)
        with Terminal(argv("session", str(saved)), cwd=REPOSITORY) as running:
            due = time.monotonic() + whole * number / rounds
            armed = False
            for place, sig in enumerate(VOLLEYS[name]):
                while time.monotonic() < due:
                    running.pump(max(0.0, due - time.monotonic()))
                armed = armed or (place == 0 and b"armed" in running.output)
                if running.process.poll() is None:
                    running.kill(sig)
                due = time.monotonic() + 0.005
            status = running.wait()
            expected = {"killed SIGINT", "killed SIGTERM", "killed SIGQUIT", "exited 0"}
            assert status in (expected if armed else expected | {"exited 1"}), running.screen.contents
            assert running.modes() == running.modes_before
            assert running.screen.mode(25)
            if armed:
                sound(running, saved)


@pytest.mark.req("092-6", "092-8")
@pytest.mark.parametrize("sig", [INT, TERM])
def test_over_the_start_of_the_program(sig: signal.Signals, tmp_path: Path, hermetic: Path) -> None:
    """The real program, from its first instruction on: ended by the signal or finished, and nothing on disk."""
    workspace = tmp_path / "empty"
    workspace.mkdir()
    before = sorted(hermetic.rglob("*"))
    with Process([*program(), "config", "show"], cwd=workspace) as running:
        began = time.monotonic()
        assert running.wait() == "exited 0"
        whole = time.monotonic() - began
    seen = set()
    for number in range(24):
        with Process([*program(), "config", "show"], cwd=workspace) as running:
            due = time.monotonic() + whole * number / 24
            while time.monotonic() < due:
                running.pump(max(0.0, due - time.monotonic()))
            if running.process.poll() is None:
                running.kill(sig)
            status = running.wait()
            seen.add(status)
            told = b"gracefully shutting down" in running.err
            if told:
                assert status == f"killed {sig.name}"
            if status == "exited 1":
                # The interpreter's own failure, before any line of ours.
                assert b"Python" in running.err or b"KeyboardInterrupt" in running.err, running.err
                assert not told
            else:
                assert status in (f"killed {sig.name}", "exited 0")
    assert f"killed {sig.name}" in seen
    assert sorted(hermetic.rglob("*")) == before
    assert not list(workspace.iterdir())
