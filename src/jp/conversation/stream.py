"""The events of one conversation: bytes until somebody needs a field.

What does not work: decoding everything (a 100 MB file costs seconds and ten times its size), re-encoding what was
decoded (unknown fields, odd spacing and the order of keys would change under the user's feet), and one call that parses
a huge file (no other thread runs meanwhile, so no key is answered). So the file stays one buffer, an event is a span of
it, and a rewrite copies the buffer and appends.

The original writes two-space pretty JSON, in which `\\n  },\\n  {` can only stand between two events (a JSON string
holds no raw newline and everything inside an event is deeper). Large files are cut there, event by event, each checked
to be whole JSON; small ones and other layouts are cut by the parser in one call (0.3 ms a megabyte).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from jp.conversation import events, huge
from jp.errors import JpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jp.conversation.events import Event, Unknown

_ONE_CALL = 8 << 20  # up to here the parser cuts the file in one call
_WINDOW = 16 << 20  # the longest search in one call
_BOUNDARY = b"\n  },\n  {"
_SPACE = b" \t\r\n"


class NotEventsError(JpError):
    """The bytes are no JSON array of events."""

    code = "unreadable_events"


class Stream:
    """The events of one conversation, in order: those of a file, and those appended since."""

    __slots__ = ("_added", "_data", "_ends", "_starts", "_types", "_view")

    def __init__(self, data: bytes = b"[]") -> None:
        """The stream that `data` (the content of an `events.json`) holds. Raises `NotEventsError`."""
        self._data = data
        self._view = memoryview(data)
        self._added: list[bytes] = []
        try:
            if len(data) <= _ONE_CALL or not self._cut_pretty():
                self._starts, self._ends = _cut(data)
                self._types = self._read_types()
        except (ValueError, RecursionError) as error:
            raise NotEventsError(f"not a JSON array of events: {error}") from error

    def _cut_pretty(self) -> bool:
        """Cuts a large file where the original's layout says; False when it is not that, or an event is not whole."""
        spans = _cut_pretty(self._data)
        if spans is None:
            return False
        self._starts, self._ends = spans
        try:
            self._types = self._read_types()
        except ValueError:
            return False
        return True

    def _read_types(self) -> list[str]:
        view, head = self._view, events.read_head
        return [
            head(view[start:stop]).type if stop - start < huge.LIMIT else huge.read_head(self._data, start, stop).type
            for start, stop in zip(self._starts, self._ends, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._types)

    def raw(self, index: int) -> memoryview | bytes:
        """The JSON of one event as it stands on disk (no copy is made)."""
        if index < len(self._starts):
            return self._view[self._starts[index] : self._ends[index]]
        return self._added[index - len(self._starts)]

    def type(self, index: int) -> str:
        """The type of one event, without decoding it."""
        return self._types[index]

    def event(self, index: int) -> Event | Unknown:
        """One event, decoded; nothing is remembered, so that a long conversation stays as large as its file."""
        if index < len(self._starts):
            start, stop = self._starts[index], self._ends[index]
            if stop - start >= huge.LIMIT:
                return huge.decode(self._data, start, stop, self._types[index])
        return events.decode(self.raw(index), self._types[index])

    def events(self, *types: str, start: int = 0, stop: int | None = None) -> Iterator[Event | Unknown]:
        """The events of these types (all, when none is named) from `start` up to before `stop`, decoded one by one."""
        for i in range(start, len(self) if stop is None else min(stop, len(self))):
            if not types or self._types[i] in types:
                yield self.event(i)

    def append(self, event: Event | Unknown) -> bytes:
        """Adds an event at the end; returns its JSON as it will stand on disk."""
        raw = events.encode(event)
        self.append_raw(raw)
        return raw

    def append_raw(self, raw: bytes) -> None:
        """Adds an event given as JSON (not indented as a whole). Raises `ValueError` when it is no JSON."""
        self._types.append(events.read_head(raw).type)
        self._added.append(raw)

    def truncate(self, length: int) -> None:
        """Drops what was appended beyond `length`; what the file holds can't be dropped."""
        if not len(self._starts) <= length <= len(self):
            raise ValueError("only appended events can be dropped")
        del self._types[length:]
        del self._added[length - len(self._starts) :]

    @property
    def stored(self) -> int:
        """How many events the file holds."""
        return len(self._starts)

    # -- the document on disk

    @property
    def data(self) -> bytes:
        """The file's content that this stream was read from."""
        return self._data

    @property
    def prefix_length(self) -> int:
        """How many bytes of the file stay as they are when events are appended."""
        return self._ends[-1] if self._ends else 0

    def additions(self) -> list[bytes]:
        """What follows the first `prefix_length` bytes of the file in a document with everything appended."""
        return render_additions(self._view[self.prefix_length :] if self._ends else b"", self._added, bool(self._ends))

    def document(self) -> list[bytes | memoryview]:
        """The whole document in pieces: old bytes as they are, then what was appended."""
        if not self._added:
            return [self._view]
        return [self._view[: self.prefix_length], *self.additions()]


def render_additions(tail: bytes | memoryview, added: list[bytes], after_others: bool) -> list[bytes]:
    """The bytes that put `added` behind the last event of a document that ended in `tail`."""
    pieces: list[bytes] = []
    for raw in added:
        pieces.append(b",\n  " if after_others else b"[\n  ")
        pieces.append(raw.replace(b"\n", b"\n  "))
        after_others = True
    # A document that was not ours keeps its ending; ours ends with a newline, as the original's does.
    pieces.append(bytes(tail) if tail else (b"\n]\n" if after_others else b"[]\n"))
    return pieces


def _cut(data: bytes) -> tuple[list[int], list[int]]:
    """Where each event begins and ends in `data`, whatever its layout. Raises `ValueError` when it is no JSON array."""
    raws = msgspec.json.decode(data, type=list[msgspec.Raw])
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for raw in raws:
        at = data.index(b"," if starts else b"[", at) + 1
        while data[at] in _SPACE:
            at += 1
        starts.append(at)
        at += memoryview(raw).nbytes
        ends.append(at)
    return starts, ends


def _cut_pretty(data: bytes) -> tuple[list[int], list[int]] | None:
    """The cut of a document that looks like the original's layout, not yet checked; None when it does not."""
    end = len(data)
    while end and data[end - 1] in _SPACE:
        end -= 1
    if not data.startswith(b"[\n  {") or not data.endswith(b"\n  }\n]", 0, end):
        return None
    starts, ends = [4], []
    last = end - 2
    at = 4
    while at < last:
        stop = min(at + _WINDOW, last)
        found = data.find(_BOUNDARY, at, stop)
        if found < 0:
            at = stop if stop == last else stop - len(_BOUNDARY) + 1
            continue
        ends.append(found + 4)
        at = found + len(_BOUNDARY) - 1
        starts.append(at)
    ends.append(last)
    return starts, ends
