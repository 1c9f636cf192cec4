"""The answer of an OpenAI-compatible chat completion, streamed or not; pure.

What servers do beyond the specification, all seen: no `[DONE]`; a usage-only event without choices; reasoning as
`reasoning`, `reasoning_content` or not at all; tool calls without an index, an id, or with an empty first piece;
an error object inside a stream that began with 200; one JSON object although a stream was asked for; HTML.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from jp.llm.errors import BadResponse, LlmError, StreamCut
from jp.llm.events import (
    Event,
    Finish,
    Keepalive,
    Message,
    Reasoning,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from jp.llm.lenient import loads
from jp.llm.sse import SseDecoder
from jp.llm.status import error_in_stream, not_json
from jp.llm.thinking import InlineThinking

MAX_COMMENT_BYTES = 1024 * 1024
MAX_CALLS = 1000
_FINISH = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class Delta(Struct):
    """The fields of a delta that some server is known to send."""

    content: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[_Call] | None = None
    refusal: str | None = None


class _Choice(Struct):
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    error: Any = None


class _Details(Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    object: Any = None
    message: Any = None
    code: Any = None
    type: Any = None

    @property
    def failure(self) -> Any:
        """The error object, in either of the two shapes; None where there is none."""
        if self.object == "error":
            return {"message": self.message, "code": self.code, "type": self.type}
        return self.error


_decode_chunk = msgspec.json.Decoder(_Chunk).decode


class ChatParser:
    """A `Parser` for one answer; see `jp.llm.provider.Parser`."""

    def __init__(self, address: str, *, inline_thinking: bool = False) -> None:
        self.address = address
        self._thinking = InlineThinking() if inline_thinking else None
        self.error: LlmError | None = None
        self.finished = False
        self.done = False
        self._sse = SseDecoder()
        self._whole: list[bytes] | None = None  # a body that is no stream
        self._sniffed = b""
        self._seen = False
        self._calls: dict[int, None] = {}

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete with `data`."""
        if self.error is not None or self.done:
            return []
        if not self._seen:
            self._sniffed += data
            start = self._sniffed.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not start:
                return []
            self._seen = True
            data, self._sniffed = self._sniffed, b""
            if start[:1] in b"{[<":
                self._whole = []
        if self._whole is not None:
            self._whole.append(data)
            return []
        out: list[Event] = []
        try:
            for name, text in self._sse.feed(data):
                self._one(name, text, out)
                if self._over():
                    return out
        except BadResponse as error:
            self.error = self._at(f"{self.address}: {error.message}")
        except RecursionError:
            self.error = self._at(f"{self.address} sent an event that is nested too deeply")
        if self._sse.comment_bytes > MAX_COMMENT_BYTES:
            self.error = self._at(f"{self.address} sends comments without end and no answer")
        if not out and self._sse.comments:
            self._sse.comments = 0
            out.append(Keepalive())
        return out

    def close(self) -> list[Event]:
        """The stream has ended."""
        if self.error is not None or self.done:
            return []
        out: list[Event] = []
        try:
            if self._whole is not None:
                self._whole_body(b"".join(self._whole), out)
                return out
            for name, text in self._sse.end():
                if self._complete_json(text):
                    self._one(name, text, out)
        except RecursionError:
            self.error = self._at(f"{self.address} sent an answer that is nested too deeply")
        self._end_text(out)
        if not self._over() and not self.finished:
            self.error = self.cut()
        return out

    def _end_text(self, out: list[Event]) -> None:
        if self._thinking is not None:
            out += self._thinking.end()

    def _over(self) -> bool:
        return self.done or self.error is not None

    def cut(self) -> StreamCut:
        """The error for a stream that ended too early."""
        return StreamCut(
            f"the answer was cut off: {self.address} ended the stream before the model was done",
            address=self.address,
        )

    def _one(self, name: str, text: str, out: list[Event]) -> None:
        if text == "[DONE]":
            if not self.finished:
                self._finish("stop", out)
            self.done = True
            return
        if not text.strip():
            return
        chunk = self._decode(text)
        if chunk is None:
            return
        if chunk.failure is not None or name == "error":
            self.error = error_in_stream(chunk.failure or loads(text), address=self.address)
            return
        for choice in chunk.choices or ():
            if choice.error is not None:
                self.error = error_in_stream(choice.error, address=self.address)
                return
            if choice.delta is not None:
                self.delta(choice.delta, out)
            if choice.finish_reason:
                self._finish(choice.finish_reason, out)
        if chunk.usage is not None:
            out.append(_usage(chunk.usage))

    def _decode(self, text: str) -> _Chunk | None:
        try:
            return _decode_chunk(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        # Once more with the standard decoder: it takes what strict JSON does not have (lone surrogates, NaN).
        value = loads(text)
        try:
            return msgspec.convert(value, _Chunk)
        except msgspec.ValidationError:
            pass
        self.error = self._at(f"{self.address} sent an event that makes no sense: {_shown(text)}")
        return None

    def delta(self, delta: Delta, out: list[Event]) -> None:
        """The events of one delta: reasoning first, then text, then tool calls."""
        reasoning = delta.reasoning_content or delta.reasoning
        if reasoning:
            out.append(Reasoning(_text(reasoning)))
        content = delta.content
        if content:
            out += [Message(_text(content))] if self._thinking is None else self._thinking.feed(_text(content))
        elif delta.refusal:
            out.append(Message(_text(delta.refusal)))
        for position, call in enumerate(delta.tool_calls or ()):
            self._call(call, position, out)

    def _call(self, call: _Call, position: int, out: list[Event]) -> None:
        function = call.function or _Function()
        index = call.index
        if index is None:  # some servers count by order alone: a new id or name is a new call
            new = bool(call.id or function.name) or not self._calls
            last = next(reversed(self._calls), position - 1)
            index = last + 1 if new else last
        if index not in self._calls:
            if len(self._calls) >= MAX_CALLS:
                self.error = self._at(f"{self.address} asks for more than {MAX_CALLS} tools at once")
                return
            self._calls[index] = None
            name = function.name or ""
            out.append(ToolCallStart(index, call.id or f"call_{new_id()}", name))
        arguments = function.arguments
        if arguments:
            text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
            out.append(ToolCallArguments(index, text))

    def _finish(self, reason: str, out: list[Event]) -> None:
        if self.finished:
            return
        if reason == "error":
            self.error = error_in_stream({"message": "the model failed"}, address=self.address)
            return
        self._end_text(out)
        whole = sorted(self._calls)
        if _FINISH.get(reason) == "length" and whole:
            whole.pop()  # it is the one that was being written
        out += [ToolCallEnd(index) for index in whole]
        self._calls = {}
        self.finished = True
        out.append(Finish(_FINISH.get(reason, "other")))

    def _whole_body(self, body: bytes, out: list[Event]) -> None:
        try:
            chunk = _decode_chunk(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            truncated = "truncated" in str(error) and body.lstrip()[:1] == b"{"
            self.error = self.cut() if truncated else not_json(body, address=self.address)
            return
        if chunk.failure is not None:
            self.error = error_in_stream(chunk.failure, address=self.address)
            return
        for choice in (chunk.choices or ())[:1]:
            if choice.message is not None:
                self.delta(choice.message, out)
                self._finish(choice.finish_reason or "stop", out)
        if chunk.usage is not None:
            out.append(_usage(chunk.usage))
        if self.finished:
            self.done = True
        elif self.error is None:
            self.error = not_json(body, address=self.address)

    def _complete_json(self, text: str) -> bool:
        return text == "[DONE]" or loads(text) is not None

    def _at(self, message: str) -> BadResponse:
        return BadResponse(message, address=self.address, hints=["Try again; if it stays, check `base_url`."])


def _usage(usage: _Usage) -> Usage:
    prompt = usage.prompt_tokens_details or _Details()
    completion = usage.completion_tokens_details or _Details()
    return Usage(
        input=usage.prompt_tokens or 0,
        output=usage.completion_tokens or 0,
        reasoning=completion.reasoning_tokens or 0,
        cached=prompt.cached_tokens or 0,
    )


def _text(value: Any) -> str:
    """Text that may come as a string or as a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text") or "") for part in value if isinstance(part, dict))
    return ""


def _shown(text: str, limit: int = 80) -> str:
    return repr(text[:limit]) + ("…" if len(text) > limit else "")


def new_id() -> str:
    """An id for a tool call that came without one."""
    import os

    return os.urandom(9).hex()
