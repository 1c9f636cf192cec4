"""The Printer on real descriptors: full, closed, broken and shared pipes, full disks, terminals that stand still."""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import Process
from tests.support.terminal import CTRL_Q, CTRL_S, Terminal
from tests.terminal_unit.children import child


def read_all(fd: int) -> bytes:
    data = b""
    while piece := os.read(fd, 1 << 20):
        data += piece
    os.close(fd)
    return data


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            pass


def test_a_pipe_nobody_reads_blocks_nobody_and_loses_nothing(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
began = time.monotonic()
for number in range(100):
    printer.out(f"{number:03d} " + "x" * 20_000 + chr(10))
printer.note("queued")
assert time.monotonic() - began < 5
began = time.monotonic()
assert not printer.flush(0.2)
assert time.monotonic() - began < 5
printer.note("not flushed")
done()
"""
    with Process(child(body), stdout=write) as process:
        os.close(write)
        process.until(lambda p: b"not flushed\n" in p.err)
        data = read_all(read)
        assert process.wait() == "exited 0", process.err
    assert [line.split()[0] for line in data.decode().splitlines()] == [f"{number:03d}" for number in range(100)]
    assert len(data) == 100 * 20_005


def test_a_full_stdout_does_not_hold_up_stderr(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
printer.out("x" * 1_000_000)
for number in range(50):
    printer.note(str(number))
    printer.flush(0.001)
printer.note("end")
done()
"""
    with Process(child(body), stdout=write) as process:
        os.close(write)
        process.until(lambda p: b"end\n" in p.err)
        assert process.err.split() == [b"%d" % n for n in range(50)] + [b"end"]
        assert len(read_all(read)) == 1_000_000
        assert process.wait() == "exited 0"


def test_the_reader_leaving_is_noticed_without_a_write(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
closed = []
printer.on_closed = closed.append
printer.out("first\\n")
say("up")
until(lambda: closed)
printer.out("nobody reads this\\n")
printer.flush(5)
assert closed == [Target.OUT], closed
assert printer.out_error is None
done(7)
"""
    with Process(child(body), stdout=write) as process:
        os.close(write)
        process.until(lambda p: b"up" in p.err)
        assert os.read(read, 100) == b"first\n"
        os.close(read)
        assert process.wait() == "exited 7", process.err


def test_the_reader_leaving_a_full_pipe_is_noticed(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
closed = []
printer.on_closed = closed.append
printer.out("x" * 1_000_000)
assert not printer.flush(0.05)
say("full")
until(lambda: closed)
done(7)
"""
    with Process(child(body), stdout=write) as process:
        os.close(write)
        process.until(lambda p: b"full" in p.err)
        os.close(read)
        assert process.wait() == "exited 7", process.err


def test_a_broken_stderr_is_dropped(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    body = """
closed = []
printer.on_closed = closed.append
printer.note("nobody reads this")
printer.announce("nor this")
printer.out("data\\n")
assert printer.flush(10)
assert not closed
done()
"""
    with Process(child(body), stderr=write) as process:
        assert process.wait() == "exited 0"
        assert process.out == b"data\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_kept_as_the_error_of_stdout() -> None:
    body = """
import errno
printer.out("data\\n")
printer.note("chrome")
assert printer.flush(10)
assert printer.out_error.errno == errno.ENOSPC
done()
"""
    with open("/dev/full", "wb") as full, Process(child(body), stdout=full) as process:
        assert process.wait() == "exited 0", process.err
        assert process.err == b"chrome\n"


def test_a_closed_stdout_is_an_error_of_stdout() -> None:
    body = """
import errno
printer.out("data\\n")
assert printer.flush(10)
assert printer.out_error.errno == errno.EBADF
printer.note("chrome")
done()
"""
    with Process(["sh", "-c", 'exec "$@" >&-', "sh", *child(body)]) as process:
        assert process.wait() == "exited 0", process.err
        assert process.err == b"chrome\n"


def test_one_pipe_for_both_keeps_the_order(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
for number in range(300):
    printer.out(f"o{number}\\n")
    printer.note(f"e{number}")
done()
"""
    with Process(child(body), stdout=write, stderr=write) as process:
        os.close(write)
        data = read_all(read)
        assert process.wait() == "exited 0"
    assert data.decode() == "".join(f"o{n}\ne{n}\n" for n in range(300))


def test_writes_to_a_pipe_fit_into_it(pipe: tuple[int, int]) -> None:
    read, write = pipe
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    body = 'printer.out("".join(f"{n:06d}\\n" for n in range(50_000)))\ndone()\n'
    with Process(child(body), stdout=write) as process:
        os.close(write)
        data = read_all(read)
        assert process.wait() == "exited 0", process.err
    assert data.decode().split() == [f"{n:06d}" for n in range(50_000)]


def test_the_inherited_descriptors_stay_blocking() -> None:
    body = """
import fcntl
printer.out("x\\n")
printer.note("y")
printer.flush(10)
assert all(os.get_blocking(fd) for fd in (0, 1, 2))
done()
"""
    with Terminal(child(body)) as terminal:
        assert terminal.wait() == "exited 0", terminal.screen
        assert os.get_blocking(terminal.slave)
    read, write = os.pipe()
    with Process(child(body), stdout=write) as process:
        assert process.wait() == "exited 0", process.err
        assert os.get_blocking(write)
    os.close(read)
    os.close(write)


@pytest.mark.req("104-116")
def test_chrome_and_reply_interleave_on_a_terminal() -> None:
    body = """
for number in range(500):
    printer.out(f"o{number}\\n")
    printer.chrome(f"e{number}\\n")
done()
"""
    with Terminal(child(body)) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.output.decode() == "".join(f"o{n}\r\ne{n}\r\n" for n in range(500))


def test_a_stopped_terminal_wedges_nothing_and_loses_nothing() -> None:
    report, far = os.pipe()
    body = """
say("up")
sys.stdin.readline()
for number in range(400):
    printer.out(f"line {number}\\n")
began = time.monotonic()
assert not printer.flush(0.2)
printer.announce("said past the queue")
with printer.lend():
    pass
printer.suspend()
printer.resume()
assert time.monotonic() - began < 5
say("not held up")
done()
"""
    with Terminal(child(body, far), pass_fds=[far]) as terminal:
        os.close(far)
        assert os.read(report, 100) == b"up\n"
        terminal.send(CTRL_S + b"\r")
        assert os.read(report, 100) == b"not held up\n"
        terminal.pump(0)
        assert b"line" not in terminal.output
        terminal.send(CTRL_Q)
        assert terminal.wait() == "exited 0", terminal.screen
        lines = terminal.output.decode().split("\r\n")
        assert [line for line in lines if line.startswith("line")] == [f"line {n}" for n in range(400)]
        assert "said past the queue" in lines
    os.close(report)


def test_a_terminal_nobody_reads_holds_the_worker_alone() -> None:
    """The master is not read: the kernel's buffer fills up with room for less than a write left in it."""
    report, far = os.pipe()
    body = """
printer.out("x" * 200_000)
began = time.monotonic()
assert not printer.flush(0.2)
printer.announce("past the queue")
assert not printer.flush(0.2)
assert time.monotonic() - began < 5
say("not held up")
done()
"""
    with Terminal(child(body, far), pass_fds=[far]) as terminal:
        os.close(far)
        assert os.read(report, 100) == b"not held up\n"
        assert terminal.wait() == "exited 0"
        assert terminal.output.count(b"x") >= 200_000, "the end of the line that was cut may be there twice"
    os.close(report)


def test_the_terminal_is_not_touched_when_it_is_lost() -> None:
    report, far = os.pipe()
    body = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
seen = []
printer.on_closed = lambda target: seen.append("closed")
printer.on_hangup = lambda: seen.append("hangup")
printer.out("x\\n")
printer.flush(10)
say("up")
until(lambda: seen)
printer.out("y\\n")
printer.note("z")
printer.announce("z")
assert printer.flush(10)
say(str(seen))
done()
"""
    with Terminal(child(body, far), pass_fds=[far]) as terminal:
        os.close(far)
        assert os.read(report, 100) == b"up\n"
        terminal.hang_up()
        assert os.read(report, 100) == b"['hangup']\n"
        assert terminal.process.wait(30) == 0
        terminal.status = "exited 0"
    os.close(report)


def test_a_reply_that_nobody_paces_is_written_at_once() -> None:
    """Half the chunks of a stream arrive within a few milliseconds of being printed."""
    body = """
printer.out("warm\\n")
printer.flush(10)
time.sleep(0.05)
for number in range(100):
    printer.out(f"{time.monotonic():.6f}\\n")
    time.sleep(0.003)
done()
"""
    with Process(child(body)) as process:
        assert process.process.stdout is not None
        fd = process.process.stdout.fileno()
        late = []
        while data := os.read(fd, 4096):
            now = time.monotonic()
            late += [now - float(line) for line in data.split() if line != b"warm"]
        late.sort()
        assert len(late) == 100
        assert late[50] < 0.05


@pytest.mark.slow
def test_no_thread_is_frozen_by_a_large_write() -> None:
    body = """
import _thread
sys.setswitchinterval(0.0005)
worst = [0.0]
def watch():
    last = time.monotonic()
    while True:
        time.sleep(0.0005)
        now = time.monotonic()
        worst[0] = max(worst[0], now - last)
        last = now
_thread.start_new_thread(watch, ())
text = "".join(f"line {n} \\x1b[31mred\\x1b[0m some words\\n" for n in range(30_000))[:1_000_000]
idle = time.monotonic() + 0.3
while time.monotonic() < idle: time.sleep(0.01)
worst[0] = 0.0
printer.out(text)
printer.note(text)
printer.flush(20)
say(f"worst {worst[0]:.4f}")
done()
"""
    with Process(child(body), stdout=subprocess.DEVNULL) as process:
        assert process.wait() == "exited 0", process.err[-500:]
        worst = float(process.err.rpartition(b"worst ")[2])
        assert worst < 0.5, "far above what is measured, for a machine under load"


def test_the_worker_sleeps_when_there_is_nothing_to_do(pipe: tuple[int, int]) -> None:
    read, write = pipe
    body = """
printer.out("x" * 1_000_000)
printer.flush(0.3)
before = time.process_time()
time.sleep(0.5)
say(f"{time.process_time() - before:.3f}")
os._exit(0)
"""
    with Process(child(body), stdout=write) as process:
        assert process.wait() == "exited 0"
        assert float(process.err) < 0.2
    os.close(read)
    with Terminal(child(body + "\n", 2), stderr=subprocess.PIPE) as terminal:
        assert terminal.process.stderr is not None
        ready, _, _ = select.select([terminal.process.stderr], [], [], 30)
        assert ready
        assert float(os.read(terminal.process.stderr.fileno(), 100)) < 0.2


def test_the_end_of_the_program_waits_for_no_worker() -> None:
    """Neither a full pipe nor a status line keeps the interpreter from ending."""
    read, write = os.pipe()
    body = 'printer.out("x" * 1_000_000)\nprinter.status("Waiting…")\nsys.exit(3)\n'
    with Process(child(body), stdout=write) as process:
        os.close(write)
        assert process.wait() == "exited 3"
    os.close(read)


def test_a_signal_is_handled_while_a_flush_waits(pipe: tuple[int, int]) -> None:
    _, write = pipe
    body = """
import signal
signal.signal(signal.SIGINT, lambda *_: os._exit(9))
printer.out("x" * 1_000_000)
say("waiting")
printer.flush(None)
"""
    with Process(child(body), stdout=write) as process:
        process.until(lambda p: b"waiting" in p.err)
        process.kill(signal.SIGINT)
        assert process.wait() == "exited 9"


def test_importing_it_is_cheap() -> None:
    code = (
        "import sys; before = set(sys.modules); import jp.terminal.printer, jp.terminal.tty, jp.terminal.promptability;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    heavy = {
        "re",
        "typing",
        "dataclasses",
        "threading",
        "logging",
        "json",
        "asyncio",
        "wcwidth",
        "subprocess",
        "socket",
    }
    assert not loaded & heavy
    assert "jp.terminal.sanitize" not in loaded
    assert len({name for name in loaded if not name.startswith("jp.")}) <= 16


def test_a_reader_that_had_left_before_anybody_listened_is_told(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    body = """
time.sleep(0.1)
closed = []
printer.on_closed = closed.append
until(lambda: closed)
assert closed == [Target.OUT]
done(7)
"""
    with Process(child(body), stdout=write) as process:
        assert process.wait() == "exited 7", process.err


def test_closing_twice_costs_nothing() -> None:
    body = """
printer.out("x\\n")
assert printer.close(20)
began = time.monotonic()
for _ in range(20):
    assert printer.close(20)
    printer.out("y\\n")
    printer.flush(20)
    printer.note("z")
assert time.monotonic() - began < 5
os._exit(0)
"""
    with Process(child(body)) as process:
        assert process.wait() == "exited 0", process.err
        assert process.out == b"x\n"


def test_a_terminal_that_cannot_be_opened_by_name_holds_the_worker_alone() -> None:
    """The fallback: writes on the inherited descriptor may block, and only the worker waits for them."""
    report, far = os.pipe()
    body = """
from jp.terminal import system
system.private_writer = lambda fd: None
printer = Printer.for_process(format=Format.AUTO, environ=os.environ, tty=tty)
printer.out("x" * 200_000)
began = time.monotonic()
assert not printer.flush(0.2)
printer.announce("past the queue")
assert not printer.flush(0.2)
with printer.lend():
    pass
assert time.monotonic() - began < 5
say("not held up")
done()
"""
    with Terminal(child(body, far), pass_fds=[far]) as terminal:
        os.close(far)
        assert os.read(report, 100) == b"not held up\n"
        assert terminal.wait() == "exited 0"
        assert terminal.output.count(b"x") >= 200_000, "the end of the line that was cut may be there twice"
    os.close(report)


@pytest.mark.req("104-130")
def test_many_threads_on_three_real_channels() -> None:
    body = """
import threading
def speak(name):
    for number in range(150):
        printer.out(f"<o{name} {number} {'x' * (number % 70)}>\\n")
        printer.note(f"<e{name} {number} {'y' * (number % 70)}>")
        printer.terminal(f"<t{name} {number}>\\n")
with printer.status("Waiting…", interval=0.05):
    threads = [threading.Thread(target=speak, args=(name,)) for name in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
done()
"""
    with Terminal(child(body), stdout=subprocess.PIPE) as terminal:
        assert terminal.wait() == "exited 0"
        out = terminal.piped[1].decode().splitlines()
        screen = re.sub(r"\r⏱[^\r]*\r\x1b\[K", "", terminal.output.decode()).replace("\r\n", "\n").splitlines()
    screen = [line.removeprefix("\r\x1b[K") for line in screen]
    for channel, lines in (("o", out), ("e", screen), ("t", screen)):
        for name in range(4):
            mine = [line for line in lines if line.startswith(f"<{channel}{name} ")]
            assert [int(line[1:-1].split()[1]) for line in mine] == list(range(150))
            assert all(line.endswith(">") and line.count("<") == 1 for line in mine)
    assert len(out) == 600
    assert len([line for line in screen if line]) == 1200


def test_a_fault_of_the_worker_silences_no_channel() -> None:
    body = """
printer._post(lambda: 1 / 0)
printer.out("data\\n")
assert printer.flush(10)
assert isinstance(printer.fault, ZeroDivisionError)
for _ in range(100):
    printer._post(lambda: 1 / 0)
    time.sleep(0.001)
printer.out("given up\\n")
printer.flush(None)
printer.close(None)
with printer.lend():
    pass
printer.announce("past a worker that has ended")
os._exit(0)
"""
    with Process(child(body)) as process:
        assert process.wait() == "exited 0", process.err
        assert process.out.startswith(b"data\n")
        assert b"past a worker that has ended\n" in process.err
