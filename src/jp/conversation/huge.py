"""Events of many megabytes, read without holding the interpreter.

One call of the parser over a text of 100 MB stops all other threads for a fifth of a second. So the long strings are
cut out of the event first (finding their ends is a search from quote to quote), the small rest is parsed, and the
strings are unescaped piece by piece and put back.
"""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from jp.conversation import events

LIMIT = 8 << 20  # from here on an event is read this way
_LONG = 1 << 20  # strings from here on are cut out
_PIECE = 2 << 20
_QUOTE, _U = b'"u'
_HIGH = (b"d8", b"d9", b"da", b"db")
_INSIDE = re.compile(rb'(?s)[^"\\]*+(?:\\.[^"\\]*+)*+')
_decode_text = msgspec.json.Decoder(str).decode


class Cut:
    """An event without its long strings: `rest` is JSON in which marks stand for `spans` of the data (no quotes)."""

    __slots__ = ("_data", "_mark", "rest", "spans")

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        """Cuts the event at `data[start:stop]`. What is no JSON gives a rest that is none, or text that is none."""
        self._data = data
        # Nothing that base64 is, and nothing that a text can have been made to hold.
        self._mark = f"\x00{os.urandom(8).hex()}:"
        self.spans: list[tuple[int, int]] = []
        pieces: list[bytes] = []
        kept = at = start
        while (opening := data.find(b'"', at, stop)) >= 0:
            closing = self._closing(opening + 1, stop)
            if closing - opening > _LONG:
                pieces += (data[kept : opening + 1], f"\\u0000{self._mark[1:]}{len(self.spans)}".encode())
                self.spans.append((opening + 1, closing))
                kept = closing
            at = closing + 1
        pieces.append(data[kept:stop])
        self.rest = b"".join(pieces)

    def _closing(self, at: int, stop: int) -> int:
        """Where the string that began before `at` ends; `stop` when it does not."""
        while at < stop:
            end = min(at + _PIECE, stop)
            found = _INSIDE.match(self._data, at, end)
            assert found is not None
            if found.end() < end and self._data[found.end()] == _QUOTE:
                return found.end()
            # The piece ended within the string, or between a backslash and what it escapes.
            at = found.end() if found.end() > at else end
        return stop

    def text(self, number: int) -> str:
        """One of the long strings. Raises `ValueError` when it is no JSON text."""
        at, stop = self.spans[number]
        pieces: list[str] = []
        while at < stop:
            end = self._safe(at + _PIECE, stop)
            pieces.append(_decode_text(b'"' + self._data[at:end] + b'"'))
            at = end
        return "".join(pieces)

    def _safe(self, at: int, stop: int) -> int:
        """A place near `at` that is not inside an escape, a surrogate pair or a character."""
        if at >= stop:
            return stop
        slash = self._data.rfind(b"\\", at - 6, at)
        if slash >= 0 and self._backslashes(slash + 1) % 2:
            at = max(at, slash + self._escape(slash))
        while at < stop and self._data[at] & 0xC0 == 0x80:
            at += 1
        return min(at, stop)

    def _backslashes(self, at: int) -> int:
        """How many of them stand directly before `at`."""
        window = 16
        while True:
            before = self._data[max(at - window, 0) : at]
            count = len(before) - len(before.rstrip(b"\\"))
            if count < len(before) or window > at:
                return count
            window *= 8

    def _escape(self, slash: int) -> int:
        """How long the escape at `slash` is; the two halves of a pair count as one."""
        if self._data[slash + 1] != _U:
            return 2
        return 12 if self._data[slash + 2 : slash + 4].lower() in _HIGH else 6

    def restore(self, value: Any) -> Any:
        """`value` with the long strings in the place of their marks."""
        return events.each_string(value, self._restored)

    def _restored(self, text: str) -> str:
        return self.text(int(text[len(self._mark) :])) if text.startswith(self._mark) else text


def read_head(data: bytes, start: int, stop: int) -> events.Head:
    """Type and timestamp of the event at `data[start:stop]`. Raises `ValueError` when it is no JSON."""
    return events.read_head(Cut(data, start, stop).rest)


def decode(data: bytes, start: int, stop: int, kind: str) -> events.Event | events.Unknown:
    """The event at `data[start:stop]`; like `events.decode`."""
    cut = Cut(data, start, stop)
    try:
        event = events.decode(cut.rest, kind, cut.restore)
    except ValueError as error:
        return events.Unknown(kind, "", data[start:stop], str(error))
    if isinstance(event, events.Unknown):
        event.raw = data[start:stop]  # what it was, and not what was cut of it
    return event
