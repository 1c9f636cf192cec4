"""What comes of a run of a tool: a result, a failure, or a question to be answered first (contracts, section 9)."""

from typing import Any

import msgspec
from msgspec import UNSET

KINDS = ("boolean", "select", "text", "secret")


class Question(msgspec.Struct, frozen=True):
    """What a tool wants to know before it goes on.

    `kind` is one of KINDS; `options` are the values of a select, strings for the most part; `default` is UNSET where
    there is none; `exclusive`: only a person may answer.
    """

    id: str
    text: str
    kind: str = "text"
    options: list[Any] = []
    default: Any = UNSET
    pre_amble: str = ""
    exclusive: bool = False


class Success(msgspec.Struct, frozen=True):
    """The tool is done; `content` is for the model."""

    content: str


class Failure(msgspec.Struct, frozen=True):
    """The tool has failed, `trace` from the outer cause to the inner; `transient`: trying again may help."""

    message: str
    trace: list[str] = []
    transient: bool = False

    @property
    def content(self) -> str:
        """The failure as the model is told about it."""
        return "\n".join([self.message, *(f"  caused by: {cause}" for cause in self.trace)])


class NeedsInput(msgspec.Struct, frozen=True):
    """The tool is to be run again with an answer to `question` among its answers."""

    question: Question


Outcome = Success | Failure | NeedsInput
