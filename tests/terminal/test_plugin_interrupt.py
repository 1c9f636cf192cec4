"""The ladder over a plugin: by key and by signal, with a prompt up and without, and nothing left running.

RFD 092, "Plugin scope"; RFD D60, "Interrupt handling".
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.plugins import Make, run
from tests.support.terminal import Terminal
from tests.support.tools import configure

pytestmark = pytest.mark.usefixtures("no_leftovers")

GRACEFUL = "gracefully shutting down…"
PRESSES = pytest.mark.parametrize("press", [Terminal.press, Terminal.kill], ids=["key", "signal"])
Press = Callable[[Terminal], None]

WATCH = """
import threading, select
signal.signal(signal.SIGINT, lambda *_: note("INT"))
signal.signal(signal.SIGTERM, lambda *_: note("TERM"))
"""
HANDLES = WATCH + "note('up')\nwhile (line := read()):\n    note(line)\n    if line['type'] == 'shutdown': finish(9)\n"
DEAF = (
    WATCH
    + """
import subprocess
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", "300"])
note("up")
while True: time.sleep(300)
"""
)


def asks(kind: str, before: str = WATCH) -> str:
    """A plugin that asks and, whatever comes, notes it; it ends with 9 after a shutdown."""
    more = ', options=["a","b"]' if kind == "select" else ""
    return f"""{before}
send(type="prompt", kind="{kind}", message="Really?"{more})
while (line := read()):
    note(line)
    if line["type"] == "prompt_response": finish(0)
    if line["type"] == "shutdown":
        while select.select([0], [], [], 0.3)[0] and (line := read()): note(line)
        finish(9)
