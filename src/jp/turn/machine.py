"""The turn as a state machine: what happened goes in, what to do comes out; no clock, socket, terminal or file.

A turn asks a provider, shows and records what arrives, goes on where a stream died (decisions, "A stream that dies"),
and ends. The loop in `jp.turn.loop` carries the effects out in the order given: the journal is written before the word
is shown.

What the model calls is the affair of `jp.turn.calls`: a call is prepared as soon as it is complete, runs when the
answer is, and its result goes out with the next request.

On a continuation the provider is given the partial answer and asked to go on. Its reasoning about that is dropped, the
overlap of its text with what is there is removed, and the stored message is one message.
"""

from enum import Enum

import msgspec

from jp.conversation.events import ToolCallRequest
from jp.errors import JpError
from jp.llm import events as llm
from jp.llm.collect import Collector
from jp.llm.continuation import Overlap
from jp.llm.retry import Fatal, Policy, Retry, decide
from jp.turn import call_events as c
from jp.turn.calls import Calls, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.ask.pending import Pending
    from jp.conversation.events import ChatRequest, Event
    from jp.llm.collect import Stored
    from jp.turn.calls import Tools

MAX_FAILED_ROUNDS = 20  # of calls in which nothing has come of any: a model may not see that it gets nowhere


class StuckError(JpError):
    """The model calls tools and nothing comes of any."""

    code = "stuck"

    def __init__(self) -> None:
        super().__init__(
            f"the model has called tools in {MAX_FAILED_ROUNDS} answers, and every call has failed",
            hints=["what came is stored; look at it with `jp conversation print`, and go on with another question"],
        )


# --- what happened ---


class Begin(msgspec.Struct, frozen=True):
    """Start the turn."""


class Arrived(msgspec.Struct, frozen=True):
    """A provider event of the stream with this generation."""

    generation: int
    event: llm.Event


class Ended(msgspec.Struct, frozen=True):
    """The stream with this generation is over; `error` is None when it came to its own end."""

    generation: int
    error: "JpError | None" = None


class RetryDue(msgspec.Struct, frozen=True):
    """The pause before the next attempt has passed."""

    generation: int


class Interrupted(msgspec.Struct, frozen=True):
    """The run is ending, or the person has stopped it: keep what came and stop."""


class Aborted(msgspec.Struct, frozen=True):
    """The person does not want what came: forget it and stop."""


class Replied(msgspec.Struct, frozen=True):
    """The person has something to say to what came: keep that, and ask anew with the reply behind it."""

    event: "ChatRequest"


class RunTools(msgspec.Struct, frozen=True):
    """The calls are prepared, and their scope is there."""


class FollowUp(msgspec.Struct, frozen=True):
    """The calls have their responses: ask on."""


class Responded(msgspec.Struct, frozen=True):
    """The person ends the tools with what the model is told in their place; empty: what they say themselves."""

    text: str = ""


class Restarted(msgspec.Struct, frozen=True):
    """The person wants the tools to run once more."""


Happening = (
    Begin
    | Arrived
    | Ended
    | RetryDue
    | Interrupted
    | Aborted
    | Replied
    | RunTools
    | FollowUp
    | Responded
    | Restarted
    | c.Happening
)

# --- what to do ---


class Send(msgspec.Struct, frozen=True):
    """Send the request; with `partial`, one that continues it. `anew`: the conversation has grown since the last."""

    generation: int
    partial: str = ""
    anew: bool = False


class Stop(msgspec.Struct, frozen=True):
    """Abandon the current stream."""


class Partial(msgspec.Struct, frozen=True):
    """Append a delta to the journal: kind is `message` or `reasoning`."""

    kind: str
    text: str


class Show(msgspec.Struct, frozen=True):
    """Show a delta."""

    kind: str
    text: str


class Activity(msgspec.Struct, frozen=True):
    """Bytes came that show nothing; the waiting indicator may say so."""

    detail: str


class Record(msgspec.Struct, frozen=True):
    """Append a complete event to the journal, in place of the partial of its kind."""

    event: "Event"


class Settled(msgspec.Struct, frozen=True):
    """What has been recorded can't be taken back any more: tools have acted on it."""


class Drop(msgspec.Struct, frozen=True):
    """Forget the deltas of the response in progress."""


class Said(msgspec.Struct, frozen=True):
    """Show what the person has said."""

    text: str


class Pause(msgspec.Struct, frozen=True):
    """Wait `seconds` before attempt number `attempt`, saying why."""

    generation: int
    seconds: float
    attempt: int
    limit: int
    error: "JpError"


class Note(msgspec.Struct, frozen=True):
    """Something for the person about the answer that is complete, on stderr."""

    text: str


class Complete(msgspec.Struct, frozen=True):
    """The turn is over; `error` says why it failed, if it did."""

    error: "JpError | None" = None


Effect = Send | Stop | Partial | Show | Activity | Record | Settled | Drop | Said | Pause | Note | Complete | c.Effect


