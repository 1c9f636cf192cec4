"""The shell of a turn: takes events from the inbox, feeds the machine, carries the effects out in order.

Everything that could fail on the disk is caught here, said once, and does not end the answer: what cannot be written
now stays in memory and is written with the fold; when that fails too, the turn fails, and says so.
"""

import time

from jp import log
from jp.conversation.timestamps import format_timestamp
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.token import Shutdown
from jp.llm.source import Batch, Done, Options, Progress, Source
from jp.storage.errors import WriteError
from jp.turn import machine as m
from jp.turn.inbox import Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Self

    from jp.conversation.events import Event
    from jp.conversation.thread import Thread
    from jp.errors import JpError
    from jp.interrupt.router import Router
    from jp.llm.provider import Parameters, Provider
    from jp.llm.retry import Policy
    from jp.storage.journal import TurnWriter
    from jp.turn.screen import Screen


class Model:
    """The model at the other end: who to ask, how, and how one answer is read."""

    __slots__ = ("environ", "explain", "name", "options", "parameters", "policy", "provider")

    def __init__(
        self,
        provider: "Provider",
        name: str,
        parameters: "Parameters",
        policy: "Policy",
        options: Options,
        environ: "Mapping[str, str]",
    ) -> None:
        self.explain: Callable[[JpError], JpError] = lambda error: error  # what an error of the stream really means
        self.provider = provider
        self.name = name
        self.parameters = parameters
        self.policy = policy
        self.options = options
        self.environ = environ

    def source(self, thread: "Thread", post: "Callable[[object], None]", generation: int) -> Source:
        """A source for one answer, not started yet."""
        request = self.provider.request(thread, self.name, self.parameters)
        return Source(
            request,
            self.provider.parser(),
            post,
            generation=generation,
            options=self.options,
            environ=self.environ,
        )


class Turn:
    """One turn from the request to the stored answer: enter it, `record` what is asked, `run` it, look at `error`."""

    def __init__(self, writer: "TurnWriter", screen: "Screen", clock: "Callable[[], datetime]") -> None:
        self.inbox = Inbox()
        self._writer = writer
        self._screen = screen
        self._clock = clock
        self._source: Source | None = None
        self._error: JpError | None = None
        self._disk: WriteError | None = None

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        """However the turn was left: stop reading, show what was held back, store what was recorded."""
        self._stop()
        self._screen.end(interrupted=kind is Shutdown)
        self._fold()

    @property
    def error(self) -> "JpError | None":
        """What ended the turn before its time; None when the answer is whole."""
        return self._error

    @property
    def unstored(self) -> WriteError | None:
        """Why what was recorded could not be stored."""
        return self._disk

    def run(self, model: Model, thread: "Thread", router: "Router", when_sent: "Callable[[], object]") -> None:
        """Ask, show and record until the turn is over; `error` tells how it went.

        `when_sent` is called once the request is on its way: for what can wait until then. Raises Shutdown when the run
        was interrupted; what came is recorded.
        """
        self._model = model
        self._thread = thread
        self._machine = m.Machine(model.policy, structured=thread.schema is not None)
        ended = self.inbox.attend(router)
        try:
            self._step(m.Begin())
            when_sent()
            while not self._machine.done:
                event = self.inbox.get()
                checkpoint()
                self._take(event)
        except Shutdown:
            self._step(m.Interrupted())
            raise
        finally:
            ended()

    def _take(self, event: object) -> None:
        match event:
            case Batch():
                for delta in event.take():
                    self._step(m.Arrived(event.generation, delta))
            case Done(generation, error):
                log.log(log.INFO, "turn", "stream ended", generation=generation, error=error and str(error))
                self._step(m.Ended(generation, error and self._model.explain(error)))
            case Progress(_, stage):
                self._screen.progress(stage)
            case m.RetryDue():
                self._step(event)

    def _step(self, happening: m.Happening) -> None:
        for effect in self._machine.step(happening):
            self._carry_out(effect)

    def _carry_out(self, effect: m.Effect) -> None:
        match effect:
            case m.Partial(kind, text):
                self._write(lambda: self._writer.partial(kind, text))
            case m.Show(kind, text):
                self._screen.delta(kind, text)
            case m.Record(event):
                self.record(event, completes=True)
            case m.Send(generation, partial):
                self._send(generation, partial)
            case m.Activity(detail):
                self._screen.activity(detail)
            case m.Pause(generation, seconds, attempt, limit, error):
                self._screen.retrying(error, seconds, attempt, limit)
                self.inbox.after(seconds, m.RetryDue(generation))
            case m.Note(text):  # about the answer, at its end
                self._screen.answered()
                self._screen.note(text)
            case m.Stop():
                self._stop()
            case m.Complete(error):
                self._error = error

    def record(self, event: "Event", *, completes: bool = False) -> None:
        """Give the event its time, append it to the journal, and print it where events are what is printed."""
        event.timestamp = format_timestamp(self._clock())
        append = self._writer.complete_partial if completes else self._writer.append
        self._write(lambda: append(event))
        self._screen.stored(event)

    def _send(self, generation: int, partial: str) -> None:
        thread = self._thread
        if partial:
            from jp.llm.continuation import thread_for

            thread = thread_for(thread, partial)
        self._stop()
        self._screen.waiting()
        self._source = self._model.source(thread, self.inbox.post, generation)
        log.log(log.INFO, "turn", "request", generation=generation, model=self._model.name)
        self._source.start()
        self._screen.prepare()

    def _stop(self) -> None:
        if self._source is not None:
            self._source.stop()
            self._source = None

    def _write(self, write: "Callable[[], None]") -> None:
        try:
            write()
        except WriteError as error:
            if self._disk is None:
                self._disk = error
                self._screen.note(f"{error.message}; the answer goes on, and storing it is tried again at its end")

    def _fold(self) -> None:
        started = time.monotonic()
        try:
            self._writer.fold()
            self._disk = None
        except WriteError as error:
            self._disk = error
        log.log(log.DEBUG, "turn", "folded", seconds=round(time.monotonic() - started, 4))
