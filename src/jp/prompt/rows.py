"""Text cut into rows of a window. Pure; every text that comes in is sanitized here."""

from typing import NamedTuple

from jp.terminal.escapes import Escapes, is_sgr, sgr_parameters
from jp.terminal.sanitize import Sanitizer
from jp.terminal.width import display_width, head

BOLD_BLUE, DIM, RESET = "\x1b[1;34m", "\x1b[2m", "\x1b[0m"
_LINE_LIMIT = 1 << 16  # characters of one line that are looked at
_END_ROWS = 5


class Row(NamedTuple):
    """One row as it is written, and how many columns of it are seen."""

    text: str
    width: int


class Picture(NamedTuple):
    """What a prompt shows, and where the cursor is in it (row and column, from 0)."""

    rows: list[Row]
    row: int
    column: int


def styled(text: str, style: str) -> Row:
    """A row of plain text in one style; "" is none."""
    return Row(f"{style}{text}{RESET}" if style and text else text, display_width(text))


def wrap(text: str, columns: int, style: str = "") -> list[Row]:
    """Plain text (one line) as at least one row of at most `columns`."""
    rows: list[Row] = []
    at = 0
    while at < len(text) or not rows:
        piece = head(text[at : at + 8 * columns + 8], columns) or ("?" if at < len(text) else "")
        rows.append(styled(piece, style))
        at += len(piece)
    return rows


def fitted(rows: list[Row], lines: int) -> list[Row]:
    """The end of `rows`, if they do not fit, below a mark that says so."""
    if len(rows) <= lines:
        return rows
    return [Row("…", 1), *rows[1 - lines :]] if lines > 1 else rows[-1:]


def body_rows(body: str, columns: int, room: int, *, colour: bool, more: str = "") -> list[Row]:
    """`body` in at most `room` rows: where it does not fit its beginning and its end, and how much is left out between.

    `more` says behind that how it can be seen.
    """
    text = Sanitizer().feed(body).strip("\n")
    if not text or room <= 0:
        return []
    rows: list[Row] = []
    lines = text.split("\n")
    for line in lines:
        rows += _styled_rows(line.expandtabs(8), columns, room + 1 - len(rows), colour=colour)
        if len(rows) > room:
            break
    if len(rows) <= room:
        return rows
    # The end is shown, too: what matters may stand behind a long innocent beginning.
    end = _last_rows(lines, columns, min(_END_ROWS, (room - 1) // 3), colour=colour)
    keep = room - 1 - len(end)
    left = sum(_height(line, columns) for line in lines) - keep - len(end)
    note = f"… {left} more line{'s' if left > 1 else ''}{more}"
    return [*rows[:keep], styled(head(note, columns), DIM if colour else ""), *end]


def _last_rows(lines: list[str], columns: int, count: int, *, colour: bool) -> list[Row]:
    rows: list[Row] = []
    for line in reversed(lines):
        if len(rows) >= count:
            break
        end = line[-(count + 1) * columns :] if len(line) > _LINE_LIMIT else line
        rows = [*_styled_rows(end.expandtabs(8), columns, _LINE_LIMIT, colour=colour)[-count:], *rows]
    return rows[-count:] if count else []


def _height(line: str, columns: int) -> int:
    """How many rows a line takes; of a very long one, about how many."""
    width = len(line) if len(line) > _LINE_LIMIT else display_width(line)
    return max(1, -(-width // columns))


def _styled_rows(line: str, columns: int, limit: int, *, colour: bool) -> list[Row]:
    """One line with its colours, in rows; each row begins in the style in which the one before it ended."""
    rows: list[Row] = []
    row, used, style = "", 0, ""
    for sequence, piece in Escapes().feed(line[:_LINE_LIMIT]):
        if sequence:
            if colour and is_sgr(piece):
                row += piece
                style = "" if sgr_parameters(piece).strip("0;") == "" else style + piece
            continue
        at = 0
        while at < len(piece):
            text = head(piece[at : at + 8 * columns + 8], columns - used)
            if not text and used:
                rows.append(Row(row + (RESET if style else ""), used))
                if len(rows) >= limit:
                    return rows
                row, used = style, 0
                continue
            text = text or "?"
            row += text
            used += display_width(text)
            at += len(text)
    rows.append(Row(row + (RESET if style else ""), used))
    return rows