"""


@PRESSES
@pytest.mark.parametrize("kind", ["confirm", "select", "text", "secret"])
@pytest.mark.req("D60-64", "D60-65", "D60-66", "D60-67", "D60-72", "D60-75", "092-149", "D60-60")
def test_a_press_at_a_prompt_is_the_graceful_shutdown(workspace: Path, plugin: Make, press: Press, kind: str) -> None:
    notes = plugin(asks(kind))
    with run(workspace) as terminal:
        terminal.until("Really?")
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert "Interrupted:" not in terminal.screen.contents
        assert "Really?" not in terminal.screen.text
        assert GRACEFUL in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
        assert terminal.screen.mode(25)
        assert not terminal.screen.mode(2004)
    assert notes.now[0] == {"type": "shutdown"}
    assert "INT" not in notes.now
    assert all(note.get("outcome") not in ("answered", "cancelled") for note in notes.now)


@pytest.mark.req("D60-25", "D60-78")
def test_a_text_that_is_interrupted_is_not_lost(workspace: Path, plugin: Make) -> None:
    notes = plugin(asks("text"))
    with run(workspace) as terminal:
        terminal.until("Really?")
        terminal.send(b"half a thought")
        terminal.until("half a thought")
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
    with run(workspace) as terminal:
        terminal.until("half a thought")
        terminal.send(b" and more\r")
        assert terminal.wait() == "exited 0"
    assert notes.now[-1]["value"] == "half a thought and more"


@pytest.mark.req("D60-78")
@pytest.mark.parametrize("kind", ["confirm", "text", "secret"])
def test_a_lost_terminal_submits_nothing(workspace: Path, plugin: Make, kind: str) -> None:
    notes = plugin(asks(kind))
    with run(workspace) as terminal:
        terminal.until("Really?")
        terminal.send(b"typed") if kind == "text" else None
        terminal.pump(0.3)
        terminal.hang_up()
        assert terminal.process.wait(20) == -signal.SIGHUP
    assert all(note.get("outcome") != "answered" for note in notes.now if isinstance(note, dict))


@PRESSES
@pytest.mark.req("D60-68", "PROTO-56", "092-146", "092-148")
def test_who_does_not_end_in_time_is_killed(workspace: Path, plugin: Make, press: Press) -> None:
    configure(**{"plugins.shutdown_timeout_secs": 1})
    notes = plugin(DEAF.replace('note("up")', 'note("up"); send(type="prompt", kind="confirm", message="Really?")'))
    with run(workspace) as terminal:
        notes.of(1)
        terminal.until("Really?")
        began = time.monotonic()
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert 0.9 < time.monotonic() - began < 6
        assert terminal.modes() == terminal.modes_before


@PRESSES
@pytest.mark.req("D60-69", "D60-72", "092-147", "092-148", "092-149")
def test_a_further_press_ends_it_at_once(workspace: Path, plugin: Make, press: Press) -> None:
    notes = plugin(DEAF.replace('note("up")', 'note("up"); send(type="prompt", kind="text", message="Really?")'))
    with run(workspace) as terminal:
        notes.of(1)
        terminal.until("Really?")
        press(terminal)
        terminal.until(GRACEFUL)
        began = time.monotonic()
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert time.monotonic() - began < 2
        assert terminal.modes() == terminal.modes_before


@PRESSES
@pytest.mark.req("D60-70", "092-142", "092-143", "092-145")
def test_without_a_prompt_the_first_press_is_the_plugins(workspace: Path, plugin: Make, press: Press) -> None:
    notes = plugin(HANDLES)
    with run(workspace) as terminal:
        notes.of(1)
        press(terminal)
        assert notes.of(2) == ["up", "INT"]
        terminal.pump(0.4)
        assert notes.now == ["up", "INT"]
        assert "Interrupted:" not in terminal.screen.contents
        assert GRACEFUL not in terminal.screen.contents
        press(terminal)  # within the cooldown: the second
        assert terminal.wait() == "killed SIGINT"
        assert GRACEFUL in terminal.screen.contents
    assert notes.now == ["up", "INT", {"type": "shutdown"}]


@PRESSES
@pytest.mark.req("D60-71", "092-144")
def test_a_plugin_without_a_handler_dies_and_jp_with_it(workspace: Path, plugin: Make, press: Press) -> None:
    notes = plugin("signal.signal(signal.SIGINT, signal.SIG_DFL)\nnote('up')\ntime.sleep(300)")
    with run(workspace) as terminal:
        notes.of(1)
        press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert "it was interrupted" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before


@PRESSES
@pytest.mark.req("092-146", "092-147", "092-148", "D60-76")
@pytest.mark.parametrize("presses", [2, 3])
def test_a_plugin_that_is_deaf_and_does_not_read(workspace: Path, plugin: Make, press: Press, presses: int) -> None:
    configure(**{"plugins.shutdown_timeout_secs": 1})
    flood = """
for number in range(200):
    send(type="read_config")
