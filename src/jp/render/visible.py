"""Text that hides nothing, for where a person decides by what is shown.

Characters that print nothing, that reorder what is printed, or that look like another one's absence (a space that is
none) are shown as escapes: `\\u202e`. Pure.
"""

import re

from jp.terminal.escapes import Escapes

_BLANK = frozenset(  # count as printable, and print nothing
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0]
).union(range(0xE0100, 0xE01F0))
_COLOURS = re.compile("(?:\x1b\\[|\x9b)(?:[0-9]{1,3}(?:[;:][0-9]{1,3})*)?m", re.ASCII)
_IDEOGRAPHIC_SPACE = 0x3000  # is as wide as a character, and in every East Asian text


def visible(text: str, *, styled: bool = False) -> str:
    """A line with all that would not be seen as escapes.

    Of `styled` text, what sets colours and styles is left out, where it says which: `ESC [;m` could be meant for a
    shell, to which `;m` is another command.
    """
    text = text.removesuffix("\r") if styled else text
    if text.isascii() and text.isprintable():
        return text
    if styled and ("\x1b" in text or "\x9b" in text):
        cutter = Escapes(c1=True)
        pieces = [piece for sequence, piece in cutter.feed(text) if not (sequence and _COLOURS.fullmatch(piece))]
        text = "".join(pieces) + cutter.end()
    return text.translate(_TABLE)


class _Table(dict[int, str]):
    """Characters are looked up once."""

    def __missing__(self, code: int) -> str:
        shown = chr(code)
        if code != _IDEOGRAPHIC_SPACE and (code in _BLANK or not shown.isprintable()):
            shown = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
        self[code] = shown
        return shown


_TABLE = _Table()
