"""The status line: at most one ephemeral line on stderr, claimed through a handle (contracts, section 2).

Here is a client's side and the text; drawing, clearing and the moments for both are the worker's (`statusline`).
"""

import math

from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width, truncate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

SIGN = "⏱"
MIN_INTERVAL = 0.05


class StatusHandle:
    """One claim on the status line. Ends with `end`, with its `with` block, or with whatever leaves that block.

    `detail` may be handed on as a function of its own: whoever has only that cannot end the line.
    """

    __slots__ = ("_changed", "_detail", "_ended", "countdown_from", "delay", "interval", "since", "subject")

    def __init__(
        self,
        subject: str,
        *,
        since: float,
        delay: float,
        interval: float,
        countdown_from: float | None,
        changed: "Callable[[StatusHandle], None]",
    ) -> None:
        self.subject = one_line(subject)
        self.since = since
        self.delay = delay
        self.interval = max(MIN_INTERVAL, interval)
        self.countdown_from = countdown_from
        self._detail = ""
        self._ended = False
        self._changed = changed

    @property
    def ended(self) -> bool:
        """Whether its owner has given it up."""
        return self._ended

    def detail(self, text: str) -> None:
        """Replace what stands in parentheses; empty takes it away. From any thread."""
        self._detail = one_line(text)
        self._changed(self)

    def end(self) -> None:
        """Give the line up; returns at once. It does not come back, whoever still holds the handle."""
        if not self._ended:
            self._ended = True
            self._changed(self)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def due(self) -> float:
        """When its delay has passed, in clock seconds."""
        return self.since + self.delay

    def text(self, now: float) -> str:
        """`⏱ Waiting… 9.2s (receiving response data)`."""
        elapsed = max(0.0, now - self.since)
        if self.countdown_from is None:
            time = duration(elapsed)
        else:
            left = max(0, math.ceil(self.countdown_from - elapsed - 1e-6))
            time = f"{left}s left" if left < 60 else f"{duration(float(left))} left"
        return f"{SIGN} {self.subject} {time}" + (f" ({self._detail})" if self._detail else "")


def duration(seconds: float) -> str:
    """`9.2s`, `1m 05s`, `1h 02m`."""
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = int(seconds + 0.5)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def fit(text: str, columns: int | None) -> str:
    """Cut to what one row holds without wrapping: the last column stays free."""
    room = (columns or 80) - 1
    return text if display_width(text) <= room else truncate(text, room)
