"""What came of a question, as data; the caller decides what each means (RFD 088, RFD 092 "Widget outcomes").

`text` is what the person had written, selected or filtered by: nothing of it is lost, whatever the outcome.
"""

from typing import NamedTuple


class Submitted(NamedTuple):
    """The answer: the key of a choice, the value of an item, the text exactly as written (an empty one too)."""

    value: str


class Cancelled(NamedTuple):
    """ESC: a local no."""

    text: str = ""
    cursor: int | None = None


class Interrupted(NamedTuple):
    """Ctrl-C, as the key or as a signal; the router has seen the press."""

    text: str = ""
    cursor: int | None = None


class OpenEditor(NamedTuple):
    """Ctrl-X: go on in the external editor with this text."""

    text: str = ""
    cursor: int | None = None


class ShowWhole(NamedTuple):
    """Ctrl-O: all that is asked about is to be printed, and the question asked again with this text."""

    text: str = ""
    cursor: int | None = None


class Broken(NamedTuple):
    """The prompt ended without an answer: the terminal was lost, or the run is ending. Never an answer."""

    text: str = ""
    reason: str = ""


Outcome = Submitted | Cancelled | Interrupted | OpenEditor | ShowWhole | Broken
