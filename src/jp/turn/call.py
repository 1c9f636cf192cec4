"""One call of the model, from its preparation to its response."""

from enum import Enum, auto
from typing import Any

from jp.tool.definition import Definition
from jp.tool.outcome import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.conversation.events import ToolCallRequest


class State(Enum):
    """Where a call is."""

    FORMATTING = auto()  # before it is asked about
    ASKED = auto()
    ANNOUNCING = auto()  # approved; its arguments are being formatted
    READY = auto()
    RUNNING = auto()
    INQUIRING = auto()
    DELIVERING = auto()
    DONE = auto()


PREPARING = (State.FORMATTING, State.ASKED, State.ANNOUNCING)


class Call:
    """One call of the model."""

    def __init__(self, number: int, request: "ToolCallRequest") -> None:
        self.number = number
        self.id = request.id
        self.name = request.name
        self.requested = request.arguments
        self.arguments = request.arguments
        self.tool: Definition | None = None
        self.state = State.DONE
        self.formatted: str | None = None
        self.run = 0
        self.answers: dict[str, Any] = {}
        self.secret: set[str] = set()
        self.asked = 0
        self.question: Question | None = None
        self.failed = False  # its result, which waits for a look at it, is a failure
        self.plain = False  # its arguments could not be formatted

    def __repr__(self) -> str:
        return f"<Call {self.number} {self.name} {self.state.name.lower()}>"

    @property
    def known(self) -> Definition:
        assert self.tool is not None
        return self.tool

    @property
    def cancelled(self) -> str:
        """What the model is told when the call is cancelled."""
        return (self.tool and self.tool.settings.cancellation_response) or ""
