"""One key, in git's style: `message [c,r,s,?]? `."""

from jp.prompt.backend import PromptTerminal
from jp.prompt.keys import Key
from jp.prompt.outcomes import Cancelled, Outcome, Submitted
from jp.prompt.questions import Choice
from jp.prompt.reading import Keys
from jp.prompt.rows import BOLD_BLUE, Picture, body_rows, fitted, wrap
from jp.prompt.showing import EACH, NO_GUARD, show
from jp.terminal.sanitize import one_line

HELP = "?"
ENTER = ("enter", "c-j")  # a terminal may make LF of CR


def choose(question: Choice, terminal: PromptTerminal) -> Outcome:
    """Ask for one key. Enter stands for the default, ESC cancels."""
    return show(Chooser(question, colour=terminal.colour), terminal)


def asking(question: Choice) -> str:
    """The line of the question. The default is in upper case, if that is no other option's key."""
    keys = [option.key for option in question.options]
    shown = [_shown(key, question) for key in keys] + ([] if HELP in keys else [HELP])
    return one_line(f"{question.message} [{','.join(shown)}]? ")


def explained(question: Choice) -> list[str]:
    """What each option does, one a line."""
    return [one_line(f"{option.key} - {option.label}") for option in question.options]


def _shown(key: str, question: Choice) -> str:
    upper = key.upper()
    taken = upper == key or any(option.key == upper for option in question.options)
    return key if key != question.default or taken or len(upper) != 1 else upper


class Chooser:
    """The state of a choice."""

    def __init__(self, question: Choice, *, colour: bool) -> None:
        self.guard = EACH if question.guarded else NO_GUARD
        self._question = question
        self._keys = {option.key for option in question.options}
        self._asking = asking(question)
        self._colour = colour
        self._help = False

    def picture(self, columns: int, lines: int) -> Picture:
        """The body, the options if they were asked for, and the question."""
        rows = fitted(wrap(self._asking, columns, BOLD_BLUE if self._colour else ""), lines)
        if self._help:
            options = "\n".join(explained(self._question))
            rows = body_rows(options, columns, lines - len(rows), colour=self._colour) + rows
        question = self._question
        above = body_rows(question.body, columns, lines - len(rows), colour=self._colour, more=question.more)
        rows = above + rows
        return Picture(rows, len(rows) - 1, rows[-1].width)

    def keys(self, keys: Keys) -> Outcome | None:
        """An option's key answers; other keys do nothing."""
        for token in keys.tokens:
            if not isinstance(token, Key) or token.alt:
                continue
            if keys.early and (keys.early > 1 or token.name not in self._question.early):
                continue
            if token.name in self._keys and len(token.name) == 1:
                return Submitted(token.name)
            if token.name == HELP:
                self._help = True
            elif token.name == "escape":
                return Cancelled()
            elif token.name in ENTER and self._question.default:
                return Submitted(self._question.default)
        return None

    def text(self) -> str:
        """Nothing is written in a choice."""
        return ""
