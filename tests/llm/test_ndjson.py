"""JSON lines from bytes cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.llm.errors import BadResponse
from jp.llm.ndjson import LineDecoder
from tests.llm.cutting import cut, places


def decode(*chunks: bytes) -> list[bytes]:
    decoder = LineDecoder()
    return [line for chunk in chunks for line in decoder.feed(chunk)] + decoder.end()


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"\n\n \na\n", [b"a"]),
        (b"", []),
        ("h\u00e4\n".encode(), ["h\u00e4".encode()]),
    ],
)
def test_lines(stream: bytes, expected: list[bytes]) -> None:
    assert decode(stream) == expected


@given(st.binary(max_size=200).map(lambda data: data.replace(b"\x00", b"\n")), places)
def test_the_same_lines_however_the_stream_is_cut(stream: bytes, where: list[int]) -> None:
    assert decode(*cut(stream, where)) == decode(stream)


def test_a_line_without_end_is_not_held_without_bound() -> None:
    decoder = LineDecoder(max_line=1000)
    with pytest.raises(BadResponse, match="over 1000 bytes"):
        [decoder.feed(b"x" * 100) for _ in range(20)]


def test_pending_tells_half_a_line() -> None:
    decoder = LineDecoder()
    decoder.feed(b"a\nb")
    assert decoder.pending
    decoder.feed(b"\n")
    assert not decoder.pending
