"""A line that is never shown."""

from jp.prompt.backend import PromptTerminal
from jp.prompt.choice import ENTER
from jp.prompt.keys import Key, Paste
from jp.prompt.outcomes import Cancelled, Outcome, ShowWhole, Submitted
from jp.prompt.questions import Secret
from jp.prompt.reading import Keys
from jp.prompt.rows import BOLD_BLUE, DIM, Picture, body_rows, fitted, wrap
from jp.prompt.showing import FIRST, show
from jp.terminal.sanitize import one_line

SEVERAL_LINES = "The paste had several lines and was left out."


def hidden(question: Secret, terminal: PromptTerminal) -> Outcome:
    """Ask for a secret. Enter submits, ESC cancels; only what is submitted leaves this function."""
    return show(Hidden(question, colour=terminal.colour), terminal)


class Hidden:
    """The state of a secret."""

    guard = FIRST

    def __init__(self, question: Secret, *, colour: bool) -> None:
        self._question = question
        self._message = one_line(question.message).rstrip() + " "
        self._colour = colour
        self._secret = ""
        self._note = ""

    def picture(self, columns: int, lines: int) -> Picture:
        """The body and the message, and no sign of what is typed."""
        rows = fitted(wrap(self._message, columns, BOLD_BLUE if self._colour else ""), lines)
        if self._note and len(rows) < lines:
            rows = [*wrap(self._note, columns, DIM if self._colour else "")[: lines - len(rows)], *rows]
        question, room = self._question, lines - len(rows)
        rows = body_rows(question.body, columns, room, colour=self._colour, more=question.more) + rows
        return Picture(rows, len(rows) - 1, rows[-1].width)

    def keys(self, keys: Keys) -> Outcome | None:
        """Characters and pastes of one line are added; Enter counts only when it is alone in its read."""
        for token in keys.tokens:
            self._note = ""
            if isinstance(token, Paste):
                line = token.text.strip("\n")
                if "\n" in line:
                    self._note = SEVERAL_LINES
                else:
                    self._secret += line
            elif isinstance(token, Key) and not token.alt:
                if token.name in ENTER:
                    if keys.alone:
                        return Submitted(self._secret)
                elif token.name == "escape":
                    return Cancelled()
                elif token.name == "c-o" and self._question.more and not self._secret:
                    return ShowWhole()
                else:
                    self._key(token.name)
        return None

    def _key(self, name: str) -> None:
        if len(name) == 1:
            self._secret += name
        elif name in ("backspace", "c-h"):
            self._secret = self._secret[:-1]
        elif name == "c-u":
            self._secret = ""

    def text(self) -> str:
        """Nothing: an unfinished secret is kept nowhere."""
        return ""
