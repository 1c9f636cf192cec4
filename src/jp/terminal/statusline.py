"""The worker's side of the status line: when it is drawn, and that it is gone before anything else is written.

It is drawn only at column 0, only by the foreground of its terminal, and not while another program of ours asks there;
all of that is looked at anew at each draw. Nothing is erased upwards: on a window that became narrower than the line, a
remnant is the lesser evil beside a line of the answer that is gone.
"""

from jp.terminal.escapes import CLEAR_LINE
from jp.terminal.status import MIN_INTERVAL, fit
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.terminal.device import Device
    from jp.terminal.status import StatusHandle

ELSEWHERE_SECS = 0.1  # redrawn this long after a write to another device, which may end up on the same screen


class StatusLine:
    """The stack of claims and what of it is on the screen."""

    __slots__ = ("_columns", "_current", "_device", "_may_draw", "_next", "_stack", "drawn", "throttle")

    def __init__(
        self,
        device: "Device",
        *,
        columns: "Callable[[], int | None]",
        may_draw: "Callable[[], bool]",
    ) -> None:
        """`may_draw`: whether this moment permits drawing."""
        self._device = device
        self._columns = columns
        self._may_draw = may_draw
        self.throttle = MIN_INTERVAL  # seconds between two draws beside the ticks
        self._stack: list[StatusHandle] = []
        self._current: StatusHandle | None = None
        self._next = 0.0  # the next draw's time
        self.drawn = False

    def left_behind(self) -> bytes:
        """What takes the line off the screen when the process ends in the middle of it."""
        return CLEAR_LINE.encode() if self.drawn else b""

    def add(self, handle: "StatusHandle") -> None:
        """A new claim lies on top."""
        self._stack.append(handle)

    def changed(self, now: float) -> None:
        """A claim's detail has changed or a claim has ended."""
        self._next = min(self._next, now + self.throttle) if self.drawn else now

    def stood(self, seconds: float) -> None:
        """The job was stopped for `seconds`: what counts down has that much longer."""
        for handle in self._stack:
            if handle.countdown_from is not None:
                handle.since += seconds

    def clear(self, now: float, writing_to: "Device | None" = None) -> None:
        """Take the line off the screen, before `writing_to` is written to."""
        if not self.drawn:
            return
        self.drawn = False
        if self._may_draw():  # from the background it would erase what the shell has printed since
            self._device.push_raw(Target.ERR, CLEAR_LINE.encode())
            self._device.advance(now)
        elsewhere = writing_to is not None and writing_to is not self._device
        self._next = now + (max(ELSEWHERE_SECS, self.throttle) if elsewhere else self.throttle)

    def expire(self, now: float) -> None:
        """Take the line away when nobody claims it any more."""
        if self.drawn and self._shown(now) is None:
            self.clear(now)

    def close(self, now: float) -> None:
        """Take the line away for good, whoever claims it."""
        self._stack.clear()
        self.clear(now)

    def draw(self, now: float) -> None:
        """Draw or redraw what is due, if this is the moment; take it away when nobody claims it."""
        shown = self._shown(now)
        if shown is not self._current:
            self._current, self._next = shown, now
        device = self._device
        if shown is None:
            return
        if now < self._next or device.held or device.dead or not device.drained or device.line.is_open:
            return
        self._next = now + shown.interval
        if not self._may_draw():
            return
        columns = self._columns()
        text = fit(shown.text(now), columns)
        if not text:
            return
        device.push_raw(Target.ERR, b"\r" + text.encode("utf-8", "replace") + b"\x1b[K")
        self.drawn = True
        device.advance(now)

    def next_due(self, now: float) -> float | None:
        """When `draw` has something to do though nobody posts."""
        device = self._device
        if device.dead:
            return None
        times = [handle.due() for handle in self._stack if not handle.ended and handle.due() > now]
        if self._shown(now) is not None and not device.held and device.drained and not device.line.is_open:
            times.append(max(now, self._next))
        return min(times, default=None)

    def _shown(self, now: float) -> "StatusHandle | None":
        if any(handle.ended for handle in self._stack):
            self._stack = [handle for handle in self._stack if not handle.ended]
        return next((handle for handle in reversed(self._stack) if handle.due() <= now), None)
