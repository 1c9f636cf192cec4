"""How many runs go on at once: a model may ask for any number of calls in one answer."""

import threading
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Begin = Callable[[], object]


class Slots:
    """At most `count` at once, the others in the order in which they came. Any thread; nothing here waits.

    What `take` is given begins at once or on the thread of a run that ends, so it must be short. Each one that has
    begun calls `leave` once.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[Begin] = deque()
        self._lock = threading.RLock()  # a cancel may come from anywhere

    def take(self, begin: "Begin", *, first: bool = False) -> None:
        """Have `begin` called when it is its turn; `first`: before all that wait."""
        with self._lock:
            if not self._free:
                (self._waiting.appendleft if first else self._waiting.append)(begin)
                return
            self._free -= 1
        begin()

    def withdraw(self, begin: "Begin") -> bool:
        """Wait no longer; whether it had not begun."""
        with self._lock:
            try:
                self._waiting.remove(begin)
            except ValueError:
                return False
            return True

    def leave(self) -> None:
        """One is over: the next one begins."""
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            begin = self._waiting.popleft()
        begin()
