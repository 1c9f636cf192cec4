"""A low limit on open files: the terminal is shared then, and where even that is too much it is said in words."""

import errno
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jp.terminal import posix
from jp.terminal.posix import NoDescriptors, Waiter, open_terminal, private_writer
from jp.terminal.sink import FdSink
from jp.terminal.target import Target
from tests.support.process import Process
from tests.support.terminal import Terminal

LIST = ["sh", "-c", 'ulimit -n "$1"; exec "$2" -m jp conversation ls', "sh"]
TOO_FEW, ENOUGH = "does not let JP open what it needs", "no workspace found"


@contextmanager
def room_for(count: int) -> Iterator[None]:
    """Exactly `count` more descriptors can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.dup(0)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe + 64, hard))
    taken = []
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        pass
    for fd in taken[len(taken) - count :]:
        os.close(fd)
    try:
        yield
    finally:
        for fd in taken[: len(taken) - count]:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def free() -> int:
    """How many more can be opened."""
    taken = []
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        pass
    for fd in taken:
        os.close(fd)
    return len(taken)


# With 6, two threads that begin have one descriptor to load their modules with: which of them fails is chance.
@pytest.mark.parametrize("limit", range(7, 13))
def test_a_terminal_run_works_or_says_why_not(limit: int, tmp_path: Path) -> None:
    with Terminal([*LIST, str(limit), sys.executable], cwd=tmp_path) as terminal:
        assert terminal.wait() == "exited 1"
        said = terminal.screen.text
    assert (TOO_FEW if limit < 8 else ENOUGH) in said.replace("\n", "")
    assert "internal error" not in said
    assert limit < 8 or "Traceback" not in said
    assert ("ulimit -n" in said) == (limit < 8)


@pytest.mark.parametrize("limit", range(7, 10))
@pytest.mark.parametrize("format_", ["auto", "json"])
def test_so_does_one_without_a_terminal(limit: int, format_: str, tmp_path: Path) -> None:
    command = LIST[2] + f" --format {format_}"
    with Process([*LIST[:2], command, "sh", str(limit), sys.executable], cwd=tmp_path) as process:
        assert process.wait() == "exited 1"
        said = process.err.decode()
    assert (TOO_FEW if limit < 8 else ENOUGH) in said
    if format_ == "json":
        assert ('"code": "system"' in said or '"code":"system"' in said) == (limit < 8)


@pytest.mark.parametrize("count", range(4))
def test_a_terminal_is_not_opened_again_with_the_last_descriptors(count: int) -> None:
    master, slave = os.openpty()
    name = os.ttyname(slave)
    try:
        with room_for(count):
            assert private_writer(slave) is None
            sink = FdSink({Target.OUT: slave}, terminal=True)
            assert sink.watched() == slave
            assert sink.write(Target.OUT, memoryview(b"still written")) == 13
            with pytest.raises(OSError, match=os.strerror(errno.EMFILE)):
                open_terminal(name)
            assert free() == count
        assert os.read(master, 100) == b"still written"
    finally:
        os.close(master)
        os.close(slave)


def test_it_is_opened_again_where_there_is_room() -> None:
    master, slave = os.openpty()
    try:
        with room_for(1 + posix._SPARE):
            own = private_writer(slave)
            assert own is not None
            os.close(own)
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ENXIO, errno.EIO, errno.EACCES, errno.ENOMEM])
def test_whatever_keeps_it_from_being_opened(error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()

    def refuse(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", refuse)
    try:
        assert private_writer(slave) is None
        assert FdSink({Target.OUT: slave}, terminal=True).watched() == slave
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("count", range(3))
def test_a_writer_that_cannot_be_woken_is_an_error_in_words(count: int) -> None:
    with room_for(count):
        with pytest.raises(NoDescriptors) as caught:
            Waiter()
        left = free()
    assert left == count, "nothing is kept"
    assert caught.value.code == "system"
    assert caught.value.metadata == {"errno": errno.EMFILE}
    assert "ulimit" in caught.value.hints[0]
