"""The line a terminal's cursor is on, however it was written."""

from hypothesis import given
from hypothesis import strategies as st
from pyghostty import Terminal  # type: ignore[import-untyped]

from jp.terminal.line import Line
from tests.terminal_unit.properties import patient

PIECES = st.lists(
    st.sampled_from(["a", "b ", "\n", "\x1b[1m", "\x1b[31m", "\x1b[0m", "\x1b[m", "x\ny", "\x1b]8;;u\x1b\\"])
)


def line_after(*texts: str) -> Line:
    line = Line(keep=True)
    for text in texts:
        line.feed(text)
    return line


def test_open_and_closed() -> None:
    assert not line_after().is_open
    assert not line_after("a\n").is_open
    assert not line_after("a\n", "\x1b[0m").is_open
    assert line_after("a\n", "\x1b[0m", "b").is_open
    assert line_after("a").is_open
    assert line_after("a\nb").is_open


@patient
@given(PIECES, st.data())
def test_however_it_is_cut(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    whole = line_after(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    cut = line_after(*parts)
    assert (cut.is_open, cut.again(), cut.style) == (whole.is_open, whole.again(), whole.style)


@patient
@given(PIECES)
def test_written_again_it_looks_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    line = line_after(text)
    first, second = Terminal(80, 40), Terminal(80, 40)
    first.feed(text.replace("\n", "\r\n").encode() + b"X")
    second.feed(line.again().encode() + b"X")
    row = first.cursor[1]
    assert first.text().split("\n")[row] == second.text().split("\n")[0]
    for column in range(first.cursor[0]):
        assert first.style(column, row) == second.style(column, 0)
    first.close()
    second.close()


def test_a_long_line_is_remembered_at_its_end() -> None:
    line = line_after(*["x" * 1000] * 50)
    assert line.is_open
    assert 4096 <= len(line.again()) <= 8192
    line.feed("\n")
    assert line.again() == ""


def test_without_keeping_only_the_last_character_counts() -> None:
    line = Line(keep=False)
    line.feed("a\x1b[0m")
    assert line.is_open
    line.feed("\n")
    assert not line.is_open
