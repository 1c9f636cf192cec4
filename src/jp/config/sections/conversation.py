"""`conversation`: titles, tools, attachments, labels, compaction, and what a new conversation is like."""

from typing import Any

import msgspec

from jp.config.containers import FRESH, Items, Text, Word
from jp.config.kinds import LARGEST, MISSING, Choice, Flag, Json, Kind, Mismatch, ours, whole
from jp.config.sections.assistant import AssistantOverride, override
from jp.config.sections.model import Model, model
from jp.config.sections.tools import Command, Tools, command, tools
from jp.config.tables import OneOf, StrategyTable, Table


class Generate(msgspec.Struct, frozen=True):
    """Whether a title is written by a model, and by which."""

    auto: bool
    model: Model | None = None


class Title(msgspec.Struct, frozen=True):
    """Where a conversation's title comes from."""

    generate: Generate
    from_heading: bool


class Attachment(msgspec.Struct, frozen=True, rename={"kind": "type"}):
    """Something that is attached to every request: a type, a path and parameters."""

    kind: str
    path: str
    params: dict[str, Any] = {}


class LabelCommand(msgspec.Struct, frozen=True):
    """A label's value from a command's output."""

    cmd: str | Command


class ApplyOn(msgspec.Struct, frozen=True):
    """When a label is put on a conversation."""

    new: bool
    fork: bool


class Label(msgspec.Struct, frozen=True):
    """A label with rules."""

    value: str | LabelCommand
    apply_on: ApplyOn
    run: str


class Summary(msgspec.Struct, frozen=True):
    """A summary in place of what is compacted."""

    model: Model | None = None
    instructions: str | None = None


class CompactionRule(msgspec.Struct, frozen=True):
    """What a compaction hides, and how much it keeps at both ends (turns, a duration, or `last`)."""

    keep_first: str
    keep_last: str
    reasoning: str | None = None
    tool_calls: str | None = None
    summary: Summary | None = None


class Compaction(msgspec.Struct, frozen=True):
    """The rules of `jp conversation compact`."""

    rules: list[CompactionRule]


class Inquiry(msgspec.Struct, frozen=True):
    """How a tool's question is put to a model."""

    assistant: AssistantOverride | None = None


class Conversation(msgspec.Struct, frozen=True):
    """The conversation section as resolved from all sources."""

    title: Title
    tools: Tools
    compaction: Compaction
    attachments: list[str | Attachment]
    labels: dict[str, str | Label]
    start_local: bool
    default_id: str
    inquiry: Inquiry = Inquiry()


class Bound(Kind):
    """How much a compaction keeps: a number of turns, a duration, or `last`."""

    __slots__ = ()
    allowed = 'a number of turns, a duration such as "5h", or "last"'

    def read(self, value: object, lenient: bool = False) -> str:  # noqa: ARG002
        from jp.config.special import seconds

        turns = whole(value) if isinstance(value, str) else value
        if isinstance(turns, int) and not isinstance(turns, bool) and 0 <= turns <= LARGEST:
            return str(turns)
        length = seconds(value) if isinstance(value, str) and turns is None and not value.isdigit() else None
        if isinstance(value, str) and (value.lower() == "last" or (length is not None and length <= LARGEST)):
            return value.lower()
        raise Mismatch(value, self.allowed)


_TOOL_CALLS: dict[str | bool, str | bool] = {
    "s": "strip",
    "sres": "strip-responses",
    "sreq": "strip-requests",
    "o": "omit",
}
_TOOL_CALLS |= {"strip_responses": "strip-responses", "strip_requests": "strip-requests"}


def _compaction() -> Table:
    summary = Table(
        {
            "model": model("The model that summarises; unset is the conversation's own.", optional=True),
            "instructions": Text(MISSING, "What it is told."),
        },
        "Replace what is compacted by a summary.",
        optional=True,
    )
    rule = Table(
        {
            "keep_first": Bound("1", "What is kept at the start."),
            "keep_last": Bound("1", "What is kept at the end."),
            "reasoning": Choice(("strip",), MISSING, "Hide reasoning."),
            "tool_calls": Choice(
                ("strip", "strip-responses", "strip-requests", "omit"),
                MISSING,
                "Hide tool calls, or parts of them.",
                synonyms=_TOOL_CALLS,
            ),
            "summary": summary,
        }
    )
    default = [{"keep_first": "1", "keep_last": "1", "reasoning": "strip", "tool_calls": "strip"}]
    rules = Items(rule, default, "What `jp conversation compact` does.", wrapped=True, joining=FRESH)
    return Table({"rules": rules}, "Making long conversations shorter for the model; nothing is deleted.")


def _labels() -> Table:
    label = Table(
        {
            "value": OneOf(
                (Word(), Table({"cmd": command("The command whose output is the value.")}, required=("cmd",))),
                "",
                "The value, or a command.",
            ),
            "apply_on": Table({"new": Flag(True, "On new conversations."), "fork": Flag(False, "On forks.")}),
            "run": Choice(("ask", "unattended", "deny"), "ask", "Whether its command is approved first."),
        }
    )
    return StrategyTable({}, "Labels of new conversations.", rest=OneOf((Word(), label)))


def conversation() -> Table:
    """The keys of `conversation`."""
    attachment = Table(
        {
            "type": Word(MISSING, "file, cmd, http, …"),
            "path": Word(MISSING, "The file, the program, the address."),
            "params": Table({}, "Parameters of its type.", rest=Json(), optional=True),
        },
        required=("type", "path"),
    )
    title = {
        "generate": Table(
            {
                "auto": Flag(True, "Let a model write a title for a new conversation."),
                "model": model("The model that writes it; unset is the conversation's own.", optional=True),
            },
            "Titles by a model.",
        ),
        "from_heading": Flag(True, "Take the title from a heading at the start of the query."),
    }
    inquiry = {"assistant": override("The assistant that answers questions of tools.")}
    return Table(
        {
            "title": Table(title, "Where a title comes from."),
            "tools": tools(),
            "compaction": _compaction(),
            "attachments": Items(
                OneOf((Word(), attachment)), [], "What is attached to every request.", wrapped=True, commas=False
            ),
            "labels": _labels(),
            "inquiry": Table(inquiry, "How questions of tools are put to a model.", optional=True),
            "start_local": Flag(False, "Keep new conversations out of the workspace directory."),
            "default_id": ours(
                Word(
                    "ask",
                    "The conversation without an active one: "
                    '"ask", "last_activated", "last_created", "previous", or an id.',
                )
            ),
        },
        "What a conversation is like.",
    )
