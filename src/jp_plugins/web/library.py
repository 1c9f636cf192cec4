"""The conversations as the protocol gives them, with what is worth remembering of them.

Remembered is the text to search, at most MOST bytes of it; a conversation that has no room is read again by each
search. Events are remembered for a moment, so that several windows on one conversation cost one reading.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sys import getsizeof

from jp.plugin import sdk
from jp.plugin.messages import ConversationSummary, Events
from jp_plugins.order import by_use
from jp_plugins.web.texts import Texts

MOST = 64 << 20
_MOMENT = 0.4  # seconds
_OPEN = 4  # conversations whose events are remembered for a moment


@dataclass(frozen=True, slots=True)
class _Remembered:
    state: tuple[object, ...]
    texts: Texts
    size: int


class Library:
    """Thread-safe. `now` is a clock in seconds."""

    def __init__(self, host: sdk.Host, most: int = MOST, now: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._most = most
        self._now = now
        self._texts: dict[str, _Remembered] = {}
        self._size = 0
        self._listed: tuple[float, list[ConversationSummary]] | None = None
        self._open: OrderedDict[str, tuple[float, Events]] = OrderedDict()
        self._reading = threading.Lock()  # over the events: who comes second finds what the first one read
        self._searching = threading.Lock()  # over the texts, likewise

    def conversations(self, ago: float = _MOMENT) -> list[ConversationSummary]:
        """All, the one used last first; as they are now or were at most so many seconds ago."""
        listed = self._listed
        if listed is None or self._now() - listed[0] > ago:
            found = by_use(self._host.conversations())
            self._listed = listed = (self._now(), found)
            self._forget_others(each.id for each in found)
        return listed[1]

    def events(self, conversation: str) -> Events:
        """The events of one, as they are or were a moment ago. Raises `sdk.RequestFailed`."""
        with self._reading:
            at, events = self._open.get(conversation, (0.0, None))
            if events is None or self._now() - at > _MOMENT:
                events = self._host.events(conversation)
                self._open[conversation] = (self._now(), events)
                self._open.move_to_end(conversation)
                while len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            return events

    def remembered(self, summary: ConversationSummary) -> Texts | None:
        """What can be found in one, where that is known."""
        known = self._texts.get(summary.id)
        return known.texts if known is not None and known.state == _state(summary) else None

    def texts(self, summary: ConversationSummary) -> Texts:
        """What can be found in one. Raises `sdk.RequestFailed`."""
        with self._searching:
            texts = self.remembered(summary)
            if texts is None:
                texts = Texts.of(self._host.events(summary.id).data)
                self._remember(summary, texts)
            return texts

    @property
    def size(self) -> int:
        """Bytes of text that are remembered."""
        return self._size

    def _remember(self, summary: ConversationSummary, texts: Texts) -> None:
        # Where it is full, what is there stays: a search goes through all of them in the same order, and what made
        # room for the next one would never be there when it is wanted.
        before = self._texts.pop(summary.id, None)
        self._size -= before.size if before else 0
        size = getsizeof(texts.text) + (0 if texts.folded is texts.text else getsizeof(texts.folded))
        if self._size + size <= self._most:
            self._texts[summary.id] = _Remembered(_state(summary), texts, size)
            self._size += size

    def _forget_others(self, living: Iterable[str]) -> None:
        with self._searching:
            for gone in self._texts.keys() - set(living):
                self._size -= self._texts.pop(gone).size


def _state(summary: ConversationSummary) -> tuple[object, ...]:
    return summary.last_activated_at, summary.events_count
