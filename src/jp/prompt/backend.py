"""The seam between asking and how it looks: a backend shows one question and returns one outcome.

A backend is given its terminal; it knows no Printer, no editor and no configuration.
"""

from typing import Protocol

from jp.prompt.outcomes import Outcome
from jp.prompt.questions import Question

# What a terminal can have to say to a prompt that waits (`PromptTerminal.notices`).
PRESS = "press"  # a Ctrl-C: the outcome is Interrupted, once the keys typed before it are taken
RESIZE = "resize"  # the window has another size: draw again
STOP = "stop"  # the job is about to be stopped (Ctrl-Z): erase, then `park`
CONTINUE = "continue"  # it went on behind our back (SIGSTOP, SIGCONT): draw again
END = "end"  # the run is ending: the outcome is Broken


class PromptTerminal(Protocol):
    """The terminal of one prompt, in modes fit for it: key by key and no echo where `escapes`, else whole lines.

    `fd` is read from. `wake_fd` is readable when `notices` has something. `escapes`: sequences are understood; without
    them a prompt is a line mode. `colour`: colours may be used. `idle` is the prompt's to set: whether it waits for
    keys and has acted on all that it has read.
    """

    fd: int
    wake_fd: int
    escapes: bool
    colour: bool
    idle: bool

    def write(self, text: str) -> None:
        """Draw; in order, without blocking."""
        ...

    def size(self) -> tuple[int, int]:
        """Columns and lines, each at least 1."""
        ...

    def notices(self) -> set[str]:
        """What has happened since the last look; empties `wake_fd`."""
        ...

    def park(self) -> None:
        """After STOP, with the prompt erased: returns when the job goes on, in the foreground and in our modes."""
        ...

    def press(self) -> None:
        """A Ctrl-C that came as a byte or as the keyboard protocol's sequence: the router's, who answers by PRESS."""
        ...

    def suspend(self) -> None:
        """A Ctrl-Z that came as the keyboard protocol's sequence: stop the job, as the key does."""
        ...

    def quit(self) -> None:
        """A Ctrl-\\ that came as the keyboard protocol's sequence: end at once, as the key does."""
        ...

    def undo_with(self, escapes: str) -> None:
        """What must be written to undo what the prompt has switched on, should the process end in the middle of it."""
        ...

    def discard_input(self) -> None:
        """Throw away what was typed and not read."""
        ...

    def waiting(self) -> int:
        """How many bytes were typed and not read."""
        ...

    def echo(self, shown: bool) -> None:
        """In line mode: whether what is typed is shown."""
        ...

    def lost(self) -> bool:
        """After a read failed: whether the terminal is gone (else we are not its foreground just now)."""
        ...


class PromptBackend(Protocol):
    """Shows a question on a terminal and waits for what comes of it. Raises nothing but faults of its own."""

    def ask(self, question: Question, terminal: PromptTerminal) -> Outcome:
        """Show `question`; on return it is erased and the terminal's switches are as they were."""
        ...
