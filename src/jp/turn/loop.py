"""The shell of a turn: takes events from the inbox, feeds the machine, carries the effects out in order.

Everything that could fail on the disk is caught here, said once, and does not end the answer: what cannot be written
now stays in memory and is written with the fold; when that fails too, the turn fails, and says so.
"""

import time
from collections import deque
from contextlib import contextmanager, nullcontext
from threading import Thread as Helper

from jp import log
from jp.conversation.events import ChatRequest, ChatResponse
from jp.conversation.timestamps import format_timestamp
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.token import Shutdown
from jp.llm.events import Message
from jp.llm.source import Batch, Done, Options, Progress, Source
from jp.storage.errors import WriteError
from jp.terminal.promptability import NotPromptableNow
from jp.turn import call_events as c
from jp.turn import machine as m
from jp.turn.inbox import WAKE, Inbox
from jp.turn.machine import Phase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Self

    from jp.ask.interruption import Decision
    from jp.ask.pending import Pending
    from jp.conversation.events import Event
    from jp.conversation.thread import Thread
    from jp.errors import JpError
    from jp.interrupt.router import Router
    from jp.llm.events import Event as Delta
    from jp.llm.provider import Parameters, Provider, Tool
    from jp.llm.retry import Policy
    from jp.storage.journal import TurnWriter
    from jp.turn.presses import Presses
    from jp.turn.screen import Screen
    from jp.turn.tooling import Tooling


