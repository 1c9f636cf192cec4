"""What the small prompts have in common: draw, wait, guard against accidents, and leave the terminal as it was."""

from typing import Protocol

from jp.prompt.backend import CONTINUE, END, PRESS, STOP, PromptTerminal
from jp.prompt.drawing import Drawing
from jp.prompt.keys import Paste
from jp.prompt.outcomes import Broken, Interrupted, Outcome
from jp.prompt.reading import CHUNK, LOST, Keys, Reading
from jp.prompt.rows import Picture

QUIET_SECS = 0.25  # a key that comes sooner was meant for something else

# What keeps an answer from being an accident.
NO_GUARD = "none"  # keys act at once, also those that were typed before
FIRST = "first"  # nothing counts before the terminal was silent once
EACH = "each"  # every key needs the silence before it, and to come alone


class Widget(Protocol):
    """The state of a prompt: what it shows and what a key does; it knows no terminal."""

    guard: str

    def picture(self, columns: int, lines: int) -> Picture:
        """What is to be seen in a window of this size; at most `lines` rows."""
        ...

    def keys(self, keys: Keys) -> Outcome | None:
        """Act on what was typed; the outcome, if that ends the prompt."""
        ...

    def text(self) -> str:
        """What the person has written so far."""
        ...


def show(widget: Widget, terminal: PromptTerminal) -> Outcome:
    """Run a prompt to its end."""
    guarded = widget.guard != NO_GUARD
    drawing = Drawing(terminal)
    reading = Reading(terminal, CHUNK if guarded else 1)  # without a guard, what was typed ahead is the next prompt's
    try:
        return _run(widget, terminal, drawing, reading)
    finally:
        drawing.erase()


def _run(widget: Widget, terminal: PromptTerminal, drawing: Drawing, reading: Reading) -> Outcome:
    guarded = widget.guard != NO_GUARD
    silent = fresh = True
    while True:
        if fresh and not guarded:
            reading.begin()
        drawing.draw(widget.picture(*terminal.size()))
        if fresh and guarded:
            reading.restart()
            silent = False
        fresh = False
        event = reading.next()
        if isinstance(event, Keys):
            silent = silent or event.quiet >= QUIET_SECS
            if silent and (widget.guard != EACH or _on_purpose(event)):
                outcome = widget.keys(event)
                if outcome is not None:
                    return outcome
        elif event == PRESS:
            return Interrupted(widget.text())
        elif event in (END, LOST):
            return Broken(widget.text(), ended(event))
        elif event == STOP:
            drawing.erase()
            terminal.park()
            fresh = True
        elif event == CONTINUE:
            drawing.forget()
            fresh = True


def ended(event: str) -> str:
    """Why a prompt ended without an answer."""
    return "the terminal is gone" if event == LOST else "the run is ending"


def _on_purpose(keys: Keys) -> bool:
    return keys.quiet >= QUIET_SECS and keys.alone and not isinstance(keys.tokens[0], Paste)
