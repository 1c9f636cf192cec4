"""A markdown table as a box. Rows are held until their widths are known: to the end, or for a long one 200 of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from jp.render.columns import aligned, fit
from jp.render.inline import Inline
from jp.render.page import Page
from jp.render.pen import BOLD, MUTED
from jp.terminal.width import display_width

if TYPE_CHECKING:
    from jp.render.page import Run
    from jp.render.style import MarkdownStyle

HELD_ROWS = 200
_LEAST = 5  # columns of text that a column keeps while others can still give
_NARROWEST = 2
_BREAK = re.compile(r"<br\s*/?>", re.I)
_ESCAPES = re.compile("\x1b(?:\\[[0-9;:]*m|\\]8;[^\x1b]*\x1b\\\\)")


class Cell:
    """The text of a cell, parsed once and laid out when its width is known. Stands in for the page while parsing."""

    __slots__ = ("_calls", "_line", "style", "width")

    def __init__(self, text: str, style: MarkdownStyle, flags: int) -> None:
        self.style = style
        self.width = 0
        self._line = 0
        self._calls: list[Run | None] = []
        for index, part in enumerate(_BREAK.split(text)):
            if index:
                self.hard_break()
            inline = Inline(self, flags)
            inline.feed(part.strip() + "\n")
            inline.finish()

    def text(self, text: str, flags: int = 0, link: str | None = None) -> None:
        """Text, kept for `lines`; it counts towards the natural width."""
        self._calls.append((text, flags, link))
        self._line += display_width(_ESCAPES.sub("", text) if "\x1b" in text else text)
        self.width = max(self.width, self._line)

    def space(self, flags: int = 0, link: str | None = None, gap: str = " ") -> None:
        """A space, where a line may break."""
        self._calls.append((gap, flags, link))
        self._line += len(gap)

    def hard_break(self, mark: str = "") -> None:  # noqa: ARG002 (a cell ends with no break)
        """The next line of the cell begins."""
        self._calls.append(None)
        self._line = 0

    def new_link(self) -> None:
        """Nothing: the page tells links apart by their targets."""

    def lines(self, page: Page) -> list[str]:
        """The cell's lines as they fit on a page, each with its styles closed."""
        for call in self._calls:
            if call is None:
                page.hard_break()
            else:
                page.text(*call)
        page.end_block()
        return page.take().split("\n")[:-1] or [""]


class Grid:
    """One table, written to the page as soon as its widths are known."""

    def __init__(self, page: Page, head: list[str], alignments: list[str]) -> None:
        self._page = page
        self._alignments = alignments
        self._style = page.style
        self._sources = [head]
        self._held = [self._cells(head, BOLD)]
        self._pages: list[Page] = []
        self._widths: list[int] | None = None
        self._frozen = False

    def add(self, row: list[str]) -> None:
        """Take a row; surplus cells are kept in the last column, missing ones are empty."""
        columns = len(self._alignments)
        if len(row) > columns:
            row = [*row[: columns - 1], " | ".join(row[columns - 1 :])]
        row = row + [""] * (columns - len(row))
        if self._frozen:
            self._show(row, self._cells(row, 0))
            return
        self._sources.append(row)
        self._held.append(self._cells(row, 0))
        if len(self._held) > HELD_ROWS:
            self._freeze()

    def end(self) -> None:
        """No more rows."""
        if not self._frozen:
            self._freeze()
        if self._widths is not None:
            self._border("└", "┴", "┘")

    def _cells(self, row: list[str], flags: int) -> list[Cell]:
        return [Cell(text, self._style, flags) for text in row]

    def _freeze(self) -> None:
        """Settle the widths and show what was held."""
        self._frozen = True
        columns = len(self._alignments)
        natural = [max(1, *(row[index].width for row in self._held)) for index in range(columns)]
        if self._style.table_max_column_width > 0:
            natural = [min(width, self._style.table_max_column_width) for width in natural]
        room = (self._style.table_width or self._style.width) - self._page.indent - 3 * columns - 1
        self._widths = fit(natural, [_LEAST] * columns, room) or fit(natural, [_NARROWEST] * columns, room)
        held, self._held = self._held, []
        if self._widths is None:
            for source in self._sources:
                self._show(source, [])
            return
        for width in self._widths:
            style = msgspec.structs.replace(self._style, width=width)
            self._pages.append(Page(style, palette=self._page.palette, cell=True))
        self._border("┌", "┬", "┐")
        for number, cells in enumerate(held):
            self._show([], cells)
            if number == 0:
                self._border("├", "┼", "┤")
        self._sources = []

    def _show(self, source: list[str], cells: list[Cell]) -> None:
        if self._widths is None:  # no room for a box: the source is more than nothing
            self._page.line([("| " + " | ".join(source) + " |", 0, None)])
            return
        columns = [cell.lines(page) for cell, page in zip(cells, self._pages, strict=True)]
        change = self._page.palette.change
        bar = f"{change(0, MUTED)}│{change(MUTED, 0)}"
        continued = f"{change(0, MUTED)}┆{change(MUTED, 0)}" if self._style.table_continuation_edge else bar
        for number in range(max(map(len, columns))):
            parts = []
            for lines, wide, alignment in zip(columns, self._widths, self._alignments, strict=True):
                text = lines[number] if number < len(lines) else ""
                parts.append(aligned(text, display_width(_ESCAPES.sub("", text)), alignment, wide))
            edge = continued if number else bar
            styled = f"{edge} " + f" {bar} ".join(parts) + f" {edge}"
            self._page.raw_line(styled, "x" * (sum(self._widths) + 3 * len(parts) + 1))

    def _border(self, left: str, middle: str, right: str) -> None:
        assert self._widths is not None
        line = left + middle.join("─" * (width + 2) for width in self._widths) + right
        self._page.line([(line, MUTED, None)])
