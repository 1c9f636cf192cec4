"""Markdown while it comes: the bytes do not depend on the cuts, and words are shown as soon as they are final."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jp.render.markdown import MarkdownStream
from jp.render.style import MarkdownStyle
from jp.terminal.width import display_width
from tests.render.documents import DOCUMENTS
from tests.render.showing import plain, streamed

STYLE = MarkdownStyle(width=40)
PIECES = [
    *"ab *_`[]()<>!~\\\n#-+=|>1.:&;\"'\t\r",
    *["\n\n", "\n\n\n", "  \n", "    ", "   ", "- ", "* ", "1. ", "2) ", "> ", "[ ] ", "[x] ", "---\n"],
    *["```", "~~~", "```python\n", "```c\n/* ", "'''", "**", "~~", "](", "](a)", "![", "&amp;", "\x1b[31m"],
    *["http://", "https://a.b/c)", "<http://a>", "<b>", "<!--", "-->", "<div>\n"],
    *["|---|\n", "| a |\n", "| a | b\\|c |\n|---|:-:|\n"],
    *["你", "好", "。", "「", "é", "e\u0301", "👩\u200d👩\u200d👧", "\u00a0"],
]


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@pytest.mark.parametrize("size", [1, 3, 17, 80])
def test_a_document_gives_the_same_bytes_in_pieces_of_any_size(name: str, size: int) -> None:
    text = DOCUMENTS[name]
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert streamed(pieces, STYLE) == streamed([text], STYLE)


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.data())
def test_any_text_gives_the_same_bytes_however_it_was_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = streamed([text], STYLE)
    assert streamed(pieces, STYLE) == whole
    assert streamed(list(text), STYLE) == whole


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120), st.sampled_from(["", "> - ", "| a |\n|---|\n| ", "```python\n", "- [ ] "]))
def test_any_characters_are_taken_in_any_block(text: str, before: str) -> None:
    assert streamed(list(before + text), STYLE) == streamed([before + text], STYLE)


WORDS = st.lists(
    st.sampled_from(["a", "bb", "ccc ddd", "你好。", "👩\u200d👩\u200d👧", "e\u0301e", "**f**", "`g h`", "\n"])
)
BLOCKS = st.lists(st.tuples(st.sampled_from(["", "- ", "> ", "1. ", "> - ", "- > ", "# "]), WORDS), max_size=6)


@settings(max_examples=100, deadline=None)
@given(BLOCKS, st.integers(16, 50))
def test_no_line_is_wider_than_the_page(blocks: list[tuple[str, list[str]]], width: int) -> None:
    text = "".join(f"{mark}{' '.join(words)}\n\n" for mark, words in blocks)
    shown = plain(streamed([text], MarkdownStyle(width=width)))
    assert all(display_width(line) <= width for line in shown.split("\n"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_word_is_lost(text: str) -> None:
    """Every letter of the source is shown, unless it is inside a link's target or an escape sequence."""
    style = MarkdownStyle(width=40, hyperlinks=False, colour=False)
    shown = plain(streamed(list(text), style))
    source = text.replace("\x1b[31m", "").replace("&amp;", "")
    for letter in "b你好é":
        assert shown.count(letter) >= min(1, source.count(letter))


def test_a_word_of_a_paragraph_is_shown_when_white_space_follows() -> None:
    stream = MarkdownStream(STYLE)
    assert stream.feed("Hello") == ""
    assert stream.feed(" ") == "Hello"
    assert stream.feed("wor") == ""
    assert stream.feed("ld\n") == " world"
    assert stream.feed("\n") == "\n"


def test_a_character_of_a_script_without_spaces_is_shown_when_the_next_one_came() -> None:
    stream = MarkdownStream(STYLE)
    assert stream.feed("你") == ""
    assert stream.feed("好世") == "你"
    assert stream.feed("界") == "好"
    assert stream.end() == "世界\n"


def test_an_open_emphasis_holds_its_text_until_it_is_closed() -> None:
    stream = MarkdownStream(STYLE)
    assert stream.feed("a **b c ") == "a"
    assert stream.feed("d** e ") == " \x1b[1mb c d\x1b[0m e"


@pytest.mark.parametrize("opener", ["**b", "_b", "`b", "[b", '[b](c "t', "<b", "~~b"])
def test_an_opener_holds_at_most_until_the_next_line_has_ended(opener: str) -> None:
    stream = MarkdownStream(STYLE)
    assert stream.feed(f"a {opener} c\n") == "a"
    assert stream.feed("d ") == ""
    assert plain(stream.feed("e\n")) == f" {opener} c d e"


def test_an_opener_is_text_at_once_when_its_paragraph_ends() -> None:
    stream = MarkdownStream(STYLE)
    assert stream.feed("a **b\n") == "a"
    assert stream.feed("\n") == " **b\n"


def test_code_is_shown_line_by_line() -> None:
    stream = MarkdownStream(MarkdownStyle(colour=False))
    assert plain(stream.feed("```\nfirst")) == "```\n"
    assert stream.feed(" line\n") == "first line\n"
    assert stream.feed("    x = 1\n") == "    x = 1\n"


def test_text_of_a_list_item_and_of_a_quote_flows() -> None:
    stream = MarkdownStream(MarkdownStyle(colour=False))
    assert plain(stream.feed("- one ")) == "• one"
    assert plain(stream.feed("two\n> ")) == " two"
    assert plain(stream.feed("three ")) == "\n│ three"


def test_what_may_be_a_rule_or_a_list_waits_until_it_is_known() -> None:
    stream = MarkdownStream(MarkdownStyle(colour=False))
    assert stream.feed("* ") == ""
    assert stream.feed("* ") == ""
    assert plain(stream.feed("a ")) == "• • a"


def test_a_table_is_held_to_its_end() -> None:
    stream = MarkdownStream(MarkdownStyle(colour=False))
    assert stream.feed("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n") == ""
    assert plain(stream.feed("\n")).startswith("┌")


def test_a_long_table_is_held_for_two_hundred_rows_and_its_widths_stay() -> None:
    stream = MarkdownStream(MarkdownStyle(width=60, colour=False))
    assert stream.feed("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 199) == ""
    assert len(plain(stream.feed("| 1 | 2 |\n")).splitlines()) == 203
    wide = plain(stream.feed("| 1 | two words |\n")).splitlines()
    assert len({len(line) for line in wide}) == 1
    assert "".join("".join(line[5:-1].split()) for line in wide) == "twowords"


def test_a_line_with_a_bar_is_text_when_no_table_follows() -> None:
    stream = MarkdownStream(MarkdownStyle(colour=False))
    assert stream.feed("| a | b |\n") == ""
    assert stream.feed("c ") == "| a | b | c"


def test_the_end_shows_everything_that_was_held() -> None:
    for text in (
        "word",
        "a **b",
        "`x",
        "[l](m",
        "| a | b |",
        "| a |\n|---|\n| b",
        "```\nx",
        "- ",
        "#",
        "<b",
        "\\",
        "    c",
    ):
        shown = plain(streamed([text], MarkdownStyle(colour=False, hyperlinks=False)))
        assert shown.endswith("\n"), text
        for letter in "abclmx":
            assert (letter in text) == (letter in shown), text


def test_nothing_in_nothing_out() -> None:
    assert streamed([], STYLE) == ""
    assert streamed(["", "\n", "\n \n", ""], STYLE) == ""
