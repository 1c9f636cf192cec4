"""The bound on every graceful shutdown: a countdown for the person, and a deadline that nothing can miss.

Three layers, because none alone covers everything (experiments, 3.4): a thread that sleeps; a timer signal for a main
thread in C code that holds the interpreter but looks at signals (a regular expression); a timer below the interpreter
for C code that does not even look (a sort). The first two end as any end does; the last exits with status 1.
"""

import _thread
import sys
import time

from jp.interrupt import end

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
else:
    import _signal

MIN_INTERVAL_SECS = 0.05
_SIGNAL_LAG_SECS = 0.15  # behind the thread, so that it acts only when the thread could not
_BELOW_LAG_SECS = 1.0


class Watchdog:
    """Calls `expired` at the deadline, and `tick(seconds left)` for the countdown before it."""

    __slots__ = ("_expired", "_tick", "begun", "clock", "delay_secs", "interval_secs", "standing")

    def __init__(
        self, clock: "Callable[[], float]", expired: "Callable[[], object]", tick: "Callable[[float], object]"
    ) -> None:
        self.clock = clock
        self._expired = expired
        self._tick = tick
        self.begun = 0.0
        self.delay_secs = 1.0
        self.interval_secs = 0.1
        self.standing = False  # the job is stopped: the deadline moves when it goes on

    def start(self, timeout_secs: float) -> None:
        """Start the bound; from here on `end.deadline` holds. Any thread, also a signal handler."""
        self.begun = self.clock()
        end.deadline = self.begun + timeout_secs
        self._backstops()
        try:
            _thread.start_new_thread(self._watch, ())
        except RuntimeError:
            pass  # no thread to be had: the timers still hold

    def hurry(self, seconds: float) -> None:
        """Have the bound in `seconds` at the latest: only last words are left."""
        soon = self.clock() + seconds
        if end.deadline is None or soon < end.deadline:
            end.deadline = soon
            self._backstops()

    def moved(self, seconds: float) -> None:
        """The job was stopped for `seconds`: the deadline is that much later."""
        if end.deadline is not None:
            end.deadline += seconds
            self.begun += seconds
            self._backstops()

    def alarm(self) -> None:
        """The timer signal has come (on the main thread)."""
        if end.deadline is not None and not self.standing and self.clock() >= end.deadline:
            self._expired()
        else:
            self._backstops()

    def _backstops(self) -> None:
        if end.deadline is None:
            return
        left = max(end.deadline - self.clock(), 0.0)
        try:
            if sys.platform != "win32":
                _signal.setitimer(_signal.ITIMER_REAL, left + _SIGNAL_LAG_SECS, 0.25)
            end.backstop(left + _BELOW_LAG_SECS)
        except (OSError, RuntimeError, ValueError):
            pass

    def _watch(self) -> None:
        while end.deadline is not None:
            now = self.clock()
            if not self.standing:
                if now >= end.deadline:
                    self._expired()
                    return
                if now >= self.begun + self.delay_secs:
                    self._tick(end.deadline - now)
            due = self.begun + self.delay_secs
            pause = due - now if now < due else max(self.interval_secs, MIN_INTERVAL_SECS)
            time.sleep(max(0.001, min(pause, end.deadline - now)))
