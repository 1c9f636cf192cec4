"""Locks: one holder at a time, whoever dies, stops or unlinks."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jp.errors import LOCKED
from jp.storage import lock
from jp.storage.errors import LockedError, WriteError
from jp.storage.lock import Holder, acquire, try_acquire

ME = Holder.this_process("jp query", "getsid-1")

HOLD = """
import sys, signal
sys.path[:0] = sys.argv[2:]
from jp.storage.lock import Holder, acquire
acquire(sys.argv[1], Holder.this_process("jp query 'x'", "getsid-7"))
print("held", flush=True)
signal.pause()
"""


def hold(path: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path), *sys.path], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    return child


def end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    if child.stdout:
        child.stdout.close()


def until(condition, seconds: float = 20.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came about"
        threading.Event().wait(0.005)
    return found


def test_held_by_one_and_had_again_after_it_was_let_go(folder: Path) -> None:
    path = str(folder / "locks" / "1.lock")
    with acquire(path, ME) as held:
        assert held.held
        assert try_acquire(path, ME) is None
        inside = json.loads(Path(path).read_bytes())
        assert inside["pid"] == os.getpid()
        assert inside["command"] == "jp query"
        assert inside["session"] == "getsid-1"
        assert inside["acquired_at"]
    assert not held.held
    held.release()
    assert Path(path).read_bytes() == b""
    with acquire(path, ME):
        pass


def test_the_error_names_who_holds_it_and_since_when(folder: Path) -> None:
    path = folder / "1.lock"
    child = hold(path)
    with pytest.raises(LockedError) as error:
        acquire(str(path), ME, what="jp-c1")
    end(child)
    found = error.value
    assert found.status == LOCKED == 4
    assert found.code == "locked"
    for part in ("jp-c1", str(child.pid), "jp query 'x'", " UTC"):
        assert part in found.message
    assert found.metadata["pid"] == child.pid
    assert found.metadata["state"] == "running"
    assert found.metadata["since"]
    assert found.hints == ("Try again when it is done.",)


def test_a_dead_holder_does_not_block(folder: Path) -> None:
    path = folder / "1.lock"
    child = hold(path)
    inode = path.stat().st_ino
    end(child)
    with acquire(str(path), ME):
        pass
    assert path.stat().st_ino == inode


def test_a_stopped_holder_is_said_to_be_stopped(folder: Path) -> None:
    path = folder / "1.lock"
    child = hold(path)
    child.send_signal(signal.SIGSTOP)
    try:
        until(lambda: Holder(child.pid).state() in ("stopped", "unknown"))
        with pytest.raises(LockedError) as error:
            acquire(str(path), ME)
        if error.value.metadata["state"] != "unknown":
            assert "which is stopped" in error.value.message
            assert any("fg" in hint for hint in error.value.hints)
    finally:
        end(child)


def test_a_child_does_not_keep_the_lock(folder: Path) -> None:
    path = str(folder / "1.lock")
    held = acquire(path, ME)
    argv = [sys.executable, "-c", "print('up', flush=True); input()"]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    held.release()
    with acquire(path, ME):
        pass
    child.communicate(b"\n")


def test_a_file_that_was_removed_meanwhile_is_not_the_lock(folder: Path) -> None:
    """The original removes the file when it lets go; whoever waits on the old one must not believe it has the lock."""
    path = folder / "1.lock"
    first = acquire(str(path), ME)
    opened: list[int] = []
    real = lock._open

    def slow(name: str) -> int:
        fd = real(name)
        if not opened:
            opened.append(fd)
            path.unlink()
            first.release()
        return fd

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lock, "_open", slow)
        second = acquire(str(path), ME)
    assert path.exists()
    assert try_acquire(str(path), ME) is None
    second.release()


COUNT = """
import sys
sys.path[:0] = sys.argv[4:]
from jp.storage.lock import Holder, try_acquire
path, counter, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
me = Holder.this_process("count")
done = 0
while done < times:
    held = try_acquire(path, me)
    if held is None:
        continue
    with open(counter) as file:
        n = int(file.read())
    with open(counter, "w") as file:
        file.write(str(n + 1))
    held.release()
    done += 1
"""


@pytest.mark.slow
def test_many_processes_never_hold_it_together(folder: Path) -> None:
    path, counter = folder / "1.lock", folder / "n"
    counter.write_text("0")
    argv = [sys.executable, "-c", COUNT, str(path), str(counter), "150", *sys.path]
    children = [subprocess.Popen(argv) for _ in range(4)]
    victims = [subprocess.Popen([sys.executable, "-c", DIE, str(path), *sys.path]) for _ in range(3)]
    assert [child.wait(120) for child in children] == [0] * 4
    assert [victim.wait(120) for victim in victims] == [-signal.SIGKILL] * 3
    assert counter.read_text() == "600"


DIE = """
import os, sys
sys.path[:0] = sys.argv[2:]
from jp.storage.lock import Holder, try_acquire
while try_acquire(sys.argv[1], Holder.this_process("die")) is None:
    pass
os.kill(os.getpid(), 9)
"""


def test_what_the_file_says_need_not_be_json(folder: Path) -> None:
    path = folder / "1.lock"
    held = acquire(str(path), ME)
    for content in (b"", b"{", b"[]", b'{"pid": "x"}', b"\xff"):
        path.write_bytes(content)
        with pytest.raises(LockedError, match="another process"):
            acquire(str(path), ME)
    held.release()


def test_a_command_line_is_shown_on_one_line(folder: Path) -> None:
    path = str(folder / "1.lock")
    with acquire(path, Holder.this_process("jp q two\nlines\x1b[2J\u202e")), pytest.raises(LockedError) as error:
        acquire(path, ME)
    assert "(jp q two lines [2J)" in error.value.message


def test_a_place_that_cannot_be_written_is_an_error(folder: Path) -> None:
    (folder / "file").touch()
    with pytest.raises(WriteError):
        acquire(str(folder / "file" / "1.lock"), ME)


def test_holders_that_are_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert Holder(child.pid).state() in ("dead", "unknown")
    assert Holder(os.getpid()).state() in ("running", "unknown")