note("flooded")
"""
    notes = plugin(DEAF.replace('note("up")', flood + 'note("up")'))
    with run(workspace) as terminal:
        notes.of(1)
        terminal.pump(0.5)
        began = time.monotonic()
        press(terminal)
        terminal.pump(0.2)
        press(terminal)
        terminal.until(GRACEFUL)
        if presses == 3:
            press(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert time.monotonic() - began < (3 if presses == 3 else 6)
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("D60-73")
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.05])
def test_a_press_between_request_and_drawing_counts(workspace: Path, plugin: Make, delay: float) -> None:
    notes = plugin(WATCH + "note('up')\n" + asks("secret", before=""))
    with run(workspace) as terminal:
        notes.of(1)
        time.sleep(delay)
        terminal.press()
        # Either it was the plugin's (INT), and the prompt stands, or it was the prompt's, and the end has begun.
        terminal.until(lambda screen: "INT" in notes.now or GRACEFUL in screen.contents)
        if GRACEFUL not in terminal.screen.contents:
            terminal.until(lambda screen: "Really?" in screen)
            terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("D60-74")
@pytest.mark.parametrize("kind", ["confirm", "select", "text", "secret"])
def test_sigterm_at_a_prompt(workspace: Path, plugin: Make, kind: str) -> None:
    notes = plugin(asks(kind))
    with run(workspace) as terminal:
        terminal.until("Really?")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
        assert "Really?" not in terminal.screen.text
        assert terminal.modes() == terminal.modes_before
    assert notes.now[0] == {"type": "shutdown"}
    assert "TERM" not in notes.now


@pytest.mark.req("D60-80", "PROTO-57")
@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGKILL])
def test_the_ends_that_ask_nobody(workspace: Path, plugin: Make, number: int) -> None:
    if number == signal.SIGKILL:
        notes = plugin(
            asks("confirm").replace("while (line", "note('up')\nwhile (line", 1)
        )  # reads the end of its stdin
    else:
        notes = plugin(DEAF)
    with run(workspace) as terminal:
        notes.of(1)
        terminal.kill(number)
        assert terminal.wait() == f"killed {signal.Signals(number).name}"


@pytest.mark.req("D60-43")
def test_where_nobody_can_be_asked_the_first_press_is_the_shutdown(workspace: Path, plugin: Make) -> None:
    notes = plugin(HANDLES)
    with run(workspace, "--no-interactive") as terminal:
        notes.of(1)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
    assert notes.now == ["up", {"type": "shutdown"}]


# --- the terminal, lent

READS = """
tty = os.open("/dev/tty", os.O_RDWR)
os.write(tty, b"name> ")
note("asking")
note(os.read(tty, 100).decode())
note(os.tcgetpgrp(tty) == os.getpgrp())
"""


@pytest.mark.req("D60-79", "D60-80", "092-150")
def test_a_plugin_that_reads_the_terminal_gets_it(workspace: Path, plugin: Make) -> None:
    notes = plugin(READS + "finish()")
    with run(workspace) as terminal:
        terminal.until("name>")
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.send(b"Ada\r")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert notes.now == ["asking", "Ada\n", True]


@pytest.mark.req("D60-79", "092-150")
@pytest.mark.parametrize("handles", [True, False])
def test_presses_are_the_plugins_while_it_has_the_terminal(workspace: Path, plugin: Make, handles: bool) -> None:
    handler = 'lambda *_: note("INT")' if handles else "signal.SIG_DFL"
    notes = plugin(f"signal.signal(signal.SIGINT, {handler})\n" + READS + "finish()")
    with run(workspace) as terminal:
        terminal.until("name>")
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        for number in range(3 if handles else 1):
            terminal.press()
            terminal.until(lambda _, wanted=number + 1: not handles or notes.now.count("INT") == wanted)
        if handles:
            assert "Interrupted:" not in terminal.screen.contents
            terminal.send(b"on\r")
            assert terminal.wait() == "exited 0"
            assert notes.now.count("INT") == 3
        else:
            assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("D60-79", "D60-80", "092-150")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, "killed SIGTERM"), (signal.SIGQUIT, "killed SIGQUIT")])
@pytest.mark.parametrize("raw", [True, False])
def test_signals_to_jp_work_while_the_terminal_is_lent(
    workspace: Path, plugin: Make, number: int, status: str, raw: bool
) -> None:
    configure(**{"plugins.shutdown_timeout_secs": 1})
    wild = 'import tty as modes; modes.setraw(tty); os.write(tty, b"\\x1b[?25l"); ' if raw else ""
    notes = plugin(WATCH + READS.replace('note("asking")', f'os.read(tty, 1); {wild}note("asking")') + "finish()")
    with run(workspace) as terminal:
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.send(b"x\r")
        notes.of(1)
        terminal.kill(number)
        assert terminal.wait() == status
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("D60-79")
def test_a_prompt_ends_the_loan_and_it_is_lent_again(workspace: Path, plugin: Make) -> None:
    notes = plugin(READS + 'note(ask(type="prompt", kind="text", message="Through JP"))\n' + READS + "finish()")
    with run(workspace) as terminal:
        terminal.until("name>")
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.send(b"one\r")
        terminal.until("Through JP")
        assert terminal.foreground == terminal.pid
        terminal.send(b"two\r")
        terminal.until(lambda _: len(notes.now) > 3)
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.send(b"three\r")
        assert terminal.wait() == "exited 0"
    said = [note if isinstance(note, str) else note.get("value") for note in notes.now if note is not True]
    assert said == ["asking", "one\n", "two", "asking", "three\n"]


@pytest.mark.req("D60-80", "D60-81")
def test_ctrl_z_while_it_is_lent_stops_the_whole_job(workspace: Path, plugin: Make) -> None:
    from tests.support.terminal import CTRL_Z, shell, until_stopped

    notes = plugin("note(os.getpid())\n" + READS + "finish()")
    with shell("bash", cwd=workspace) as terminal:
        terminal.send((" ".join(program()) + " it\r").encode())
        terminal.until("name>")
        terminal.until(lambda _: len(notes.now) > 1 and terminal.foreground == notes.now[0])
        terminal.send(CTRL_Z)
        terminal.until("Stopped")  # what is typed while it changes hands is nobody's
        until_stopped(terminal)
        terminal.send(b"fg\r")
        terminal.until(lambda _: terminal.foreground == notes.now[0])
        terminal.send(b"back\r")
        terminal.until(lambda _: len(notes.now) == 4)
        assert notes.now[2:] == ["back\n", True]
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))


@pytest.mark.req("D60-81", "092-151")
@pytest.mark.parametrize("how", ["no-interactive", "background"])
def test_a_plugin_that_can_not_have_the_terminal_is_ended(workspace: Path, plugin: Make, how: str) -> None:
    notes = plugin(READS + "finish()")
    args = ("--no-interactive",) if how == "no-interactive" else ()
    with run(workspace, *args, background=how == "background") as terminal:
        assert terminal.wait() == "exited 1"
        assert "wants the terminal, which it can't have" in terminal.screen.contents.replace("\n", "")
    assert notes.now == ["asking"]


@pytest.mark.req("D60-81", "092-151")
def test_a_plugin_that_is_stopped_is_noticed_and_can_be_ended(workspace: Path, plugin: Make) -> None:
    stops = "note('up')\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(300)"
    notes = plugin("signal.signal(signal.SIGINT, signal.SIG_DFL)\n" + stops)
    with run(workspace) as terminal:
        notes.of(1)
        terminal.until("it is stopped")
        terminal.press()
        assert terminal.wait() == "killed SIGINT"


@pytest.mark.req("D60-80", "D60-81")
def test_however_it_is_stopped_it_does_not_keep_the_keyboard(workspace: Path, plugin: Make) -> None:
    """A full-screen program has a handler for Ctrl-Z, which ends in SIGSTOP."""
    from tests.support.terminal import CTRL_Z, shell, until_stopped

    stops = "signal.signal(signal.SIGTSTP, lambda *_: os.kill(os.getpid(), signal.SIGSTOP))\n"
    notes = plugin("note(os.getpid())\n" + stops + READS + "finish()")
    with shell("bash", cwd=workspace) as terminal:
        terminal.send((" ".join(program()) + " it\r").encode())
        terminal.until("name>")
        terminal.until(lambda _: len(notes.now) > 1 and terminal.foreground == notes.now[0])
        terminal.send(CTRL_Z)
        terminal.until("Stopped")  # what is typed while it changes hands is nobody's
        until_stopped(terminal)
        terminal.send(b"fg\r")
        terminal.until(lambda _: terminal.foreground == notes.now[0])
        terminal.send(b"back\r")
        terminal.until(lambda _: len(notes.now) == 4)
        assert notes.now[2:] == ["back\n", True]


@pytest.mark.req("D60-80", "D60-81")
def test_brought_back_in_the_background_it_waits(workspace: Path, plugin: Make) -> None:
    from tests.support.terminal import CTRL_Z, shell, until_stopped

    notes = plugin("note(os.getpid())\n" + READS + "finish()")
    with shell("bash", cwd=workspace) as terminal:
        terminal.send((" ".join(program()) + " it\r").encode())
        terminal.until("name>")
        terminal.until(lambda _: len(notes.now) > 1 and terminal.foreground == notes.now[0])
        terminal.send(CTRL_Z)
        terminal.until("Stopped")  # what is typed while it changes hands is nobody's
        until_stopped(terminal)
        terminal.send(b"bg\r")
        until_stopped(terminal)
        terminal.send(b"fg\r")
        terminal.until(lambda _: terminal.foreground == notes.now[0])
        terminal.send(b"back\r")
        terminal.until(lambda _: len(notes.now) == 4)
        assert notes.now[2:] == ["back\n", True]


@pytest.mark.req("D60-79", "092-143", "092-150")
def test_a_signal_to_jp_while_it_is_lent_counts_once(workspace: Path, plugin: Make) -> None:
    notes = plugin("signal.signal(signal.SIGINT, lambda *_: note('INT'))\n" + READS + "time.sleep(0.5); finish()")
    with run(workspace) as terminal:
        terminal.until("name>")
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.kill()
        terminal.until(lambda _: notes.now.count("INT") == 1)
        terminal.pump(0.1)
        time.sleep(2.2)  # the cooldown: the next is a first one again
        terminal.kill()
        terminal.until(lambda _: notes.now.count("INT") == 2)
        terminal.send(b"on\r")
        assert terminal.wait() == "exited 0"
        assert GRACEFUL not in terminal.screen.contents
    assert notes.now.count("INT") == 2


@pytest.mark.req("D60-71", "092-144")
def test_a_press_that_it_had_while_lent_is_what_it_dies_of(workspace: Path, plugin: Make) -> None:
    dies = """
