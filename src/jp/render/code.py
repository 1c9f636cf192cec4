"""A fenced code block: its fences as they were written, its lines highlighted one by one and never wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jp.render.pen import MUTED

if TYPE_CHECKING:
    from jp.render.highlight import Highlighter
    from jp.render.page import Page

_LONGEST = 2000  # characters of a line that is still highlighted: some lexers look back a long way


class CodeBlock:
    """`marks` is the fence, `info` what stands behind it, `indent` the columns that it was indented by."""

    def __init__(self, page: Page, marks: str, info: str, indent: int) -> None:
        self._page = page
        self._marks = marks
        self._indent = indent
        self._number = 0
        self._highlighter: Highlighter | None = None
        page.line([(marks, MUTED, None), (info, MUTED, None)] if info else [(marks, MUTED, None)])
        if info and page.style.colour and page.style.code_colour:
            from jp.render.highlight import highlighter

            self._highlighter = highlighter(info, page.style.theme, truecolor=page.style.truecolor)

    def line(self, text: str) -> bool:
        """Show a line; True when it was the closing fence."""
        if self._closes(text):
            self._page.line([(self._marks, MUTED, None)])
            return True
        strip = min(self._indent, len(text) - len(text.lstrip(" ")))
        text = text[strip:].expandtabs(4)
        if self._page.style.line_numbers:
            self._number += 1
            self._page.text_now(f"{self._number:>4} ", MUTED)
        elif not text:
            self._page.blank()
            return False
        if self._highlighter is None or "\x1b" in text or len(text) > _LONGEST:
            self._page.line([(text, 0, None)])
        else:
            self._page.raw_line(self._highlighter.line(text), text)
        return False

    def _closes(self, text: str) -> bool:
        marks = text.strip(" ")
        return (
            len(marks) >= len(self._marks)
            and marks == self._marks[0] * len(marks)
            and len(text) - len(text.lstrip(" ")) < 4
        )
