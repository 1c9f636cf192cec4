"""The turn as a state machine: what happened goes in, what to do comes out; no clock, socket, terminal or file.

A turn asks a provider, shows and records what arrives, goes on where a stream died (decisions, "A stream that dies"),
and ends. The loop in `jp.turn.loop` carries the effects out in the order given: the journal is written before the word
is shown.

On a continuation the provider is given the partial answer and asked to go on. Its reasoning about that is dropped, the
overlap of its text with what is there is removed, and the stored message is one message.
"""

import msgspec

from jp.llm import events as llm
from jp.llm.collect import Collector
from jp.llm.continuation import Overlap
from jp.llm.retry import Fatal, Policy, Retry, decide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.conversation.events import ChatRequest, Event
    from jp.errors import JpError

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


Happening = Begin | Arrived | Ended | RetryDue | Interrupted | Aborted | Replied

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


Effect = Send | Stop | Partial | Show | Activity | Record | Drop | Said | Pause | Note | Complete


class Machine:
    """One turn. `step` is the only method that changes it; it is a function of the events fed so far."""

    def __init__(self, policy: Policy, *, structured: bool = False) -> None:
        self._policy = policy
        self._structured = structured
        self._generation = 0
        self._begin()

    def _begin(self) -> None:
        """An answer to what the conversation ends with."""
        self._collector = Collector(structured=self._structured)
        self._overlap: Overlap | None = None
        self._failures = 0  # of the whole answer: a server that always cuts off after a word must not go on for ever
        self._message = ""  # text of the message that is arriving, over all attempts
        self._called: list[str] = []  # tools
        self._finish: llm.Finish | None = None
        self.done = False

    def __repr__(self) -> str:
        state = "done" if self.done else f"generation {self._generation}"
        return f"<Machine {state}, failures {self._failures}, {len(self._message)} characters>"

    def step(self, happening: Happening) -> list[Effect]:
        """The effects of `happening`, to be carried out in order."""
        if isinstance(happening, Replied):
            return self._replied(happening.event)
        if self.done:
            return []
        match happening:
            case Begin():
                return self._send()
            case Arrived(generation, event):
                return self._arrived(event) if generation == self._generation else []
            case Ended(generation, error):
                return self._ended(error) if generation == self._generation else []
            case RetryDue(generation):
                return self._send() if generation == self._generation else []
            case Interrupted():
                return [Stop(), *self._keep(), self._complete(None)]
            case Aborted():
                return [Stop(), Drop(), self._complete(None)]

    # --- requests ---

    def _send(self, *, anew: bool = False) -> list[Effect]:
        self._generation += 1
        self._overlap = Overlap(self._message) if self._message else None
        return [Send(self._generation, self._message, anew)]

    def _replied(self, event: "ChatRequest") -> list[Effect]:
        kept = [] if self.done else self._keep()
        self._begin()
        return [Stop(), *kept, Said(event.content), Record(event), *self._send(anew=True)]

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
            case _:
                if isinstance(event, llm.ToolCallStart):
                    self._called.append(event.name)
                effects: list[Effect] = [Record(e) for e in self._collector.feed(event)]
                return effects or [Activity("receiving tool call")]

    def _reason(self, event: llm.Reasoning, text: str) -> list[Effect]:
        if self._continuing:
            return [Activity("reasoning")]
        effects: list[Effect] = [Record(e) for e in self._collector.feed(event)]
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
        effects: list[Effect] = [Record(e) for e in self._collector.feed(llm.Message(text))]
        if self._structured:
            return [*effects, Partial("message", text), Activity("receiving response data")]
        return [*effects, Partial("message", text), Show("message", text)]

    # --- the end of a stream ---

    def _ended(self, error: "JpError | None") -> list[Effect]:
        if error is None:
            return self._finished()
        effects = self._flush_overlap()
        match decide(error, self._failures, self._policy):
            case Retry(seconds):
                self._failures += 1
                pause = Pause(self._generation, seconds, self._failures, self._policy.max_retries, error)
                return [*effects, pause]
            case Fatal():
                return [*effects, *self._keep(), self._complete(error)]

    def _finished(self) -> list[Effect]:
        effects: list[Effect] = [*self._flush_overlap(), *self._keep()]
        if self._called:
            effects.append(Note(f"the model called {' and '.join(self._called)}; tools are not run yet"))
        elif not self._message:
            effects.append(Note("the model gave no answer"))
        if self._finish is not None and self._finish.reason == "length":
            effects.append(Note("the answer was cut off at the token limit (`assistant.model.parameters.max_tokens`)"))
        elif self._finish is not None and self._finish.reason == "content_filter":
            effects.append(Note("the provider's content filter ended the answer"))
        return [*effects, self._complete(None)]

    def _keep(self) -> list[Effect]:
        """Record what has arrived of the responses in progress."""
        return [Record(event) for event in self._collector.close()]

    def _complete(self, error: "JpError | None") -> Complete:
        self.done = True
        return Complete(error)
