"""The one place where the main thread waits: an unbounded queue and a heap of deadlines (architecture, "one inbox").

Sources post from their threads, the shutdown token and the router from theirs; main takes one at a time. There are no
timer threads: the next deadline bounds the wait.
"""

import heapq
import time

from jp.interrupt.mailbox import EmptyError, Mailbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.interrupt.router import Router


WAKE = "wake"  # what `get` returns when a shutdown has begun


class Inbox:
    """Events for the main thread. `post` is safe from any thread and from a signal handler, and never blocks."""

    def __init__(self, clock: "Callable[[], float]" = time.monotonic) -> None:
        self._mail: Mailbox[object] = Mailbox()
        self._deadlines: list[tuple[float, int, object]] = []
        self._next = iter(range(1 << 62)).__next__
        self._clock = clock
        self.post: Callable[[object], None] = self._mail.post

    def after(self, seconds: float, event: object) -> None:
        """Have `get` return `event` once `seconds` have passed."""
        heapq.heappush(self._deadlines, (self._clock() + seconds, self._next(), event))

    def stood(self, seconds: float) -> None:
        """Time stood still for `seconds` (the job was stopped): every deadline moves."""
        self._deadlines = [(when + seconds, order, event) for when, order, event in self._deadlines]

    def attend(self, router: "Router") -> "Callable[[], None]":
        """Have a shutdown wake `get`, and time stand still while the job is stopped; returns what ends that."""
        stops: list[float] = []

        def go_on() -> None:
            if stops:  # else it was stopped behind our back (SIGSTOP), nobody knows when
                self.stood(self._clock() - stops.pop())

        undo = (
            router.token.subscribe(lambda: self.post(WAKE)),
            router.on_stop(lambda: stops.append(self._clock())),
            router.on_continue(go_on),
        )

        def end() -> None:
            for each in undo:
                each()

        return end

    def get(self) -> object:
        """The next event; a deadline that has passed goes first."""
        while True:
            if not self._deadlines:
                return self._mail.get()
            left = self._deadlines[0][0] - self._clock()
            if left <= 0:
                return heapq.heappop(self._deadlines)[2]
            try:
                return self._mail.get(min(left, 3600))
            except EmptyError:
                continue
