"""Terminal modes: what was found comes back, and nothing else is ever touched."""

import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from jp.terminal import modes, system
from tests.support.terminal import CTRL_Z, Terminal, shell

HEAD = """
import os, sys, time, termios
from jp.terminal.modes import Lend, Streaming, in_use_by_another
from jp.terminal.tty import probe
from jp.interrupt import end
tty = probe()
fd = tty.fd
def lflag(): return termios.tcgetattr(fd)[3]
found = termios.tcgetattr(fd)
"""


def run(body: str, **options: object) -> Terminal:
    return Terminal([sys.executable, "-c", HEAD + body], **options)  # type: ignore[arg-type]


def ends_well(terminal: Terminal, status: str = "exited 0") -> None:
    assert terminal.wait() == status, terminal.screen
    assert terminal.modes() == terminal.modes_before


def test_a_lend_sets_and_puts_back() -> None:
    body = """
with Lend(fd):
    flags = lflag()
    assert not flags & (termios.ICANON | termios.ECHO)
    assert flags & termios.ISIG and flags & termios.NOFLSH
    assert len(end.restores) == 1
    print("lent", flush=True)
    assert os.read(fd, 1) == b"k"
assert termios.tcgetattr(fd) == found
assert not end.restores
"""
    with run(body) as terminal:
        terminal.until("lent")
        terminal.send(b"k")
        ends_well(terminal)
        assert "k" not in terminal.screen.text.replace("lent", "")


def test_it_puts_back_what_it_found_and_not_what_is_usual() -> None:
    body = """
odd = termios.tcgetattr(fd); odd[3] &= ~termios.ECHO; odd[6][termios.VINTR] = b"\\x07"
termios.tcsetattr(fd, termios.TCSANOW, odd)
with Lend(fd):
    pass
assert termios.tcgetattr(fd) == odd
termios.tcsetattr(fd, termios.TCSANOW, found)
"""
    with run(body) as terminal:
        ends_well(terminal)


def test_lends_nest() -> None:
    body = """
with Lend(fd) as menu:
    menus = termios.tcgetattr(fd)
    with Lend(fd, None):
        assert termios.tcgetattr(fd) == menus
        other = termios.tcgetattr(fd); other[3] |= termios.ECHO; other[0] &= ~termios.ICRNL
        termios.tcsetattr(fd, termios.TCSANOW, other)   # an editor that leaves its modes behind
    assert termios.tcgetattr(fd) == menus
    assert not in_use_by_another(fd)
assert termios.tcgetattr(fd) == found
"""
    with run(body) as terminal:
        ends_well(terminal)


@pytest.mark.parametrize("how", ["7", "end.Cause.PRESS", "end.Cause.TERM"])
def test_an_end_in_the_middle_of_it_undoes_everything(how: str) -> None:
    body = f"""
end.prepare()
streaming = Streaming(fd); streaming.resume()
lend = Lend(fd); lend.resume()
lend.undo_with(b"\\x1b[?25h\\x1b[?2004l")
os.write(fd, b"\\x1b[?25l\\x1b[?2004h")
inner = Lend(fd); inner.resume()
end.end_now({how})
"""
    with run(body) as terminal:
        ends_well(terminal, {"7": "exited 7", "end.Cause.PRESS": "killed SIGINT"}.get(how, "killed SIGTERM"))
        assert terminal.screen.mode(25)
        assert not terminal.screen.mode(2004)


def test_streaming_changes_two_bits_and_puts_them_back_one_by_one() -> None:
    body = """
with Streaming(fd):
    now = termios.tcgetattr(fd)
    assert now[3] & termios.NOFLSH and not now[3] & termios.ECHO
    assert now[3] | termios.NOFLSH | termios.ECHO == found[3] | termios.NOFLSH | termios.ECHO
    assert now[:3] == found[:3] and now[4:] == found[4:]
    now[3] &= ~termios.ECHOE; now[6][termios.VINTR] = b"\\x07"     # somebody else, meanwhile
    termios.tcsetattr(fd, termios.TCSANOW, now)
after = termios.tcgetattr(fd)
assert not after[3] & termios.ECHOE and after[6][termios.VINTR] == b"\\x07"
assert after[3] | termios.ECHOE == found[3]
termios.tcsetattr(fd, termios.TCSANOW, found)
"""
    with run(body) as terminal:
        ends_well(terminal)


