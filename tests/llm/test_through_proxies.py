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
from tests.wire.raw_server import (
    AT_ONCE,
    HANG,
    RESET,
    SSE_HEAD,
    ProxyServer,
    RawServer,
    SocksServer,
    Step,
    chunked,
    head,
)

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
    assert "ALL_PROXY" in got.error.message
    assert any("user and password" in hint for hint in got.error.hints) == ("407" in words)


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


@pytest.mark.parametrize(
    ("url", "variable", "value"),
    [
        ("http://api.example.com", "http_proxy", "http://127.0.0.1:1"),
        ("http://api.example.com", "HTTP_PROXY", "http://127.0.0.1:1"),
        ("https://api.example.com", "HTTPS_PROXY", "http://127.0.0.1:1"),
        ("https://api.example.com", "ALL_PROXY", "http://127.0.0.1:1"),
        ("http://api.example.com", "all_proxy", "socks5://127.0.0.1:1"),
        ("http://api.example.com", "http_proxy", "http://u:secret@no-such-proxy.invalid:8080"),
    ],
)
def test_a_proxy_that_is_not_there(url: str, variable: str, value: str) -> None:
    got = Receiver(url, environ={variable: value}).finish()
    assert isinstance(got.error, e.ServerNotRunning if "127" in value else e.NetworkError)
    assert got.error.message.startswith(f"the proxy that {variable} names can't be used: ")
    assert value.rpartition("@")[2].removeprefix("http://").removesuffix(":8080") in got.error.message
    assert "secret" not in got.error.message
    (hint,) = got.error.hints
    assert variable in hint
    assert "base_url" not in hint


@pytest.mark.parametrize(
    ("scheme", "steps", "words"),
    [
        ("http", [HANG], "did not answer in HTTP within 0.3 s"),
        ("socks5", [HANG], "did not answer in SOCKS 5 within 0.3 s"),
        ("socks5", [b"\x05", HANG], "did not answer in SOCKS 5 within 0.3 s"),
        ("http", [b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], "did not connect to api.example.com:443"),
        ("http", [RESET], "can't be used"),
        ("socks5", [RESET], "can't be used"),
    ],
)
def test_a_proxy_that_does_not_speak_as_one(scheme: str, steps: list[Step], words: str) -> None:
    with RawServer([[AT_ONCE, *steps]]) as server:
        environ = {"https_proxy": f"{scheme}://127.0.0.1:{server.port}"}
        got = Receiver("https://api.example.com", environ=environ, connect_secs=0.3).finish()
    assert isinstance(got.error, e.NetworkError)
    assert "the proxy" in got.error.message
    assert f"{scheme}://127.0.0.1:{server.port}" in got.error.message
    assert words in got.error.message
    assert "https_proxy" in got.error.message
    assert "https_proxy" in "".join(got.error.hints)
    assert "stream_idle" not in "".join(got.error.hints)


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([], e.ConnectionLost),
        ([RESET], e.ConnectionLost),
        ([HANG], e.Timeout),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], e.BadResponse),
        ([head("407 Proxy Authentication Required", content_length="0")], e.ProxyError),
        ([head("502 Bad Gateway", content_length="0")], e.HttpError),
        ([head("403 Forbidden", content_length="0")], e.Unauthorized),
        ([head(content_type="text/html", content_length="21"), b"<title>Sign in</title"], e.BadResponse),
        ([SSE_HEAD, *chunked(b"data: {}\n\n", end=False)], e.StreamCut),
    ],
)
def test_what_may_be_the_proxys_fault_names_it(steps: list[Step], kind: type) -> None:
    with RawServer([steps]) as server:
        environ = {"http_proxy": f"http://127.0.0.1:{server.port}"}
        got = Receiver("http://api.example.com", environ=environ, idle_secs=0.3).finish()
    assert isinstance(got.error, e.LlmError)
    assert isinstance(got.error, kind)
    assert sum("http_proxy" in hint for hint in got.error.hints) == 1
    assert f"http://127.0.0.1:{server.port}" in got.error.hints[-1]


def test_what_is_not_the_proxys_fault_does_not() -> None:
    with RawServer([[head("401 Unauthorized", content_length="0")]]) as server:
        got = Receiver("http://api.example.com", environ={"http_proxy": server.base_url}).finish()
    assert isinstance(got.error, e.Unauthorized)
    assert "http_proxy" not in "".join(got.error.hints)


def test_no_proxy_is_honoured() -> None:
    with ModelServer(text("hi")) as server, ProxyServer() as between:
        environ = {"http_proxy": between.base_url, "NO_PROXY": "127.0.0.1"}
        got = Receiver(server.base_url, environ=environ).finish()
    assert got.text == "hi"
    assert not between.requests


def test_a_proxy_that_cannot_be_used_is_an_end_like_any_other() -> None:
    got = Receiver("https://127.0.0.1:9", environ={"ALL_PROXY": "socks4://h:1"}).finish()
    assert isinstance(got.error, e.BadAddressError)
