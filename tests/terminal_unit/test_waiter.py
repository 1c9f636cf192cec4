"""Waiting: woken, ready and broken, with poll and with what stands in for it where poll refuses terminals."""

import os
import threading
import time
from collections.abc import Iterator

import pytest

from jp.terminal import posix


@pytest.fixture(params=[False, True], ids=["poll", "select"])
def waiter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> posix.Waiter:
    monkeypatch.setattr(posix, "_POLL_REFUSES_TERMINALS", request.param)
    monkeypatch.setattr(posix, "_SWEEP_SECS", 0.02)
    return posix.Waiter()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    os.set_blocking(write, False)
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            pass


def fill(fd: int) -> None:
    try:
        while True:
            os.write(fd, b"x" * 4096)
    except BlockingIOError:
        pass


def test_a_deadline_ends_it(waiter: posix.Waiter, pipe: tuple[int, int]) -> None:
    began = time.monotonic()
    assert not list(waiter.wait(0.05, {}))
    assert not list(waiter.wait(0.05, {pipe[1]: False}))
    assert 0.09 < time.monotonic() - began < 10


def test_waking_ends_it_now_or_the_next_time(waiter: posix.Waiter, pipe: tuple[int, int]) -> None:
    waiter.wake()
    waiter.wake()
    assert waiter.awake
    assert not list(waiter.wait(None, {pipe[1]: False}))
    assert not waiter.awake
    thread = threading.Thread(target=waiter.wake)
    thread.start()
    assert not list(waiter.wait(None, {}))
    thread.join()


def test_room_ends_it_only_where_it_is_wanted(waiter: posix.Waiter, pipe: tuple[int, int]) -> None:
    assert not list(waiter.wait(0, {pipe[1]: False}))
    assert list(waiter.wait(None, {pipe[1]: True})) == [(pipe[1], False)]
    fill(pipe[1])
    assert not list(waiter.wait(0.02, {pipe[1]: True}))
    os.read(pipe[0], 65536)
    assert list(waiter.wait(None, {pipe[1]: True})) == [(pipe[1], False)]


@pytest.mark.parametrize("room", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_a_reader_that_left_ends_it(waiter: posix.Waiter, pipe: tuple[int, int], room: bool, full: bool) -> None:
    if full:
        fill(pipe[1])
    os.close(pipe[0])
    assert list(waiter.wait(None, {pipe[1]: room})) == [(pipe[1], True)]
    assert not list(waiter.wait(0, {})), "not watched any more"


def test_what_is_watched_may_change(waiter: posix.Waiter, pipe: tuple[int, int]) -> None:
    other_read, other = os.pipe()
    assert dict(waiter.wait(0, {pipe[1]: True, other: False})) == {pipe[1]: False}
    assert dict(waiter.wait(0, {pipe[1]: False, other: True})) == {other: False}
    assert not dict(waiter.wait(0, {}))
    os.close(other_read)
    os.close(other)


def test_no_post_is_missed(waiter: posix.Waiter) -> None:
    """Whatever was appended before a wake is seen after the wait that the wake ended."""
    posted: list[int] = []
    count = 2000

    def produce() -> None:
        for number in range(count):
            posted.append(number)
            waiter.wake()

    threads = [threading.Thread(target=produce) for _ in range(3)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 30
    seen = 0
    while seen < 3 * count:
        assert time.monotonic() < deadline
        waiter.wait(5, {})
        seen = len(posted)
    for thread in threads:
        thread.join()
