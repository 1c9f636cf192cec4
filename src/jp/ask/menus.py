"""The interrupt menus, as data (RFD 092, "A menu at every rung 1"; contracts, section 7).

Every menu has `c`, and ESC means the same: the interrupted work goes on. Over a prompt a menu has `b` at its end.
"""

from enum import Enum
from typing import NamedTuple

from jp.prompt.questions import Choice, Option

MESSAGE = "Interrupted:"


class What(Enum):
    """What the person has decided."""

    CONTINUE = "continue"
    REPLY = "reply"
    STOP = "stop"  # save and exit
    ABORT = "abort"  # discard and exit
    QUIT = "quit"  # the graceful shutdown
    RESTART = "restart"  # the tools that run, from their beginning
    BACK = "back"  # to the prompt that the menu is over


class Entry(NamedTuple):
    """One line of a menu."""

    key: str
    label: str
    what: What


class Menu(NamedTuple):
    """The entries of one scope's menu.

    What was typed before the menu was there answers nothing: it was meant for the shell. But a single `r` may have been
    quicker than the menu, and does no harm.
    """

    entries: tuple[Entry, ...]

    def question(self, *, over_prompt: bool = False) -> Choice:
        """The menu as a question."""
        entries = (*self.entries, BACK) if over_prompt else self.entries
        return Choice(
            MESSAGE,
            tuple(Option(entry.key, entry.label) for entry in entries),
            guarded=False,
            early="".join(entry.key for entry in entries if entry.what is What.REPLY),
        )

    def decided(self, key: str) -> What:
        """What a key stands for."""
        return next(entry.what for entry in (*self.entries, BACK) if entry.key == key)


BACK = Entry("b", "Back to the prompt", What.BACK)

STREAMING = Menu(
    (
        Entry("c", "Continue", What.CONTINUE),
        Entry("r", "Reply (stop & respond)", What.REPLY),
        Entry("s", "Stop (save & exit)", What.STOP),
        Entry("a", "Abort (discard & exit)", What.ABORT),
    )
)
TOOLS = Menu(
    (
        Entry("c", "Continue", What.CONTINUE),
        Entry("r", "Stop & respond", What.REPLY),
        Entry("s", "Stop (cancel & exit)", What.STOP),
        Entry("t", "Restart", What.RESTART),
    )
)
TURN = Menu(
    (
        Entry("c", "Continue turn", What.CONTINUE),
        Entry("r", "Reply (inject a message, continue)", What.REPLY),
        Entry("s", "Stop (save & exit)", What.STOP),
    )
)
FALLBACK = Menu(
    (
        Entry("c", "Continue", What.CONTINUE),
        Entry("q", "Quit gracefully", What.QUIT),
    )
)
