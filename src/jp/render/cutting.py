"""The beginning of a text that may be of any size: its first lines, each cut to a width. Pure.

Only what is shown is looked at, so that a result of many megabytes costs what its first lines cost.
"""

import re

from jp.render.visible import visible
from jp.terminal.sanitize import Sanitizer
from jp.terminal.width import ELLIPSIS, display_width, head, truncate

COLUMNS = 500  # of a line that others wrote
RESET = "\x1b[0m"
ESCAPED = "escaped"  # as `sanitize`: nothing is dropped, what would not be seen is shown as an escape
_CHARACTERS = 4096  # of a line that are looked at: it may be made of characters that take no column
_TAB = 4
_SGR = re.compile("(\x1b\\[[0-9;:]*m)")


def first_lines(
    text: str, limit: int | None, *, sanitize: str = "strip", colour: bool = False, columns: int = COLUMNS
) -> tuple[list[str], int]:
    """The first `limit` lines (None: all) as they may be shown, and how many there are besides.

    Each line ends the colours and styles that it brings; without `colour` they are taken away.
    """
    end = len(text)
    while end and text[end - 1] in "\r\n":
        end -= 1
    sanitizer = Sanitizer("off" if sanitize == ESCAPED else sanitize)
    lines: list[str] = []
    position = 0
    while position < end and (limit is None or len(lines) < limit):
        stop = text.find("\n", position, end)
        stop = end if stop < 0 else stop
        raw = text[position : min(stop, position + _CHARACTERS)].removesuffix("\r")
        if sanitize == ESCAPED:
            raw = visible(raw.expandtabs(_TAB))
        line = sanitizer.feed(raw + "\n").removesuffix("\n")
        lines.append(_finished(line, columns, colour, cut=stop - position > _CHARACTERS))
        position = stop + 1
    if lines:
        lines[-1] += sanitizer.end()
    more = text.count("\n", position, end) + 1 if position < end else 0
    return lines, more


def more_lines(count: int) -> str:
    """What stands for lines that are not shown."""
    return f"… {count} more line{'s' if count > 1 else ''}"


def _finished(line: str, columns: int, colour: bool, *, cut: bool) -> str:
    if "\t" in line:
        line = line.expandtabs(_TAB)
    if "\x1b" in line and not colour:
        line = _SGR.sub("", line)
    if "\x1b" in line:
        return _styled(line, columns, cut=cut)
    if cut:
        line += ELLIPSIS  # so that it counts
    if len(line) <= columns and line.isascii():
        return line
    return truncate(line, columns)


def _styled(line: str, columns: int, *, cut: bool) -> str:
    """A line with escapes in it: no cut goes through one, and the last one is a reset."""
    parts: list[str] = []
    room = columns - 1
    for piece in _SGR.split(line):
        if piece.startswith("\x1b"):
            parts.append(piece)
            continue
        width = display_width(piece)
        if width > room:
            parts.append(head(piece, room))
            cut = True
            break
        parts.append(piece)
        room -= width
    return "".join(parts) + (ELLIPSIS if cut else "") + RESET
