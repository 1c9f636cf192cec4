"""Whether somebody can be asked: a pure function of values (RFD 104, "Promptability").

Two questions, on purpose two functions. `resolve` is answered once, before any workspace is looked for: the flags, the
environment, and whether the terminal opens. `ask_state` is answered anew at each question: whether we may use that
terminal now. A job in the background gets a typed error, never a stopped process.
"""

from enum import Enum

from jp.errors import JpError, UsageError
from jp.terminal.system import TERMINAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VARIABLE = "JP_NONINTERACTIVE"
_FALSE = ("", "0", "false", "no", "off", "n", "f")


class NotPromptable(JpError):
    """Nobody can be asked."""

    code = "not_promptable"


class NotPromptableNow(NotPromptable):
    """There is a terminal, but it cannot be used for a question at this moment."""


class Request(Enum):
    """What the command line says about asking."""

    AUTO = "auto"
    FORCED_ON = "--interactive"
    FORCED_OFF = "--no-interactive"


class Why(Enum):
    """What decided."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    TERMINAL = "terminal"


class Promptability:
    """The resolved value: whether there is somebody to ask, and what decided it."""

    __slots__ = ("promptable", "request", "why")

    def __init__(self, promptable: bool, request: Request, why: Why) -> None:
        self.promptable = promptable
        self.request = request
        self.why = why

    def __bool__(self) -> bool:
        return self.promptable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Promptability):
            return NotImplemented
        return (self.promptable, self.request, self.why) == (other.promptable, other.request, other.why)

    def __hash__(self) -> int:
        return hash((self.promptable, self.request, self.why))

    def __repr__(self) -> str:
        return f"Promptability({self.promptable}, {self.request}, {self.why})"


class Asking(Enum):
    """What the moment of asking allows."""

    NOW = "now"
    UNATTENDED = "unattended"
    BACKGROUND = "background"
    IN_USE = "in use"
    LOST = "lost"


def request(*, interactive: bool, no_interactive: bool) -> Request:
    """The request of the command line; raises UsageError for the contradicting pair."""
    if interactive and no_interactive:
        raise UsageError(
            "--interactive and --no-interactive contradict each other",
            hints=["Give one of them, or neither to let the terminal decide"],
        )
    if interactive:
        return Request.FORCED_ON
    return Request.FORCED_OFF if no_interactive else Request.AUTO


def forced_off_by(environ: "Mapping[str, str]") -> bool:
    """Whether `JP_NONINTERACTIVE` is set to anything but a word for no."""
    return environ.get(VARIABLE, "").lower() not in _FALSE


def resolve(asked: Request, environ: "Mapping[str, str]", terminal_opens: bool) -> Promptability:
    """Whether the run is promptable: the flag, then the environment, then the terminal.

    `terminal_opens`: the controlling terminal opened for reading and writing. Raises NotPromptable when `--interactive`
    asserts what cannot be.
    """
    if asked is Request.FORCED_OFF:
        return Promptability(False, asked, Why.FLAG)
    if asked is Request.FORCED_ON:
        if not terminal_opens:
            raise NotPromptable(
                f"--interactive was given, but the terminal ({TERMINAL}) cannot be opened for reading and writing",
                hints=["Run it where there is a terminal (ssh -t, docker run -t), or drop --interactive"],
                metadata={"flag": "--interactive", "terminal": TERMINAL},
            )
        return Promptability(True, asked, Why.FLAG)
    if forced_off_by(environ):
        return Promptability(False, asked, Why.ENVIRONMENT)
    return Promptability(terminal_opens, asked, Why.TERMINAL)


def ask_state(promptability: Promptability, *, terminal: bool = True, foreground: bool, in_use: bool = False) -> Asking:
    """What may be done with a question now.

    `terminal`: the terminal that was opened at the start is still there. `foreground`: our group is its foreground.
    `in_use`: somebody else has put it into a mode of his own and is reading it.
    """
    if not promptability.promptable:
        return Asking.UNATTENDED
    if not terminal:
        return Asking.LOST
    if not foreground:
        return Asking.BACKGROUND
    return Asking.IN_USE if in_use else Asking.NOW


_NOW = {
    Asking.BACKGROUND: (
        "JP is in the background of its terminal and cannot ask",
        "Bring it to the foreground (fg) and run it again, or decide without asking (--no-interactive)",
    ),
    Asking.IN_USE: (
        "another program is reading the terminal, so JP cannot ask",
        "Wait until it has ended, or decide without asking (--no-interactive)",
    ),
    Asking.LOST: ("the terminal is gone, so JP cannot ask", "Run it again in a terminal"),
}
_NOT = {
    Why.FLAG: "--no-interactive forbids asking",
    Why.ENVIRONMENT: f"{VARIABLE} forbids asking",
    Why.TERMINAL: f"there is no terminal to ask on ({TERMINAL} does not open)",
}


def require(promptability: Promptability, state: Asking, *, question: str = "", hints: "Sequence[str]" = ()) -> None:
    """Raise the typed error when `state` does not allow asking; `hints` name the flag or key that decides instead."""
    if state is Asking.NOW:
        return
    metadata = {"reason": state.value, **({"question": question} if question else {})}
    tail = f": {question}" if question else ""
    if state is Asking.UNATTENDED:
        raise NotPromptable(_NOT[promptability.why] + tail, hints=hints, metadata=metadata)
    message, hint = _NOW[state]
    raise NotPromptableNow(message + tail, hints=[hint, *hints], metadata=metadata)
