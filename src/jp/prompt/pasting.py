"""The text of a bracketed paste, however it is chunked.

A pasted text may hold the mark that ends a paste. So what follows that mark is held until the terminal was silent for
a moment: a person does not type within it, and if the mark comes once more, all before it was pasted too.
"""

import re

PASTE_END = "\x1b[201~"
PASTE_LIMIT = 8 << 20  # characters that are held; the paste is then given out in pieces

_MARKS = re.compile("\x1b\\[20[01]~")
_PARTIAL = re.compile("(?:\r|\x1b(?:\\[(?:2(?:0[01]?)?)?)?)\\Z")  # it may become a mark, or CR LF
_CONTROLS = dict.fromkeys(c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (0x09, 0x0A))


class Pasting:
    """One paste that is being received. `over`: its end mark came, and it ends unless another comes at once."""

    __slots__ = ("_body", "_held", "_rest", "_size", "over")

    def __init__(self) -> None:
        self.over = False
        self._body: list[str] = []
        self._rest: list[str] = []  # after the last end mark
        self._held = ""  # the beginning of a mark, perhaps
        self._size = 0

    def feed(self, text: str) -> list[str]:
        """Take `text`; what became too much to hold comes back, as pasted text."""
        full: list[str] = []
        at = 0
        while at < len(text):
            piece = text[at : at + PASTE_LIMIT - self._size]
            at += len(piece)
            self._size += len(piece)
            self._take(piece)
            if self._size >= PASTE_LIMIT:
                full.append(_clean("".join([*self._body, *map(_without_marks, self._rest)])))
                self._body, self._rest = [], []
                self._size, self.over = len(self._held), False
        return full

    def end(self) -> tuple[str, str]:
        """What was pasted, and what came after it."""
        text, rest = "".join(self._body), "".join(self._rest) + self._held
        return (_clean(text), rest) if self.over else (_clean(text + rest), "")

    def _take(self, text: str) -> None:
        text = self._held + text
        end = text.rfind(PASTE_END)
        if end >= 0:
            self._body += [*map(_without_marks, self._rest), _without_marks(text[:end])]
            self._rest = []
            self.over = True
            text = text[end + len(PASTE_END) :]
        partial = _PARTIAL.search(text, max(0, len(text) - len(PASTE_END)))
        self._held = partial.group() if partial else ""
        text = text[: len(text) - len(self._held)]
        if self.over:
            self._rest.append(text)  # with its marks: it may be keys, and the beginning of another paste
        else:
            self._body.append(_without_marks(text))


def _without_marks(text: str) -> str:
    return _MARKS.sub("", text) if "\x1b" in text else text


def _clean(text: str) -> str:
    """Pasted text as text: lines end in LF, and no other control character than Tab is left."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isprintable() else text.translate(_CONTROLS)
