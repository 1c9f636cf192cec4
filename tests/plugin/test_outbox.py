"""The writing end of a plugin's stdin: in order, whole, and never waiting for the plugin."""

import _thread
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from random import Random

import pytest

from jp.plugin.outbox import FULL, Outbox

PIECE = 64 * 1024


def until(condition: Callable[[], object], within: float = 10.0) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end
        select.select([], [], [], 0.002)


class Pipe:
    """An outbox, and the end of its pipe that the plugin has."""

    def __init__(self) -> None:
        self.fd, writer = os.pipe()
        self.drained = 0
        self.failures: list[BaseException] = []
        self.outbox = Outbox(writer, self._drained, self.failures.append)
        self.writer = writer

    def _drained(self) -> None:
        self.drained += 1

    def read(self, count: int, within: float = 10.0) -> bytes:
        """So many bytes, as they come; fewer at the end."""
        got = bytearray()
        end = time.monotonic() + within
        while len(got) < count:
            assert select.select([self.fd], [], [], max(0, end - time.monotonic()))[0], f"{len(got):,} of {count:,}"
            data = os.read(self.fd, min(count - len(got), PIECE))
            if not data:
                break
            got += data
        return bytes(got)

    def silent(self, seconds: float = 0.05) -> bool:
        """Whether nothing comes, not even the end."""
        return not select.select([self.fd], [], [], seconds)[0]

    @property
    def shut(self) -> bool:
        try:
            os.fstat(self.writer)
        except OSError:
            return True
        return False

    def close(self) -> None:
        self.outbox.abandon()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        until(lambda: self.shut)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def test_what_fits_is_written_at_once_and_needs_no_thread(pipe: Pipe) -> None:
    threads = _thread._count()
    for number in range(100):
        pipe.outbox.send(b"%d\n" % number)
        assert pipe.read(len(b"%d\n" % number), 0) == b"%d\n" % number
    assert _thread._count() == threads
    assert pipe.outbox.size == 0
    assert not pipe.outbox.full


@pytest.mark.req("D60-75", "D60-76")
def test_it_never_waits_for_a_plugin_that_does_not_read(pipe: Pipe) -> None:
    slowest = 0.0
    for number in range(400):
        began = time.monotonic()
        pipe.outbox.send(b"%03d" % number + b"x" * PIECE)
        slowest = max(slowest, time.monotonic() - began)
        assert pipe.outbox.full == (pipe.outbox.size > FULL)
    assert pipe.outbox.full
    began = time.monotonic()
    pipe.outbox.send(b"shutdown")
    pipe.outbox.close()
    pipe.outbox.abandon()
    slowest = max(slowest, time.monotonic() - began)
    assert slowest < 0.5


def test_in_order_and_whole_whatever_their_sizes(pipe: Pipe) -> None:
    random = Random(3)
    sent = [bytes([65 + n % 26]) * random.choice([1, 10, 5000, 65536, 300_000]) for n in range(200)]
    threading.Thread(target=lambda: [pipe.outbox.send(each) for each in sent], daemon=True).start()
    assert pipe.read(sum(map(len, sent)), 20) == b"".join(sent)
    until(lambda: pipe.drained and pipe.outbox.size == 0)
    assert pipe.silent()


