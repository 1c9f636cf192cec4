"""Long work that a press can end: it runs on a thread of its own, the caller waits where a shutdown can wake it.

Doing the work on the calling thread does not work: a read from a silent network or a child that is busy would keep the
main thread from its checkpoint for as long as they please. The thread is abandoned, never joined: everything it writes
is a file that can be taken up again, and it stops by itself at its next step.
"""

import threading
from queue import SimpleQueue

from jp.interrupt import router
from jp.interrupt.checkpoint import checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from jp.interrupt.children import Child

    T = TypeVar("T")


class Stopped(BaseException):
    """Raised in the worker when the caller has gone; nobody sees it."""


class Stop:
    """The worker's side: whether to go on, and the child to end when not."""

    __slots__ = ("_child", "_lock", "stopped")

    def __init__(self) -> None:
        self.stopped = False
        self._child: Child | None = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise Stopped when the caller has gone."""
        if self.stopped:
            raise Stopped

    def hold(self, child: "Child | None") -> None:
        """Name the child that is to end with the work; None when it has ended by itself."""
        with self._lock:
            self._child = child
        if self.stopped:
            self.stop()

    def stop(self) -> None:
        """The caller's side: end the work and its child."""
        import signal

        self.stopped = True
        with self._lock:
            child = self._child
        if child is not None:
            child.kill_group(getattr(signal, "SIGKILL", signal.SIGTERM))


def run(work: "Callable[[Stop, Callable[[object], None]], T]", on_event: "Callable[[object], None]") -> "T":
    """Run `work(stop, post)` on a thread and hand what it posts to `on_event` here; return or raise what it does.

    Raises Shutdown from the caller's checkpoint; the work is stopped then.
    """
    inbox: SimpleQueue[tuple[str, object]] = SimpleQueue()
    stop = Stop()

    def body() -> None:
        try:
            inbox.put(("done", work(stop, lambda event: inbox.put(("event", event)))))
        except Stopped:
            pass
        except BaseException as error:  # raised again by the caller, who would otherwise wait for ever
            inbox.put(("failed", error))

    unsubscribe = on_shutdown(lambda: inbox.put(("wake", None)))
    try:
        threading.Thread(target=body, name="model-work", daemon=True).start()
        while True:
            checkpoint()
            kind, value = inbox.get()
            if kind == "event":
                on_event(value)
            elif kind == "done":
                return value  # type: ignore[return-value]
            elif kind == "failed":
                raise value  # type: ignore[misc]
    finally:
        stop.stop()
        unsubscribe()


def on_shutdown(wake: "Callable[[], object]") -> "Callable[[], None]":
    """Have `wake` called when a shutdown begins; returns what takes it off again. Without a router there is none."""
    try:
        token = router.current().token
    except RuntimeError:
        return lambda: None
    return token.subscribe(wake)
