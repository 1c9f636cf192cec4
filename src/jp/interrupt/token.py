"""The shutdown token: one flag for the whole process, set once (RFD 092, "Ownership").

Every way into a graceful shutdown (second press, SIGTERM, a menu's quit, the reader of stdout gone) cancels the same
token. Whoever waits for something subscribes a function that wakes the wait; whoever works calls
`jp.interrupt.checkpoint.checkpoint`.

It takes no lock, because `cancel` runs in a signal handler on the main thread as well as on other threads: a lock held
by the interrupted code would never be released. Each step is one operation that the interpreter does not split.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.interrupt.end import Cause


class Shutdown(BaseException):
    """A graceful shutdown has begun; `cause` says why. Raised by `checkpoint()` alone, on the main thread.

    Not an Exception, so that no `except Exception` on the way goes on as if nothing had happened.
    """

    def __init__(self, cause: "Cause") -> None:
        super().__init__(cause.name)
        self.cause = cause


class ShutdownToken:
    """Says that the process is shutting down and why; the first cause wins."""

    __slots__ = ("_next", "_subscribers", "_won")

    def __init__(self) -> None:
        self._won: dict[str, Cause] = {}
        self._subscribers: dict[int, Callable[[], object]] = {}
        self._next = iter(range(1, 1 << 62)).__next__

    @property
    def cause(self) -> "Cause | None":
        """What began the shutdown, or None while there is none."""
        return self._won.get("cause")

    @property
    def cancelled(self) -> bool:
        """Whether a shutdown has begun."""
        return bool(self._won)

    def cancel(self, cause: "Cause") -> None:
        """Begin the shutdown for `cause`; a later cause changes nothing. Any thread, also a signal handler."""
        self._won.setdefault("cause", cause)
        for key in list(self._subscribers):
            self._call(key)

    def subscribe(self, fn: "Callable[[], object]") -> "Callable[[], None]":
        """Have `fn` called once on cancellation, at once when that has been; returns what takes it off again.

        `fn` may run in a signal handler: it must not block and take no lock (`SimpleQueue.put` and a write to a
        non-blocking pipe are right).
        """
        key = self._next()
        self._subscribers[key] = fn
        if self._won:
            self._call(key)
        return lambda: (self._subscribers.pop(key, None), None)[1]

    def _call(self, key: int) -> None:
        fn = self._subscribers.pop(key, None)
        if fn is not None:
            try:
                fn()
            except Exception:
                # One subscriber's fault must not keep the others asleep; the deadline covers whoever did not wake.
                pass
