"""What the inline editor switches on in a terminal that says that it has it, and off again on every way out."""

import re

from jp.prompt.backend import PromptTerminal
from jp.prompt.tokens import Reply

# Which keyboard protocol; whether clusters are joined; then what every terminal answers, so that silence has an end.
ASK = "\x1b[?u\x1b[?2027$p\x1b[c"
PUSH_KEYBOARD, POP_KEYBOARD = "\x1b[>1u", "\x1b[<u"
JOIN, UNJOIN = "\x1b[?2027h", "\x1b[?2027l"
ASKED_FOR_SECS = 1.0  # a terminal that has not answered by then does not

_CLUSTERS = re.compile(r"\[\?2027;(\d)\$y")
_JOINED = "13"  # now, always
_MAY_JOIN = "2"


class Switches:
    """The keyboard protocol (`kitty`), and the joining of clusters of code points to one character (`joined`)."""

    def __init__(self, terminal: PromptTerminal) -> None:
        self.kitty = False
        self.joined = False
        self._terminal = terminal
        self._joins = False  # because we have said so
        self._asked_at: float | None = None

    @property
    def undo(self) -> str:
        """What switches all off."""
        return (UNJOIN if self._joins else "") + (POP_KEYBOARD if self.kitty else "")

    def on(self) -> None:
        """Switch on again what is known."""
        if self._joins:
            self._terminal.write(JOIN)
        if self.kitty:
            self._terminal.write(PUSH_KEYBOARD)

    def off(self) -> None:
        """Switch all off."""
        if self.undo:
            self._terminal.write(self.undo)

    def ask(self, now: float) -> None:
        """Ask the terminal, if it has not been asked."""
        if not self.kitty and self._asked_at is None:
            self._asked_at = now
            self._terminal.write(ASK)

    def awaited(self, now: float) -> bool:
        """Whether the answer may still come."""
        return self._asked_at is not None and now - self._asked_at <= ASKED_FOR_SECS

    def answered(self, reply: Reply) -> bool:
        """Take an answer; whether something is different now."""
        if reply.kind == "device":
            self._asked_at = None
        elif reply.kind == "keyboard" and not self.kitty:
            self.kitty = True
            self._terminal.write(PUSH_KEYBOARD)
            return True
        elif (state := _CLUSTERS.fullmatch(reply.text)) and state[1] in _JOINED + _MAY_JOIN and not self.joined:
            self.joined = True
            self._joins = state[1] == _MAY_JOIN
            if self._joins:
                self._terminal.write(JOIN)
            return True
        return False
