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
_LEAST = 8  # columns of text that a column which may shrink keeps
_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Column:
    """A column: its heading, `align` left, center or right, and whether it may be cut to make the table fit.

    Columns with a higher `shrink` are cut first; 0 (or False) is cut last of all, when nothing else is left.
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
    are used only with `box`, which stands for a channel with escapes. A column in which nothing stands is left out.
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
    gap, edges = (3, 4) if box else (2, 0)
    natural = [max(display_width(row[index]) for row in (heading, *cells)) for index in range(len(columns))]
    widths = natural
    if width is not None:
        widths = shrunk(natural, [column.shrink for column in columns], width - gap * (len(columns) - 1) - edges)
    lines = [_cells(row, columns, widths, last=box) for row in (heading, *cells)]
    if not box:
        return "".join("  ".join(line).rstrip() + "\n" for line in lines)
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


def shrunk(natural: Sequence[int], shrink: Sequence[int], available: int) -> list[int]:
    """Widths that fit into `available` columns as far as they can: the most willing columns give first."""
    widths = list(natural)
    floors = list(natural)
    for priority in sorted(set(shrink), reverse=True):
        floors = [_LEAST if wish == priority else floor for wish, floor in zip(shrink, floors, strict=True)]
        found = fit(widths, floors, available)
        if found is not None:
            return found
        widths = [min(one, floor) for one, floor in zip(widths, floors, strict=True)]
    return fit(widths, [1] * len(widths), available) or [min(width, 1) for width in widths]


def _cells(row: Sequence[str], columns: Sequence[Column], widths: Sequence[int], *, last: bool) -> list[str]:
    shown = [truncate(cell, width) for cell, width in zip(row, widths, strict=True)]
    return [
        aligned(cell, display_width(cell), column.align, width) if last or column is not columns[-1] else cell
        for cell, column, width in zip(shown, columns, widths, strict=True)
    ]


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