def stop(*_):
    send(type="print", text="bye\\n")
    time.sleep(0.5)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, stop)
"""
    plugin(dies + READS + "finish()")
    with run(workspace) as terminal:
        terminal.until("name>")
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert "bye" in terminal.screen.contents


@pytest.mark.req("PROTO-55", "D60-80")
def test_a_full_screen_plugin_has_its_grace(workspace: Path, plugin: Make) -> None:
    wild = """
import termios, tty as modes
tty = os.open("/dev/tty", os.O_RDWR)
os.read(tty, 1)
found = termios.tcgetattr(tty)
modes.setraw(tty)
note("up")
while read()["type"] != "shutdown": pass
termios.tcsetattr(tty, termios.TCSANOW, found)
note("saved")
finish()
"""
    notes = plugin(wild)
    with run(workspace) as terminal:
        terminal.until(lambda _: terminal.foreground != terminal.pid)
        terminal.send(b"x\r")
        terminal.until(lambda _: len(notes.now) == 1)
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
        assert terminal.modes() == terminal.modes_before
    assert notes.now == ["up", "saved"]


@pytest.mark.req("D60-81")
def test_ctrl_z_stops_the_plugin_with_jp_and_fg_lets_both_go_on(workspace: Path, plugin: Make) -> None:
    from tests.support.terminal import CTRL_Z, shell, until_stopped

    notes = plugin("""
