"""A source can be stopped wherever it waits, and ends at once."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jp.llm import errors as e
from jp.llm.connect import Lifeline
from tests.llm.receiving import Receiver, timed
from tests.wire.certificates import GOOD, authority_file, server_context
from tests.wire.model_server import ModelServer, endless, silent, text
from tests.wire.raw_server import AT_ONCE, HANG, RawServer

SOON = 5.0  # a thread that waits in the kernel would be there for 30 s or more


@contextlib.contextmanager
def deaf_port() -> Iterator[int]:
    """A port whose backlog is full: connections to it stay half open."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        where = listener.getsockname()
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(where)
        yield where[1]


def check(receiver: Receiver) -> None:
    receiver.source.stop()
    assert timed(receiver) < SOON
    assert isinstance(receiver.error, e.Stopped)


def test_while_it_connects() -> None:
    with deaf_port() as port:
        check(Receiver(f"http://127.0.0.1:{port}").until("connecting"))


def test_while_it_shakes_hands(tmp_path: Path) -> None:
    with RawServer([[AT_ONCE, HANG]]) as server:
        receiver = Receiver(f"https://127.0.0.1:{server.port}", environ={"SSL_CERT_FILE": authority_file(tmp_path)})
        receiver.until("connecting")
        wait_for(lambda: server.connections == 1)
        check(receiver)


@pytest.mark.parametrize("secure", [False, True])
def test_while_it_waits_for_the_head(secure: bool, tmp_path: Path) -> None:
    tls = server_context(GOOD, tmp_path) if secure else None
    with RawServer([[HANG]], tls=tls) as server:
        receiver = Receiver(server.base_url, environ={"SSL_CERT_FILE": authority_file(tmp_path)})
        server.wait_for_requests(1)
        check(receiver.until("waiting"))


@pytest.mark.parametrize("reply", [silent(after="kept"), endless("kept", delay_ms=1), endless("kept")])
def test_while_it_reads(reply: Callable[[object], None]) -> None:
    with ModelServer(reply) as server:
        receiver = Receiver(server.base_url, max_response_bytes=1 << 40).until_text("kept")
        check(receiver)
    assert receiver.text.startswith("kept")


def test_while_it_sends() -> None:
    with RawServer([[AT_ONCE, HANG]]) as server:
        server._handle = lambda connection: server._stopped.wait(60)  # type: ignore[assignment]  # never reads
        receiver = Receiver(server.base_url, body=[b"x" * 1_000_000] * 50).until("connecting")
        wait_for(lambda: server.connections == 1)
        check(receiver)


def test_the_server_sees_the_end_at_once() -> None:
    gone: list[float] = []

    def reply(exchange: object) -> None:
        endless("kept", delay_ms=5)(exchange)  # type: ignore[arg-type]

    def noticing(exchange: object) -> None:
        try:
            reply(exchange)
        except OSError:
            gone.append(time.monotonic())
            raise

    with ModelServer(noticing) as server:
        receiver = Receiver(server.base_url).until_text("kept")
        receiver.source.stop()
        receiver.finish()
        wait_for(lambda: bool(gone))


def test_before_it_starts_and_after_it_ended() -> None:
    with ModelServer(text("hi")) as server:
        receiver = Receiver(server.base_url).finish()
        receiver.source.stop()
        receiver.source.stop()
    assert receiver.error is None
    line = Lifeline()
    line.cut()
    with pytest.raises(e.Stopped), socket.socket() as sock:
        line.hold(sock)


def test_descriptors_are_given_back() -> None:
    def descriptors() -> int:
        return len([*Path("/proc/self/fd").iterdir()])

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no /proc to count descriptors in")
    with ModelServer(text("hi"), text("hi", cut=20), endless("x")) as server:
        Receiver(server.base_url).finish()
        wait_for(lambda: not server._open)
        before = descriptors()
        Receiver(server.base_url).finish()
        Receiver(server.base_url, max_response_bytes=10).finish()
        check(Receiver(server.base_url).until_text("x"))
        wait_for(lambda: not server._open)
        wait_for(lambda: descriptors() <= before)  # the first count may hold one that was still being closed


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)