def test_a_bit_that_somebody_else_has_put_back_stays_as_he_left_it() -> None:
    body = """
with Streaming(fd):
    now = termios.tcgetattr(fd); now[3] = (now[3] & ~termios.NOFLSH); termios.tcsetattr(fd, termios.TCSANOW, now)
assert termios.tcgetattr(fd) == found
odd = termios.tcgetattr(fd); odd[3] |= termios.NOFLSH; termios.tcsetattr(fd, termios.TCSANOW, odd)
with Streaming(fd):
    pass
assert termios.tcgetattr(fd) == odd
termios.tcsetattr(fd, termios.TCSANOW, found)
"""
    with run(body) as terminal:
        ends_well(terminal)


def test_in_the_background_no_mode_is_touched_and_nobody_is_stopped() -> None:
    body = """
with Streaming(fd), Lend(fd) as lend:
    assert lend.found is None
    assert not end.restores
assert termios.tcgetattr(fd) == found
"""
    with run(body, background=True) as terminal:
        assert terminal.wait() == "exited 0", terminal.screen
        assert terminal.reports == ["exited 0"]


def test_a_terminal_that_somebody_else_reads_is_in_use() -> None:
    body = """
assert not in_use_by_another(fd)
other = termios.tcgetattr(fd); other[3] &= ~termios.ICANON
termios.tcsetattr(fd, termios.TCSANOW, other)
assert in_use_by_another(fd)
termios.tcsetattr(fd, termios.TCSANOW, found)
"""
    with run(body) as terminal:
        ends_well(terminal)


def test_type_ahead_is_discarded() -> None:
    body = """
from jp.terminal.modes import discard_input
with Lend(fd):
    print("ready", flush=True)
    import select
    assert select.select([fd], [], [], 20)[0]
    discard_input(fd)
    assert not select.select([fd], [], [], 0)[0]
"""
    with run(body) as terminal:
        terminal.until("ready")
        terminal.send(b"y")
        ends_well(terminal)


def test_a_terminal_that_is_gone_is_no_error() -> None:
    master, slave = os.openpty()
    os.close(master)
    with modes.Lend(slave), modes.Streaming(slave):
        pass
    modes.discard_input(slave)
    os.close(slave)
    assert not modes.in_use_by_another(slave)
    assert system.read_modes(slave) is None


STOPS = """
from jp.interrupt.router import Router
router = Router()
router.arm()
with Streaming(fd, router) as streaming, Lend(fd, router=router) as lend:
    print("lent", flush=True)
    while os.read(fd, 1) != b"q":
        print("key", bool(lflag() & termios.ICANON), bool(lflag() & termios.NOFLSH), flush=True)
print("back", lflag() == found[3], flush=True)
"""


@pytest.mark.parametrize("name", ["bash", "dash"])
def test_around_a_stop_the_shell_has_its_own_modes(name: str, shells: list[str]) -> None:
    if name not in shells:
        pytest.skip(f"no {name} here")
    program = Path(os.environ["TMPDIR"]) / "program.py"
    program.write_text(HEAD + STOPS)
    with shell(name) as terminal:
        terminal.send(b"stty -a > $TMPDIR/before\r")
        terminal.send(f"{sys.executable} {program}\r".encode())
        terminal.until("lent")
        assert not terminal.modes()[3] & termios.ICANON
        terminal.send(CTRL_Z)
        terminal.until("Stopped")
        terminal.send(b"stty -a > $TMPDIR/stopped; echo saved\r")
        terminal.until(lambda screen: any("saved" in line and "echo" not in line for line in screen.lines))
        terminal.send(b"fg\r")
        terminal.until(lambda _: not terminal.modes()[3] & termios.ICANON and terminal.foreground != terminal.leader)
        terminal.send(b"x")
        terminal.until("key False True")
        terminal.send(b"q")
        terminal.until("back True")
        terminal.send(b"stty -a > $TMPDIR/after; echo saved2\r")
        terminal.until(lambda screen: any("saved2" in line and "echo" not in line for line in screen.lines))
        texts = [Path(os.environ["TMPDIR"], step).read_text() for step in ("before", "stopped", "after")]
        assert texts[0] == texts[1] == texts[2]
        terminal.send(b"exit\r")
        terminal.wait()


def test_with_nothing_lent_a_pager_keeps_its_modes() -> None:
    """As in `jp q | less`: the other program has the terminal in its own modes, and we end."""
    body = """
from jp.terminal.printer import Format, Printer
other = termios.tcgetattr(fd); other[3] &= ~(termios.ICANON | termios.ECHO)
termios.tcsetattr(fd, termios.TCSANOW, other)
printer = Printer.for_process(format=Format.AUTO, environ=os.environ, tty=tty)
printer.out("data\\n")
with printer.status("Waiting…"):
    time.sleep(0.1)
printer.close(10)
end.prepare()
end.end_now(0)
"""
    with run(body, stdout=subprocess.DEVNULL) as terminal:
        assert terminal.wait() == "exited 0"
        assert not terminal.modes()[3] & termios.ICANON
