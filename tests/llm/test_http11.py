"""HTTP/1.1 responses from bytes cut anywhere."""

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.llm.errors import BadHeaderError, BadResponse
from jp.llm.http11 import MAX_HEAD, ResponseDecoder, encode_head
from tests.llm.cutting import cut, places

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def decode(*chunks: bytes) -> tuple[ResponseDecoder, bytes, bool]:
    decoder = ResponseDecoder()
    body = b"".join([decoder.feed(chunk) for chunk in chunks])
    if decoder.error is not None:
        raise decoder.error
    return decoder, body, decoder.eof()


@pytest.mark.parametrize(
    ("wire", "body", "whole"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
        (OK + b"Content-Length: 5\r\n\r\nhello and more", b"hello", True),
        (OK + b"Content-Length: 5\r\n\r\nhell", b"hell", False),
        (OK + b"Content-Length: 0\r\n\r\n", b"", True),
        (OK + b"\r\nuntil the end", b"until the end", True),
        (b"HTTP/1.0 200 OK\r\n\r\nold", b"old", True),
        (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok", True),
        (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello", True),
        (CHUNKED + b"5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", b"hello0123456789", True),
        (CHUNKED + b"5\nhello\n0\n\n", b"hello", True),
        (CHUNKED + b"5\r\nhello\r\n", b"hello", False),
        (CHUNKED + b"5\r\nhel", b"hel", False),
        (CHUNKED + b"5\r\nhello\r\n0\r\n", b"hello", False),
        (CHUNKED, b"", False),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED + b"1\r\nx\r\n0\r\n\r\n", b"x", True),
        (b"HTTP/1.1 103 Early Hints\r\nLink: y\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", b"x", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 200 O", b"", False),
        (b"", b"", False),
    ],
)
def test_bodies(wire: bytes, body: bytes, whole: bool) -> None:
    assert decode(wire)[1:] == (body, whole)
    assert decode(*(bytes([byte]) for byte in wire))[1:] == (body, whole)


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), max_size=20), places)
def test_the_same_body_however_it_is_chunked_and_cut(body: bytes, sizes: list[int], where: list[int]) -> None:
    wire, at = bytearray(CHUNKED), 0
    for size in [*sizes, len(body) or 1]:
        part = body[at : at + size]
        at += len(part)
        if part:
            wire += b"%x\r\n%s\r\n" % (len(part), part)
    wire += b"0\r\n\r\n"
    decoder, got, whole = decode(*cut(bytes(wire), where))
    assert (got, whole, decoder.status) == (body, True, 200)


def test_a_piece_of_a_chunk_is_given_out_at_once() -> None:
    decoder = ResponseDecoder()
    assert decoder.feed(CHUNKED + b"40\r\ndata: first half") == b"data: first half"
    assert decoder.feed(b" second") == b" second"


@given(st.binary(max_size=200), st.sampled_from([b"", OK, CHUNKED, OK + b"Content-Encoding: gzip\r\n\r\n"]))
def test_any_bytes_end_well_or_in_an_error(data: bytes, start: bytes) -> None:
    decoder = ResponseDecoder()
    with contextlib.suppress(BadResponse):
        decoder.feed(start)
        decoder.feed(data)
        decoder.feed(data)
    decoder.eof()


def test_headers_have_lower_case_names() -> None:
    decoder, _, _ = decode(OK + b"Content-Type:  text/event-stream \r\nRETRY-After: 3\r\n\r\n")
    assert decoder.headers == {"content-type": "text/event-stream", "retry-after": "3"}
    assert (decoder.status, decoder.reason) == (200, "OK")


@pytest.mark.parametrize(
    "wire",
    [
        b"Wait, this isn't valid HTTP!",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        OK + b"Content-Length: many\r\n\r\n",
        OK + b"Content-Length: -5\r\n\r\n",
        CHUNKED + b"hello\r\n",
        CHUNKED + b"-5\r\nhello\r\n",
        CHUNKED + b"5\r\nhelloworld\r\n",
        CHUNKED + b"\r\n\r\n",
        CHUNKED + b"x" * 5000,
        OK + b"X: " + b"y" * MAX_HEAD,
        OK + b"Content-Encoding: br\r\n\r\n",
        OK + b"Content-Encoding: gzip\r\n\r\nthis is no gzip",
    ],
)
def test_nonsense_is_said(wire: bytes) -> None:
    with pytest.raises(BadResponse):
        decode(wire)


@pytest.mark.parametrize(("name", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_compression_nobody_asked_for_is_undone(name: str, packed: object) -> None:
    body = packed(b"data: hello\n\n" * 50)  # type: ignore[operator]
    head = OK + f"Content-Encoding: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    assert decode(*(bytes([byte]) for byte in head + body))[1] == b"data: hello\n\n" * 50


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 1_000_000)
    decoder = ResponseDecoder(max_inflated=10_000)
    assert len(decoder.feed(OK + b"Content-Encoding: gzip\r\n\r\n" + bomb)) == 10_000
    assert decoder.error is not None
    assert "without bound" in decoder.error.message
    assert decoder.feed(bomb) == b""


def test_what_came_before_nonsense_is_not_lost() -> None:
    decoder = ResponseDecoder()
    assert decoder.feed(CHUNKED + b"5\r\nhello\r\nzz\r\n") == b"hello"
    assert decoder.error is not None


def test_a_request_head() -> None:
    head = encode_head("POST", "/v1/x", [("Host", "h"), ("A", "b")])
    assert head == b"POST /v1/x HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n"


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "a\0b"])
def test_a_header_does_not_break_out(value: str) -> None:
    with pytest.raises(BadHeaderError, match="line break"):
        encode_head("GET", "/", [("A", value)])


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "é"])
def test_no_more_does_its_name(name: str) -> None:
    with pytest.raises(BadHeaderError, match="no name for a header"):
        encode_head("GET", "/", [(name, "x")])


def test_letters_outside_ascii_arrive() -> None:
    head = encode_head("GET", "/modèle x/v1?a=%20b", [("X-Title", "Café")])
    assert head == "GET /mod%C3%A8le%20x/v1?a=%20b HTTP/1.1\r\nX-Title: Café\r\n\r\n".encode()
