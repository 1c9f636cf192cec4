"""The drivers themselves: a driver that sees wrongly makes every test above it worthless."""

import os
import signal
import subprocess
import sys

import pytest

from tests.support.marked import marked
from tests.support.process import Process
from tests.support.terminal import CTRL_C, CTRL_Z, Terminal, shell


def test_keys_reach_the_program_and_its_output_the_screen() -> None:
    with Terminal(["sh", "-c", 'read word; echo "got $word"; exit 3']) as terminal:
        terminal.send(b"hello\r")
        terminal.until("got hello")
        assert terminal.screen.lines[:2] == ["hello", "got hello"]
        assert terminal.wait() == "exited 3"
        assert terminal.modes() == terminal.modes_before


def test_the_interrupt_key_is_a_signal_to_the_foreground() -> None:
    with Terminal(["sh", "-c", "echo up; exec sleep 60"]) as terminal:
        terminal.until("up")
        terminal.send(CTRL_C)
        assert terminal.wait() == "killed SIGINT"


def test_a_missed_deadline_shows_the_screen() -> None:
    with Terminal(["sh", "-c", "echo here; sleep 60"]) as terminal:
        terminal.until("here")
        with pytest.raises(AssertionError, match="here"):
            terminal.until("nowhere", deadline=0.05)


def test_descriptors_can_be_redirected_while_the_terminal_stays() -> None:
    with Terminal(
        ["sh", "-c", "echo out; echo err >&2; echo tty > /dev/tty; read -r x < /dev/tty; echo $x"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as terminal:
        terminal.until("tty").text.strip()
        terminal.send(b"key\r")
        assert terminal.wait() == "exited 0"
        assert terminal.piped == {1: b"out\nkey\n", 2: b"err\n"}
        assert "out" not in terminal.screen
        assert "err" not in terminal.screen


def test_the_emulator_answers_and_keeps_modes() -> None:
    program = "import sys,os; os.write(1, b'\\x1b[?2004h\\x1b[6n'); print(repr(os.read(0, 1)))"
    with Terminal([sys.executable, "-c", f"import tty; tty.setcbreak(0); {program}"]) as terminal:
        terminal.until(r"'\x1b'")
        assert terminal.screen.mode(2004)
        terminal.wait()
        assert terminal.modes() != terminal.modes_before


def test_a_resize_is_told() -> None:
    with Terminal(["bash", "-c", "trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done"]) as terminal:
        terminal.until("up")
        terminal.resize(33, 11)
        terminal.until("11 33")


def test_a_background_job_is_stopped_when_it_reads() -> None:
    with Terminal(["sh", "-c", "echo up; read x"], background=True) as terminal:
        terminal.until("up")
        assert terminal.foreground == terminal.leader
        terminal.until(lambda _: terminal.reports == ["stopped SIGTTIN"])
        terminal.kill(signal.SIGKILL)
        assert terminal.wait() == "killed SIGKILL"


@pytest.mark.parametrize("name", ["bash", "dash"])
def test_a_shell_has_job_control(name: str) -> None:
    with shell(name) as terminal:
        terminal.send(b"sh -c 'echo u\"\"p; exec sleep 60'\r")
        terminal.until(lambda screen: "up" in screen.lines)
        terminal.send(CTRL_Z)
        terminal.until(lambda screen: "Stopped" in screen.text)
        assert terminal.foreground == terminal.leader
        terminal.send(b"fg\r")
        terminal.until(lambda _: terminal.foreground != terminal.leader)
        terminal.send(CTRL_C)
        terminal.until(lambda _: terminal.foreground == terminal.leader)
        terminal.send(b"exit 4\r")
        assert terminal.wait() == "exited 4"


def test_closing_kills_background_jobs_too(no_leftovers: None) -> None:
    with shell("bash") as terminal:
        terminal.send(b"sleep 60 & echo st''arted\r")
        terminal.until(lambda screen: "started" in screen.text)


def test_a_process_without_a_terminal_has_none() -> None:
    with Process(["sh", "-c", "echo up; exec 2>&1; true > /dev/tty || echo none; read x"]) as process:
        process.until(b"none")
        assert process.wait().startswith("exited")


def test_marked_processes_are_found_wherever_they_went(no_leftovers: None) -> None:
    with Process(["bash", "-c", "setsid sleep 60 & echo $!; wait"]) as process:
        pid = int(process.until(b"\n").out)
        process.until(lambda _: marked().get(pid) == "sleep 60")
    assert pid in marked()
    os.kill(pid, signal.SIGKILL)
    with Process(["true"]) as process:
        process.wait()
        process.until(lambda _: pid not in marked())
