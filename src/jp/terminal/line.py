"""The line a terminal's cursor is on: what has been written since the last line feed, and in which style.

Needed for three promises: a status line is drawn only at column 0; after somebody else has had the terminal and left no
trace, the output goes on where it stopped; and where there are traces, the unfinished line is written again.
"""

from functools import lru_cache

from jp.terminal.escapes import ESC, Escapes, is_sgr, unfinished
from jp.terminal.width import display_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

KEPT = 4096  # characters of an unfinished line that are remembered
_STYLE_LIMIT = 512
_TAB = 8
_HARMLESS = "\r\b\t\x07\x00"


class Line:
    """Follows what is written to one device. `keep` remembers the text; otherwise only whether the line is open.

    `columns` asks how wide the terminal is; it is asked when a line gets longer than what is kept.
    """

    __slots__ = (
        "_cells",
        "_columns",
        "_fits",
        "_keep",
        "_opening",
        "_text",
        "astray",
        "is_open",
        "link",
        "style",
        "unfinished",
    )

    def __init__(self, keep: bool, columns: "Callable[[], int | None]" = lambda: None) -> None:
        self._keep = keep
        self._columns = columns
        self._text = ""
        self._opening = ("", "")  # style and link where the text begins
        self._fits: int | None = None  # the terminal's width with which the text begins at column 0; None: with any
        self._cells: int | None = 0  # of the line, before the text; None: the width decides where they end
        self.unfinished = ""  # the escape sequence that is half written
        self.style = ""  # SGR sequences in force, since the last full reset
        self.link = ""  # the hyperlink in force, as it was begun
        self.is_open = False
        self.astray = False  # somebody else has written in the middle of it

    def feed(self, text: str) -> None:
        """Note that `text` was written."""
        if not self._keep:
            if text:
                self.is_open = text[-1] != "\n"
            return
        if self.unfinished:
            text = self.unfinished + text
            self.unfinished = ""
        styled = ESC in text
        if styled:
            held = unfinished(text)
            if held:
                text, self.unfinished = text[:-held], text[-held:]
        cut = text.rfind("\n") + 1
        if cut:
            if styled:
                self.style, self.link = _ink(text[:cut], self.style, self.link)
            self._text, self.is_open, self.astray = "", False, False
            self._opening = (self.style, self.link)
            self._fits, self._cells = None, 0
        tail = text[cut:]
        if tail:
            if styled:
                self.style, self.link = _ink(tail, self.style, self.link)
            self._text += tail
            self.is_open = self.is_open or _visible(tail)
            if len(self._text) > 2 * KEPT:
                self._shorten()

    def again(self) -> str:
        """What brings a cursor at column 0 of an empty row to where the line was left; the line begins there then."""
        self._fits, self._cells, self.astray = None, 0, False
        style, link = self._opening
        return (f"\x1b[0m{style}" if style or self.style else "") + link + self._text + self.unfinished

    def last_row(self, columns: int | None, before: int | None) -> str | None:
        """What brings a cursor at column 0 of the row where the line was left back to its place; None: who knows.

        `columns` is the terminal's width and `before` what it was when the line was written: the terminal has moved
        what it shows from the one to the other.
        """
        if columns is None or before is None or self.astray:
            return None
        column = self._begins_at(columns)
        if column is None:
            return None
        start = _row(self._text, columns, column)
        if start is None:
            return None
        if columns != before and not _flows(self._text):
            first = self._begins_at(before)
            if start or first is None or column or first or _row(self._text, before, first) != 0:
                return None
        style, link = _ink(self._text[:start], *self._opening)
        lead = f"\x1b[0m{style}" if style or self.style else ""
        aside = f"\x1b[{column}C" if column and not start else ""
        return lead + link + aside + _shown(self._text[start:]) + self.unfinished

    def _begins_at(self, columns: int) -> int | None:
        """The column where the text that is kept begins, None when that is not known for this width."""
        if (self._fits is None and self._cells == 0) or self._fits == columns:
            return 0
        return None if self._cells is None else self._cells % columns

    def _shorten(self) -> None:
        """Forget the beginning of a long line, whole rows of it where that is possible."""
        text = self._text
        columns = self._columns()
        column = self._begins_at(columns) if columns and columns <= KEPT else None
        start = None
        if columns and column is not None:
            start = _row(text[: _boundary(text, len(text) - KEPT)], columns, column)
        if start:
            self._fits = columns
            cells = _cells(text[:start])
            self._cells = None if cells is None or self._cells is None else self._cells + cells
        else:
            start = _boundary(text, len(text) - KEPT)
            self._fits, self._cells = 0, None
        self._opening = _ink(text[:start], *self._opening)
        self._text = text[start:]


