"""Typewriter pacing (`style.typewriter`): when which characters of a text are due.

The delay asked for holds as long as all that has arrived is shown within `max_latency` seconds of the last arrival;
else the pace follows from that deadline. No lag allowed means no pacing.
"""

from jp.terminal.escapes import Escapes

STEP = 0.004  # seconds: nobody sees steps shorter than this, and each costs a write
_JOINED = "\u200d\ufe0e\ufe0f"  # belongs to the character before it; so do combining marks


class Pace:
    """The text being typed at the moment, if any."""

    __slots__ = ("_at", "_delay", "_units", "due")

    def __init__(self) -> None:
        self._units: list[str] = []
        self._at = 0
        self._delay = 0.0
        self.due = 0.0

    def __bool__(self) -> bool:
        return self._at < len(self._units)

    @property
    def left(self) -> int:
        """Units not given out yet."""
        return len(self._units) - self._at

    def start(self, text: str, delay: float, now: float) -> None:
        """Begin with a text; `delay` in seconds a character."""
        self._units = units(text)
        self._at = 0
        self._delay = delay
        self.due = max(self.due, now)

    def hasten(self) -> None:
        """All that is left is due."""
        self._delay = 0.0
        self.due = 0.0

    def take(self, now: float, waiting: int, deadline: float | None) -> str:
        """The characters that are due; `waiting` more are queued behind them, all due by `deadline`."""
        if now < self.due:
            return ""
        delay = self._delay
        if deadline is not None:
            delay = min(delay, max(0.0, deadline - now) / (self.left + waiting))
        count = self.left if delay <= 0 else int((now - self.due) / delay) + 1
        if delay < STEP and count < self.left:
            count = max(count, int(STEP / delay))
        self.due = max(self.due + count * delay, now) if delay > 0 else now
        text = "".join(self._units[self._at : self._at + count])
        self._at += count
        if not self:
            self.clear()
        return text

    def clear(self) -> None:
        """Forget the text."""
        self._units = []
        self._at = 0


def units(text: str) -> list[str]:
    """What appears in one step: a character with its marks, or a whole escape sequence before it."""
    found: list[str] = []
    lead = ""
    cutter = Escapes()
    for sequence, piece in cutter.feed(text):
        if sequence:
            lead += piece
            continue
        for character in piece:
            if found and not lead and (character in _JOINED or "\u0300" <= character <= "\u036f"):
                found[-1] += character
            else:
                found.append(lead + character)
                lead = ""
    lead += cutter.end()
    if lead:
        found.append(lead)
    return found
