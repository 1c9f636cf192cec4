"""Capabilities, promptability and the status line on real terminals, redirected every way."""

import fcntl
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from jp.terminal.tty import probe
from tests.support.process import Process
from tests.support.terminal import Terminal, shell
from tests.terminal_unit.children import child

CAPS = (
    "say(repr((printer.caps(Target.OUT), printer.caps(Target.ERR), tty is not None, tty and tty.foreground())))\ndone()"
)


def run_reporting(body: str, *, format_: str = "auto", **options: object) -> str:
    """What `say` reported, from a run on a terminal."""
    report, far = os.pipe()
    with Terminal(child(body, far, format_=format_), pass_fds=[far], **options) as terminal:  # type: ignore[arg-type]
        os.close(far)
        assert terminal.wait() == "exited 0", terminal.screen
    with os.fdopen(report) as file:
        return file.read().strip()


@pytest.mark.req("104-2", "104-8", "104-9", "104-10", "104-11")
@pytest.mark.parametrize(("out", "err"), list(product((True, False), repeat=2)))
@pytest.mark.parametrize("format_", ["auto", "text-pretty", "json"])
def test_capabilities_of_real_descriptors(tmp_path: Path, out: bool, err: bool, format_: str) -> None:
    with open(tmp_path / "out", "wb") as out_file, open(tmp_path / "err", "wb") as err_file:
        found = run_reporting(CAPS, format_=format_, stdout=None if out else out_file, stderr=None if err else err_file)
    escapes = {"auto": (out, err), "text-pretty": (True, True), "json": (False, False)}[format_]
    assert found == (
        f"(ChannelCaps(escapes={escapes[0]}, addressable={out}), "
        f"ChannelCaps(escapes={escapes[1]}, addressable={err}), True, True)"
    )


@pytest.mark.req("104-3", "104-104")
@pytest.mark.parametrize(("stdin", "out", "err"), list(product((True, False), repeat=3)))
def test_the_terminal_is_found_however_the_streams_are_redirected(
    tmp_path: Path, stdin: bool, out: bool, err: bool
) -> None:
    with open(tmp_path / "file", "w+b") as file:
        found = run_reporting(
            "say(repr((tty is not None, tty.foreground())))\ndone()",
            stdin=None if stdin else file,
            stdout=None if out else file,
            stderr=None if err else file,
        )
    assert found == "(True, True)"


def test_without_a_controlling_terminal_there_is_none() -> None:
    with Process(child("say(str(tty))\ndone()")) as process:
        assert process.wait() == "exited 0"
        assert process.err == b"None\n"


def test_a_terminal_that_does_not_control_us_is_not_ours() -> None:
    """Streams on a terminal, as under a service manager: capable, but nobody to ask."""
    with Terminal(child("say(str(tty))\ndone()"), controlling=False) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.screen.lines[0] == "None"


@pytest.mark.req("104-52")
def test_a_terminal_for_one_direction_only_is_none() -> None:
    """A running program opens for reading and not for writing, whoever asks."""
    running = os.path.realpath(sys.executable)
    os.close(os.open(running, os.O_RDONLY))
    assert probe(running) is None
    assert probe("/dev/null") is None, "opens for both, but is no terminal"
    assert probe("/nowhere") is None


def test_the_probe_of_a_terminal_opens_it_for_both() -> None:
    master, slave = os.openpty()
    with probe(os.ttyname(slave)) or pytest.fail("does not open") as tty:
        os.write(tty.out_fd, b"out")
        assert os.read(master, 10) == b"out"
        os.write(master, b"in\r")
        assert os.read(tty.fd, 10) == b"in\n"
        assert not tty.foreground(), "it is not our controlling terminal"
        assert not os.get_inheritable(tty.fd)
    os.close(master)
    os.close(slave)


@pytest.mark.req("104-30")
def test_in_the_background_it_opens_and_is_not_the_foreground() -> None:
    with Terminal(child("print(tty is not None, tty.foreground(), flush=True)\ndone()"), background=True) as terminal:
        terminal.until("True False")
        assert terminal.wait() == "exited 0"
        assert terminal.reports == ["exited 0"]


WAITING = """
status = printer.status("Waiting…", interval=0.05)
status.detail("receiving")
until(lambda: os.path.exists(sys.argv[-1]))
status.end()
printer.out("answer\\n")
done()
"""


