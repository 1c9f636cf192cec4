"""Listings: tables and details, fitted to a width that is known. Pure; cells are text on one line.

Boxes and bold are for a channel with escapes; elsewhere columns are aligned with spaces. Without a known width nothing
is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jp.render.columns import aligned, fit
from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width, truncate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ALIGNMENTS = {"left": "<", "center": "^", "right": ">"}
_LEAST = 6  # columns of text that a column which may shrink keeps
_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Column:
    """A column: its heading, `align` left, center or right, and whether it may be cut to make the table fit.

    Columns with a higher `shrink` are cut first, and where that is not enough they are left out first; 0 (or False) is
    never cut. Where even that is too wide, columns of 0 are left out from the right, but never the first: it names the
    row, and a line that is too long is of more use than half an id.
    """

    __slots__ = ("align", "shrink", "title")

    def __init__(self, title: str, *, align: str = "left", shrink: int = 0) -> None:
        self.title = title
        self.align = _ALIGNMENTS[align]
        self.shrink = int(shrink)


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    *,
    width: int | None = None,
    box: bool = False,
    links: Sequence[Sequence[str | None]] | None = None,
) -> str:
    """A table with its heading, each line ended; no rows give nothing.

    `width` is the columns of the channel, None where it is not known. `links` are targets for the cells of each row and
    are used only in a box, which stands for a channel with escapes and is dropped where it is wider than `width`. A
    column in which nothing stands is left out.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    heading = [one_line(column.title) for column in columns]
    shown = [index for index in range(len(columns)) if heading[index] or any(row[index] for row in cells)]
    columns = [columns[index] for index in shown]
    heading, *cells = ([row[index] for index in shown] for row in (heading, *cells))
    if links is not None:
        links = [[targets[index] for index in shown] for targets in links]
    natural = [max(display_width(row[index]) for row in (heading, *cells)) for index in range(len(columns))]
    layout = _fitted(natural, [column.shrink for column in columns], width, box=box)
    lines = [_cells(row, columns, layout) for row in (heading, *cells)]
    if not layout.box:
        return "".join("  ".join(line).rstrip() + "\n" for line in lines)
    widths = layout.widths
    if links is not None:
        from jp.terminal.osc import hyperlink

        for line, targets in zip(lines[1:], links, strict=True):
            line[:] = [hyperlink(target, cell) if target else cell for cell, target in zip(line, targets, strict=True)]
    lines[0] = [f"{_BOLD}{cell}{_END}" for cell in lines[0]]
    bar = f"{_DIM}│{_END}"
    drawn = [f"{bar} " + f" {bar} ".join(line) + f" {bar}" for line in lines]
    return "\n".join(
        [
            _rule(widths, "┌", "┬", "┐"),
            drawn[0],
            _rule(widths, "├", "┼", "┤"),
            *drawn[1:],
            _rule(widths, "└", "┴", "┘"),
            "",
        ]
    )


def details(rows: Iterable[tuple[str, str]], *, width: int | None = None, bold: bool = False) -> str:
    """Names and values, one a line; a value longer than the width goes on below its beginning."""
    pairs = [(one_line(name), one_line(value)) for name, value in rows]
    column = max((display_width(name) for name, _ in pairs), default=0)
    room = max(20, width - column - 2) if width is not None else None
    lines = []
    for name, value in pairs:
        label = aligned(name, display_width(name), "<", column)
        for number, part in enumerate(_wrapped(value, room)):
            if number == 0:
                lines.append((f"{_BOLD}{label}{_END}" if bold else label) + f"  {part}".rstrip())
            else:
                lines.append(" " * (column + 2) + part)
    return "".join(f"{line}\n" for line in lines)


class _Layout:
    """Which columns are shown, how wide, and whether in a box."""

    __slots__ = ("box", "shown", "widths")

    def __init__(self, shown: list[int], widths: list[int], *, box: bool) -> None:
        self.shown = shown
        self.widths = widths
        self.box = box


def _fitted(natural: Sequence[int], shrink: Sequence[int], width: int | None, *, box: bool) -> _Layout:
    """The best layout for `width`: a box, plain columns, fewer of them, and at last the first column alone, whole."""
    shown = list(range(len(natural)))
    if width is None:
        return _Layout(shown, list(natural), box=box)
    while True:
        for boxed in (True, False) if box else (False,):
            gap, edges = (3, 4) if boxed else (2, 0)
            room = width - gap * (len(shown) - 1) - edges
            widths = shrunk([natural[i] for i in shown], [shrink[i] for i in shown], room)
            if widths is not None:
                return _Layout(shown, widths, box=boxed)
        if len(shown) == 1:
            return _Layout(shown, [natural[0]], box=False)
        box = False
        shown.remove(max(shown[1:], key=lambda i: (shrink[i], i)))


def shrunk(natural: Sequence[int], shrink: Sequence[int], available: int) -> list[int] | None:
    """Widths that fit into `available` columns, the most willing columns give first; None where there are none."""
    widths = list(natural)
    floors = list(natural)
    for priority in sorted({wish for wish in shrink if wish}, reverse=True):
        floors = [
            min(_LEAST, one) if wish == priority else floor
            for wish, floor, one in zip(shrink, floors, natural, strict=True)
        ]
        found = fit(widths, floors, available)
        if found is not None:
            return found
        widths = floors
    return fit(widths, floors, available)


def _cells(row: Sequence[str], columns: Sequence[Column], layout: _Layout) -> list[str]:
    cells = []
    for index, width in zip(layout.shown, layout.widths, strict=True):
        cell = truncate(row[index], width)
        cells.append(aligned(cell, display_width(cell), columns[index].align, width))
    return cells


def _rule(widths: Sequence[int], left: str, middle: str, right: str) -> str:
    return _DIM + left + middle.join("─" * (width + 2) for width in widths) + right + _END


def _wrapped(text: str, room: int | None) -> list[str]:
    if room is None or display_width(text) <= room:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and display_width(line) + 1 + display_width(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
