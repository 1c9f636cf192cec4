"""A queue whose `post` may run anywhere and whose `get` may be given a time.

`queue.SimpleQueue` is that but for one fault: in CPython 3.11 its `get(timeout=…)` waits for ever when a signal handler
that interrupts the wait outlasts the timeout (a job stopped with Ctrl-Z and brought back). A lock's `acquire` with a
timeout does not have it, and a lock may be released by whoever comes, which is all that is needed beside a deque.
"""

import _thread
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class EmptyError(Exception):
    """Nothing came in the time given."""


class Mailbox(Generic[T]):
    """Things for one reader. `post` is safe from any thread and from a signal handler, and never blocks."""

    def __init__(self) -> None:
        self._things: deque[T] = deque()
        self._woken = _thread.allocate_lock()
        self._woken.acquire()

    def post(self, thing: T) -> None:
        """Put `thing` at the end."""
        self._things.append(thing)
        try:
            self._woken.release()
        except RuntimeError:
            pass  # the reader is being woken already

    def get(self, timeout: float | None = None) -> T:
        """The next thing; raises EmptyError when none has come after `timeout` seconds (None: waits)."""
        while not self._things:
            if not self._woken.acquire(timeout=-1 if timeout is None else max(0.0, timeout)) and not self._things:
                raise EmptyError
        return self._things.popleft()