@pytest.mark.req("104-131", "104-133", "104-148")
def test_the_status_line_ticks_and_goes(tmp_path: Path) -> None:
    flag = tmp_path / "go"
    with Terminal(child(WAITING, 2, flag)) as terminal:
        terminal.until(lambda screen: "⏱ Waiting… 0.3s (receiving)" in screen.text)
        flag.touch()
        assert terminal.wait() == "exited 0"
        assert terminal.screen.lines[0] == "answer"
        assert "Waiting" not in terminal.screen
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("104-149")
def test_the_status_line_is_drawn_with_stdout_piped(tmp_path: Path) -> None:
    flag = tmp_path / "go"
    with Terminal(child(WAITING, 2, flag), stdout=subprocess.PIPE) as terminal:
        terminal.until("⏱ Waiting… ")
        flag.touch()
        assert terminal.wait() == "exited 0"
        assert terminal.screen.text.strip() == ""
        assert terminal.piped[1] == b"answer\n"


@pytest.mark.req("104-150", "104-151", "104-152", "104-153")
@pytest.mark.parametrize(
    ("format_", "log", "stderr"),
    [
        ("json", False, None),
        ("json-pretty", False, None),
        ("text", False, None),
        ("auto", True, None),
        ("text-pretty", False, subprocess.PIPE),
        ("auto", False, subprocess.PIPE),
    ],
)
def test_the_status_line_is_not_drawn(tmp_path: Path, format_: str, log: bool, stderr: int | None) -> None:
    body = 'status = printer.status("Waiting…", interval=0.05)\ntime.sleep(0.3)\nstatus.end()\ndone()\n'
    with Terminal(child(body, format_=format_, log=log), stderr=stderr) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.output == b""
        assert terminal.piped[2] == b""


def test_the_status_line_is_dark_in_the_background_and_drawn_when_brought_back(tmp_path: Path) -> None:
    flag = tmp_path / "go"
    with shell("bash") as terminal:
        program = tmp_path / "program.py"
        program.write_text(child(WAITING)[2])
        terminal.send(f"{sys.executable} {program} 2 {flag} &\r".encode())
        terminal.until(lambda screen: "[1]" in screen.text)
        terminal.send(b"sleep 0.5; echo still $((40+2))\r")
        terminal.until("still 42")
        assert "Waiting" not in terminal.output.decode()
        terminal.send(b"fg\r")
        terminal.until("⏱ Waiting… ")
        flag.touch()
        terminal.until(lambda screen: "answer" in screen.text and "Waiting" not in screen.text)
        terminal.send(b"exit\r")
        terminal.wait()


def test_the_status_line_is_dark_while_another_process_asks_there(tmp_path: Path) -> None:
    flag = tmp_path / "go"
    body = """
import fcntl
asking = probe()
fcntl.flock(asking.lock_fd(), fcntl.LOCK_EX)
status = printer.status("Waiting…", interval=0.05)
time.sleep(0.3)
fcntl.flock(asking.lock_fd(), fcntl.LOCK_UN)
printer.out("answered\\n")
until(lambda: os.path.exists(sys.argv[-1]))
done()
"""
    with Terminal(child(body, 2, flag)) as terminal:
        terminal.until("⏱ Waiting… ")
        assert terminal.output.startswith(b"answered"), terminal.output
        flag.touch()
        assert terminal.wait() == "exited 0"


def test_the_status_line_fits_a_window_that_changes(tmp_path: Path) -> None:
    flag = tmp_path / "go"
    with Terminal(child(WAITING, 2, flag), columns=40) as terminal:
        terminal.until("(receiving)")
        terminal.resize(12, 10)
        terminal.until(lambda screen: screen.lines[0].startswith("⏱ Waiting…") or screen.lines[1].startswith("⏱"))
        flag.touch()
        assert terminal.wait() == "exited 0"


def test_the_width_is_the_terminals_own(tmp_path: Path) -> None:
    body = "say(str((printer.width(Target.OUT), printer.width(Target.ERR))))\ndone()"
    assert run_reporting(body, columns=77, env={"COLUMNS": "33"}) == "(77, 77)"
    with open(tmp_path / "out", "wb") as file:
        assert run_reporting(body, columns=77, stdout=file, env={"COLUMNS": "33"}) == "(33, 77)"


