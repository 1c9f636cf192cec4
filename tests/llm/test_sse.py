"""Server-sent events from bytes cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.llm.errors import BadResponse
from jp.llm.sse import SseDecoder
from tests.llm.cutting import cut, places


def decode(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = SseDecoder()
    out = [event for chunk in chunks for event in decoder.feed(chunk)]
    return out + decoder.end()


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: one\n\ndata: two\n\n", [("message", "one"), ("message", "two")]),
        (b"data: one\r\n\r\ndata: two\r\n\r\n", [("message", "one"), ("message", "two")]),
        (b"data: a\r\ndata: b\r\n\r\n", [("message", "a\nb")]),
        (b"data: one\r\rdata: two\r\r", [("message", "one"), ("message", "two")]),
        (b"data: one\r\n\ndata: two\n\r\n", [("message", "one"), ("message", "two")]),
        (b"\xef\xbb\xbfdata: bom\n\n", [("message", "bom")]),
        (b"data:no space\n\n", [("message", "no space")]),
        (b"data:  two spaces\n\n", [("message", " two spaces")]),
        (b"data: a\ndata: b\n\n", [("message", "a\nb")]),
        (b"data\n\n", [("message", "")]),
        (b"data:\n\n", [("message", "")]),
        (b"event: error\ndata: x\n\ndata: y\n\n", [("error", "x"), ("message", "y")]),
        (b"event: ping\n\ndata: y\n\n", [("message", "y")]),
        (b": comment\n\n: another\n\ndata: x\n\n", [("message", "x")]),
        (b"id: 7\nretry: 10\nunknown: z\nnocolon\ndata: x\n\n", [("message", "x")]),
        (b"\n\n\n\ndata: x\n\n\n\n", [("message", "x")]),
        (b"data: x\n", [("message", "x")]),
        (b"data: x", [("message", "x")]),
        (b"data: \xff\xfe|\xe2\x82\xac\n\n", [("message", "��|€")]),
        (b"", []),
        (b"\xef\xbb", []),
    ],
)
def test_streams(stream: bytes, expected: list[tuple[str, str]]) -> None:
    assert decode(stream) == expected
    assert decode(*(bytes([byte]) for byte in stream)) == expected


FRAGMENTS = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"event: x",
        b": c",
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
        b"h\xc3\xa4\xe2\x82\xac",
        b"\xff",
        b"[DONE]",
        b" ",
    ]
)


@given(st.lists(FRAGMENTS, max_size=60), places)
def test_the_same_events_however_the_stream_is_cut(fragments: list[bytes], where: list[int]) -> None:
    stream = b"".join(fragments)
    assert decode(*cut(stream, where)) == decode(stream)
    assert decode(*(bytes([byte]) for byte in stream)) == decode(stream)


@pytest.mark.parametrize("start", [b"data: ", b"data: x\ndata: ", b":"])
def test_a_field_without_end_is_not_held_without_bound(start: bytes) -> None:
    decoder = SseDecoder(max_field=1000)
    with pytest.raises(BadResponse, match="over"):
        [decoder.feed(chunk) for chunk in [start, *([b"x" * 100] * 20)]]


def test_many_data_lines_are_bounded_too() -> None:
    decoder = SseDecoder(max_field=1000)
    with pytest.raises(BadResponse):
        [decoder.feed(b"data: xxxxxxxxxx\n") for _ in range(200)]


def test_comments_are_counted_since_the_last_event() -> None:
    decoder = SseDecoder()
    decoder.feed(b": one\n: two\n")
    assert (decoder.comments, decoder.comment_bytes) == (2, 10)
    decoder.feed(b"data: x\n\n: three\n")
    assert (decoder.comments, decoder.comment_bytes) == (3, 7)


def test_pending_tells_half_an_event() -> None:
    decoder = SseDecoder()
    assert not decoder.pending
    decoder.feed(b"data: x\n")
    assert decoder.pending
    decoder.feed(b"\n")
    assert not decoder.pending
