"""Watching a program to its end: its two pipes, its exit, a stop, a cancellation, and the time it may take."""

import os
import time

from jp.interrupt import standing
from jp.interrupt.signals import KILL, TERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.interrupt.children import Child
    from jp.tool.output import Captured, Errors

CANCEL_SECS = 0.5  # between the two signals of a cancellation
LIMIT_SECS = 1.0  # between those of the time limit
HELD_SECS = 1.0  # that the pipes may stay open after the program's end
REAP_SECS = 2.0  # that the system may take to end what was killed
_LOOK_SECS = 0.02
_REST_SECS = 0.5  # the longest wait without a look, should nobody wake it
_CHUNK = 65536


# How it came to its end.
EXITED, CANCELLED, LIMIT, STOPPED = "exited", "cancelled", "limit", "stopped"


class Watch:
    """One thread's view of a program; `until_over` returns how it ended.

    Everything is looked at again whenever `wake`, the reading end of a pipe that does not block, has something: the
    child's `on_exit` and `on_stop`, and who cancels, write to it. `cancelled()` is 0, 1 (it has been sent SIGTERM) or 2
    (at once). `limit_secs` is of the clock that stands still while a question is up; 0 is none. `held` is set when
    something that the program has left behind held its pipes.
    """

    def __init__(
        self,
        child: "Child",
        wake: int,
        out: "Captured",
        err: "Errors",
        *,
        limit_secs: float,
        cancelled: "Callable[[], int]",
    ) -> None:
        self._child = child
        self._wake = wake
        self._sinks = {child.stdout: out.feed, child.stderr: err.feed}
        self._cancelled = cancelled
        self._until = standing.clock() + limit_secs if limit_secs else None
        self._how = EXITED
        self._kill_at: float | None = None  # monotonic, as those below
        self._give_up_at: float | None = None
        self._held_until: float | None = None
        self.held = False

    def until_over(self) -> str:
        """Wait for the end; one of EXITED, CANCELLED, LIMIT and STOPPED. The group may still have members."""
        from select import poll

        poller = poll()
        for fd in (self._wake, *self._sinks):
            assert fd is not None
            poller.register(fd, 1)  # POLLIN
        while not self._is_over():
            for fd, _ in poller.poll(self._patience()):
                if fd == self._wake:
                    _drain(fd)
                elif data := os.read(fd, _CHUNK):
                    self._sinks[fd](data)
                else:
                    poller.unregister(fd)
                    del self._sinks[fd]
                    os.close(fd)
        return self._how

    def close(self) -> None:
        """Close what is still open of the pipes."""
        for fd in self._sinks:
            assert fd is not None
            os.close(fd)
        self._sinks.clear()

    def _is_over(self) -> bool:
        """Do what is due; whether there is nothing left to wait for."""
        now = time.monotonic()
        self._end_it(now)
        if not self._child.exited.is_set():
            return self._give_up_at is not None and now >= self._give_up_at
        if self._how != EXITED:  # the rest of its group has the grace, too
            return self._give_up_at is not None or not self._child.lives()
        if not self._sinks:
            return True
        if self._held_until is None:
            self._held_until = now + HELD_SECS
        self.held = now >= self._held_until
        return self.held

    def _end_it(self, now: float) -> None:
        """Signal the group where it is to end, and once more when its grace is over."""
        cancelled = self._cancelled()
        if self._how == EXITED:
            if cancelled:
                self._how, self._kill_at = CANCELLED, now + CANCEL_SECS
            elif self._child.stopped is not None:
                self._how, self._kill_at = STOPPED, now
            elif self._until is not None and standing.clock() >= self._until and not self._child.exited.is_set():
                self._how, self._kill_at = LIMIT, now + LIMIT_SECS
                self._child.kill_group(TERM)
        due = self._kill_at is not None and (now >= self._kill_at or cancelled > 1)
        if due and self._give_up_at is None:
            self._child.kill_group(KILL)
            self._give_up_at = now + REAP_SECS

    def _patience(self) -> float:
        """Milliseconds until something is due."""
        now = time.monotonic()
        due = [at - now for at in (self._give_up_at or self._kill_at, self._held_until) if at is not None]
        if self._until is not None and self._how == EXITED:
            left = self._until - standing.clock()
            due.append(max(left, _LOOK_SECS) if standing.still() else left)
        if not self._sinks or (self._how != EXITED and self._child.exited.is_set()):
            due.append(_LOOK_SECS)
        return max(0.0, min([*due, _REST_SECS])) * 1000 + 1


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 512):
            pass
    except BlockingIOError:
        pass
