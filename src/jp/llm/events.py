"""What a model says, piece by piece, whichever provider it is.

A parser turns bytes into these, `jp.llm.collect` turns these into the events that are stored, and a screen shows them
as they come. The order is the order of arrival.
"""

from typing import Any

from msgspec import Struct


class Reasoning(Struct, frozen=True, gc=False, tag=True):
    """A piece of reasoning; `metadata` is the provider's, kept with the block and sent back."""

    text: str
    metadata: dict[str, Any] | None = None


class Message(Struct, frozen=True, gc=False, tag=True):
    """A piece of the answer (of its JSON, when a schema was asked for)."""

    text: str


class ToolCallStart(Struct, frozen=True, gc=False, tag=True):
    """A tool call begins; `index` tells the calls of one answer apart."""

    index: int
    id: str
    name: str


class ToolCallArguments(Struct, frozen=True, gc=False, tag=True):
    """A piece of a tool call's arguments, JSON text."""

    index: int
    text: str


class ToolCallEnd(Struct, frozen=True, gc=False, tag=True):
    """A tool call is complete."""

    index: int


class Metadata(Struct, frozen=True, tag=True):
    """Opaque provider data that belongs to the block before it."""

    data: dict[str, Any]


class Usage(Struct, frozen=True, gc=False, tag=True):
    """Tokens, as the provider counts them; `cached` is part of `input`, `reasoning` part of `output`."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0


class Finish(Struct, frozen=True, gc=False, tag=True):
    """The model is done; `reason` is one of stop, length, tool_calls, content_filter, other."""

    reason: str


class Keepalive(Struct, frozen=True, gc=False, tag=True):
    """The provider is alive and has nothing to say yet."""


Event = Reasoning | Message | ToolCallStart | ToolCallArguments | ToolCallEnd | Metadata | Usage | Finish | Keepalive


def joined(events: list[Event]) -> list[Event]:
    """The same events with neighbouring pieces of one text made one."""
    out: list[Event] = []
    run: list[str] = []
    for event in events:
        if isinstance(event, Keepalive):
            continue
        if out and _continues(out[-1], event):
            if not run:
                run.append(out[-1].text)  # type: ignore[union-attr]
            run.append(event.text)  # type: ignore[union-attr]
            continue
        if run:
            out[-1] = _with_text(out[-1], "".join(run))
            run = []
        out.append(event)
    if run:
        out[-1] = _with_text(out[-1], "".join(run))
    return out


def _continues(last: Event, event: Event) -> bool:
    if type(last) is not type(event):
        return False
    if isinstance(event, Message):
        return True
    if isinstance(event, Reasoning) and isinstance(last, Reasoning):
        return event.metadata is None and last.metadata is None
    if isinstance(event, ToolCallArguments) and isinstance(last, ToolCallArguments):
        return event.index == last.index
    return False


def _with_text(event: Event, text: str) -> Event:
    if isinstance(event, Message):
        return Message(text)
    if isinstance(event, Reasoning):
        return Reasoning(text)
    assert isinstance(event, ToolCallArguments)
    return ToolCallArguments(event.index, text)
