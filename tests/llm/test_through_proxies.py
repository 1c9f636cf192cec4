"""Requests through a proxy."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from jp.llm import errors as e
from jp.llm import proxy
from tests.llm.receiving import Receiver
from tests.wire.certificates import GOOD, authority_file, server_context
from tests.wire.model_server import ModelServer, text
from tests.wire.raw_server import SSE_HEAD, ProxyServer, RawServer, SocksServer, chunked, head

WIRE = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


@pytest.fixture(autouse=True)
def loopback_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    # Loopback is never proxied, and loopback is all that a test has.
    monkeypatch.setattr(proxy, "loopback", lambda host: False)


def basic(credentials: str) -> str:
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def test_plain_http_asks_for_the_whole_address() -> None:
    with ModelServer(text("hi")) as server, ProxyServer() as between:
        url = between.base_url.replace("://", "://u:p%40ss@")
        got = Receiver(server.base_url, environ={"http_proxy": url}).finish()
    assert (got.error, got.text) == (None, "hi")
    (request,) = between.requests
    assert request.path == f"{server.base_url}/v1/chat/completions"
    assert request.headers["proxy-authorization"] == basic("u:p@ss")
    assert server.requests[0].path == "/v1/chat/completions"


def test_https_goes_through_a_tunnel(tmp_path: Path) -> None:
    with (
        RawServer([[SSE_HEAD, *chunked(WIRE)]], tls=server_context(GOOD, tmp_path)) as server,
        ProxyServer() as between,
    ):
        environ = {
            "HTTPS_PROXY": between.base_url.replace("://", "://u:p@"),
            "SSL_CERT_FILE": authority_file(tmp_path),
        }
        got = Receiver(server.base_url, environ=environ).finish()
    assert (got.error, got.text) == (None, "hi")
    (request,) = between.requests
    assert (request.method, request.path) == ("CONNECT", f"127.0.0.1:{server.port}")
    assert request.headers["proxy-authorization"] == basic("u:p")
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (head("407 Proxy Authentication Required", content_length="0"), "407 Proxy Authentication Required"),
        (head("403 Forbidden", content_length="3") + b"no!", "403 Forbidden"),
        (b"", "closed the connection"),
    ],
)
def test_a_proxy_that_refuses_is_named(answer: bytes, words: str) -> None:
    with ProxyServer(refuse=answer) as between:
        got = Receiver("https://127.0.0.1:9", environ={"ALL_PROXY": between.base_url}).finish()
    assert isinstance(got.error, e.ProxyError)
    assert between.base_url in got.error.message
    assert words in got.error.message
    assert bool(got.error.hints) == ("407" in words)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_socks_is_given_the_name(scheme: str) -> None:
    with ModelServer(text("hi")) as server, SocksServer() as between:
        url = server.base_url.replace("127.0.0.1", "localhost")
        got = Receiver(url, environ={"ALL_PROXY": f"{scheme}://127.0.0.1:{between.port}"}).finish()
    assert (got.error, got.text) == (None, "hi")
    assert between.asked == [(b"localhost", server.port)]


def test_socks_with_credentials_and_tls(tmp_path: Path) -> None:
    steps = [SSE_HEAD, *chunked(WIRE)]
    with (
        RawServer([steps], tls=server_context(GOOD, tmp_path)) as server,
        SocksServer(credentials=(b"u", b"p@ss")) as between,
    ):
        environ = {
            "ALL_PROXY": f"socks5://u:p%40ss@127.0.0.1:{between.port}",
            "SSL_CERT_FILE": authority_file(tmp_path),
        }
        got = Receiver(server.base_url, environ=environ).finish()
    assert (got.error, got.text) == (None, "hi")


@pytest.mark.parametrize(
    ("options", "userinfo", "words"),
    [
        ({"status": 5}, "", "nothing listens there"),
        ({"status": 99}, "", "error 99"),
        ({"credentials": (b"u", b"p")}, "", "wants user and password"),
        ({"credentials": (b"u", b"p")}, "u:wrong@", "did not accept"),
        ({"greeting": b"HTTP/1.1 400 Bad Request"}, "", "does not speak SOCKS 5"),
        ({"greeting": b"\x05"}, "", "closed the connection"),
    ],
)
def test_socks_that_refuses(options: dict[str, Any], userinfo: str, words: str) -> None:
    with SocksServer(**options) as server:
        environ = {"ALL_PROXY": f"socks5://{userinfo}127.0.0.1:{server.port}"}
        got = Receiver("https://api.example.com", environ=environ).finish()
    assert isinstance(got.error, e.ProxyError)
    assert words in got.error.message
    assert f"socks5://127.0.0.1:{server.port}" in got.error.message
    assert "api.example.com:443" in got.error.message
    assert "wrong" not in got.error.message


def test_a_proxy_that_is_not_there() -> None:
    got = Receiver("https://127.0.0.1:9", environ={"ALL_PROXY": "http://127.0.0.1:1"}).finish()
    assert isinstance(got.error, e.ConnectionRefused)
    assert "http://127.0.0.1:1" in got.error.message


def test_no_proxy_is_honoured() -> None:
    with ModelServer(text("hi")) as server, ProxyServer() as between:
        environ = {"http_proxy": between.base_url, "NO_PROXY": "127.0.0.1"}
        got = Receiver(server.base_url, environ=environ).finish()
    assert got.text == "hi"
    assert not between.requests


def test_a_proxy_that_cannot_be_used_is_an_end_like_any_other() -> None:
    got = Receiver("https://127.0.0.1:9", environ={"ALL_PROXY": "socks4://h:1"}).finish()
    assert isinstance(got.error, e.BadAddressError)
