"""A clock that stands still while nobody works: while the job is stopped, and while a question is up (decisions).

Idle limits, pauses before another attempt and other deadlines of the work are measured with it, so that a person may
think about a menu for as long as it takes. The watchdog's deadline is not: it bounds the end, whatever is on screen.
"""

import _thread
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_lock = _thread.allocate_lock()  # of `stand`, which the main thread calls in a handler alone
_state: tuple[float, float, int] = (0.0, 0.0, 0)  # seconds stood, standing since, how many keep it standing


def clock() -> float:
    """Monotonic seconds, less those in which time stood still."""
    stood, since, depth = _state
    return (since if depth else time.monotonic()) - stood


def still() -> bool:
    """Whether time stands still just now."""
    return _state[2] > 0


def stand() -> "Callable[[], None]":
    """Let time stand still; returns what lets it go on (once). On the main thread in a signal handler only."""
    _change(1)
    left = [True]

    def go_on() -> None:
        if left:
            left.clear()
            _change(-1)

    return go_on


def _change(by: int) -> None:
    global _state
    with _lock:
        stood, since, depth = _state
        now = time.monotonic()
        if not depth:
            since = now
        if depth + by == 0:
            stood += now - since
        _state = (stood, since, depth + by)
