"""Inline markdown against markdown-it, an implementation of the specification, on random text of one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jp.render.inline import Inline
from jp.render.pen import BOLD, CODE, ITALIC, LINK, STRIKE
from jp.render.style import MarkdownStyle
from jp.terminal.osc import percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

Char = tuple[str, int, str | None]  # a character, its styles, the target of its link

PIECES = [
    *["*", "**", "***", "_", "__", "~~", "`", "``", "a", "b", " ", " ", ".", "(", ")", "\\", "\\*", "é", "“"],
    *["[", "]", "](", "](x)", '](y "t")', "](<z>)", "![", "&amp;", "&#42;", "&x;", "<i>", "</b>", "!"],
]


class Recorder:
    """A page that keeps what is written on it."""

    style = MarkdownStyle()

    def __init__(self) -> None:
        self.chars: list[Char] = []

    def text(self, text: str, flags: int = 0, link: str | None = None) -> None:
        self.chars += [(char, flags, link) for char in text]

    def space(self, flags: int = 0, link: str | None = None) -> None:
        self.text(" ", flags, link)

    def hard_break(self, mark: str = "") -> None:
        self.text(mark)

    def new_link(self) -> None:
        pass


def ours(text: str) -> list[Char]:
    page = Recorder()
    inline = Inline(page)
    inline.feed(text + "\n")
    inline.finish()
    return page.chars


def theirs(text: str) -> list[Char]:
    parser = MarkdownIt("commonmark").enable("strikethrough").disable(["reference", "lheading"])
    parser.validateLink = lambda _url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda url: url  # type: ignore[method-assign]
    (inline,) = parser.parseInline(text)
    return list(flattened(inline.children or []))


def flattened(tokens: Iterable[Token]) -> Iterable[Char]:
    depth = {"strong": 0, "em": 0, "s": 0}
    flags = {"strong": BOLD, "em": ITALIC, "s": STRIKE}
    links: list[str] = []
    for token in tokens:
        kind, _, edge = token.type.rpartition("_")
        if kind == "link":
            links = [str(token.attrs["href"])] if edge == "open" else []
            continue
        if kind in depth:
            depth[kind] += token.nesting
            continue
        style = sum(flags[name] for name, count in depth.items() if count) | (LINK if links else 0)
        link = links[0] if links else None
        if token.type == "image":
            target = link or str(token.attrs["src"])
            for char, inner, _link in flattened(token.children or []):
                yield char, style | inner | LINK, target
        else:
            style |= CODE if token.type == "code_inline" else 0
            yield from ((char, style, link) for char in token.content.replace("\n", " "))


def words(chars: list[Char]) -> list[Char]:
    """Without white space, and with targets only where there are some."""
    return [(char, flags, percent(link) if link else None) for char, flags, link in chars if not char.isspace()]


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_a_line_is_read_as_the_specification_says(text: str) -> None:
    text = text.strip()
    # Where markdown-it goes its own way: three tildes strike nothing out (GFM); what stands at the edge of a link's or
    # an image's text is beside a bracket, not beside white space; an empty target is one, as is a backslash.
    assume(re.search(r"~~~|[*_~]\\?\]\(|!\[[*_~]|\]\(\s*\\?\s*\)", text) is None)
    assert words(ours(text)) == words(theirs(text))


def test_an_autolink() -> None:
    assert words(ours("a <ab:u> b")) == words(theirs("a <ab:u> b"))