def test_a_dumb_terminal_gets_no_escape() -> None:
    body = """
printer.out("\\x1b[31mred\\x1b[0m\\n")
with printer.status("Waiting…"):
    time.sleep(0.1)
printer.note("\\x1b[1mnote\\x1b[0m")
done()
"""
    with Terminal(child(body), env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.output == b"red\r\nnote\r\n"


@pytest.mark.req("104-69")
def test_a_question_is_drawn_after_what_was_queued(tmp_path: Path) -> None:
    body = """
for number in range(300):
    printer.out(f"line {number}\\n")
with printer.lend() as loan:
    printer.out("later\\n")
    loan.write("really? ")
    os.read(loan.fd, 10)
done()
"""
    with Terminal(child(body)) as terminal:
        terminal.until("really?")
        assert terminal.output.endswith(b"line 299\r\nreally? ")
        terminal.send(b"y\r")
        assert terminal.wait() == "exited 0"
        assert terminal.output.endswith(b"really? y\r\nlater\r\n")


def test_stopped_and_continued_the_line_is_written_again() -> None:
    """What the router's listeners do around a stop, under a real shell."""
    body = """
import signal
def stop(*_):
    printer.suspend()
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    printer.resume()
signal.signal(signal.SIGTSTP, stop)
printer.out("half an")
printer.flush(10)
printer.status("Waiting…")
os.read(0, 10)
printer.out(" answer\\n")
done()
"""
    with shell("bash") as terminal:
        program = Path(os.environ["TMPDIR"]) / "program.py"
        program.write_text(child(body)[2])
        terminal.send(f"{sys.executable} {program}\r".encode())
        terminal.until("half an")
        terminal.send(b"\x1a")
        terminal.until("Stopped")
        terminal.send(b"fg\r")
        terminal.until(lambda screen: screen.text.rstrip().endswith("half an"))
        terminal.send(b"\r")
        terminal.until(lambda screen: "answer" in screen.text)
        terminal.send(b"exit\r")
        terminal.wait()


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ('printer.out("\\x1b[1;31mhalf a red line")', b"half a red line\x1b[0m"),
        (
            'printer.out("whole\\n")\nprinter.status("Waiting…")\nuntil(lambda: printer._worker.status.drawn)',
            b"\r\x1b[K",
        ),
        ('printer.out("\\x1b[1mwhole\\x1b[0m\\n")', b"whole\x1b[0m\r\n"),
    ],
)
def test_an_end_in_mid_output_leaves_no_style_and_no_status_line(body: str, last: bytes) -> None:
    ending = """
from jp.interrupt import end
printer.flush(10)
end.prepare()
end.end_now(end.Cause.PRESS)
"""
    with Terminal(child(body + ending)) as terminal:
        assert terminal.wait() == "killed SIGINT"
        assert terminal.output.endswith(last)
        assert "Waiting" not in terminal.screen


def test_an_end_in_mid_output_changes_nothing_elsewhere() -> None:
    """A shell has the terminal: what is on it is no longer ours."""
    body = """
from jp.interrupt import end
printer.out("\\x1b[1;31mred")
printer.flush(10)
end.prepare()
end.end_now(0)
"""
    with Terminal(child(body), background=True) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.output == b"\x1b[1;31mred"


def test_what_a_prompt_draws_on_a_dumb_terminal_has_no_escapes() -> None:
    body = """
with printer.lend() as loan:
    loan.write("\\x1b[1mreally?\\x1b[0m [y,n] ")
done()
"""
    with Terminal(child(body), env={"TERM": "dumb"}) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.output == b"really? [y,n] "


def test_looking_whether_somebody_asks_gives_no_lock_away() -> None:
    master, slave = os.openpty()
    name = os.ttyname(slave)
    with probe(name) or pytest.fail("does not open") as tty, probe(name) or pytest.fail("does not open") as other:
        lock, others = tty.lock_fd(), other.lock_fd()
        assert lock is not None
        assert others is not None
        assert not tty.asked_on()
        assert tty.take_turn()
        assert not tty.asked_on()  # it is our own question
        assert other.asked_on()
        with pytest.raises(BlockingIOError):
            fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)
        tty.give_turn()
        assert not other.asked_on()
    os.close(master)
    os.close(slave)
