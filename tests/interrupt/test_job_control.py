"""Stopped and continued as a job of real shells, by the key and by kill."""

import os
import re
import signal
import time

import pytest

from tests.conftest import REPOSITORY
from tests.interrupt.start import argv
from tests.support.terminal import CTRL_C, CTRL_Z, Terminal, shell

pytestmark = pytest.mark.usefixtures("no_leftovers")
SHELLS = ["bash", "dash"]


def started(name: str, *args: str) -> Terminal:
    terminal = shell(name, cwd=REPOSITORY, columns=120)
    terminal.send(" ".join(argv(*args)).encode() + b"\r")
    terminal.until(lambda screen: "up" in screen.lines)
    return terminal


def job_pid(terminal: Terminal) -> int:
    """The job's process group is its only process."""
    assert terminal.foreground != terminal.leader
    return terminal.foreground


def stopped(terminal: Terminal, times: int = 1) -> None:
    terminal.until(lambda screen: screen.text.count("stopping") == times)
    terminal.until(lambda screen: len(re.findall("Stopped", screen.text)) == times)
    assert terminal.foreground == terminal.leader


@pytest.mark.parametrize("name", SHELLS)
def test_the_key_stops_and_fg_continues_and_again(name: str) -> None:
    with started(name, "job") as terminal:
        for times in (1, 2):
            terminal.send(CTRL_Z)
            stopped(terminal, times)
            terminal.send(b"fg\r")
            terminal.until(lambda screen, n=times: screen.text.count("going on") == n)  # type: ignore[misc]
        terminal.send(CTRL_C)
        terminal.until("gracefully shutting down…")
        terminal.until(lambda _: terminal.foreground == terminal.leader)


def test_what_nests_on_the_terminal_is_taken_off_and_put_on_in_order() -> None:
    with started("dash", "job") as terminal:
        terminal.send(CTRL_Z)
        stopped(terminal)
        terminal.send(b"fg\r")
        terminal.until("inner on")
        words = re.findall("inner off|stopping|going on|inner on", terminal.screen.text)
        assert words == ["inner off", "stopping", "going on", "inner on"]
        terminal.send(CTRL_C)
        terminal.until(lambda _: terminal.foreground == terminal.leader)


@pytest.mark.parametrize("name", SHELLS)
def test_kill_stops_and_kill_continues_in_the_background(name: str) -> None:
    with started(name, "job") as terminal:
        pid = job_pid(terminal)
        os.kill(pid, signal.SIGTSTP)
        stopped(terminal)
        os.kill(pid, signal.SIGCONT)
        terminal.until(lambda screen: screen.text.count("going on") == 1)
        assert terminal.foreground == terminal.leader
        os.kill(pid, signal.SIGTERM)
        terminal.until("gracefully shutting down…")


@pytest.mark.parametrize("name", SHELLS)
def test_sigstop_is_no_stop_of_ours_but_going_on_is_told(name: str) -> None:
    with started(name, "job") as terminal:
        pid = job_pid(terminal)
        os.kill(pid, signal.SIGSTOP)
        terminal.until(lambda screen: "Stopped" in screen.text or "Suspended" in screen.text)
        terminal.send(b"fg\r")
        terminal.until(lambda screen: screen.text.count("going on") == 1)
        assert "stopping" not in terminal.screen
        terminal.send(CTRL_C)
        terminal.until(lambda _: terminal.foreground == terminal.leader)


@pytest.mark.parametrize("name", SHELLS)
def test_pressed_while_stopped_it_acts_when_it_goes_on(name: str) -> None:
    with started(name, "job") as terminal:
        pid = job_pid(terminal)
        terminal.send(CTRL_Z)
        stopped(terminal)
        os.kill(pid, signal.SIGINT)
        terminal.send(b"fg\r")
        terminal.until("gracefully shutting down…")
        terminal.until(lambda _: terminal.foreground == terminal.leader)


def test_the_deadline_stands_still_while_stopped() -> None:
    with started("bash", "job", "2.0") as terminal:
        pid = job_pid(terminal)
        os.kill(pid, signal.SIGTERM)
        terminal.until("gracefully shutting down…")
        os.kill(pid, signal.SIGTSTP)
        stopped(terminal)
        began = time.monotonic()
        terminal.until(lambda _: time.monotonic() - began > 2.5)
        terminal.send(b"fg\r")
        terminal.until(lambda screen: "going on" in screen.text)
        assert "terminating program…" not in terminal.screen
        resumed = time.monotonic()
        terminal.until("terminating program…")
        assert time.monotonic() - resumed > 0.3
        terminal.until(lambda _: terminal.foreground == terminal.leader)


@pytest.mark.parametrize("name", SHELLS)
def test_the_window_size_is_told_at_once(name: str) -> None:
    with started(name, "job") as terminal:
        terminal.resize(100, 30)
        terminal.until(lambda screen: "resized" in screen.text)
        terminal.send(CTRL_C)
        terminal.until(lambda _: terminal.foreground == terminal.leader)


def test_without_a_shell_that_could_continue_it_a_stop_passes() -> None:
    """The kernel drops the default stop of an orphaned process group; the program goes on as if continued."""
    with Terminal(argv("job"), cwd=REPOSITORY) as terminal:
        terminal.until(lambda screen: "up" in screen.lines)
        terminal.kill(signal.SIGTSTP)
        terminal.until(lambda screen: screen.text.count("going on") == 1)
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"


@pytest.mark.parametrize("how", ["return", "press"])
def test_the_foreground_checks_at_the_end_never_stop_it(how: str) -> None:
    """Its modes changed, then put in the background: it ends without touching the terminal, and without a stop."""
    with started("bash", "prompt") as terminal:
        pid = job_pid(terminal)
        os.kill(pid, signal.SIGTSTP)
        terminal.until(lambda screen: "Stopped" in screen.text and screen.text.endswith("$"))
        shells = terminal.modes()
        terminal.send(b"bg\r")
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGTERM if how == "return" else signal.SIGINT)
        terminal.until("gracefully shutting down…")
        terminal.send(b"wait; echo status $?\r")
        terminal.until(lambda screen: "status 0" in screen.text or "status 1" in screen.text)
        terminal.until(lambda _: terminal.modes() == shells)