class Model:
    """The model at the other end: who to ask, how, and how one answer is read."""

    __slots__ = ("environ", "explain", "name", "options", "parameters", "policy", "provider", "tool_choice", "tools")

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
        self.tools: Sequence[Tool] = ()
        self.tool_choice = "auto"

    def source(self, thread: "Thread", post: "Callable[[object], None]", generation: int) -> Source:
        """A source for one answer, not started yet."""
        tools = self.tools if thread.schema is None else ()
        choice = self.tool_choice
        if choice not in ("auto", "none", "required"):
            named = [tool for tool in tools if tool.name == choice]
            tools, choice = (named, choice) if named else (tools, "auto")  # alone: not every server knows names
        request = self.provider.request(thread, self.name, self.parameters, tools, choice)
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
    affair of others. `tooling`, once it is set, runs what the model calls; without, no tool is offered.
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
        self.tooling: Tooling | None = None
        self._todo: deque[m.Happening] = deque()
        self._stepping = False
        self._restart = False  # the tools, once their scope is left
        self.stopped = False  # by the person, before it was whole
        self.aborted: str | None = None  # what was asked, where the person wants nothing of it stored
        self._author = author
        self._presses = presses
        self._machine: m.Machine | None = None
        self._writer = writer
        self.screen = screen
        self._clock = clock
        self._source: Source | None = None
        self._error: JpError | None = None
        self._disk: WriteError | None = None
        self._unsent: list[Callable[[], object]] = []  # what lets the drafts go of what may not be on disk
        self._asked = ("", writer.length)  # the last request, and the conversation's length before it
        if presses is not None:
            presses.wake = lambda: self.inbox.post(WAKE)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        """However the turn was left: stop reading, show what was held back, store what was recorded."""
        self._stop()
        if self.tooling is not None:
            self.tooling.stop()
        self.screen.end(interrupted=kind is Shutdown)
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
                    self._machine = self._new_machine(model)
                    self._work(m.Begin(), when_sent)
                while self._whole:
                    self.screen.answered()
                    self._fold()
                    if self._disk is None:
                        self._look()  # its menu may ask for more
                    if self._machine is None or self._machine.done:
                        break
                    self._work()
        except BaseException:  # whatever ends the run, what came is recorded and each call has a response
            self._take_ended()
            self._step(m.Interrupted())
            raise
        finally:
            ended()

    def _prepare(self) -> None:
        """Build the thread; again where a reply has come meanwhile."""
        length = -1
        while length != self._writer.length and not self.stopped:
            length = self._writer.length
            self.thread = self._build()
            self._look()

    def _new_machine(self, model: Model) -> m.Machine:
        tooling, structured = self.tooling, self.thread.schema is not None
        if tooling is None or structured:
            return m.Machine(model.policy, structured=structured)
        return m.Machine(model.policy, tooling.tools, cancelled=tooling.cancelled)

    def _work(self, first: "m.Happening | None" = None, when_sent: "Callable[[], object]" = lambda: None) -> None:
        """Until nothing is left to do: answers stream, their tools run, in the scope of each."""
        machine = self._machine
        assert machine is not None
        while not machine.done:
            match machine.phase:
                case Phase.STREAMING:
                    with self._while_streaming():
                        if first is not None:
                            self._step(first)
                            first = None
                            when_sent()
                        self._attend(Phase.STREAMING)
                case Phase.PREPARING:
                    self._attend(Phase.PREPARING)
                case Phase.PREPARED | Phase.TOOLS:
                    with self._while_running():
                        if machine.phase is Phase.PREPARED:
                            self._step(m.RunTools())
                        self._attend(Phase.TOOLS)
                    if self._restart and not machine.done:
                        self._take_ended()
                        self._restart = False
                        self._step(m.Restarted())
                case Phase.FOLLOW_UP:
                    self._look()
                    if machine.phase is Phase.FOLLOW_UP:
                        with self._while_streaming():
                            self._step(m.FollowUp())
                            self._attend(Phase.STREAMING)

    def _attend(self, phase: Phase) -> None:
        """Take what comes as long as the turn is in `phase`."""
        assert self._machine is not None
        while self._machine.phase is phase and not self._restart:
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

    def _while_running(self) -> "AbstractContextManager[None]":
        return nullcontext() if self._presses is None else self._presses.while_running()

    def _look(self) -> None:
        """Answer a press that waits here, and do what was decided."""
        decision = self._presses.look() if self._presses is not None and not self._left else None
        if decision is not None:
            self._decided(decision)

    def _decided(self, decision: "Decision") -> None:
        """Do what was decided in a menu."""
        from jp.ask.menus import What

        assert self._presses is not None

        match decision.what:
            case What.REPLY:
                self._unsent.append(decision.sent)
                if self._machine is not None and self._machine.phase is Phase.TOOLS:
                    self._respond(decision.text)
                else:
                    self._reply(decision.text)
            case What.RESTART:
                self._restart = True
            case What.STOP:
                self.stopped = True
                self._take_ended()
                self._step(m.Interrupted())
            case What.ABORT:
                self.aborted = self._asked[0]
                if self.aborted:
                    self._presses.keep(self.aborted)  # before it is forgotten
                self._step(m.Aborted())

    def _reply(self, text: str) -> None:
        assert self._presses is not None
        request = self.request(text)
        if self._machine is None:  # nothing has been sent yet
            self.screen.said(text)
            self.record(request)
            self._sent()
        else:
            self._take_ended()
            self._step(m.Replied(request))

    def _respond(self, text: str) -> None:
        """The tools end with what the person says in their place."""
        if text:
            self.screen.said(text)
        self._take_ended()
        self._step(m.Responded(text))

    def _take_ended(self) -> None:
        """The tools that have ended by now have not been ended by anybody: their results count."""
        if self._machine is not None and self._machine.phase is Phase.TOOLS:
            for event in self.inbox.drain():
                if isinstance(event, c.ToolEnded):
                    self._step(event)

    def _sent(self) -> None:
        """What was written is stored, unless the disk has not taken it: then its draft is all that a crash leaves."""
        if self._disk is None:
            unsent, self._unsent = self._unsent, []
            for sent in unsent:
                sent()

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
                self.screen.progress(stage)
            case m.RetryDue() | c.ToolEnded() | c.Inquired():
                self._step(event)

    def _step(self, happening: m.Happening) -> None:
        """Tell the machine, do what it says, and ask what is to be asked; what follows from that comes behind it."""
        self._todo.append(happening)
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._machine is not None:
                while self._todo:
                    for effect in self._machine.step(self._todo.popleft()):
                        self._carry_out(effect)
                prompt = self._machine.asking
                if prompt is None or self._left or self._restart:
                    self._sent()
                    return
                self._ask(prompt)
        finally:
            self._stepping = False
            self._todo.clear()

    def _ask(self, prompt: "Pending") -> None:
        assert self.tooling is not None
        self.screen.answered()  # what was said before is to be read now
        answer = self.tooling.ask(prompt)
        match answer:
            case c.Answered(sent=sent):
                self._unsent.append(sent)
                self._step(answer)
            case c.Unattended():
                self._step(answer)
            case None:
                checkpoint()  # the run is ending
                self._step(c.Unattended(NotPromptableNow("the terminal is gone, so JP cannot ask")))
            case _:
                self._decided(answer)

    def _carry_out(self, effect: m.Effect) -> None:
        if isinstance(effect, c.Effect):
            self._carry_out_of_call(effect)
            return
        match effect:
            case m.Settled():
                self._asked = ("", self._writer.length)
            case m.Partial(kind, text):
                self._write(lambda: self._writer.partial(kind, text))
            case m.Show(kind, text):
                self.screen.delta(kind, text)
            case m.Record(event):
                self.record(event, completes=True)
            case m.Send(generation, partial, anew):
                self._send(generation, partial, anew=anew)
            case m.Drop():
                self._write(lambda: self._writer.undo(self._asked[1]))
            case m.Said(text):
                self.screen.said(text)
            case m.Activity(detail):
                self.screen.activity(detail)
            case m.Pause(generation, seconds, attempt, limit, error):
                self.screen.retrying(error, seconds, attempt, limit)
                self.inbox.after(seconds, m.RetryDue(generation))
            case m.Note(text):  # about the answer, at its end
                self.screen.answered()
                self.screen.note(text)
            case m.Stop():
                self._stop()
            case m.Complete(error):
                self._error = error

    def _carry_out_of_call(self, effect: c.Effect) -> None:
        if self.tooling is not None:
            self.tooling.carry_out(effect, self)
            return
        match effect:
            case c.Record(event):  # the model calls tools though none are offered: nothing runs
                self.record(event)
            case c.Said(text):
                self.screen.answered()
                self.screen.note(text)

    def request(self, text: str) -> ChatRequest:
        """What the person says, as an event."""
        return ChatRequest(content=text, author=self._author) if self._author else ChatRequest(content=text)

    def record(self, event: "Event", *, completes: bool = False) -> None:
        """Give the event its time, append it to the journal, and print it where events are what is printed."""
        event.timestamp = format_timestamp(self._clock())
        if isinstance(event, ChatRequest):
            before = self._writer.length if self._asked[0] else self._asked[1]  # the first one with its turn's start
            self._asked = (event.content, before)
        if isinstance(event, ChatResponse):
            self.screen.answered()  # what comes behind it is another text
        append = self._writer.complete_partial if completes else self._writer.append
        self._write(lambda: append(event))
        self.screen.stored(event)

    def _send(self, generation: int, partial: str, *, anew: bool) -> None:
        if anew:
            self.thread = self._build()
            if self.tooling is not None:
                self.tooling.begin()
            if self._model.tool_choice != "none":
                self._model.tool_choice = "auto"  # what was asked of the first answer would have no end
        thread = self.thread
        if partial:
            from jp.llm.continuation import thread_for

            thread = thread_for(thread, partial)
        self._stop()
        self.screen.waiting()
        self._source = self._model.source(thread, self.inbox.post, generation)
        log.log(log.INFO, "turn", "request", generation=generation, model=self._model.name)
        self._source.start()
        if generation == 1:
            Helper(target=self._warm, name="prepare", daemon=True).start()

    def _warm(self) -> None:
        """Load what will be needed, beside the wait for the answer."""
        self.screen.warm()
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
                self.screen.note(f"{error.message}; the answer goes on, and storing it is tried again at its end")

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
