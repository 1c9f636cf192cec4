"""The shell of a turn: takes events from the inbox, feeds the machine, carries the effects out in order.

Everything that could fail on the disk is caught here, said once, and does not end the answer: what cannot be written
now stays in memory and is written with the fold; when that fails too, the turn fails, and says so.
"""

import time
from contextlib import contextmanager, nullcontext
from threading import Thread as Helper

from jp import log
from jp.conversation.events import ChatRequest
from jp.conversation.timestamps import format_timestamp
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.token import Shutdown
from jp.llm.events import Message
from jp.llm.source import Batch, Done, Options, Progress, Source
from jp.storage.errors import WriteError
from jp.turn import machine as m
from jp.turn.inbox import WAKE, Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Self

    from jp.conversation.events import Event
    from jp.conversation.thread import Thread
    from jp.errors import JpError
    from jp.interrupt.router import Router
    from jp.llm.events import Event as Delta
    from jp.llm.provider import Parameters, Provider
    from jp.llm.retry import Policy
    from jp.storage.journal import TurnWriter
    from jp.turn.presses import Presses
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


PIECE = 4096  # characters: between two such pieces a press is looked at


class Turn:
    """One turn from the request to the stored answer: enter it, `record` what is asked, `run` it, look at `error`.

    `author` signs what the person says. `presses` answers what they want in the middle of it; without, a press is the
    affair of others.
    """

    def __init__(
        self,
        writer: "TurnWriter",
        screen: "Screen",
        clock: "Callable[[], datetime]",
        *,
        author: str | None = None,
        presses: "Presses | None" = None,
    ) -> None:
        self.inbox = Inbox()
        self.stopped = False  # by the person, before it was whole
        self.aborted: str | None = None  # what was asked, where the person wants nothing of it stored
        self._author = author
        self._presses = presses
        self._machine: m.Machine | None = None
        self._writer = writer
        self._screen = screen
        self._clock = clock
        self._source: Source | None = None
        self._error: JpError | None = None
        self._disk: WriteError | None = None
        self._unsent = False  # a reply may not be on disk
        self._asked = ("", writer.length)  # the last request, and the conversation's length before it
        if presses is not None:
            presses.wake = lambda: self.inbox.post(WAKE)

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

    @contextmanager
    def gap(self) -> "Iterator[None]":
        """The steps of a turn beside the answer: a press in it opens the turn menu (RFD 092), at its end if not before.

        What comes too late for that is the affair of whatever is outside.
        """
        if self._presses is None:
            yield
            return
        with self._presses.in_gap():
            yield
            if self._machine is None:  # else the turn is over: nothing can be asked any more
                self._look()

    def run(
        self, model: Model, build: "Callable[[], Thread]", router: "Router", when_sent: "Callable[[], object]"
    ) -> None:
        """Ask, show and record until the turn is over; `error` tells how it went.

        `build` makes the thread of what is recorded by then. `when_sent` is called once the request is on its way: for
        what can wait until then. Raises Shutdown when the run was interrupted; what came is recorded.
        """
        self._model = model
        self._build = build
        ended = self.inbox.attend(router)
        try:
            with self.gap():
                self._prepare()
                if not self.stopped:
                    self._machine = m.Machine(model.policy, structured=self._thread.schema is not None)
                    with self._while_streaming():
                        self._step(m.Begin())
                        when_sent()
                        self._stream()
                while self._whole:
                    self._screen.answered()
                    self._fold()
                    if self._disk is None:
                        self._look()  # its menu may ask for more
                    if self._machine is None or self._machine.done:
                        break
                    with self._while_streaming():
                        self._stream()
        except Shutdown:
            self._step(m.Interrupted())
            raise
        finally:
            ended()

    def _prepare(self) -> None:
        """Build the thread; again where a reply has come meanwhile."""
        length = -1
        while length != self._writer.length and not self.stopped:
            length = self._writer.length
            self._thread = self._build()
            self._look()

    def _stream(self) -> None:
        assert self._machine is not None
        while not self._machine.done:
            event = self.inbox.get()
            checkpoint()
            self._look()
            self._take(event)

    @property
    def _whole(self) -> bool:
        return self._error is None and not self._left

    @property
    def _left(self) -> bool:
        """Whether the person wants no more of it."""
        return self.stopped or self.aborted is not None

    def _while_streaming(self) -> "AbstractContextManager[None]":
        return nullcontext() if self._presses is None else self._presses.while_streaming()

    def _look(self) -> None:
        """Answer a press that waits here, and do what was decided."""
        decision = self._presses.look() if self._presses is not None and not self._left else None
        if decision is None or self._presses is None:
            return
        from jp.ask.menus import What

        match decision.what:
            case What.REPLY:
                self._reply(decision.text)
            case What.STOP:
                self.stopped = True
                self._step(m.Interrupted())
            case What.ABORT:
                self.aborted = self._asked[0]
                self._presses.keep(self.aborted)  # before it is forgotten
                self._step(m.Aborted())

    def _reply(self, text: str) -> None:
        assert self._presses is not None
        request = self.request(text)
        if self._machine is None:  # nothing has been sent yet
            self._screen.said(text)
            self.record(request)
        else:
            self._step(m.Replied(request))
        self._unsent = True
        if self._disk is None:  # else its draft is all that a crash would leave of it
            self._sent()

    def _sent(self) -> None:
        """The reply that was written is on disk."""
        if self._unsent and self._presses is not None:
            self._presses.sent()
        self._unsent = False

    def _take(self, event: object) -> None:
        match event:
            case Batch():
                for delta in event.take():
                    for piece in _pieces(delta):
                        self._step(m.Arrived(event.generation, piece))
                        checkpoint()
                        self._look()
                        if self._left:
                            return
            case Done(generation, error):
                log.log(log.INFO, "turn", "stream ended", generation=generation, error=error and str(error))
                self._step(m.Ended(generation, error and self._model.explain(error)))
            case Progress(_, stage):
                self._screen.progress(stage)
            case m.RetryDue():
                self._step(event)

    def _step(self, happening: m.Happening) -> None:
        for effect in self._machine.step(happening) if self._machine is not None else ():
            self._carry_out(effect)

    def _carry_out(self, effect: m.Effect) -> None:
        match effect:
            case m.Partial(kind, text):
                self._write(lambda: self._writer.partial(kind, text))
            case m.Show(kind, text):
                self._screen.delta(kind, text)
            case m.Record(event):
                self.record(event, completes=True)
            case m.Send(generation, partial, anew):
                self._send(generation, partial, anew=anew)
            case m.Drop():
                self._write(lambda: self._writer.undo(self._asked[1]))
            case m.Said(text):
                self._screen.said(text)
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

    def request(self, text: str) -> ChatRequest:
        """What the person says, as an event."""
        return ChatRequest(content=text, author=self._author) if self._author else ChatRequest(content=text)

    def record(self, event: "Event", *, completes: bool = False) -> None:
        """Give the event its time, append it to the journal, and print it where events are what is printed."""
        event.timestamp = format_timestamp(self._clock())
        if isinstance(event, ChatRequest):
            before = self._writer.length if self._asked[0] else self._asked[1]  # the first one with its turn's start
            self._asked = (event.content, before)
        append = self._writer.complete_partial if completes else self._writer.append
        self._write(lambda: append(event))
        self._screen.stored(event)

    def _send(self, generation: int, partial: str, *, anew: bool) -> None:
        if anew:
            self._thread = self._build()
        thread = self._thread
        if partial:
            from jp.llm.continuation import thread_for

            thread = thread_for(thread, partial)
        self._stop()
        self._screen.waiting()
        self._source = self._model.source(thread, self.inbox.post, generation)
        log.log(log.INFO, "turn", "request", generation=generation, model=self._model.name)
        self._source.start()
        if generation == 1:
            Helper(target=self._warm, name="prepare", daemon=True).start()

    def _warm(self) -> None:
        """Load what will be needed, beside the wait for the answer."""
        self._screen.warm()
        if self._presses is not None:
            self._presses.warm()

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
            self._sent()
        except WriteError as error:
            self._disk = error
        log.log(log.DEBUG, "turn", "folded", seconds=round(time.monotonic() - started, 4))


def _pieces(delta: "Delta") -> "Iterator[Delta]":
    """A long text in pieces that are each shown in a moment."""
    if isinstance(delta, Message) and len(delta.text) > PIECE:
        for start in range(0, len(delta.text), PIECE):
            yield Message(delta.text[start : start + PIECE])
    else:
        yield delta