def _ink(text: str, style: str, link: str) -> tuple[str, str]:
    """Style and hyperlink in force after `text`, from what they were before."""
    if ESC not in text:
        return style, link
    reset = max(text.rfind("\x1b[0m"), text.rfind("\x1b[m"))
    for sequence, piece in Escapes().feed(text[max(0, reset) :]):
        if sequence and piece[:2] == "\x1b[" and is_sgr(piece):
            style = "" if piece in ("\x1b[0m", "\x1b[m") else style + piece
            if len(style) > _STYLE_LIMIT:
                style = style[style.find(ESC, len(style) - _STYLE_LIMIT) :]
    begun = text.rfind("\x1b]8;")
    if begun >= 0:
        _, piece = next(Escapes().feed(text[begun:]), (True, ""))
        link = piece if piece[4:].partition(";")[2].rstrip("\x07\x1b\\\x9c") else ""
    return style, link


def _visible(text: str) -> bool:
    if ESC not in text:
        return bool(text.strip("\r\x07"))
    return any(not sequence and piece.strip("\r\x07") for sequence, piece in Escapes().feed(text))


def _shown(text: str) -> str:
    """`text` without what does something beside showing it: bells, titles."""
    text = text.replace("\x07", "") if "\x1b]" not in text else text
    if ESC not in text:
        return text
    kept = [
        piece if sequence else piece.replace("\x07", "")
        for sequence, piece in Escapes().feed(text)
        if not sequence or piece[1] == "[" or piece[:4] == "\x1b]8;"
    ]
    return "".join(kept)


def _boundary(text: str, position: int) -> int:
    """The first place from `position` on that is not inside an escape sequence."""
    at = 0
    for sequence, piece in Escapes().feed(text):
        at += len(piece)
        if at >= position:
            return at if sequence else position
    return at


def _flows(text: str) -> bool:
    """Whether a terminal that becomes wider or narrower shows it as if it had been written there."""
    return not any(mark in text for mark in "\t\r\b")


def _cells(text: str) -> int | None:
    """Columns of a text in which every character takes one, None for others."""
    count = 0
    for sequence, piece in Escapes().feed(text):
        if not sequence:
            if not (piece.isascii() and piece.isprintable()):
                return None
            count += len(piece)
    return count


def _row(text: str, columns: int, column: int) -> int | None:
    """Where in `text`, written from `column` on, the row begins that the cursor is on after it.

    0 when that is the row where it began. None when it can't be known: something in it moves the cursor, or the row
    depends on whether the terminal takes characters one by one or in clusters.
    """
    if columns < 2:
        return None
    start = _row_of(text, columns, column, clusters=False)
    if start is None or text.isascii() or all(_alone(character) for character in set(text)):
        return start
    return start if _row_of(text, columns, column, clusters=True) == start else None


def _row_of(text: str, columns: int, column: int, *, clusters: bool) -> int | None:
    start = position = 0
    doubt = False  # terminals differ on whether what follows a tab at the right margin begins a row
    for sequence, piece in Escapes().feed(text):
        if sequence:
            if piece[1] != "]" and not (piece[1] == "[" and is_sgr(piece)):
                return None
            position += len(piece)
        elif piece.isascii() and piece.isprintable():
            if doubt:
                return None
            rows = (column + len(piece) - 1) // columns
            if rows:
                start = position + rows * columns - column
            column += len(piece) - rows * columns
            position += len(piece)
        else:
            for unit in _units(piece, clusters):
                width = _width(unit)
                if width > 0:
                    if doubt or width > columns:
                        return None
                    if column + width > columns:
                        start, column = position, 0
                    column += width
                elif unit == "\t":
                    doubt = column == columns
                    column = column if doubt else min((column // _TAB + 1) * _TAB, columns - 1)
                elif unit in "\r\b":
                    column = 0 if unit == "\r" else max(0, min(column, columns - 1) - 1)
                    doubt = False
                elif width < 0:
                    return None
                position += len(unit)
    return start


def _units(text: str, clusters: bool) -> "Iterable[str]":
    if not clusters or text.isascii():
        return text
    from wcwidth import iter_graphemes

    return iter_graphemes(text)


@lru_cache(2048)
def _width(unit: str) -> int:
    """Columns of a character or cluster; -1 for control characters that may do anything."""
    if unit not in _HARMLESS and (unit < " " or "\x7f" <= unit < "\xa0"):
        return -1
    return display_width(unit)


def _alone(character: str) -> bool:
    """Whether it takes as many columns in every company: western scripts, signs, CJK, Hangul."""
    return (
        character < "\u0530"
        or "\u2010" <= character <= "\u205e"
        or "\u2190" <= character <= "\u25ff"
        or "\u2e80" <= character <= "\ua4cf"
        or "\uac00" <= character <= "\ud7a3"
        or "\uff01" <= character <= "\uff60"
    )
