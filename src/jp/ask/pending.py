"""What a turn's tools want to know, as data: prompts that wait in one queue and can be shown again as they were
(RFD 092, "Prompt ownership").

A turn keeps them in the order in which they came; one is on the screen at a time. How each is asked is in
`jp.ask.tool_prompts`.
"""

from typing import Any, NamedTuple


class Permission(NamedTuple):
    """Whether a tool may run. `tool` is what the model calls it, `body` what would run, as a person reads it.

    `edit`: the arguments are to be looked at first. `may_remember`: whether an answer may hold for the whole turn.
    """

    call: int
    name: str
    arguments: dict[str, Any]
    body: str = ""
    tool: str = ""
    edit: bool = False
    may_remember: bool = True


class Inquiry(NamedTuple):
    """What a tool asks while it runs. `default` is None where there is none."""

    call: int
    name: str
    text: str
    kind: str
    options: tuple[Any, ...] = ()
    default: Any = None
    pre_amble: str = ""


class Delivery(NamedTuple):
    """Whether the model gets a result. `edit`: it is to be edited first."""

    call: int
    name: str
    content: str
    edit: bool = False


Pending = Permission | Inquiry | Delivery


class Run(NamedTuple):
    """The tool may run, with these arguments; `remember`: so may every further call of it in this turn."""

    arguments: dict[str, Any]
    remember: bool = False


class Skip(NamedTuple):
    """The tool is not to run, for a reason that the model is told; `remember`: nor is it again in this turn."""

    reason: str = ""
    remember: bool = False


class Answer(NamedTuple):
    """The answer to a tool's question."""

    value: Any


class Unanswered(NamedTuple):
    """The person has backed out of a tool's question."""


class Deliver(NamedTuple):
    """What the model gets."""

    content: str


class Withhold(NamedTuple):
    """The model does not get the result."""


Answered = Run | Skip | Answer | Unanswered | Deliver | Withhold
