"""What happens to the tool calls of an answer, and what is to be done: values (see `jp.turn.calls`)."""

from typing import Any

import msgspec
from msgspec import UNSET

from jp.ask import pending
from jp.tool.definition import Definition, Invocation
from jp.tool.outcome import Outcome, Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.config.sections.assistant import AssistantOverride
    from jp.conversation.events import Event
    from jp.errors import JpError


# --- what happened ---


class Answered(msgspec.Struct, frozen=True):
    """The person has answered the prompt at the head of the queue. `sent` is called once that is stored."""

    answer: pending.Answered
    sent: "Callable[[], None]" = lambda: None


class Unattended(msgspec.Struct, frozen=True):
    """Nobody can be asked; `error` says why. `broken`: though somebody is there, so that no policy agrees for them."""

    error: "JpError"
    broken: bool = False


class ToolEnded(msgspec.Struct, frozen=True):
    """A run is over."""

    call: int
    run: int
    outcome: Outcome


class Inquired(msgspec.Struct, frozen=True):
    """The model has answered a tool's question; `error` when it has not."""

    call: int
    run: int
    answer: Any = UNSET
    error: str = ""


Happening = Answered | Unattended | ToolEnded | Inquired

# --- what to do ---


class Record(msgspec.Struct, frozen=True):
    """Append an event."""

    event: "Event"


class Start(msgspec.Struct, frozen=True):
    """Start a run; `ToolEnded` tells of its end."""

    call: int
    run: int
    invocation: Invocation


class Kill(msgspec.Struct, frozen=True):
    """Stop the runs of a call; `now`: without grace, since it is to run again."""

    call: int
    now: bool = False


class Inquire(msgspec.Struct, frozen=True):
    """Have a model answer a tool's question; `Inquired` tells the answer."""

    call: int
    run: int
    tool: Definition
    arguments: dict[str, Any]
    question: Question
    by: "AssistantOverride | None" = None


class Announce(msgspec.Struct, frozen=True):
    """Show that a tool is called."""

    tool: Definition
    arguments: dict[str, Any]
    formatted: str | None = None


class ShowResult(msgspec.Struct, frozen=True):
    """Show what came of a call."""

    call: int
    tool: Definition
    content: str
    is_error: bool


class Busy(msgspec.Struct, frozen=True):
    """Say which tools run; none when it is over."""

    names: tuple[str, ...]


class Said(msgspec.Struct, frozen=True):
    """Something for the person about a call."""

    text: str


Effect = Record | Start | Kill | Inquire | Announce | ShowResult | Busy | Said
