"""Ollama, by its own wire: `/api/chat`, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from jp.conversation.thread import Reasoning as PastReasoning
from jp.conversation.thread import Text, ToolCall, ToolResult
from jp.llm.chat import ChatProvider, paragraphs
from jp.llm.errors import BadResponse, LlmError, StreamCut
from jp.llm.events import Event, Finish, Message, Reasoning, ToolCallArguments, ToolCallEnd, ToolCallStart, Usage
from jp.llm.lenient import loads
from jp.llm.ndjson import LineDecoder
from jp.llm.provider import ModelDetails, Parser, Request, Tool, effort_of
from jp.llm.status import error_in_stream, not_json

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters
    from jp.conversation import thread as threads
    from jp.conversation.thread import Thread

JSON = dict[str, Any]
FIRST_CALL = 2  # ids of stored calls count from here: 0 was the reasoning, 1 the message


class Ollama(ChatProvider):
    """https://github.com/ollama/ollama/blob/main/docs/api.md"""

    name = "ollama"
    chat_path = "/api/chat"
    models_path = "/api/tags"
    patience = 10.0  # it loads the model first

    def request(
        self,
        thread: Thread,
        model: str,
        parameters: Parameters,
        tools: Sequence[Tool] = (),
        tool_choice: str = "auto",
    ) -> Request:
        """See `jp.llm.provider.Provider.request`."""
        effort = effort_of(parameters)
        other = dict(parameters.other)
        options = {
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            "top_k": parameters.top_k,
            "num_predict": parameters.max_tokens,
            "stop": parameters.stop_words or None,
            "num_ctx": other.pop("context_window", None),
        }
        rest: JSON = {"stream": True, "options": {k: v for k, v in options.items() if v is not None}}
        rest["think"] = effort.level if effort.wanted and "gpt-oss" in model else effort.wanted
        if tools and tool_choice != "none":
            rest["tools"] = [self.tool(tool) for tool in tools]
        if thread.schema is not None:
            rest["format"] = thread.schema
        rest |= other

        def messages() -> Iterator[JSON]:
            yield from self.messages(thread, model)
            if tools and tool_choice not in ("auto", "none"):
                yield {"role": "system", "content": _insistence(tool_choice)}

        return self.post("application/x-ndjson", model, messages, rest)

    def message(self, message: threads.Message, *, recent: bool) -> Iterable[JSON]:  # noqa: ARG002
        """Tool results come without ids, matched by order; arguments are objects."""
        if message.role != "assistant":
            texts = [part for part in message.parts if isinstance(part, Text)]
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            return [
                *({"role": "tool", "content": paragraphs([part.content])} for part in results),
                *({"role": message.role, "content": paragraphs([part.text])} for part in texts),
            ]
        out: JSON = {"role": "assistant", "content": paragraphs([p.text for p in message.parts if isinstance(p, Text)])}
        thinking = paragraphs([p.text for p in message.parts if isinstance(p, PastReasoning) and p.text])
        if thinking:
            out["thinking"] = thinking
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if calls:
            out["tool_calls"] = [{"function": {"name": c.name, "arguments": c.arguments}} for c in calls]
        return [out]

    def parser(self) -> Parser:
        """A parser of JSON lines."""
        return OllamaParser(self.address)

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """What is installed, in the server's order."""
        return [self._details(one) for one in self.listed(answers[0], "models", "name")]

    def _details(self, one: JSON) -> ModelDetails:
        able = one.get("capabilities") or []
        return ModelDetails(
            self.name,
            one["name"],
            display_name=one["name"],
            context_window=(one.get("details") or {}).get("context_length"),
            reasoning="unsupported" if able and "thinking" not in able else None,
        )


def _insistence(choice: str) -> str:
    which = "at least one of the tools" if choice == "required" else f"the tool `{choice}`"
    return f"You must call {which} now. Do not ask back."


class _Function(Struct):
    name: str = ""
    arguments: Any = None


class _Call(Struct):
    function: _Function


class _Said(Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(Struct):
    message: _Said | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None


_decode_line = msgspec.json.Decoder(_Line).decode


class OllamaParser:
    """A `Parser` for one answer; `done: true` is the provider's terminal event."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.error: LlmError | None = None
        self.finished = False
        self.done = False
        self._lines = LineDecoder()
        self._calls = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete with `data`."""
        out: list[Event] = []
        if self.error is not None or self.done:
            return out
        try:
            for line in self._lines.feed(data):
                self._line(line, out)
                if self._over():
                    break
        except BadResponse as error:
            self.error = BadResponse(f"{self.address}: {error.message}", address=self.address)
        except RecursionError:
            self.error = BadResponse(f"{self.address} sent a line that is nested too deeply", address=self.address)
        return out

    def close(self) -> list[Event]:
        """The stream has ended."""
        out: list[Event] = []
        if self.error is not None or self.done:
            return out
        for line in self._lines.end():
            if loads(line.decode("utf-8", "replace")) is not None or line.lstrip()[:1] == b"<":
                self._line(line, out)
        if not self._over():
            self.error = StreamCut(
                f"the answer was cut off: {self.address} ended the stream before the model was done",
                address=self.address,
            )
        return out

    def _over(self) -> bool:
        return self.done or self.error is not None

    def _line(self, line: bytes, out: list[Event]) -> None:
        try:
            said = _decode_line(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            try:
                said = msgspec.convert(loads(line.decode("utf-8", "replace")), _Line)
            except msgspec.ValidationError:
                self.error = not_json(line, address=self.address)
                return
        if said.error is not None:
            self.error = error_in_stream(said.error, address=self.address)
            return
        if said.message is not None:
            self._message(said.message, out)
        if said.done:
            out.append(Usage(input=said.prompt_eval_count or 0, output=said.eval_count or 0))
            reason = (
                "tool_calls"
                if self._calls
                else {"stop": "stop", "length": "length"}.get(said.done_reason or "stop", "other")
            )
            out.append(Finish(reason))
            self.finished = self.done = True

    def _message(self, message: _Said, out: list[Event]) -> None:
        if message.thinking:
            out.append(Reasoning(message.thinking))
        if message.content:
            out.append(Message(message.content))
        for call in message.tool_calls or ():
            index = self._calls
            self._calls += 1
            name = call.function.name
            arguments = call.function.arguments
            text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments or {}).decode()
            out += [
                ToolCallStart(index, f"{name}_{index + FIRST_CALL}", name),
                ToolCallArguments(index, text),
                ToolCallEnd(index),
            ]
