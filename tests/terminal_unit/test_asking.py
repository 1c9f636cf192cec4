"""A question in the foreground and in the background of a real shell: asked, or a typed error, never a stopped job."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jp.terminal.promptability import NotPromptable, Request, resolve
from jp.terminal.tty import probe
from tests.support.terminal import Terminal, shell
from tests.terminal_unit.children import child

ASKING = """
from jp.errors import JpError
from jp.terminal.modes import Lend, in_use_by_another
from jp.terminal.promptability import Request, ask_state, require, resolve
promptability = resolve(Request(sys.argv[2]) if len(sys.argv) > 2 else Request.AUTO, os.environ, tty is not None)

def ask(question):
    in_use = in_use_by_another(tty.fd)
    state = ask_state(promptability, terminal=tty.is_there(), foreground=tty.foreground(), in_use=in_use)
    require(promptability, state, question=question, hints=["Set conversation.tools.x.run"])
    with printer.lend() as loan, Lend(loan.fd):
        loan.write(question + " ")
        answer = os.read(loan.fd, 1).decode()
        loan.write(answer + chr(10))
    return answer

def try_to(question):
    try:
        return "answered " + ask(question)
    except JpError as error:
        return f"{type(error).__name__}: {error.message} | {' | '.join(error.hints)}"
"""


def write_program(body: str) -> Path:
    program = Path(os.environ["TMPDIR"]) / "program.py"
    program.write_text(child(ASKING + body)[2])
    return program


@pytest.mark.req("104-29", "104-63", "104-65")
def test_asked_on_the_terminal_with_every_stream_redirected(tmp_path: Path) -> None:
    body = 'printer.out(try_to("really?") + chr(10))\nprinter.note("chrome")\ndone()\n'
    with open(tmp_path / "out", "w+b") as out, open(tmp_path / "err", "w+b") as err:
        with Terminal(child(ASKING + body), stdin=subprocess.DEVNULL, stdout=out, stderr=err) as terminal:
            terminal.until("really?")
            terminal.send(b"y")
            assert terminal.wait() == "exited 0"
            assert terminal.screen.lines[0] == "really? y"
            assert terminal.modes() == terminal.modes_before
        assert (tmp_path / "out").read_bytes() == b"answered y\n"
        assert (tmp_path / "err").read_bytes() == b"chrome\n"


@pytest.mark.req("104-75", "104-76", "104-77")
@pytest.mark.parametrize("name", ["bash", "dash"])
def test_in_the_background_it_is_an_error_and_the_job_goes_on(name: str, shells: list[str], tmp_path: Path) -> None:
    if name not in shells:
        pytest.skip(f"no {name} here")
    said, go = tmp_path / "said", tmp_path / "go"
    program = write_program(f"""
until(lambda: os.path.exists({str(go)!r}))
with open({str(said)!r}, "w") as file: file.write(try_to("really?"))
done()
""")
    with shell(name) as terminal:
        terminal.send(f"{sys.executable} {program} &\r".encode())
        terminal.until(lambda _: terminal.foreground == terminal.leader)
        before = terminal.modes()
        go.touch()
        terminal.until(lambda _: said.exists() and said.read_text())
        assert terminal.modes() == before
        terminal.send(b"wait; echo waited $((40+2))\r")
        terminal.until("waited 42")
        text = said.read_text()
        assert text.startswith("NotPromptableNow: JP is in the background"), text
        assert "fg" in text
        assert "--no-interactive" in text
        assert "Set conversation.tools.x.run" in text
        assert "Stopped" not in terminal.screen
        assert "really?" not in terminal.output.decode()
        terminal.send(b"exit\r")
        terminal.wait()


@pytest.mark.req("104-78", "104-79")
def test_brought_to_the_foreground_it_asks_and_sent_back_it_does_not(tmp_path: Path) -> None:
    program = write_program("""
import signal
with open("waiting", "w"): pass
until(lambda: tty.foreground())
print(try_to("first?"), flush=True)
until(lambda: not tty.foreground())
print(try_to("second?"), flush=True)
done()
""")
    with shell("bash", cwd=tmp_path) as terminal:
        terminal.send(f"{sys.executable} {program} &\r".encode())
        terminal.until(lambda _: (tmp_path / "waiting").exists())
        terminal.send(b"fg\r")
        terminal.until("first?")
        terminal.send(b"y")
        terminal.until("answered y")
        terminal.send(b"\x1a")
        terminal.until("Stopped")
        terminal.send(b"bg\r")
        terminal.until("NotPromptableNow: JP is in the background")
        assert "second? y" not in terminal.screen
        terminal.send(b"exit\r")
        terminal.wait()


@pytest.mark.req("104-68")
@pytest.mark.parametrize("asked", ["auto", "--interactive"])
def test_a_terminal_that_went_away_is_a_typed_error_and_the_question_is_nowhere(tmp_path: Path, asked: str) -> None:
    report, far = os.pipe()
    body = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
say("up")
until(lambda: not tty.is_there())
say(try_to("really?"))
printer.terminal("really?")
done()
"""
    with open(tmp_path / "out", "w+b") as out, open(tmp_path / "err", "w+b") as err:
        command = child(ASKING + body, far, asked)
        with Terminal(command, stdout=out, stderr=err, pass_fds=[far]) as terminal:
            os.close(far)
            assert os.read(report, 100) == b"up\n"
            terminal.hang_up()
            said = os.read(report, 1000).decode()
            assert terminal.process.wait(30) == 0
            terminal.status = "exited 0"
    os.close(report)
    assert said.startswith("NotPromptableNow: the terminal is gone"), said
    assert (tmp_path / "out").read_bytes() == (tmp_path / "err").read_bytes() == b""


@pytest.mark.req("104-53")
def test_a_terminal_for_one_direction_is_no_terminal_to_assert() -> None:
    running = os.path.realpath(sys.executable)
    with pytest.raises(NotPromptable, match="--interactive"):
        resolve(Request.FORCED_ON, {}, probe(running) is not None)
    assert not resolve(Request.AUTO, {}, probe(running) is not None)


def test_a_terminal_that_another_program_reads_is_not_asked_on() -> None:
    body = """
import termios
raw = termios.tcgetattr(tty.fd); found = list(raw)
raw[3] &= ~termios.ICANON
termios.tcsetattr(tty.fd, termios.TCSANOW, raw)
printer.note(try_to("really?"))
printer.flush(10)
termios.tcsetattr(tty.fd, termios.TCSANOW, found)
done()
"""
    with Terminal(child(ASKING + body)) as terminal:
        assert terminal.wait() == "exited 0"
        assert "NotPromptableNow: another program is reading the terminal" in terminal.screen.contents
