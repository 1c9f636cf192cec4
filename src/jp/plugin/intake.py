"""What a plugin has written and the host has not looked at: line by line, so that a flood waits behind nobody.

It knows, too, when there is nothing to wait for: a plugin that asks on and on and reads no answer, and one whose
process has ended while somebody else holds its pipe.
"""

import time
from collections import deque

from jp.plugin.link import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.plugin.outbox import Outbox

DRAIN_SECS = 0.5  # of silence once the process has ended: somebody else holds the pipe
AFTER = 64  # batches: more than that is not from a process that has ended
STALLED_SECS = 10.0  # for a plugin that asks on and on, and reads nothing


class Intake:
    """The lines of one plugin; `taken` is called for each batch that has been looked at."""

    def __init__(self, taken: "Callable[[], object]", outbox: "Outbox") -> None:
        self._taken = taken
        self._outbox = outbox
        self._items: deque[bytes | Closed | None] = deque()  # None ends a batch
        self._left = AFTER  # batches that may still come once the process has ended
        self._ended = False
        self._quiet = 0.0  # monotonic, as those below: when a process that has ended has nothing more to say
        self._stalled: float | None = None
        self._written = 0  # bytes that the plugin had read when it was last seen to read

    def __bool__(self) -> bool:
        return bool(self._items)

    def put(self, lines: list[bytes]) -> None:
        """A batch has come."""
        self._items.extend(lines)
        self._items.append(None)

    def close(self, end: Closed) -> None:
        """Nothing more comes."""
        self._items.append(end)

    def next(self) -> bytes | Closed | None:
        """The next line, or the end; None at the end of a batch."""
        if self._ended:
            self._quiet = time.monotonic() + DRAIN_SECS
        item = self._items.popleft()
        if item is None:
            self._taken()
            self._left -= self._ended
        return item

    def ended(self) -> None:
        """The process has ended."""
        self._ended = True
        self._quiet = time.monotonic() + DRAIN_SECS

    def is_stalled(self) -> bool:
        """Whether it asks on and on, and has read nothing for a while; to be called whenever something happens."""
        now = time.monotonic()
        if not self._outbox.full or all(each is None for each in self._items):
            self._stalled = None
        elif self._stalled is None or self._outbox.written != self._written:
            self._stalled, self._written = now + STALLED_SECS, self._outbox.written
        return self._stalled is not None and now >= self._stalled

    def is_over(self, *, awaited: bool) -> bool:
        """Whether a process that has ended has nothing more to say. `awaited`: its output is still to be written."""
        idle = not self._items or not awaited
        return self._ended and (self._left < 0 or (idle and time.monotonic() >= self._quiet))

    def due(self, *, awaited: bool) -> list[float]:
        """When one of these is to be looked at again, in monotonic seconds."""
        due = [self._quiet] if self._ended and not (self._items and awaited) else []
        return due if self._stalled is None else [*due, self._stalled]
