"""Connections: addresses raced, failures in words."""

from __future__ import annotations

import errno
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from jp.llm import connect as connecting
from jp.llm import errors as e
from jp.llm.address import parse
from jp.llm.connect import STAGGER, Lifeline, connect
from tests.llm.test_stopping import deaf_port
from tests.wire.raw_server import RawServer, head

ANSWER = [head(content_length="0")]


def resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> None:
    def answer(*_: Any, **__: Any) -> list[Any]:
        families = [socket.AF_INET6 if ":" in host else socket.AF_INET for host, _ in addresses]
        return [(f, socket.SOCK_STREAM, 6, "", where) for f, where in zip(families, addresses, strict=True)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port


def timed_connect(url: str, timeout: float = 20) -> tuple[int, float]:
    line = Lifeline()
    begun = time.monotonic()
    try:
        with connect(parse(url), line, timeout=timeout) as sock:
            took = time.monotonic() - begun
            assert len(line._ends) == 1, "the losers are let go"
            return sock.getpeername()[1], took
    finally:
        line.close()


def test_an_address_that_is_silent_costs_one_stagger(monkeypatch: pytest.MonkeyPatch) -> None:
    with deaf_port() as deaf, RawServer([ANSWER]) as server:
        resolves_to(monkeypatch, ("127.0.0.1", deaf), ("127.0.0.1", server.port))
        port, took = timed_connect("http://two.example")
    assert port == server.port
    assert STAGGER * 0.8 <= took < 10


def test_an_address_that_refuses_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer([ANSWER]) as server:
        resolves_to(monkeypatch, ("127.0.0.1", free_port()), ("127.0.0.1", server.port))
        monkeypatch.setattr(connecting, "STAGGER", 20.0)
        port, took = timed_connect("http://two.example")
    assert port == server.port
    assert took < 15


def test_the_first_address_wins_when_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer([ANSWER]) as first, RawServer([ANSWER]) as second:
        resolves_to(monkeypatch, ("127.0.0.1", first.port), ("127.0.0.1", second.port))
        assert timed_connect("http://two.example")[0] == first.port
        assert second.connections == 0


def test_families_take_turns() -> None:
    six = [(socket.AF_INET6, (f"{n}::", 1)) for n in range(3)]
    four = [(socket.AF_INET, (f"{n}", 1)) for n in range(2)]
    assert connecting._interleaved([*six, *four]) == [six[0], four[0], six[1], four[1], six[2]]  # type: ignore[list-item]
    assert connecting._interleaved([]) == []


def test_localhost_by_its_other_family() -> None:
    try:
        server = RawServer([ANSWER], family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with server:
        assert timed_connect(server.base_url)[0] == server.port


def test_all_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    resolves_to(monkeypatch, ("127.0.0.1", free_port()), ("127.0.0.1", free_port()))
    with pytest.raises(e.ConnectionRefused, match=r"nothing listens at http://two\.example"):
        timed_connect("http://two.example")


def test_a_server_of_this_machine_that_is_not_running_is_told_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    for url in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        with pytest.raises(e.ServerNotRunning, match="nothing listens") as error:
            timed_connect(url)
        assert "Is the server running?" in error.value.hints[0]
    # The rest of the addresses may be there in a while.
    resolves_to(monkeypatch, ("127.0.0.1", port), ("192.0.2.1", port))
    refused = connecting._Race._start

    def start(race: Any, candidate: Any) -> Any:
        if candidate[1][0] == "192.0.2.1":
            race.errors.append(OSError(errno.ECONNREFUSED, "refused"))
            return None
        return refused(race, candidate)

    monkeypatch.setattr(connecting._Race, "_start", start)
    with pytest.raises(e.ConnectionRefused) as caught:
        timed_connect("http://two.example")
    assert type(caught.value) is e.ConnectionRefused


@pytest.mark.parametrize(
    ("ip", "here"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.127.0.1", False),
        ("192.0.2.1", False),
        ("::", False),
        ("fe80::1", False),
        ("::ffff:8.8.8.8", False),
    ],
)
def test_loopback_by_address(ip: str, here: bool) -> None:
    assert connecting._is_loopback(ip) is here


def test_all_are_silent() -> None:
    with deaf_port() as deaf, pytest.raises(e.Timeout, match=r"within 0\.4 s"):
        timed_connect(f"http://127.0.0.1:{deaf}", timeout=0.4)


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ([errno.ENETUNREACH, errno.EHOSTUNREACH], e.NetworkError),
        ([errno.ENETUNREACH, errno.ECONNREFUSED], e.ConnectionRefused),
        ([errno.EACCES], e.NetworkError),
        ([errno.ETIMEDOUT], e.Timeout),
        ([], e.Timeout),
    ],
)
def test_losses_in_words(codes: list[int], kind: type) -> None:
    error = connecting._lost(parse("http://h:1"), [OSError(code, "x") for code in codes], 5)
    assert type(error) is kind
    assert "http://h:1" in error.message


@pytest.mark.parametrize(("code", "kind"), [(socket.EAI_NONAME, e.NameNotFound), (socket.EAI_AGAIN, e.NetworkError)])
def test_names_that_are_not_found(code: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise socket.gaierror(code, "says the resolver")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(e.NetworkError, match=r"nowhere\.example") as error:
        timed_connect("http://nowhere.example")
    assert type(error.value) is kind


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..b"])
def test_names_that_are_none(host: str) -> None:
    with pytest.raises(e.NetworkError, match="name"):
        timed_connect(f"http://{host}")


def test_no_codec_is_loaded_for_a_plain_name(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = """
import sys
from jp.llm.address import parse
from jp.llm.connect import Lifeline, connect
try:
    connect(parse("http://localhost:1"), Lifeline(), timeout=5)
except Exception as error:
    print(type(error).__name__, "encodings.idna" in sys.modules)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert out.stdout == "ServerNotRunning False\n"
