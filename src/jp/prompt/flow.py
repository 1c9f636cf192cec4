"""How one line of text falls into the rows of a window. Pure.

Rows are found as they are asked for, and a line that was edited keeps the rows before the edit: a pasted line of any
length costs what is seen of it.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from wcwidth import iter_graphemes, wcwidth

from jp.terminal.width import display_width

TAB = 8


class Cell(NamedTuple):
    """One cluster on the screen: where it is in the text, what is shown for it, and in how many columns."""

    offset: int
    shown: str
    width: int


class Flow:
    """`text` (no line break in it) in rows of `width` columns, the first beginning at column `indent`.

    `joined`: the terminal shows a cluster in the columns of one character, not in those of all its parts.
    `like` is a Flow of almost the same text: the rows before the first difference are taken from it.
    """

    __slots__ = ("_done", "_held", "_rest", "_starts", "indent", "joined", "plain", "text", "width")

    def __init__(
        self, text: str, width: int, indent: int = 0, *, joined: bool = True, like: "Flow | None" = None
    ) -> None:
        self.text = text
        self.joined = joined
        self.width = width
        self.indent = indent
        self.plain = text.isascii() and text.isprintable()
        self._starts = [0]
        self._done = False
        if self.plain:
            first = width - indent
            self._starts += range(first, len(text), width) if first < len(text) else ()
            self._done = True
            return
        if like is not None and (like.width, like.indent, like.joined) == (width, indent, joined):
            # What a row ends with depends on the cluster behind it, which may not be the same any more.
            same = _same(like.text, text)
            self._starts = like._starts[: max(1, bisect_right(like._starts, same) - 1)]
        self._held = ""
        self._rest: Iterator[str] = iter_graphemes(text[self._starts[-1] :] if self._starts[-1] else text)

    def rows(self, limit: int) -> int:
        """How many rows there are; no more than about `limit` are looked for."""
        while not self._done and len(self._starts) <= limit:
            self._find()
        return len(self._starts)

    def cells(self, row: int) -> list[Cell]:
        """What is shown in a row."""
        start, end = self._bounds(row)
        if self.plain:
            return [Cell(start + n, character, 1) for n, character in enumerate(self.text[start:end])]
        return list(self._laid(start, end, 0 if row else self.indent))

    def place(self, offset: int) -> tuple[int, int]:
        """Row and column of the place before `offset`; the end of a full row is the beginning of the next."""
        while not self._done and self._starts[-1] <= offset:
            self._find()
        row = bisect_right(self._starts, offset) - 1
        start = self._starts[row]
        column = 0 if row else self.indent
        if self.plain:
            column += offset - start
        else:
            column += sum(cell.width for cell in self._laid(start, offset, column))
        return (row + 1, 0) if column >= self.width else (row, column)

    def _bounds(self, row: int) -> tuple[int, int]:
        self.rows(row + 1)
        if row >= len(self._starts):
            return len(self.text), len(self.text)
        return self._starts[row], self._starts[row + 1] if row + 1 < len(self._starts) else len(self.text)

    def _laid(self, start: int, end: int, column: int) -> Iterator[Cell]:
        offset = start
        for cluster in iter_graphemes(self.text[start:end]):
            shown, width = _shown(cluster, column, self.width, self.joined)
            yield Cell(offset, shown, width)
            column += width
            offset += len(cluster)

    def _find(self) -> None:
        """Find where the next row begins."""
        at = self._starts[-1]
        column = 0 if len(self._starts) > 1 else self.indent
        while True:
            cluster, self._held = self._held or next(self._rest, ""), ""
            if not cluster:
                self._done = True
                return
            width = _shown(cluster, column, self.width, self.joined)[1]
            if column + width > self.width:
                self._held = cluster
                self._starts.append(at)
                return
            column += width
            at += len(cluster)


def _same(one: str, other: str) -> int:
    """How long the beginning is that both have."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def columns(cluster: str, *, joined: bool) -> int:
    """The columns of a cluster on a terminal that joins its parts, or on one that does not."""
    return display_width(cluster) if joined else sum(max(0, wcwidth(part)) for part in cluster)


def _shown(cluster: str, column: int, room: int, joined: bool) -> tuple[str, int]:
    """What is shown for a cluster at a column, and its width."""
    if cluster == "\t":
        width = max(1, min(TAB - column % TAB, room - column))
        return " " * width, width
    shown, width = _look(cluster, joined)
    return (shown, width) if width <= room else ("?", 1)


@lru_cache(maxsize=4096)
def _look(cluster: str, joined: bool) -> tuple[str, int]:
    first = ord(cluster[0])
    if first < 0x20 or first == 0x7F:
        return "^" + chr(first ^ 64), 2
    if first < 0xA0 and first >= 0x80:
        return f"<{first:02x}>", 4
    width = columns(cluster, joined=joined)
    if width:
        return cluster, width
    # Nothing that it could be joined to: a mark gets a place of its own, all else takes none.
    return (" " + cluster, 1) if unicodedata.category(cluster[0]) in ("Mn", "Me", "Mc") else ("", 0)
