"""What a plugin has written and the host has not looked at: line by line, so that a flood waits behind nobody.

It knows, too, when there is nothing to wait for: a plugin that asks on and on and reads no answer, and one whose
process has ended while somebody else holds its pipe.
"""

import time
from collections import deque

from jp.interrupt import standing
from jp.plugin.link import Closed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.plugin.messages import Print
    from jp.plugin.outbox import Outbox

DRAIN_SECS = 0.5  # of silence once the process has ended: somebody else holds the pipe
AFTER = 64  # batches: more than that is not from a process that has ended
_LOOK_SECS = 0.01
STALLED_SECS = 10.0  # for a plugin that asks on and on, and reads nothing


class Intake:
    """The lines of one plugin; `taken` is called for each batch that has been looked at.

    `stuck()`: the plugin itself waits to write, so it can't read what waits in the outbox; unless another thread does.
    """

    def __init__(self, taken: "Callable[[], object]", outbox: "Outbox", stuck: "Callable[[], bool]") -> None:
        self._taken = taken
        self._outbox = outbox
        self._stuck = stuck
        self._items: deque[bytes | Print | Closed | None] = deque()  # None ends a batch
        self._left = AFTER  # batches that may still come once the process has ended
        self._ended = False
        self._quiet = 0.0  # monotonic: when a process that has ended has nothing more to say
        self._stalled: float | None = None  # of the clock that stands still while the job is stopped
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

    def put_back(self, messages: "list[Print]") -> None:
        """What was cut of a message comes next."""
        self._items.extendleft(reversed(messages))

    def next(self) -> "bytes | Print | Closed | None":
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
        """Whether it waits to write and has read nothing for a while; to be called whenever something happens."""
        now = standing.clock()
        if not self._outbox.full:
            self._stalled = None
        elif (
            self._stalled is None
            or self._outbox.written != self._written
            or (now >= self._stalled and not self._stuck())
        ):
            self._stalled, self._written = now + STALLED_SECS, self._outbox.written
        return self._stalled is not None and now >= self._stalled

    def is_over(self, *, awaited: bool) -> bool:
        """Whether a process that has ended has nothing more to say. `awaited`: its output is still to be written."""
        idle = not self._items or not awaited
        return self._ended and (self._left < 0 or (idle and time.monotonic() >= self._quiet))

    def due(self, *, awaited: bool) -> list[float]:
        """When one of these is to be looked at again, in monotonic seconds."""
        due = [self._quiet] if self._ended and not (self._items and awaited) else []
        if self._stalled is not None:
            due.append(time.monotonic() + max(_LOOK_SECS, self._stalled - standing.clock()))
        return due
