"""The thread that reads one answer: sends the request, parses what comes, posts it.

It never stops reading for a slow consumer: a provider that is not read from gives up. What the consumer has not taken
yet is joined, text to text, in the batch that waits in its inbox. Whatever happens, exactly one `Done` is posted last,
from `finally`, and everything that arrived before it.

Stopping is abandoning: the caller ends the generation and drops what still comes; `stop()` only wakes the thread (see
`jp.llm.connect`). It is never joined.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping

from msgspec import Struct

from jp.errors import JpError
from jp.interrupt.standing import clock
from jp.llm.connect import Lifeline
from jp.llm.errors import BadResponse, LlmError, NetworkError, Stopped, StreamCut, Timeout, TooLarge
from jp.llm.events import Event, Keepalive, Message, Reasoning, ToolCallArguments, joined
from jp.llm.exchange import Exchange, Limits
from jp.llm.provider import Parser, Request
from jp.llm.retry import retry_after
from jp.llm.status import error_for_status

DEFAULT_MAX_BYTES = 64 * 1024 * 1024
MAX_SILENT_BYTES = 16 * 1024 * 1024  # of protocol that says nothing
MAX_ERROR_BODY = 64 * 1024
AFTER_FINISH_SECS = 5.0  # for the usage and the end, once the model is done
KEEPALIVE_PATIENCE = 10  # idle timeouts that keep-alives may bridge
COMPACT_AT = 512


class Options(Struct, frozen=True):
    """How one answer is read: `assistant.request`, and the provider's `patience`.

    `max_response_bytes` bounds the text of the answer; 0 is 64 MiB. `key` names the variable of the API key, for hints.
    """

    idle_secs: float = 60
    connect_secs: float = 30
    patience: float = 1
    max_response_bytes: int = 0
    key: str | None = None


DEFAULTS = Options()


class Progress(Struct, frozen=True):
    """Where the exchange is: "connecting", "waiting" (the request is out) or "receiving" (the head has come)."""

    generation: int
    stage: str


class Done(Struct, frozen=True):
    """The source is over; `error` is None when the answer is whole, Stopped after `stop()`."""

    generation: int
    error: JpError | None = None


class Batch:
    """Events of one generation. It may still grow until it is taken."""

    __slots__ = ("_compact_at", "_events", "_lock", "_taken", "generation")

    def __init__(self, generation: int, events: list[Event]) -> None:
        self.generation = generation
        self._events = events
        self._taken = False
        self._compact_at = COMPACT_AT
        self._lock = threading.Lock()

    def take(self) -> list[Event]:
        """The events that have come, in order, neighbouring pieces of one text joined; empty the second time."""
        with self._lock:
            self._taken = True
            events, self._events = self._events, []
        return joined(events) if len(events) > 1 else events

    def add(self, events: list[Event]) -> bool:
        """Add events; False when it has been taken."""
        with self._lock:
            if self._taken:
                return False
            self._events += events
            if len(self._events) > self._compact_at:
                self._events = joined(self._events)
                self._compact_at = max(COMPACT_AT, 2 * len(self._events))
            return True


class Source:
    """One answer, read on a thread of its own. `post` may be called from that thread and must not block."""

    def __init__(
        self,
        request: Request,
        parser: Parser,
        post: Callable[[Batch | Progress | Done], None],
        *,
        generation: int = 0,
        options: Options = DEFAULTS,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._request = request
        self._parser = parser
        self._post = post
        self._options = options
        self._environ = environ
        self._lifeline = Lifeline()
        self._batch: Batch | None = None
        self._limit = options.max_response_bytes or DEFAULT_MAX_BYTES
        self._size = 0
        self._silent = 0
        self._read_at = 0.0
        self._quiet = 0.0  # seconds of signs of life alone
        self.generation = generation

    def start(self) -> None:
        """Start reading; returns at once."""
        threading.Thread(target=self._run, name=f"model-{self.generation}", daemon=True).start()

    def stop(self) -> None:
        """Wake the thread and let it end. Any thread, any time, never blocks."""
        self._lifeline.cut()

    def _run(self) -> None:
        error: JpError | None = LlmError("reading the answer ended without a reason")
        try:
            error = self._read()
        except JpError as raised:
            error = raised
        except Exception as raised:  # a turn that waits for this thread must hear of its end, whatever ended it
            error = LlmError(f"reading the answer failed inside JP: {type(raised).__name__}: {raised}")
            error.__cause__ = raised
        finally:
            self._lifeline.close()
            self._post(Done(self.generation, Stopped("stopped") if self._lifeline.was_cut else error))

    def _read(self) -> JpError | None:
        options, parser = self._options, self._parser
        limits = Limits(options.connect_secs, options.idle_secs, options.idle_secs * options.patience)
        with Exchange(self._request, self._lifeline, limits=limits, environ=self._environ) as exchange:
            self._progress("connecting")
            exchange.send()
            self._progress("waiting")
            exchange.head()
            self._progress("receiving")
            if exchange.status // 100 != 2:
                return exchange.explained(self._refused(exchange))
            self._read_at = clock()
            try:
                self._stream(exchange)
            except (NetworkError, StreamCut, BadResponse) as error:
                self._deliver(parser.close())
                if not parser.finished:
                    # The parser knows better when what came was no answer at all; of a mere end it knows less.
                    known = parser.error is not None and not isinstance(parser.error, StreamCut)
                    return exchange.explained(parser.error if known and parser.error else error)
            return None if parser.finished or parser.error is None else exchange.explained(parser.error)

    def _progress(self, stage: str) -> None:
        self._post(Progress(self.generation, stage))

    def _stream(self, exchange: Exchange) -> None:
        parser = self._parser
        while data := exchange.read(AFTER_FINISH_SECS if parser.finished else None):
            self._count(parser.feed(data), len(data))
            if parser.error is not None or parser.done:
                return
        self._deliver(parser.close())

    def _count(self, events: list[Event], size: int) -> None:
        """Deliver, within the bounds."""
        self._silent += size
        for event in events:
            if isinstance(event, Message | Reasoning | ToolCallArguments):
                self._size += len(event.text.encode("utf-8", "replace"))
                self._silent = 0
        self._deliver(events)
        if self._size > self._limit:
            raise TooLarge(
                f"the answer is larger than {self._limit} bytes; it was broken off",
                address=self._parser_address(),
                hints=["The limit is `assistant.request.max_response_bytes`."],
            )
        if self._silent > MAX_SILENT_BYTES:
            raise TooLarge(
                f"{self._parser_address()} sends without end and says nothing", address=self._parser_address()
            )
        if any(not isinstance(event, Keepalive) for event in events):
            self._quiet = 0.0
        idle = self._options.idle_secs
        now = clock()
        self._quiet += min(now - self._read_at, idle)  # at most: the process may have been stopped meanwhile
        self._read_at = now
        if idle and self._quiet > KEEPALIVE_PATIENCE * idle:
            raise Timeout(
                f"{self._parser_address()} has sent nothing but signs of life for {self._quiet:.0f} s",
                address=self._parser_address(),
            )

    def _parser_address(self) -> str:
        return getattr(self._parser, "address", "the provider")

    def _deliver(self, events: list[Event]) -> None:
        events = [event for event in events if not isinstance(event, Keepalive)]
        if events and (self._batch is None or not self._batch.add(events)):
            self._batch = Batch(self.generation, events)
            self._post(self._batch)

    def _refused(self, exchange: Exchange) -> LlmError:
        try:
            body = exchange.read_all(MAX_ERROR_BODY)
        except (NetworkError, StreamCut):
            body = b""
        return error_for_status(
            exchange.status,
            body,
            address=exchange.address.shown,
            retry_after=retry_after(exchange.headers, time.time()),
            key=self._options.key,
        )
