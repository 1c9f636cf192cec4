"""Clients that mean no good, and what the log tells of all of them."""

import socket
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus

import pytest

from jp_plugins.web import server
from jp_plugins.web.answer import plain
from jp_plugins.web.server import CONNECTIONS, REQUEST_BYTES
from tests.plugin_web.made_up import conversations
from tests.plugin_web.served import Served, ask, guarded, raw, read


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served(conversations()) as running:
        yield running


@pytest.fixture(scope="module")
def cookie(served: Served) -> str:
    return served.cookie()


@pytest.mark.parametrize(
    ("data", "statuses"),
    [
        (b"GET /" + b"x" * (REQUEST_BYTES * 2) + b" HTTP/1.1\r\n\r\n", {414}),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * (REQUEST_BYTES * 2) + b"\r\n\r\n", {431}),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 3000 + b"\r\n", {431}),
        (b"GET / HTTP/1.1\r\n" + b"X" * 200_000, {431}),
        (b"GET / HTTP/9.9\r\n\r\n", {505}),
        (b"nonsense\r\n\r\n", {400}),
        (b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\r\n\r\n", {400}),
        (b"GET / HTTP/1.1\r\nnonsense\r\n\r\n", {403}),
        (b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", {403}),
    ],
)
def test_what_no_browser_sends_is_refused(served: Served, data: bytes, statuses: set[int]) -> None:
    assert guarded(raw(served.port, data)).status in statuses


def test_a_body_is_not_a_second_request(served: Served, cookie: str) -> None:
    inner = f"GET /c/17000000001 HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nCookie: {cookie}\r\n\r\n"
    outer = f"GET /nope HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: {len(inner)}\r\n\r\n"
    answer = raw(served.port, (outer + inner).encode())
    assert answer.status == 403
    assert answer.body.count(b"HTTP/1.1") == 0


def test_clients_that_say_nothing_are_not_in_the_way_of_others(served: Served, cookie: str) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(CONNECTIONS - 4)]
    try:
        for each in idle[::2]:
            each.sendall(b"GET / HTTP/1.1\r\nX-Slow")
        assert served.get("/", cookie).status == 200
    finally:
        for each in idle:
            each.close()


def test_there_are_so_many_connections_and_no_more(served: Served, cookie: str) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(CONNECTIONS)]
    try:
        end = time.monotonic() + 10
        with socket.create_connection(("127.0.0.1", served.port)) as late:
            assert read(late).status == 503
    finally:
        for each in idle:
            each.close()
    while served.get("/", cookie).status != 200:
        assert time.monotonic() < end


@pytest.mark.slow
def test_a_request_that_drips_in_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it together has a deadline: a byte a second does not push it back."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.5)
    running = server.Server(0, lambda *_: None)
    running.answers = lambda _: plain("", HTTPStatus.OK)
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    try:
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", running.port)) as slow:
            slow.settimeout(0.05)
            while time.monotonic() < begun + 10:
                try:
                    slow.sendall(b"x")
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        assert 0.4 < time.monotonic() - begun < 5
    finally:
        running.shutdown()
        running.server_close()


def test_what_is_logged_tells_neither_token_nor_search(served: Served, cookie: str) -> None:
    token = served.url.rpartition("=")[2]
    ask(served.port, f"GET /?token={token} HTTP/1.1", f"Host: 127.0.0.1:{served.port}")
    served.get("/?q=my-private-words", cookie)
    end = time.monotonic() + 10
    while served.logged().count("GET / 200") < 1 or "GET / 303" not in served.logged():
        assert time.monotonic() < end, served.logged()
    said = " ".join(served.logged())
    assert token not in said
    assert "my-private-words" not in said
    assert cookie.partition("=")[2] not in said
    assert "failed" not in said
    assert served.stderr == ""
