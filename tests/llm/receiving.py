"""Running a source in a test and looking at what it posts."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from queue import Empty, SimpleQueue

from jp.llm.chat import ChatProvider
from jp.llm.events import Event, Message, Reasoning, joined
from jp.llm.provider import Request
from jp.llm.providers.generic import Generic
from jp.llm.source import Batch, Done, Options, Progress, Source

DEADLINE = 30.0
Posted = Batch | Progress | Done


class Receiver:
    """A source with an inbox of its own."""

    def __init__(
        self,
        url: str,
        *,
        body: list[bytes] | None = None,
        environ: Mapping[str, str] | None = None,
        provider: type[ChatProvider] = Generic,
        **options: float,
    ) -> None:
        self.provider = provider(url)
        self.inbox: SimpleQueue[Posted] = SimpleQueue()
        self.stages: list[str] = []
        self.events: list[Event] = []
        self.batches = 0
        self.done: Done | None = None
        request = Request("POST", self.provider.address, {"Content-Type": "application/json"}, body or [b"{}"])
        self.source = Source(
            request,
            self.provider.parser(),
            self.inbox.put,
            generation=7,
            options=Options(**options),  # type: ignore[arg-type]
            environ=environ or {},
        )
        before = set(threading.enumerate())
        self.source.start()
        (self.thread,) = [t for t in threading.enumerate() if t not in before and t.name == "model-7"] or [None]

    def step(self) -> Posted:
        """The next thing posted."""
        posted = self.inbox.get(timeout=DEADLINE)
        assert posted.generation == 7
        if isinstance(posted, Progress):
            self.stages.append(posted.stage)
        elif isinstance(posted, Batch):
            self.batches += 1
            self.events += posted.take()
        else:
            self.done = posted
        return posted

    def until(self, stage: str) -> Receiver:
        """Read on to a stage."""
        while stage not in self.stages:
            assert not isinstance(self.step(), Done), f"over before {stage}: {self.done}"
        return self

    def until_text(self, text: str) -> Receiver:
        """Read on to a text."""
        while text not in self.text:
            assert not isinstance(self.step(), Done), f"over before {text!r}: {self.done}"
        return self

    def finish(self) -> Receiver:
        """Read on to the end, which is the last thing posted."""
        while self.done is None:
            self.step()
        self.events = joined(self.events)
        if self.thread is not None:
            self.thread.join(DEADLINE)
            assert not self.thread.is_alive()
        try:
            more = self.inbox.get_nowait()
        except Empty:
            return self
        raise AssertionError(f"posted after the end: {more}")

    @property
    def error(self) -> Exception | None:
        assert self.done is not None
        return self.done.error

    @property
    def text(self) -> str:
        """The text and reasoning so far."""
        return "".join(event.text for event in self.events if isinstance(event, Message | Reasoning))


def timed(run: Receiver) -> float:
    """Seconds to the end."""
    begun = time.monotonic()
    run.finish()
    return time.monotonic() - begun
