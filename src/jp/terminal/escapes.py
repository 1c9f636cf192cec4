"""Cutting a stream of text into plain text and escape sequences, however it is chunked.

No regular expression walks a sequence: a pattern that has to guess where a sequence ends backtracks over hostile text.
The scanner looks at every character once; what it holds between two chunks is one unfinished sequence, with a cap.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ESC = "\x1b"
CLEAR_LINE = "\r\x1b[K"
_STRINGS = "]PX^_"  # OSC, DCS, SOS, PM, APC
_C1 = {"\x9b": "[", "\x9d": "]", "\x90": "P", "\x98": "X", "\x9e": "^", "\x9f": "_"}
C1_INTRODUCERS = "".join(_C1)
STRING_LIMIT = 4096
CSI_LIMIT = 256


class Escapes:
    """The streaming cutter. Sequences longer than their cap are given out as sequences, what follows as text.

    `c1`: whether the 8-bit introducers (U+0090, U+009B …) begin a sequence as well.
    """

    __slots__ = ("_c1", "_held", "_looked")

    def __init__(self, *, c1: bool = False) -> None:
        self._c1 = c1
        self._held = ""
        self._looked = 0

    @property
    def pending(self) -> bool:
        """Whether an unfinished sequence is held."""
        return bool(self._held)

    def feed(self, text: str) -> "Iterator[tuple[bool, str]]":
        """(is a sequence, its characters) for all that is complete; the pieces join to what was fed."""
        looked, self._looked = self._looked, 0
        if self._held:
            text, self._held = self._held + text, ""
        position = 0
        while position < len(text):
            start = self._next(text, position)
            if start > position:
                yield False, text[position:start]
            if start == len(text):
                return
            end = self._end(text, start, looked)
            looked = 0
            if end < 0:
                self._held = text[start:]
                return
            yield True, text[start:end]
            position = end

    def end(self) -> str:
        """Forget an unfinished sequence and return its characters."""
        held, self._held, self._looked = self._held, "", 0
        return held

    def _next(self, text: str, start: int) -> int:
        found = text.find(ESC, start)
        if found < 0:
            found = len(text)
        if self._c1 and not text.isascii():
            for introducer in C1_INTRODUCERS:
                other = text.find(introducer, start, found)
                if other >= 0:
                    found = other
        return found

    def _end(self, text: str, start: int, looked: int) -> int:
        """Where the sequence at `start` ends, -1 while it is incomplete."""
        body = start + 1
        if text[start] == ESC:
            if body == len(text):
                return -1
            kind = text[body]
            body += 1
        else:
            kind = _C1[text[start]]
        if kind == "[":
            return _csi_end(text, body)
        if kind in _STRINGS:
            return self._string_end(text, body, max(body, start + looked), kind)
        return _short_end(text, body, kind)

    def _string_end(self, text: str, body: int, position: int, kind: str) -> int:
        limit = body + STRING_LIMIT
        stop = min(len(text), limit)
        ends = [text.find(mark, position, stop) for mark in ("\x18", "\x1a", "\x9c")]
        if kind == "]":
            ends.append(text.find("\x07", position, stop))
        close = min((end for end in ends if end >= 0), default=-1)
        escape = text.find(ESC, position, stop if close < 0 else close)
        if escape >= 0:
            if escape + 1 == len(text):
                self._looked = escape - body
                return -1
            return escape + 2 if text[escape + 1] == "\\" else escape
        if close >= 0:
            return close + 1
        if len(text) >= limit:
            return limit
        self._looked = len(text) - body
        return -1


def _csi_end(text: str, body: int) -> int:
    stop = min(len(text), body + CSI_LIMIT)
    for position in range(body, stop):
        character = text[position]
        if " " <= character <= "?":
            continue
        return position + 1 if "@" <= character <= "~" else position
    return -1 if stop == len(text) and stop < body + CSI_LIMIT else stop


def _short_end(text: str, body: int, kind: str) -> int:
    if not " " <= kind <= "~":
        return body - 1  # a lone ESC before something that is not its own
    if kind > "/":
        return body
    for position in range(body, min(len(text), body + CSI_LIMIT)):
        character = text[position]
        if " " <= character <= "/":
            continue
        return position + 1 if "0" <= character <= "~" else position
    return -1 if len(text) < body + CSI_LIMIT else body + CSI_LIMIT


def unfinished(text: str) -> int:
    """How many characters at the end of `text` are a sequence that goes on."""
    start = text.rfind(ESC)
    if start < 0:
        return 0
    if start == len(text) - 1:
        before = text.rfind(ESC, 0, start)
        start = before if before >= 0 else start  # it may be the terminator of that one
    elif text[start + 1] == "[":
        return len(text) - start if _csi_end(text, start + 2) < 0 else 0
    elif text[start + 1] == "\\":
        return 0
    cutter = Escapes()
    for _ in cutter.feed(text[start:]):
        pass
    return len(cutter.end())


def is_sgr(sequence: str) -> bool:
    """Whether it selects colours and styles and does nothing else (`CSI > 4 m` is a keyboard mode)."""
    return sequence.endswith("m") and not sgr_parameters(sequence).strip("0123456789;:")


def sgr_parameters(sequence: str) -> str:
    """What stands between the introducer and the final `m`."""
    return sequence[2 if sequence[0] == ESC else 1 : -1]


class Strip:
    """Takes from a channel what it cannot carry, over any number of writes.

    Without escapes, every sequence goes; with escapes on a channel that cannot be repainted (`keep_style`), colours,
    styles and hyperlinks stay. `drop_returns` drops carriage returns, which are repaints too.
    """

    __slots__ = ("_cutter", "_drop_returns", "_keep_style")

    def __init__(self, *, keep_style: bool = False, drop_returns: bool = False) -> None:
        self._cutter = Escapes()
        self._keep_style = keep_style
        self._drop_returns = drop_returns

    def feed(self, text: str) -> str:
        """What the channel gets of `text`."""
        if self._drop_returns and "\r" in text:
            text = text.replace("\r", "")
        if ESC not in text and not self._cutter.pending:
            return text
        return "".join([piece for sequence, piece in self._cutter.feed(text) if not sequence or self._keeps(piece)])

    def _keeps(self, sequence: str) -> bool:
        if not self._keep_style:
            return False
        return is_sgr(sequence) if sequence[:2] == "\x1b[" else sequence[:4] == "\x1b]8;"
