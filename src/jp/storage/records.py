"""The lines of a journal, encoded and parsed; no files here.

A journal holds what a turn has brought since the last time `events.json` was written, one JSON object a line:

```
{"journal":1,"conversation":"178…","size":4711,"sha256":"…","pid":…,"started":"…"}    what it extends
{"event":{…}}                                       a complete event, in its stored form
{"partial":"message","text":"…","timestamp":"…"}    a piece of an answer that is still coming
{"complete":{…}}                                    the event that the pieces of its kind became
{"undo":2}                                          only so many of the events above are wanted, and no piece
{"fold":{"size":…,"sha256":"…"}}                    what `events.json` will be once everything is folded in
```

Every line is one write, so that a kill leaves at most the last line cut, and nothing of that line was shown yet.
"""

from __future__ import annotations

from typing import Any

import msgspec

from jp.conversation import events

VERSION = 1


class Mark(msgspec.Struct):
    """An `events.json` by length and SHA-256."""

    size: int
    sha256: str


class _Line(msgspec.Struct):
    journal: int | None = None
    size: int = -1
    sha256: str = ""
    event: msgspec.Raw = msgspec.Raw()  # empty where there is none
    complete: msgspec.Raw = msgspec.Raw()
    partial: str | None = None
    text: str = ""
    timestamp: str = ""
    fold: Mark | None = None
    undo: int = -1


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode


def line(fields: dict[str, Any]) -> bytes:
    """One record."""
    try:
        return _encode(fields) + b"\n"
    except UnicodeEncodeError:
        clean = {key: v.encode(errors="replace").decode() if isinstance(v, str) else v for key, v in fields.items()}
        return _encode(clean) + b"\n"


def event_line(key: str, raw: bytes) -> bytes:
    """A record that holds an event; `key` is `event` or `complete`."""
    return b'{"%s":%s}\n' % (key.encode(), raw)


class Recovered:
    """What a journal holds.

    `base` is what it extends (None when its first line is damaged), `folded` what folding it was to give, `events` the
    JSON of the events it adds (pretty, as `events.json` has them), `damaged` how many lines could not be understood.
    """

    __slots__ = ("base", "damaged", "events", "folded")

    def __init__(self) -> None:
        self.base: Mark | None = None
        self.folded: Mark | None = None
        self.events: list[bytes] = []
        self.damaged = 0


class Partials:
    """The pieces of answers that are still coming, by kind, in the order in which they began."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._began: dict[str, str] = {}

    def add(self, kind: str, text: str, timestamp: str) -> None:
        """One more piece; the first one of a kind says when its answer began."""
        self._pieces.setdefault(kind, []).append(text)
        self._began.setdefault(kind, timestamp)

    def drop(self, kind: str) -> None:
        """Forget the pieces of a kind: their event is there as a whole, or not wanted."""
        self._pieces.pop(kind, None)
        self._began.pop(kind, None)

    def __len__(self) -> int:
        return len(self._pieces)

    def take(self) -> list[events.ChatResponse]:
        """Everything as events, and nothing is left."""
        found = [
            partial_event(kind, "".join(pieces), self._began[kind])
            for kind, pieces in self._pieces.items()
            if any(pieces)
        ]
        self._pieces.clear()
        self._began.clear()
        return found


def partial_event(kind: str, text: str, timestamp: str) -> events.ChatResponse:
    """The event that an unfinished answer is stored as; half of a structured answer is no data yet, so it is text."""
    if kind == "reasoning":
        return events.ChatResponse(timestamp=timestamp, reasoning=text)
    return events.ChatResponse(timestamp=timestamp, message=text)


def kind_of(event: events.Event | events.Unknown) -> str:
    """The kind of partial that an event completes; empty for events that never come in pieces."""
    if not isinstance(event, events.ChatResponse):
        return ""
    for kind in ("message", "reasoning"):
        if getattr(event, kind) is not msgspec.UNSET:
            return kind
    return "data"


def parse(data: bytes) -> Recovered:
    """What the lines of a journal say. Never raises: a line that can't be understood is counted and left out."""
    found = Recovered()
    partials = Partials()
    lines = data.split(b"\n")
    # What follows the last line feed was cut by the end of its writer.
    for number, text in enumerate(lines[:-1]):
        try:
            record = _decode(text)
            if number == 0:
                if record.journal != VERSION:
                    raise ValueError("unknown version")
                found.base = Mark(record.size, record.sha256)
            elif record.partial is not None:
                partials.add(record.partial, record.text, record.timestamp)
            elif raw := bytes(record.event) or bytes(record.complete):
                pretty = msgspec.json.format(raw, indent=2)
                if bytes(record.complete):
                    partials.drop(kind_of(events.decode(pretty)))
                found.events.append(pretty)
            elif record.fold is not None:
                found.folded = record.fold
            elif record.undo >= 0:
                partials.take()
                del found.events[record.undo :]
        except (ValueError, RecursionError):
            found.damaged += 1
    found.events += [events.encode(event) for event in partials.take()]
    return found