note(os.getpid())
for number in range(1000):
    note(number); time.sleep(0.05)
    if number > 20: finish()
""")
    with shell("bash", cwd=workspace) as terminal:
        terminal.send((" ".join(program()) + " it\r").encode())
        terminal.until(lambda _: len(notes.now) > 2)
        terminal.send(CTRL_Z)
        terminal.until("Stopped")
        until_stopped(terminal)
        state = Path(f"/proc/{notes.now[0]}/stat").read_text().rpartition(")")[2].split()[0]
        assert state == "T"
        before = len(notes.now)
        terminal.pump(0.3)
        assert len(notes.now) == before
        terminal.send(b"fg\r")
        terminal.until(lambda _: len(notes.now) > before)
        terminal.until(lambda _: notes.now[-1] == 21)
        terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
        assert "kill -CONT" not in terminal.screen.contents


def test_head_does_not_wait_for_a_plugin_that_does_not_listen(workspace: Path, plugin: Make) -> None:
    import subprocess

    plugin("while True: send(type='print', text='x' * 1000 + '\\n'); time.sleep(0.01)")
    began = time.monotonic()
    line = f"{' '.join(program())} it | head -1"
    subprocess.run(line, shell=True, cwd=workspace, stdout=subprocess.DEVNULL, start_new_session=True, check=True)
    assert time.monotonic() - began < 4
