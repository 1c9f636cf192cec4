"""TLS: certificates as the environment names them, failures in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from jp.llm import errors as e
from tests.llm.receiving import Receiver
from tests.wire.certificates import AUTHORITY, EXPIRED, GOOD, OTHER, authority_file, server_context
from tests.wire.raw_server import SSE_HEAD, RawServer, chunked

WIRE = b'data: {"choices":[{"delta":{"content":"secret"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
STEPS = [SSE_HEAD, *chunked(WIRE)]


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_of_ones_own(variable: str, tmp_path: Path) -> None:
    with RawServer([STEPS], tls=server_context(GOOD, tmp_path)) as server:
        got = Receiver(server.base_url, environ={variable: authority_file(tmp_path)}).finish()
    assert got.error is None
    assert got.text == "secret"


def test_the_authorities_are_read_once(tmp_path: Path) -> None:
    from jp.llm import tls

    environ = {"SSL_CERT_FILE": authority_file(tmp_path)}
    assert tls.context(environ) is tls.context(environ)
    assert tls.context({}) is not tls.context(environ)


def test_by_name(tmp_path: Path) -> None:
    with RawServer([STEPS], tls=server_context(GOOD, tmp_path)) as server:
        url = f"https://localhost:{server.port}"
        got = Receiver(url, environ={"SSL_CERT_FILE": authority_file(tmp_path)}).finish()
    assert got.text == "secret"


@pytest.mark.parametrize(
    ("certificate", "trusted", "words"),
    [
        (GOOD, False, "unable to get local issuer certificate"),
        (OTHER, True, "IP address mismatch"),
        (EXPIRED, True, "expired"),
    ],
)
def test_what_is_not_accepted_is_said(certificate: str, trusted: bool, words: str, tmp_path: Path) -> None:
    with RawServer([STEPS], tls=server_context(certificate, tmp_path)) as server:
        environ = {"SSL_CERT_FILE": authority_file(tmp_path)} if trusted else {}
        got = Receiver(server.base_url, environ=environ).finish()
        assert not server.requests
    assert isinstance(got.error, e.TlsError)
    assert words in got.error.message
    assert server.base_url in got.error.message
    assert "SSL_CERT_FILE" in got.error.hints[0]
    assert ("clock" in "".join(got.error.hints)) == (words == "expired")


def test_a_server_that_does_not_speak_tls() -> None:
    with RawServer([[b"HTTP/1.1 400 Bad Request\r\n\r\n"]]) as server:
        server._handle = lambda connection: connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        got = Receiver(f"https://127.0.0.1:{server.port}").finish()
    assert isinstance(got.error, e.TlsError | e.ConnectionLost)
    if isinstance(got.error, e.TlsError):
        assert "does not speak TLS" in got.error.message
        assert "http://" in got.error.hints[0]


def test_a_client_that_does_not_speak_tls(tmp_path: Path) -> None:
    with RawServer([STEPS], tls=server_context(GOOD, tmp_path)) as server:
        got = Receiver(server.base_url.replace("https", "http")).finish()
    assert isinstance(got.error, e.NetworkError | e.BadResponse)


@pytest.mark.parametrize("content", [None, "this is no certificate"])
def test_a_file_that_cannot_be_used_names_its_variable(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with RawServer([STEPS], tls=server_context(GOOD, tmp_path)) as server:
        got = Receiver(server.base_url, environ={"SSL_CERT_FILE": str(file)}).finish()
    assert isinstance(got.error, e.TlsError)
    assert f"SSL_CERT_FILE names {file}" in got.error.message


def test_a_directory_of_authorities(tmp_path: Path) -> None:
    directory = tmp_path / "authorities"
    directory.mkdir()
    (directory / "unhashed.pem").write_text(AUTHORITY)
    with RawServer([STEPS], tls=server_context(GOOD, tmp_path)) as server:
        got = Receiver(server.base_url, environ={"REQUESTS_CA_BUNDLE": str(directory)}).finish()
    assert isinstance(got.error, e.TlsError)  # not under its hash, so not found: but the directory itself is fine
    assert "issuer" in got.error.message


def test_a_connection_that_ends_within_the_handshake() -> None:
    with RawServer([[b""]]) as server:
        server._handle = lambda connection: None
        got = Receiver(f"https://127.0.0.1:{server.port}").finish()
    assert isinstance(got.error, e.ConnectionLost)
    assert "TLS handshake" in got.error.message


def test_silence_within_the_handshake() -> None:
    with RawServer([[b""]]) as server:
        server._handle = lambda connection: connection.client_gone() and None
        got = Receiver(f"https://127.0.0.1:{server.port}", connect_secs=0.3).finish()
    assert isinstance(got.error, e.Timeout)
    assert "handshake" in got.error.message
