"""`checkpoint()`: where working code lets an interrupt in (decisions, "Asking").

Signals never raise, so code that loops or writes says itself where it may be left: in each command's loop and around
every write. While nothing is pending it costs a look at two module variables. It waits while a menu holds the command
(`pause`), and raises `Shutdown` once a graceful shutdown has begun.
"""

import _thread

from jp.interrupt.token import Shutdown, ShutdownToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_main = _thread.get_ident()  # the module is first imported by boot, on the main thread
_token: ShutdownToken | None = None
_cancelled = False  # only ever becomes true
_held = 0
_pauses: dict[int, None] = {}
_waiting: "dict[int, Callable[[], None]]" = {}
_next = iter(range(1, 1 << 62)).__next__


def watch(token: ShutdownToken) -> None:
    """Make `token` the one that checkpoints look at (the router does this once, when it is armed)."""
    global _token
    _token = token
    token.subscribe(_mark)


def _mark() -> None:
    global _cancelled
    _cancelled = True


def checkpoint() -> None:
    """Free when nothing is pending; waits while the command is paused; raises `Shutdown` once that has begun.

    Only on the main thread; elsewhere it does nothing: other threads are stopped by whoever started them.
    """
    if _cancelled or _pauses:
        _look()


def _look() -> None:
    if _held or _token is None or _thread.get_ident() != _main:
        return
    while _pauses and not _token.cancelled:
        _wait(_token)
    if _token.cause is not None:
        raise Shutdown(_token.cause)


def _wait(token: ShutdownToken) -> None:
    from _queue import SimpleQueue  # its put is re-entrant; the queue module would cost threading and collections

    woken: SimpleQueue[None] = SimpleQueue()
    wake = lambda: woken.put(None)
    key = _next()
    _waiting[key] = wake
    unsubscribe = token.subscribe(wake)
    try:
        if _pauses:  # looked at again now that a wake-up can't be missed
            woken.get()
    finally:
        unsubscribe()
        del _waiting[key]


def pause() -> "Callable[[], None]":
    """Hold the command at its next checkpoint, as a menu over it does; returns what lets it go on. Any thread."""
    key = _next()
    _pauses[key] = None

    def resume() -> None:
        _pauses.pop(key, None)
        for wake in list(_waiting.values()):
            wake()

    return resume


class hold:  # noqa: N801  (reads as a statement: `with hold():`)
    """While held, checkpoints do nothing: what winds down or saves must not be cut by the shutdown it serves."""

    def __enter__(self) -> None:
        global _held
        _held += 1

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        global _held
        _held -= 1
