"""The one place where the main thread waits: an unbounded queue and a heap of deadlines (architecture, "one inbox").

Sources post from their threads, the shutdown token and the router from theirs; main takes one at a time. There are no
timer threads: the next deadline bounds the wait.
"""

import heapq

from jp.interrupt import standing
from jp.interrupt.mailbox import EmptyError, Mailbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.interrupt.router import Router


WAKE = "wake"  # what `get` returns when a shutdown has begun


_LOOK_SECS = 0.05  # while time stands still


class Inbox:
    """Events for the main thread. `post` is safe from any thread and from a signal handler, and never blocks.

    Deadlines are on a clock that stands still while the job is stopped or a question is up.
    """

    def __init__(self, clock: "Callable[[], float]" = standing.clock) -> None:
        self._mail: Mailbox[object] = Mailbox()
        self._deadlines: list[tuple[float, int, object]] = []
        self._next = iter(range(1 << 62)).__next__
        self._clock = clock
        self.post: Callable[[object], None] = self._mail.post

    def after(self, seconds: float, event: object) -> None:
        """Have `get` return `event` once `seconds` have passed."""
        heapq.heappush(self._deadlines, (self._clock() + seconds, self._next(), event))

    def attend(self, router: "Router") -> "Callable[[], None]":
        """Have a shutdown wake `get`; returns what ends that."""
        return router.token.subscribe(lambda: self.post(WAKE))

    def drain(self) -> "list[object]":
        """The events that are there now; they are not given again."""
        found = []
        while True:
            try:
                found.append(self._mail.get(0))
            except EmptyError:
                return found

    def get(self) -> object:
        """The next event; a deadline that has passed goes first."""
        while True:
            if not self._deadlines:
                return self._mail.get()
            left = self._deadlines[0][0] - self._clock()
            if left <= 0:
                return heapq.heappop(self._deadlines)[2]
            try:
                return self._mail.get(max(left, _LOOK_SECS) if standing.still() else min(left, 3600))
            except EmptyError:
                continue
