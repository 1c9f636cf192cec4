"""`assistant`: who answers, what it is told, and how requests are made."""

import msgspec

from jp.config.containers import FRESH, REPEAT, Items, Text, Word
from jp.config.kinds import MISSING, Choice, Kind, Whole
from jp.config.sections.model import Model, model
from jp.config.special import Duration
from jp.config.tables import OneOf, Table

SYSTEM_PROMPT = "You are a helpful assistant."


class Section(msgspec.Struct, frozen=True):
    """One tagged part of the system prompt; lower positions come first."""

    content: str
    position: int
    tag: str | None = None
    title: str | None = None


class Example(msgspec.Struct, frozen=True):
    """A contrast that shows what an instruction means."""

    good: str
    bad: str
    reason: str | None = None


class Instruction(msgspec.Struct, frozen=True):
    """A titled list of instructions."""

    position: int
    title: str | None = None
    description: str | None = None
    items: list[str] = []
    examples: list[str | Example] = []


class Request(msgspec.Struct, frozen=True):
    """Retries, timeouts and limits of a request; times in the unit of their name, 0 is no limit."""

    max_retries: int
    base_backoff_ms: int
    max_backoff_secs: int
    stream_idle_timeout_secs: int
    max_response_bytes: int
    cache: bool | str | float


class Assistant(msgspec.Struct, frozen=True):
    """The assistant as resolved from all sources."""

    system_prompt_sections: list[Section]
    instructions: list[Instruction]
    tool_choice: str
    model: Model
    request: Request
    name: str | None = None
    system_prompt: str | None = None


class AssistantOverride(msgspec.Struct, frozen=True):
    """What differs from `assistant` where a question is put to a model of its own."""

    name: str | None = None
    system_prompt: str | None = None
    system_prompt_sections: list[Section] | None = None
    instructions: list[Instruction] | None = None
    tool_choice: str | None = None
    model: Model | None = None


def _sections(default: object) -> Items:
    item = Table(
        {
            "content": Word(MISSING, "The text."),
            "tag": Word(MISSING, "The tag it is wrapped in."),
            "title": Word(MISSING, "Its title."),
            "position": Whole(0, "Where it comes; lower is earlier.", minimum=-(2**31)),
        },
        required=("content",),
        from_text="content",
    )
    return Items(item, default, "Tagged parts of the system prompt.", wrapped=True, commas=False)


def _instructions(default: object) -> Items:
    example = Table(
        {
            "good": Word(MISSING, "How it should be."),
            "bad": Word(MISSING, "How it should not be."),
            "reason": Word(MISSING, "Why."),
        },
        required=("good", "bad"),
    )
    item = Table(
        {
            "title": Word(MISSING, "What they are about."),
            "description": Word(MISSING, "What comes before the items."),
            "position": Whole(0, "Where they come; lower is earlier.", minimum=-(2**31)),
            "items": Items(Word(), MISSING, "The instructions.", joining=REPEAT),
            "examples": Items(OneOf((Word(), example)), MISSING, "What they mean in practice.", joining=REPEAT),
        },
        from_text="title",
    )
    return Items(item, default, "Titled lists of instructions.", wrapped=True, joining=FRESH, commas=False)


def override(doc: str) -> Table:
    """The keys of an assistant that answers one kind of question; all optional."""
    keys: dict[str, Kind] = {
        "name": Word(MISSING, "Its name."),
        "system_prompt": Text(MISSING, "Its system prompt."),
        "system_prompt_sections": _sections(MISSING),
        "instructions": _instructions(MISSING),
        "tool_choice": Word(MISSING, "How it chooses tools."),
        "model": model("Its model; unset is the conversation's own.", optional=True),
    }
    table = Table(keys, doc, optional=True)
    table.like = "assistant"
    return table


def assistant() -> Table:
    """The keys of `assistant`."""
    request = Table(
        {
            "max_retries": Whole(5, "How often a failed request is tried again."),
            "base_backoff_ms": Whole(1000, "Wait before the first retry; doubled for each further one."),
            "max_backoff_secs": Whole(60, "Longest wait between two tries."),
            "stream_idle_timeout_secs": Whole(
                60, "Silence after which a response counts as cut off; 0 waits for ever."
            ),
            "max_response_bytes": Whole(1_048_576, "Most bytes of one response; 0 is the hard limit of 64 MiB."),
            "cache": OneOf(
                (Choice((True, False, "off", "short", "long")), Duration()),
                True,
                "Whether the provider may cache the prompt, and how long.",
            ),
        },
        "Retries, timeouts and limits of a request.",
    )
    return Table(
        {
            "name": Word(MISSING, "The assistant's name."),
            "system_prompt": Text(SYSTEM_PROMPT, "What the assistant is told first.", discard_default=True),
            "system_prompt_sections": _sections([]),
            "instructions": _instructions([]),
            "tool_choice": Word("auto", 'How tools are chosen: "auto", "none", "required", or the name of one tool.'),
            "model": model("The model that answers."),
            "request": request,
        },
        "Who answers, what it is told, and how requests are made.",
    )
