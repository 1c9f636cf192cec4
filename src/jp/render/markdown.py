"""Markdown as it streams, to text with ANSI styles.

Designs that do not work: rendering the text so far again and again repaints what a person reads and costs the square of
its length; rendering each paragraph when it has ended is late by a paragraph; rendering each chunk alone depends on
where the network cut it. Here text goes on as soon as what may follow can't change how it looks, and everything is
decided by the text alone, so that the bytes are the same however the stream was cut, and nothing is taken back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jp.render.blocks import Blocks
from jp.render.page import FREE, Page

if TYPE_CHECKING:
    from jp.render.style import MarkdownStyle

_PAIR = re.compile(f"[{FREE}](?=[{FREE}])")
_FREE = re.compile(f"[{FREE}]")


class MarkdownStream:
    """Turns the chunks of one document into styled text. Pure; sanitizing comes before (contracts, section 3)."""

    def __init__(self, style: MarkdownStyle) -> None:
        self._page = Page(style)
        self._blocks = Blocks(self._page)
        self._parts: list[str] = []  # of the line that is coming, not yet taken
        self._length = 0
        self._retry = 0
        self._flowing = False  # the line is known to be a paragraph's

    def feed(self, text: str) -> str:
        """Take a chunk; what can be shown now."""
        *complete, last = text.split("\n")
        for line in complete:
            self._line(line)
        if last:
            self._partial(last)
        return self._page.take()

    def end(self) -> str:
        """The document ends: all that was held back. Nothing may be fed after it."""
        if self._parts or self._flowing:
            self._line("")
        self._blocks.end()
        return self._page.take()

    @property
    def in_code(self) -> bool:
        """Whether what was shown last is code."""
        return self._blocks.whole_lines

    def _line(self, text: str) -> None:
        if self._parts:
            self._parts.append(text)
            text = "".join(self._parts)
            self._parts.clear()
        self._length = self._retry = 0
        text = text.removesuffix("\r")
        if self._flowing:
            self._flowing = False
            self._blocks.text(text + "\n")
        else:
            self._blocks.line(text)

    def _partial(self, text: str) -> None:
        self._length += len(text)
        cut = self._cut(text)
        if cut < 0 or (not self._flowing and (self._blocks.whole_lines or self._length < self._retry)):
            self._parts.append(text)
            return
        self._parts.append(text[:cut])
        content: str | None = "".join(self._parts)
        self._parts = [text[cut:]] if cut < len(text) else []
        if not self._flowing:
            head, content = content, self._blocks.partial(content or "")
            if content is None:
                # A line that stays undecided for long is looked at again at growing distances.
                self._parts.insert(0, head or "")
                self._retry = self._length + self._length // 4 if self._length > 64 else 0
                return
            self._flowing = True
        self._blocks.text(content or "")

    def _cut(self, text: str) -> int:
        """Up to where a chunk may be taken: behind its last white space, or between characters that need none."""
        cut = max(text.rfind(" "), text.rfind("\t")) + 1
        if cut == 0:
            cut = -1
        if not text.isascii():
            for match in _PAIR.finditer(text, max(cut, 0)):
                cut = match.end()
            if cut < 0 and self._parts and _FREE.match(text) and _FREE.match(self._parts[-1][-1:]):
                cut = 0
        return cut
