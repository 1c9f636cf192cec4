"""The line a terminal's cursor is on: what has been written since the last line feed, and in which style.

Needed for two promises: a status line is drawn only at column 0, and an unfinished line is written again after
somebody else has had the terminal.
"""

from jp.terminal.escapes import Escapes, is_sgr

KEPT = 4096  # characters of an unfinished line that are remembered


class Line:
    """Follows what is written to one device. `keep` remembers the text; otherwise only whether the line is open."""

    __slots__ = ("_carry", "_keep", "_opening", "_text", "is_open", "style")

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self._text = ""
        self._opening = ""  # the style in force where the line begins
        self._carry = ""
        self.style = ""  # SGR sequences in force, since the last full reset
        self.is_open = False

    def feed(self, text: str) -> None:
        """Note that `text` was written."""
        if not self._keep:
            if text:
                self.is_open = text[-1] != "\n"
            return
        if self._carry:
            text, self._carry = self._carry + text, ""
        cut = text.rfind("\n") + 1
        if "\x1b" not in text:
            if cut:
                self._text, self._opening, self.is_open = "", self.style, False
        else:
            if cut:
                self._styles(text[:cut])
                self._text, self._opening, self.is_open = "", self.style, False
            self._styles(text[cut:], last=True)
        tail = text[cut : len(text) - len(self._carry)]
        if tail:
            self._text += tail
            self.is_open = self.is_open or _visible(tail)
            if len(self._text) > 2 * KEPT:
                self._text = self._text[-KEPT:]

    def again(self) -> str:
        """What brings a cursor at column 0 back to where the line was left."""
        return (f"\x1b[0m{self._opening}" if self._opening or self.style else "") + self._text

    def _styles(self, text: str, *, last: bool = False) -> None:
        reset = max(text.rfind("\x1b[0m"), text.rfind("\x1b[m"))
        cutter = Escapes()
        for sequence, piece in cutter.feed(text[max(0, reset) :]):
            if sequence and piece[:2] == "\x1b[" and is_sgr(piece):
                self.style = "" if piece in ("\x1b[0m", "\x1b[m") else (self.style + piece)[-512:]
        if last and cutter.pending:
            self._carry = cutter.end()


def _visible(text: str) -> bool:
    if "\x1b" not in text:
        return bool(text.strip("\r\x07"))
    return any(not sequence and piece.strip("\r\x07") for sequence, piece in Escapes().feed(text))