def test_what_is_counted_comes_to_nothing_in_the_end(pipe: Pipe) -> None:
    """Counted up on one thread and down on another: nothing may get lost on the way, or it is full for ever."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    got = 0

    def read() -> None:
        nonlocal got
        while data := os.read(pipe.fd, 1 << 20):
            got += len(data)

    reader = threading.Thread(target=read)
    reader.start()
    sent = 0
    try:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            for _ in range(50):
                pipe.outbox.send(b"x" * 5000)
                sent += 5000
    finally:
        sys.setswitchinterval(before)
    until(lambda: got == sent)
    until(lambda: pipe.outbox.size == 0 and not pipe.outbox.full, 2)
    pipe.outbox.close()
    reader.join(10)
    assert not reader.is_alive()


def test_a_stream_is_made_as_it_is_read_and_keeps_its_place(pipe: Pipe) -> None:
    made: list[int] = []

    def pieces() -> Iterator[bytes]:
        for number in range(100):
            made.append(number)
            yield b"%02d" % number * (PIECE // 2)

    pipe.outbox.send(b"before")
    pipe.outbox.send(pieces())
    pipe.outbox.send(b"behind")
    assert pipe.read(6) == b"before"
    until(lambda: made)
    select.select([], [], [], 0.05)
    assert len(made) <= 3  # what the pipe holds, and the one that waits for room
    for number in range(100):
        assert pipe.read(PIECE) == b"%02d" % number * (PIECE // 2)
        assert len(made) <= number + 4
    assert pipe.read(6) == b"behind"
    until(lambda: pipe.outbox.streams == 0)


def test_streams_that_wait_make_it_full(pipe: Pipe) -> None:
    pieces = lambda: iter([b"x" * PIECE] * 3)
    pipe.outbox.send(pieces())
    assert not pipe.outbox.full
    pipe.outbox.send(pieces())
    until(lambda: pipe.outbox.full)
    pipe.read(6 * PIECE)
    until(lambda: not pipe.outbox.full and pipe.drained)


def test_it_tells_when_all_is_read(pipe: Pipe) -> None:
    for round_ in range(3):
        before = pipe.drained
        for _ in range(10):
            pipe.outbox.send(b"x" * PIECE)
        select.select([], [], [], 0.02)
        assert round_ or pipe.drained == before
        pipe.read(10 * PIECE)
        until(lambda before=before: pipe.drained > before and pipe.outbox.size == 0)  # type: ignore[misc]


def test_the_end_comes_behind_what_waits(pipe: Pipe) -> None:
    for number in range(10):
        pipe.outbox.send(b"%d" % number * PIECE)
    pipe.outbox.send(iter([b"s" * PIECE] * 3))
    pipe.outbox.close()
    pipe.outbox.send(b"too late")
    assert not pipe.shut
    assert pipe.read(100 * PIECE) == b"".join(b"%d" % n * PIECE for n in range(10)) + b"s" * 3 * PIECE
    until(lambda: pipe.shut)


def test_the_end_comes_at_once_where_nothing_waits(pipe: Pipe) -> None:
    pipe.outbox.send(b"last")
    pipe.outbox.close()
    assert pipe.shut
    assert pipe.read(10) == b"last"


@pytest.mark.req("D60-76")
@pytest.mark.parametrize("waiting", ["nothing", "pieces", "a stream", "an end"])
def test_what_is_abandoned_is_closed_and_written_no_more(pipe: Pipe, waiting: str) -> None:
    threads = _thread._count()
    if waiting == "a stream":
        pipe.outbox.send(b"x" * PIECE for _ in range(1_000_000_000))
    elif waiting != "nothing":
        for _ in range(50):
            pipe.outbox.send(b"x" * PIECE)
    if waiting == "an end":
        pipe.outbox.close()
    began = time.monotonic()
    pipe.outbox.abandon()
    pipe.outbox.send(b"behind")
    assert time.monotonic() - began < 0.2
    until(lambda: pipe.shut, 3)
    assert len(pipe.read(50 * PIECE)) <= 4 * PIECE  # what was in the pipe
    until(lambda: _thread._count() == threads)
    assert pipe.failures == []


@pytest.mark.req("D60-77")
def test_a_plugin_that_dies_takes_everything(pipe: Pipe) -> None:
    """Nothing raises and nothing waits on; its end is told by others."""
    for _ in range(20):
        pipe.outbox.send(b"x" * PIECE)
    pipe.outbox.send(b"y" * PIECE for _ in range(10_000))
    os.close(pipe.fd)
    pipe.fd = -1
    until(lambda: pipe.drained and pipe.outbox.size == 0 and pipe.outbox.streams == 0)
    for _ in range(100):
        pipe.outbox.send(b"x" * PIECE)
    pipe.outbox.send(iter([b"more"]))
    until(lambda: not pipe.outbox.size)
    pipe.outbox.close()
    until(lambda: pipe.shut)
    assert pipe.failures == []


def test_a_stream_that_fails_is_told_and_ends_it(pipe: Pipe) -> None:
    """The plugin would wait for the rest of the line for ever."""

    def pieces() -> Iterator[bytes]:
        yield b"half of a l"
        raise OSError("the disk is gone")

    pipe.outbox.send(pieces())
    pipe.outbox.send(b"not behind that\n")
    until(lambda: pipe.failures)
    assert str(pipe.failures[0]) == "the disk is gone"
    assert pipe.read(100) == b"half of a l"
    until(lambda: pipe.shut)


def test_a_number_that_is_another_files_by_now_is_left_alone(pipe: Pipe) -> None:
    pipe.outbox.close()
    reader, writer = os.pipe()
    try:
        assert pipe.writer in (reader, writer)
        pipe.outbox.send(b"late")
        pipe.outbox.close()
        pipe.outbox.abandon()
        pipe.outbox.send(iter([b"late"]))
        assert not select.select([reader], [], [], 0.02)[0]  # neither written nor closed
        os.fstat(writer)
    finally:
        os.close(reader)
        os.close(writer)