class Phase(Enum):
    """What the turn is about, and so what a press means."""

    STREAMING = "an answer arrives, and its calls are prepared"
    PREPARING = "calls are prepared to run once more"
    PREPARED = "calls may run"
    TOOLS = "calls run"
    FOLLOW_UP = "calls have their responses"
    DONE = "nothing is to be done"


class Machine:
    """One turn. `step` is the only method that changes it; it is a function of the events fed so far.

    `cancelled` is what the model is told of a cancelled call of a tool that is not known.
    """

    def __init__(
        self, policy: Policy, tools: "Tools | None" = None, *, structured: bool = False, cancelled: str = ""
    ) -> None:
        self._policy = policy
        self._tools = tools
        self._failed_rounds = 0
        self._structured = structured
        self._cancelled = cancelled
        self._memory = Memory()
        self._generation = 0
        self._begin()

    def _begin(self) -> None:
        """An answer to what the conversation ends with."""
        self._collector = Collector(structured=self._structured)
        self._arriving = Collector()  # the calls of this stream: where it dies, those that are not whole are no use
        self._held: list[Effect] = []  # the responses of calls that were made in the answer that is still arriving
        self._overlap: Overlap | None = None
        self._failures = 0  # of the whole answer: a server that always cuts off after a word must not go on for ever
        self._message = ""  # text of the message that is arriving, over all attempts
        self._calls: Calls | None = None
        self._ids: set[str] = set()
        self._answered = False  # the stream is over
        self._running = False
        self._finish: llm.Finish | None = None
        self.done = False

    def __repr__(self) -> str:
        state = "done" if self.done else f"generation {self._generation}"
        return f"<Machine {state}, failures {self._failures}, {len(self._message)} characters>"

    @property
    def phase(self) -> Phase:
        """What the turn is about now."""
        calls = self._calls
        if self.done:
            return Phase.DONE
        if not self._answered or calls is None:
            return Phase.STREAMING
        if not calls.prepared and not self._running:
            return Phase.PREPARING if calls.restarted else Phase.STREAMING
        if calls.done:
            return Phase.FOLLOW_UP
        return Phase.TOOLS if self._running else Phase.PREPARED

    @property
    def asking(self) -> "Pending | None":
        """What the person is to be asked now."""
        return None if self.done or self._calls is None else self._calls.asking

    def step(self, happening: Happening) -> list[Effect]:
        """The effects of `happening`, to be carried out in order."""
        if isinstance(happening, Replied):
            return self._replied(happening.event)
        if self.done:
            return []
        if isinstance(happening, c.Happening):
            return self._behind(self._calls.step(happening)) if self._calls is not None else []
        match happening:
            case Begin():
                return self._send()
            case Arrived(generation, event):
                return self._arrived(event) if generation == self._generation else []
            case Ended(generation, error):
                return self._ended(error) if generation == self._generation else []
            case RetryDue(generation):
                return self._send() if generation == self._generation else []
            case RunTools():
                self._running = True
                return [*self._calls.begin()] if self._calls is not None else []
            case FollowUp():
                return self._follow_up()
            case Responded(text):
                return self._behind(self._cancel_calls(text))
            case Restarted():
                self._running = False
                return self._behind(self._calls.restart()) if self._calls is not None else []
            case Interrupted():
                return [Stop(), *self._leave(), self._complete(None)]
            case Aborted():
                cancelled = [effect for effect in self._cancel_calls() if not isinstance(effect, c.Record)]
                return [Stop(), *cancelled, Drop(), self._complete(None)]

    # --- requests ---

    def _send(self, *, anew: bool = False) -> list[Effect]:
        self._generation += 1
        self._overlap = Overlap(self._message) if self._message else None
        return [Send(self._generation, self._message, anew)]

    def _replied(self, event: "ChatRequest") -> list[Effect]:
        kept = [] if self.done else self._leave()
        if self._running or (self._calls is not None and self._calls.restarted):
            kept.append(Settled())
        self._begin()
        return [Stop(), *kept, Said(event.content), Record(event), *self._send(anew=True)]

    # --- calls

    def _recorded(self, events: "list[Stored]") -> list[Effect]:
        """Record what is complete; a call among it is prepared."""
        effects: list[Effect] = []
        for event in events:
            if not isinstance(event, ToolCallRequest):
                effects.append(Record(event))
            else:
                self._name(event)
                effects.append(Record(event))
                if self._calls is None:
                    self._calls = Calls(self._tools, self._memory, self._cancelled)
                effects += self._behind(self._calls.add(event))
        return effects

    def _name(self, call: ToolCallRequest) -> None:
        """Some models call everything by one id; a response must be known as its own call's."""
        wanted = call.id
        while call.id in self._ids:
            call.id = f"{wanted}-{len(self._ids) + 1}"
        self._ids.add(call.id)

    def _behind(self, effects: "list[c.Effect]") -> list[Effect]:
        """Hold responses back until the answer is whole: calls that were made together stand together, before them."""
        if self._answered:
            return [*effects]
        self._held += [effect for effect in effects if isinstance(effect, c.Record)]
        return [effect for effect in effects if not isinstance(effect, c.Record)]

    def _released(self) -> list[Effect]:
        held, self._held = self._held, []
        return held

    def _leave(self) -> list[Effect]:
        """Record what has arrived; no call of it runs, and each has a response."""
        kept = self._rest()
        calls = [event for event in kept if isinstance(event, ToolCallRequest)]
        for call in calls:
            self._name(call)
        effects: list[Effect] = [Record(event) for event in kept]
        effects += self._released()
        effects += self._cancel_calls()
        return [*effects, *Calls(self._tools, self._memory, self._cancelled).refuse(calls)]

    def _cancel_calls(self, text: str = "") -> "list[c.Effect]":
        return self._calls.cancel(text) if self._calls is not None else []

    def _follow_up(self) -> list[Effect]:
        assert self._calls is not None
        denied = self._calls.denied
        if denied is not None:
            return [self._complete(denied)]
        self._failed_rounds = 0 if self._calls.helped else self._failed_rounds + 1
        if self._failed_rounds == MAX_FAILED_ROUNDS:
            return [self._complete(StuckError())]
        self._begin()
        return [Settled(), *self._send(anew=True)]

    @property
    def _continuing(self) -> bool:
        return self._overlap is not None

    # --- deltas ---

    def _arrived(self, event: llm.Event) -> list[Effect]:
        match event:
            case llm.Message(text):
                return self._text(text)
            case llm.Reasoning(text, _):
                return self._reason(event, text)
            case llm.Usage():
                return []
            case llm.Finish():
                self._finish = event
                return self._flush_overlap()
            case llm.ToolCallStart() | llm.ToolCallArguments() | llm.ToolCallEnd():
                before = self._collector.close() if isinstance(event, llm.ToolCallStart) else []
                return self._recorded([*before, *self._arriving.feed(event)]) or [Activity("receiving tool call")]
            case _:
                return self._recorded(self._collector.feed(event)) or [Activity("receiving tool call")]

    def _reason(self, event: llm.Reasoning, text: str) -> list[Effect]:
        if self._continuing:
            return [Activity("reasoning")]
        effects = self._recorded(self._collector.feed(event))
        if text:
            effects += [Partial("reasoning", text), Show("reasoning", text)]
        return effects

    def _text(self, text: str) -> list[Effect]:
        if self._overlap is not None:
            text = self._overlap.feed(text)
        if not text:
            return [Activity("receiving response data")]
        return self._message_delta(text)

    def _flush_overlap(self) -> list[Effect]:
        rest = self._overlap.end() if self._overlap is not None else ""
        return self._message_delta(rest) if rest else []

    def _message_delta(self, text: str) -> list[Effect]:
        self._message += text
        effects = self._recorded(self._collector.feed(llm.Message(text)))
        if self._structured:
            return [*effects, Partial("message", text), Activity("receiving response data")]
        return [*effects, Partial("message", text), Show("message", text)]

    # --- the end of a stream ---

    def _ended(self, error: "JpError | None") -> list[Effect]:
        if error is None:
            return self._finished()
        self._arriving = Collector()
        if self._calls is not None:
            return self._finished()  # what was called is whole: its results are how it goes on
        effects = self._flush_overlap()
        match decide(error, self._failures, self._policy):
            case Retry(seconds):
                self._failures += 1
                pause = Pause(self._generation, seconds, self._failures, self._policy.max_retries, error)
                return [*effects, pause]
            case Fatal():
                return [*effects, *self._leave(), self._complete(error)]

    def _finished(self) -> list[Effect]:
        effects: list[Effect] = [*self._flush_overlap(), *self._keep()]
        if self._calls is not None:
            self._answered = True
            effects += [*self._released(), *self._notes()]
            return effects if self._tools is not None else [*effects, self._complete(None)]
        if not self._message:
            effects.append(Note("the model gave no answer"))
        return [*effects, *self._notes(), self._complete(None)]

    def _notes(self) -> list[Effect]:
        """What is to be said of an answer that has not come to its own end."""
        if self._finish is not None and self._finish.reason == "length":
            return [Note("the answer was cut off at the token limit (`assistant.model.parameters.max_tokens`)")]
        if self._finish is not None and self._finish.reason == "content_filter":
            return [Note("the provider's content filter ended the answer")]
        return []

    def _keep(self) -> list[Effect]:
        """Record what has arrived of the responses in progress."""
        return self._recorded(self._rest())

    def _rest(self) -> "list[Stored]":
        cut = self._finish is not None and self._finish.reason == "length"
        return [*self._collector.close(), *self._arriving.close(cut=cut)]

    def _complete(self, error: "JpError | None") -> Complete:
        self.done = True
        return Complete(error)
