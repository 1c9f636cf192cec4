"""The thread: what a provider is sent of a conversation, in nobody's wire format (contracts, section 1).

Providers refuse a history in which a tool call has no result, a result has no call, or the two are apart; interrupted
and old conversations are full of those. Here every call gets exactly one result, directly after the message that made
it. Calls that were made together stay together, and calls that were made one after the other stay apart: joining them
later would rewrite a history that the provider has cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from jp.conversation import compaction, events, prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jp.config.schema import AppConfig
    from jp.conversation.attachments import Attachment
    from jp.conversation.stream import Stream

JSON = dict[str, Any]
LOST = "The call was interrupted and its result is lost. It may have run, in part or as a whole."


class Text(msgspec.Struct):
    """What was said; `metadata` is the provider's own and goes back to it."""

    text: str
    metadata: JSON | None = None


class Reasoning(msgspec.Struct):
    """What the model thought; the metadata holds signatures without which a provider refuses it."""

    text: str
    metadata: JSON | None = None


class ToolCall(msgspec.Struct):
    """A tool that the model called."""

    id: str
    name: str
    arguments: JSON
    metadata: JSON | None = None


class ToolResult(msgspec.Struct):
    """What came of a call; `name` is the tool's."""

    id: str
    content: str
    is_error: bool = False
    name: str = ""


Part = Text | Reasoning | ToolCall | ToolResult


class Message(msgspec.Struct):
    """What one side said: the user, the assistant, or the tools it called."""

    role: Literal["user", "assistant", "tool"]
    parts: list[Part]


class Thread(msgspec.Struct):
    """One request's worth of conversation.

    `attachments` are in the first message of the user already, as text; they are here for providers that have a better
    place for them. `schema` is what the last request wants its answer to match.
    """

    system: list[str]
    messages: list[Message]
    attachments: list[Attachment] = []
    schema: JSON | None = None


def build(config: AppConfig, stream: Stream, attachments: Sequence[Attachment] = ()) -> Thread:
    """The thread for the next request of a conversation."""
    assembly = _Assembly()
    for event in compaction.visible(stream):
        assembly.add(event)
    messages = assembly.finish()
    if attachments:
        _attach(messages, attachments)
    return Thread(
        system=prompt.system_parts(config.assistant),
        messages=messages,
        attachments=list(attachments),
        schema=_schema(stream),
    )


def _schema(stream: Stream) -> JSON | None:
    for i in reversed(range(len(stream))):
        if stream.type(i) == "chat_request":
            event = stream.event(i)
            wanted = event.schema if isinstance(event, events.ChatRequest) else None
            return wanted if isinstance(wanted, dict) else None
    return None


def _attach(messages: list[Message], attachments: Iterable[Attachment]) -> None:
    part = Text(prompt.documents(attachments))
    for message in messages:
        if message.role == "user":
            # Always in the same place, so that the beginning of the thread stays what the provider has cached.
            message.parts.insert(0, part)
            return
    messages.insert(0, Message("user", [part]))


class _Assembly:
    """Events in, messages out."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._parts: list[Part] = []  # of the assistant's message that is being put together
        self._calls: list[ToolCall] = []
        self._results: dict[int, ToolResult] = {}  # by position in _calls: an id may come again later

    def add(self, event: events.Event) -> None:
        match event:
            case events.ChatRequest():
                self._flush()
                self._user(Text(event.content, _metadata(event)))
            case events.ChatResponse():
                if self._results:
                    self._flush()
                self._parts.append(_response(event))
            case events.ToolCallRequest():
                if self._calls and len(self._results) == len(self._calls):
                    self._flush()
                call = ToolCall(event.id, event.name, event.arguments, _metadata(event))
                self._calls.append(call)
                self._parts.append(call)
            case events.ToolCallResponse():
                self._answer(event)
            case events.TurnStart():
                self._flush()

    def _user(self, part: Text) -> None:
        if self._messages and self._messages[-1].role == "user":
            self._messages[-1].parts.append(part)
        else:
            self._messages.append(Message("user", [part]))

    def _answer(self, event: events.ToolCallResponse) -> None:
        for i, call in enumerate(self._calls):
            if call.id == event.id and i not in self._results:
                self._results[i] = ToolResult(event.id, event.content, event.is_error, call.name)
                return
        # A result whose call is not there (hidden, or lost) would be refused.

    def _flush(self) -> None:
        if self._parts and self._messages and self._messages[-1].role == "assistant":
            self._messages[-1].parts.extend(self._parts)
        elif self._parts:
            self._messages.append(Message("assistant", self._parts))
        if self._calls:
            results: list[Part] = [self._results.get(i) or self._lost(call) for i, call in enumerate(self._calls)]
            self._messages.append(Message("tool", results))
        self._parts, self._calls, self._results = [], [], {}

    @staticmethod
    def _lost(call: ToolCall) -> ToolResult:
        """Of a call that nobody has cancelled: the process was killed, or the disk took no more."""
        return ToolResult(call.id, LOST, True, call.name)

    def finish(self) -> list[Message]:
        self._flush()
        return self._messages


def _metadata(event: events.Event) -> JSON | None:
    return event.metadata if isinstance(event.metadata, dict) else None


def _response(event: events.ChatResponse) -> Part:
    if isinstance(event.reasoning, str):
        return Reasoning(event.reasoning, _metadata(event))
    if isinstance(event.message, str):
        return Text(event.message, _metadata(event))
    return Text(msgspec.json.encode(event.data).decode(), _metadata(event))
