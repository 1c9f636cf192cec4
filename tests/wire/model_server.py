"""A model that says what a test tells it to, behind an OpenAI-compatible (and an Ollama) HTTP interface.

    with ModelServer(text("Hello")) as server:
        run(..., JP_PROVIDERS_LLM_LLAMACPP_BASE_URL=server.base_url)
    assert server.requests[0].json["messages"][-1]["content"] == "hi"

Each reply answers one request, in order; the last is used for all that follow. `python -m tests.wire.model_server`
runs one in a process of its own and prints its port as the first line:

    python -m tests.wire.model_server --script echo
    python -m tests.wire.model_server --script '{"kind": "status", "code": 429}' --script '{"kind": "text"}'

`--log FILE` appends one JSON line a request: {"at_ns", "accepted_ns", "method", "path", "headers", "body"}, times by
the monotonic clock, which is one clock for all processes of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.wire.raw_server import Connection, Recorded, ThreadedServer, head

Reply = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request and the means to answer it."""

    connection: Connection
    request: Recorded
    sent: int = 0
    limit: int | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def ollama(self) -> bool:
        return self.request.path.startswith("/api/")

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.request.body or b"{}")

    @property
    def last_user_text(self) -> str:
        """The text of the last user message."""
        for message in reversed(self.json.get("messages", [])):
            if message["role"] == "user":
                content = message["content"]
                return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        return ""

    def start(self) -> None:
        """Send the head of a streamed answer."""
        kind = "application/x-ndjson" if self.ollama else "text/event-stream"
        self.connection.send(head(content_type=kind, transfer_encoding="chunked", **self.headers))

    def write(self, data: bytes) -> None:
        """Send body bytes, each call a chunk; with a limit, cut the connection when it is reached."""
        if self.limit is not None and self.sent + len(data) > self.limit:
            data = data[: self.limit - self.sent]
            if data:
                self.connection.send(b"%x\r\n%s" % (len(data) + 1, data))  # the chunk is never completed
            raise ConnectionAbortedError
        self.sent += len(data)
        self.connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def delta(self, delta: Mapping[str, Any], finish: str | None = None) -> None:
        """Send one event of the wire that the request asked for."""
        if self.ollama:
            self.write(json.dumps(self._ollama(delta, finish)).encode() + b"\n")
            return
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test", "choices": [choice]}
        self.write(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n")

    @staticmethod
    def _ollama(delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": delta.get("content") or ""}
        if delta.get("reasoning_content"):
            message["thinking"] = delta["reasoning_content"]
        if delta.get("tool_calls"):
            message["tool_calls"] = [
                {"function": {"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}}
                for c in delta["tool_calls"]
            ]
        done = {"done_reason": finish, "prompt_eval_count": 3, "eval_count": 5} if finish else {}
        return {"model": "test", "message": message, "done": finish is not None} | done

    def finish(self, reason: str = "stop") -> None:
        """Send the finish reason, the usage and the end."""
        self.delta({}, reason)
        if not self.ollama:
            usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
            self.write(b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n")
            self.write(b"data: [DONE]\n\n")
        self.connection.send(b"0\r\n\r\n")


def pieces(text: str, chunk: int) -> Iterator[str]:
    """The text in pieces of `chunk` characters; 0 is the whole."""
    step = chunk or max(len(text), 1)
    for start in range(0, len(text), step):
        yield text[start : start + step]


def _say(exchange: Exchange, parts: Iterable[tuple[str, str]], delay: float) -> None:
    for key, part in parts:
        if delay:
            exchange.connection.pause(delay)
        exchange.delta({key: part})


def text(
    text: str = "Hello from the test model.",
    *,
    reasoning: str = "",
    chunk: int = 4,
    delay_ms: float = 0,
    finish: str = "stop",
    cut: int | None = None,
) -> Reply:
    """An answer in pieces of `chunk` characters, `delay_ms` apart, cut off after `cut` bytes of body."""

    def reply(exchange: Exchange) -> None:
        exchange.limit = cut
        exchange.start()
        thoughts = [("reasoning_content", piece) for piece in pieces(reasoning, chunk)]
        _say(exchange, [*thoughts, *(("content", piece) for piece in pieces(text, chunk))], delay_ms / 1000)
        exchange.finish(finish)

    return reply


def echo(*, chunk: int = 4, delay_ms: float = 0) -> Reply:
    """Answer with the text of the last user message."""

    def reply(exchange: Exchange) -> None:
        text(exchange.last_user_text, chunk=chunk, delay_ms=delay_ms)(exchange)

    return reply


def tool_call(
    name: str = "run_me",
    arguments: Mapping[str, Any] | str | None = None,
    *,
    call_id: str = "call_1",
    message: str = "",
    chunk: int = 3,
) -> Reply:
    """Ask for one tool; its arguments come in pieces of `chunk` characters (Ollama: whole)."""
    encoded = arguments if isinstance(arguments, str) else json.dumps(arguments or {})

    def reply(exchange: Exchange) -> None:
        exchange.start()
        _say(exchange, (("content", piece) for piece in pieces(message, 4)), 0)
        first = "" if chunk and not exchange.ollama else encoded
        call = {"index": 0, "id": call_id, "type": "function", "function": {"name": name, "arguments": first}}
        exchange.delta({"tool_calls": [call]})
        if not first:
            for piece in pieces(encoded, chunk):
                exchange.delta({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        exchange.finish("tool_calls")

    return reply


def tool_calls(*calls: tuple[str, Mapping[str, Any]], message: str = "", pause_ms: float = 0, after: str = "") -> Reply:
    """Ask for several tools at once, `message` before them and `after` behind; each call comes as a whole."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        _say(exchange, (("content", piece) for piece in pieces(message, 4)), 0)
        for index, (name, arguments) in enumerate(calls):
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"index": index, "id": f"call_{index + 1}", "type": "function", "function": function}
            exchange.delta({"tool_calls": [call]})
            exchange.connection.pause(pause_ms / 1000)
        _say(exchange, (("content", piece) for piece in pieces(after, 4)), 0)
        exchange.finish("tool_calls")

    return reply


def status(
    code: int = 500, *, body: str | None = None, headers: Mapping[str, str] | None = None, message: str = "scripted"
) -> Reply:
    """Answer with a status and an error object."""
    payload = body if body is not None else json.dumps({"error": {"message": message, "type": "test", "code": code}})

    def reply(exchange: Exchange) -> None:
        data = payload.encode()
        extra = {"content_type": "application/json", "content_length": str(len(data))} | dict(headers or {})
        exchange.connection.send(head(f"{code} Scripted", **extra) + data)

    return reply


def html(body: str = "<!doctype html><title>Sign in</title><p>Sign in to the network</p>") -> Reply:
    """A captive portal: 200, HTML."""

    def reply(exchange: Exchange) -> None:
        data = body.encode()
        exchange.connection.send(head(content_type="text/html", content_length=str(len(data))) + data)

    return reply


def silent(*, after: str = "", head: bool = True) -> Reply:
    """Send the head and perhaps a text, then nothing more, until the client goes."""

    def reply(exchange: Exchange) -> None:
        if head:
            exchange.start()
            if after:
                exchange.delta({"content": after})
        exchange.connection.client_gone()

    return reply


def endless(piece: str = "and so on ", *, delay_ms: float = 0) -> Reply:
    """Never stop talking."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        while not exchange.connection.stopped.is_set():
            if delay_ms:
                exchange.connection.pause(delay_ms / 1000)
            exchange.delta({"content": piece})

    return reply


def drip(*, per_second: float = 200, chunks: int = 1000, newline: bool = False) -> Reply:
    """`chunks` pieces at an even rate; each is `[<monotonic ns when sent>] `, to measure how long text takes."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        begun = time.monotonic()
        for number in range(chunks):
            exchange.connection.pause(max(0.0, begun + number / per_second - time.monotonic()))
            exchange.delta({"content": f"[{time.monotonic_ns()}]" + ("\n" if newline else " ")})
        exchange.finish()

    return reply


def raw(*parts: str | bytes, delay_ms: float = 0, end: bool = True) -> Reply:
    """A streamed answer with exactly this body."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        for part in parts:
            exchange.connection.pause(delay_ms / 1000)
            exchange.write(part.encode() if isinstance(part, str) else part)
        if end:
            exchange.connection.send(b"0\r\n\r\n")

    return reply


KINDS: dict[str, Callable[..., Reply]] = {
    "drip": drip,
    "echo": echo,
    "endless": endless,
    "html": html,
    "raw": lambda parts=(), **options: raw(*parts, **options),
    "silent": silent,
    "status": status,
    "text": text,
    "tool_call": tool_call,
}


def parse_script(script: str) -> Reply:
    """A reply from a bare kind (`echo`) or a JSON object with `kind` and that builder's keyword arguments."""
    options: dict[str, Any] = json.loads(script) if script.startswith("{") else {"kind": script}
    return KINDS[options.pop("kind")](**options)


class ModelServer(ThreadedServer):
    """The scripted model; `base_url` is what goes into a provider's `base_url`."""

    def __init__(
        self, *replies: Reply, models: Iterable[str] = ("test",), on_request: Callable[[Recorded], None] | None = None
    ) -> None:
        self._replies = list(replies) or [echo()]
        self._models = list(models)
        self._on_request = on_request
        self._turn = threading.Lock()
        self._next = 0
        super().__init__(self._converse)

    def then(self, *replies: Reply) -> None:
        """Replace the replies that follow."""
        with self._turn:
            self._replies, self._next = list(replies), 0

    def bodies(self) -> list[dict[str, Any]]:
        """The JSON bodies of the chat requests so far."""
        return [json.loads(r.body) for r in self.requests if r.method == "POST"]

    def _converse(self, connection: Connection) -> None:
        while (request := connection.read_request()) is not None:
            if self._on_request is not None:
                self._on_request(request)
            if request.method == "GET":
                self._list_models(connection, request)
                continue
            with self._turn:
                reply = self._replies[min(self._next, len(self._replies) - 1)]
                self._next += 1
            self.record(request)
            reply(Exchange(connection, request))

    def _list_models(self, connection: Connection, request: Recorded) -> None:
        if request.path.endswith("/models"):
            body = json.dumps({"object": "list", "data": [{"id": m, "object": "model"} for m in self._models]}).encode()
        elif request.path == "/api/tags":
            body = json.dumps({"models": [{"name": m, "model": m, "details": {}} for m in self._models]}).encode()
        else:
            body = b'{"status":"ok"}'
        connection.send(head(content_type="application/json", content_length=str(len(body))) + body)


def main(argv: list[str] | None = None) -> None:
    """Run one server until it is killed, or until stdin ends when that is a pipe."""
    parser = argparse.ArgumentParser(description="a scripted model server")
    parser.add_argument(
        "--script", action="append", default=[], help="a kind or a JSON object; in order, the last repeats"
    )
    parser.add_argument("--log", help="append one JSON line a request to this file")
    options = parser.parse_args(argv)
    log = open(options.log, "a", buffering=1, encoding="utf-8") if options.log else None  # noqa: SIM115

    def note(request: Recorded) -> None:
        if log is not None:
            line = {
                "at_ns": int(request.complete_at * 1e9),
                "accepted_ns": int(request.accepted_at * 1e9),
                "method": request.method,
                "path": request.path,
                "headers": request.headers,
                "body": request.body.decode("utf-8", "replace"),
            }
            log.write(json.dumps(line) + "\n")

    sys.setswitchinterval(0.0005)
    with ModelServer(*map(parse_script, options.script), on_request=note) as server:
        print(server.port, flush=True)
        if stat.S_ISFIFO(os.fstat(0).st_mode):
            sys.stdin.read()  # a parent that dies takes its server with it
        else:
            threading.Event().wait()


if __name__ == "__main__":
    main()
