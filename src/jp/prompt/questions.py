"""What can be asked, as data: a question can be queued, shown, and shown again as it was (RFD 092, "Prompt ownership").

Texts in a question may come from anywhere; whoever draws them sanitizes them.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Option(NamedTuple):
    """One key of a `Choice` and what it does."""

    key: str
    label: str


class Choice(NamedTuple):
    """One key, no Enter, in git's style: `message [c,r,s,?]? `; `?` prints the options.

    `body` stands above the question; where it does not fit, `more` says how to see it all. `default` is the key that
    Enter stands for, none if empty. `guarded`: an answer must not be an accident (permission, confirm); interrupt menus
    are not, they must act at once. There the keys in `early` count also when they were typed before the question was
    there, and nothing else was.
    """

    message: str
    options: tuple[Option, ...]
    body: str = ""
    default: str = ""
    guarded: bool = True
    early: str = ""
    more: str = ""


class Item(NamedTuple):
    """One line of a `Select`: what is returned, what is shown, and more that is shown dimmed beside it."""

    value: str
    label: str
    detail: str = ""


class Select(NamedTuple):
    """One of many: arrow keys and a filter that is typed; Enter takes the marked line.

    `filter` is what the filter begins with, `marked` the value that the mark begins on. `more`: Ctrl-O asks for all to
    be printed, which is how it is advertised where something does not fit.
    """

    message: str
    items: tuple[Item, ...]
    filter: str = ""
    marked: str = ""
    body: str = ""
    more: str = ""


class Secret(NamedTuple):
    """A line that is never shown, stored or logged. `more` as in `Select`, as long as nothing was typed."""

    message: str
    body: str = ""
    more: str = ""


class Edit(NamedTuple):
    """Text, written in the inline editor (RFD 088).

    `seed` is what the buffer begins with, and `cursor` where (None: at the end). `mode` is `emacs` or `vi`. `escape`:
    Ctrl-X leaves for the external editor. `multiline`: Alt+Enter makes a new line. `cancel` names what Ctrl-C does, for
    the help line. `error` is shown with the prompt (why the last answer was refused). `placeholder` is ghost text.
    `guarded`: sending it as it is consents to something, so nothing counts before the terminal was silent for a moment.
    `more` as in `Select`. `history` gives earlier texts, newest first, on a thread of its own. `changed` is told every
    new text, on the prompt's thread; it must not block.
    """

    message: str
    seed: str = ""
    cursor: int | None = None
    mode: str = "emacs"
    escape: bool = False
    multiline: bool = True
    cancel: str = "back"
    error: str = ""
    placeholder: str = ""
    body: str = ""
    more: str = ""
    guarded: bool = False
    history: Callable[[], Iterable[str]] | None = None
    changed: Callable[[str], object] | None = None


Question = Choice | Select | Secret | Edit


def confirm(message: str, *, body: str = "", default: str = "") -> Choice:
    """A yes-or-no question: submitted as `y` or `n`. `default` is what Enter stands for."""
    return Choice(message, (Option("y", "yes"), Option("n", "no")), body=body, default=default)
