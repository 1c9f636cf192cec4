"""The events of a conversation as a person reads them: turns, and in each what was asked, said and done.

What the plugin protocol gives is the work of models and of other versions: a field may be missing or of another type,
an answer may stand without its question. Nothing in here raises for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

JSON = dict[str, Any]

UNKNOWN = "(unknown)"  # of a tool whose call is not there
REDACTED = "(redacted)"


@dataclass(slots=True)
class Part:
    """What one event says; `index` is that event's, `touched` that of the last event that added to it."""

    index: int
    touched: int


@dataclass(slots=True)
class Request(Part):
    """What the user said."""

    text: str
    author: str = ""
    at: str = ""


@dataclass(slots=True)
class Reply(Part):
    """What the model said, in markdown."""

    text: str


@dataclass(slots=True)
class Data(Part):
    """A structured answer, as JSON."""

    text: str


@dataclass(slots=True)
class Reasoning(Part):
    """What the model thought, in markdown."""

    text: str


@dataclass(slots=True)
class Question(Part):
    """What a tool or the model asked while a tool ran; `answer` is empty where nobody answered."""

    who: str
    text: str
    answer: str = ""
    secret: bool = False


@dataclass(slots=True)
class Call(Part):
    """A tool call; `result` is None until there is one."""

    name: str
    arguments: Any = None
    result: str | None = None
    failed: bool = False
    questions: list[Question] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One exchange; `number` counts from 1 (0: what stands before the first), `at` is when it began."""

    number: int
    at: str
    parts: list[Part] = field(default_factory=list)


def turns(events: Iterable[JSON]) -> list[Turn]:
    """The turns that `events` make: from one `turn_start` to the next, or where there is none from each request."""
    events = list(events)
    reader = _Reader("turn_start" if any(e.get("type") == "turn_start" for e in events) else "chat_request")
    for index, event in enumerate(events):
        reader.take(index, event)
    return [turn for turn in reader.turns if turn.parts or turn is reader.turns[-1]]


def text_of(value: Any) -> str:
    """A value as text: a string as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply)"


class _Reader:
    def __init__(self, marker: str) -> None:
        self.turns: list[Turn] = []
        self._begun = 0
        self._marker = marker
        self._calls: dict[str, Call] = {}
        self._questions: dict[str, Question] = {}
        self._owners: dict[str, Call] = {}

    def take(self, index: int, event: JSON) -> None:
        kind = event.get("type")
        at = str(event.get("timestamp") or "")
        if kind == self._marker:
            self._begun += 1
            self.turns.append(Turn(self._begun, at))
        take = _TAKE.get(kind) if isinstance(kind, str) else None
        if take is not None:
            take(self, index, event)

    def add(self, part: Part, event: JSON) -> None:
        if not self.turns:
            self.turns.append(Turn(0, str(event.get("timestamp") or "")))
        self.turns[-1].parts.append(part)

    def request(self, index: int, event: JSON) -> None:
        author = event.get("author")
        text, at = text_of(event.get("content") or ""), str(event.get("timestamp") or "")
        self.add(Request(index, index, text, author if isinstance(author, str) else "", at), event)

    def response(self, index: int, event: JSON) -> None:
        if isinstance(event.get("message"), str):
            self.add(Reply(index, index, event["message"]), event)
        elif isinstance(event.get("reasoning"), str):
            self.add(Reasoning(index, index, event["reasoning"]), event)
        elif "data" in event:
            data = event["data"]
            self.add(Data(index, index, json.dumps(data) if isinstance(data, str) else text_of(data)), event)

    def call(self, index: int, event: JSON) -> None:
        call = Call(index, index, text_of(event.get("name") or UNKNOWN), event.get("arguments") or None)
        self._calls[str(event.get("id"))] = call
        self.add(call, event)

    def result(self, index: int, event: JSON) -> None:
        call = self._calls.pop(str(event.get("id")), None)
        if call is None:
            call = Call(index, index, UNKNOWN)
            self.add(call, event)
        call.result = text_of(event.get("content") or "")
        call.failed = event.get("is_error") is True
        call.touched = index

    def question(self, index: int, event: JSON) -> None:
        asked, source = event.get("question"), event.get("source")
        asked = asked if isinstance(asked, dict) else {"text": asked}
        source = source if isinstance(source, dict) else {"source": source}
        kind = asked.get("answer_type")
        kind = kind.get("type") if isinstance(kind, dict) else kind
        who = text_of(source.get("name") or source.get("source") or "other")
        key = str(event.get("id"))
        question = Question(index, index, who, text_of(asked.get("text") or ""), secret=str(kind).lower() == "secret")
        self._questions[key] = question
        owner = self._calls.get(key.rpartition(".")[0])
        if owner is None:
            self.add(question, event)
            return
        owner.questions.append(question)
        owner.touched = index
        self._owners[key] = owner

    def answer(self, index: int, event: JSON) -> None:
        key = str(event.get("id"))
        question = self._questions.pop(key, None)
        if question is None:
            return
        question.answer = REDACTED if question.secret else _in_words(event.get("answer"))
        question.touched = index
        if key in self._owners:
            self._owners[key].touched = max(index, self._owners[key].touched)


def _in_words(answer: Any) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return text_of(answer)


_TAKE: dict[str, Callable[[_Reader, int, JSON], None]] = {
    "chat_request": _Reader.request,
    "chat_response": _Reader.response,
    "tool_call_request": _Reader.call,
    "tool_call_response": _Reader.result,
    "inquiry_request": _Reader.question,
    "inquiry_response": _Reader.answer,
}
