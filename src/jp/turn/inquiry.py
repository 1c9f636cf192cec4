"""A tool's question that a model answers, by structured output (contracts, section 9)."""

from typing import Any

import msgspec

from jp.llm.collect import Collector
from jp.llm.source import Batch, Done, Source
from jp.tool.outcome import Question
from jp.turn.call_events import Inquire, Inquired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.conversation.thread import Thread
    from jp.turn.loop import Model

_LONGEST = 20_000  # characters of the arguments that are quoted


def schema(question: Question) -> dict[str, Any]:
    """What an answer to `question` looks like."""
    answer: dict[str, Any] = {"description": question.text}
    if question.kind == "boolean":
        answer["type"] = "boolean"
    elif question.kind == "select":
        answer["enum"] = list(question.options)
    else:
        answer["type"] = "string"
    return {
        "type": "object",
        "required": ["answer"],
        "additionalProperties": False,
        "properties": {"answer": answer},
    }


def thread_for(thread: "Thread", wanted: Inquire) -> "Thread":
    """The conversation so far, as what the question is about, with the question behind it."""
    from jp.conversation.thread import Message, Text, Thread

    question = wanted.question
    arguments = msgspec.json.encode(wanted.arguments).decode()[:_LONGEST]
    parts = [
        f"You have called the tool {wanted.tool.name} with these arguments:\n{arguments}",
        f"It has a question before it goes on. Answer it, and nothing else.\n\n{question.pre_amble}".rstrip(),
        question.text,
    ]
    if question.kind == "select":
        parts.append("One of: " + ", ".join(msgspec.json.encode(one).decode() for one in question.options))
    # What was said: calls that have no results yet would be taken for cancelled ones.
    said = [
        Message(message.role, [*texts])
        for message in thread.messages
        if (texts := [part for part in message.parts if isinstance(part, Text)])
    ]
    return Thread(
        system=thread.system,
        messages=[*said, Message("user", [Text("\n\n".join(parts))])],
        schema=schema(question),
    )


def answer_in(data: Any, question: Question) -> Any:
    """The answer in what a model has said; raises ValueError when there is none of the kind that is wanted."""
    answer = data.get("answer", data) if isinstance(data, dict) else data
    if question.kind == "boolean" and not isinstance(answer, bool):
        raise ValueError(f"the model answered {answer!r}, which is neither true nor false")
    if question.kind == "select":
        for option in question.options:
            if option == answer and isinstance(option, bool) == isinstance(answer, bool):  # true is equal to 1
                return option
        raise ValueError(f"the model answered {answer!r}, which is none of the options")
    if question.kind == "text" and not isinstance(answer, str):
        raise ValueError(f"the model answered {answer!r}, which is no text")
    return answer


class Inquiry:
    """One question put to a model; posts one `Inquired`."""

    def __init__(self, model: "Model", thread: "Thread", wanted: Inquire, post: "Callable[[object], object]") -> None:
        self._wanted = wanted
        self._post = post
        self._data: Any = None
        self._collector = Collector(structured=True)
        self._source: Source = model.source(thread_for(thread, wanted), self._take, 0)

    def start(self) -> None:
        """Ask; returns at once."""
        self._source.start()

    def cancel(self, *, now: bool = False) -> None:  # noqa: ARG002
        """Abandon it."""
        self._source.stop()

    def over(self, timeout: float) -> bool:  # noqa: ARG002
        """Nothing of it has an effect once it is abandoned."""
        return True

    def _take(self, event: object) -> None:  # on the source's thread
        if isinstance(event, Batch):
            for delta in event.take():
                self._read(self._collector.feed(delta))
        elif isinstance(event, Done):
            self._read(self._collector.close())
            self._post(self._ended(event))

    def _read(self, events: "list[Any]") -> None:
        for event in events:
            data = getattr(event, "data", msgspec.UNSET)
            if data is not msgspec.UNSET:
                self._data = data

    def _ended(self, event: Done) -> Inquired:
        call, run = self._wanted.call, self._wanted.run
        if event.error is not None:
            return Inquired(call, run, error=event.error.message)
        try:
            return Inquired(call, run, answer=answer_in(self._data, self._wanted.question))
        except ValueError as error:
            return Inquired(call, run, error=str(error))
