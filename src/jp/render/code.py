"""A fenced code block: its fences as they were written, its lines highlighted one by one and never wrapped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jp.render.pen import MUTED

if TYPE_CHECKING:
    from jp.render.highlight import Highlighter
    from jp.render.page import Page

_LONGEST = 2000  # characters of a line that is still highlighted
_LONG = 200  # from here on lexers may look back and forth over a line
_RUN = 80  # so they may over white space and words of this length
_RUNS = re.compile(rf"\s{{{_RUN},}}|\w{{{_RUN},}}")


class Effort:
    """How much highlighting a document may cost, in rules looked at.

    Ordinary code takes 5 to 20 a character. Text made for it takes lexers a thousand, and is shown as it is. A count,
    not a clock: the bytes must not depend on the machine.
    """

    __slots__ = ("_left",)

    _FIRST = 1_000_000
    _PER_CHARACTER = 20

    def __init__(self) -> None:
        self._left = self._FIRST

    def allows(self, text: str) -> bool:
        """Whether a line may be highlighted; what it costs at least is spent."""
        length = len(text)
        self._left = min(self._left + self._PER_CHARACTER * (length + 1), self._FIRST)
        if length > _LONGEST or self._left <= 0:
            return False
        if length > _RUN:
            expected = length * length // 8 if length > _LONG else 0
            expected += sum((run.end() - run.start()) ** 2 // 2 for run in _RUNS.finditer(text))
            if expected > self._left:
                return False
            self._left -= expected
        return True

    def spend(self, tries: int) -> None:
        """Count what a line has cost."""
        self._left -= tries


class CodeBlock:
    """`marks` is the fence, `info` what stands behind it, `indent` the columns that it was indented by."""

    def __init__(self, page: Page, effort: Effort, marks: str, info: str, indent: int) -> None:
        self._page = page
        self._effort = effort
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
            self._page.text_now(f"{self._number:>4} " if text else f"{self._number:>4}", MUTED)
        elif not text:
            self._page.blank()
            return False
        styled = self._highlighted(text)
        if styled is None:
            self._page.line([(text, 0, None)])
        else:
            self._page.raw_line(styled, text)
        return False

    def _highlighted(self, text: str) -> str | None:
        if self._highlighter is None or "\x1b" in text or not self._effort.allows(text):
            return None
        before = self._highlighter.tries
        try:
            styled = self._highlighter.line(text)
        except Exception:  # a lexer of any of 500 languages, on any text: what it can't take is shown plain
            self._highlighter = None
            return None
        self._effort.spend(self._highlighter.tries - before)
        return styled

    def _closes(self, text: str) -> bool:
        marks = text.strip(" ")
        return (
            len(marks) >= len(self._marks)
            and marks == self._marks[0] * len(marks)
            and len(text) - len(text.lstrip(" ")) < 4
        )
