"""From deltas to the events that are stored: pure.

A block (reasoning, message, one tool call) is complete when another kind of block begins, or at the end. The order is
that of arrival, with one exception that the store's readers rely on: tool calls come after the text of their answer.

With a schema, the message is stored as `data`: the decoded JSON or, where a provider answered without JSON, its text.
Timestamps are left empty: whoever appends the event to the store knows the time.
"""

from __future__ import annotations

from typing import Any

import msgspec

from jp.conversation.events import ChatResponse, ToolCallRequest
from jp.llm.events import (
    Event,
    Finish,
    Message,
    Metadata,
    Reasoning,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from jp.llm.lenient import loads

Stored = ChatResponse | ToolCallRequest
MAX_DEPTH = 100


class Collector:
    """Feed events, get the completed ones.

    `structured` says that a schema was asked for. `message` and `reasoning` are what has come of the block that is
    not complete yet.
    """

    def __init__(self, *, structured: bool = False) -> None:
        self._structured = structured
        self._reasoning: list[str] | None = None
        self._message: list[str] | None = None
        self._metadata: dict[str, Any] = {}
        self._late: dict[str, Any] = {}
        self._calls: dict[int, _Call] = {}

    def __repr__(self) -> str:
        return f"<Collector reasoning={len(self.reasoning)} message={len(self.message)} calls={list(self._calls)}>"

    @property
    def reasoning(self) -> str:
        """The reasoning that is not complete yet."""
        return "".join(self._reasoning or ())

    @property
    def message(self) -> str:
        """The message that is not complete yet."""
        return "".join(self._message or ())

    def feed(self, event: Event) -> list[Stored]:
        """The events that `event` completes."""
        match event:
            case Reasoning("", metadata) if self._reasoning is None and self._message is not None:
                _merge(self._late, metadata or {})  # a signature that comes after the answer has begun
                return []
            case Reasoning(text, metadata):
                done = self._end_message() if self._reasoning is None else []
                self._reasoning = self._reasoning or []
                self._reasoning.append(text)
                _merge(self._metadata, metadata or {})
                return done
            case Message(text):
                if not text:
                    return []
                done = self._end_reasoning()
                self._message = self._message or []
                self._message.append(text)
                return done
            case Metadata(data):
                _merge(self._metadata, data)
                return []
            case ToolCallStart(index, id_, name):
                done = self._end_text()
                self._calls[index] = _Call(id_, name)
                return done
            case ToolCallArguments(index, text):
                if (call := self._calls.get(index)) is not None:
                    call.arguments.append(text)
                return []
            case ToolCallEnd(index):
                call = self._calls.pop(index, None)
                return [] if call is None else [call.event()]
            case Finish():
                return self.close()
            case _:
                return []

    def close(self, *, cut: bool = False) -> list[Stored]:
        """Nothing more comes: the blocks that are open, as far as they came.

        Text that was cut off is kept; a tool call that was cut off is not (its arguments can't be trusted), and where
        the answer is known to be `cut`, neither is one that has no arguments yet.
        """
        done = self._end_text()
        for index in sorted(self._calls):
            call = self._calls[index]
            if call.complete and (call.arguments or not cut):
                done.append(call.event())
        self._calls.clear()
        return done

    def _end_text(self) -> list[Stored]:
        return [*self._end_reasoning(), *self._end_message()]

    def _end_reasoning(self) -> list[Stored]:
        if self._reasoning is None:
            return []
        text = "".join(self._reasoning)
        self._reasoning = None
        if not text and not self._metadata:
            return []
        event = ChatResponse(reasoning=text)
        self._attach(event)
        return [event]

    def _end_message(self) -> list[Stored]:
        if self._message is None:
            return []
        text = "".join(self._message)
        self._message = None
        event = ChatResponse(data=structured_value(text)) if self._structured else ChatResponse(message=text)
        self._attach(event)
        if not self._late:
            return [event]
        signature = ChatResponse(reasoning="", metadata=self._late)
        self._late = {}
        return [event, signature]

    def _attach(self, event: Stored) -> None:
        if self._metadata:
            event.metadata = self._metadata
            self._metadata = {}


def _merge(metadata: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        known = metadata.get(key)
        metadata[key] = [*known, *value] if isinstance(known, list) and isinstance(value, list) else value


class _Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self, id_: str, name: str) -> None:
        self.id = id_
        self.name = name
        self.arguments: list[str] = []

    @property
    def complete(self) -> bool:
        return isinstance(_decoded("".join(self.arguments) or "{}"), dict)

    def event(self) -> ToolCallRequest:
        return ToolCallRequest(id=self.id, name=self.name, arguments=decoded_arguments("".join(self.arguments)))


def decoded_arguments(text: str) -> dict[str, Any]:
    """The arguments of a tool call. Text that is no JSON object is kept under the name `input`, never dropped."""
    value = _decoded(text) if text.strip() else {}
    if isinstance(value, str) and isinstance(inner := _decoded(value), dict):
        return inner  # some models encode twice
    return value if isinstance(value, dict) else {"input": text}


def structured_value(text: str) -> Any:
    """The value of a structured answer: its JSON, out of a code fence if need be, else the text."""
    value = _decoded(text)
    if value is not None or text.strip() == "null":
        return value
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and "\n" in body:
        inner = _decoded(body[body.index("\n") + 1 : -3])
        if inner is not None:
            return inner
    return text


def _decoded(text: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        value = loads(text)
    return None if _too_deep(value) else value


def _too_deep(value: Any) -> bool:
    """Whether a value is nested so deeply that those who walk it would run out of stack."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True
