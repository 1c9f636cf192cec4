"""What a plugin wants to add to a conversation, held against what is there. Pure: values in, values out.

A push is taken as a whole or refused as a whole. Texts come readable and are stored as exactly these texts: nothing is
taken for base64 here, however much it looks like it.

**Turns.** A `chat_request` gets a `turn_start` before it where no turn is open. A turn is open from its `turn_start`
until the assistant is done: until a `message` or `data` of its is the last that was said. A plugin that sends the
`turn_start` itself says where turns begin: that turn is open until its push ends, so that a conversation that was read
can be pushed as it is, with the requests in it that broke into an answer.

**Requests and responses.** A response belongs to an earlier request that has none yet. An id may come again once its
request was answered, or in a later turn: there are models that count their calls from 0 in every answer.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, Struct

from jp.conversation import events
from jp.conversation.timestamps import parse_timestamp
from jp.plugin.errors import RequestError
from jp.tool.redaction import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jp.conversation.events import Event

DEEPEST = 100  # levels within an event: what other readers of the format still parse is 128 in the whole document

_REQUEST_OF = {"tool_call_response": "tool_call_request", "inquiry_response": "inquiry_request"}
_RESPONSE_OF = {request: response for response, request in _REQUEST_OF.items()}
_COURSE = ("chat_request", "chat_response", *_REQUEST_OF, *_RESPONSE_OF)  # what a turn is made of
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,9})?", re.ASCII)


class Stored(NamedTuple):
    """An event of the conversation, by what matters of it to those that follow."""

    type: str
    id: str | None = None
    secret: bool = False  # it asks for a secret
    thought: bool = False  # of the assistant, and not yet its answer


class _Fault(Exception):
    """Why an event is refused."""


def stored(raw: bytes | memoryview, kind: str) -> Stored:
    """What matters of an event as it is stored; texts in it are not decoded. Never raises."""
    if kind not in _COURSE or kind == "chat_request":
        return Stored(kind)
    try:
        found = msgspec.json.decode(raw, type=_Peek)
    except (ValueError, RecursionError):
        return Stored(kind)
    ident = found.id if isinstance(found.id, str) else None
    return Stored(kind, ident, _is_secret(found.question), bool(bytes(found.reasoning)))


class _Peek(Struct):
    id: Any = None
    question: Any = None
    reasoning: msgspec.Raw = msgspec.Raw()


def _is_secret(question: object) -> bool:
    kind = question.get("answer_type") if isinstance(question, dict) else None
    kind = kind.get("type") if isinstance(kind, dict) else kind
    return isinstance(kind, str) and kind.lower() == "secret"


def checked(sent: Sequence[bytes], existing: Iterable[Stored], now: str) -> list[Event]:
    """What is to be appended for the events `sent` (JSON), a `turn_start` before a `chat_request` where it needs one.

    `now` is the timestamp of those that have none. The answer to a secret is taken out. Raises `RequestError`, naming
    the event by its place (from 1; in the metadata from 0) and its type.
    """
    course = _Course()
    for one in existing:
        course.add(one)
    found: list[Event] = []
    for place, raw in enumerate(sent):
        kind = ""
        try:
            kind = _type(raw)
            event = _decoded(raw, kind, now)
            course.check(event)
        except _Fault as fault:
            which = f"event {place + 1} of {len(sent)}" + (f" (`{_short(kind)}`)" if kind else "")
            raise RequestError(
                f"{which}: {fault}; none of the events is stored",
                metadata={"event": place, "type": kind or None},
            ) from None
        if isinstance(event, events.ChatRequest) and not course.open:
            found.append(events.TurnStart(timestamp=event.timestamp))
            course.add(Stored(events.TurnStart.type))
        elif isinstance(event, events.TurnStart):
            course.given = True
        found.append(event)
        course.add(_of(event))
    return found


def _of(event: Event) -> Stored:
    ident = getattr(event, "id", None)
    secret = isinstance(event, events.InquiryRequest) and _is_secret(event.question)
    thought = isinstance(event, events.ChatResponse) and event.reasoning is not UNSET
    return Stored(event.type, ident, secret, thought)


class _Course:
    """How far a conversation has come. `given`: a turn of it was begun by the plugin itself, in this push."""

    def __init__(self) -> None:
        self.given = False
        self._asked = False  # there is a turn, or a request without one, as the oldest conversations have them
        self._turn = 0
        self._answered = False
        self._waiting: dict[tuple[str, str], tuple[int, bool]] = {}  # requests: the turn, and whether for a secret

    @property
    def open(self) -> bool:
        """Whether a turn is open."""
        return self.given or (self._turn > 0 and not self._answered)

    def add(self, one: Stored) -> None:
        """One more event."""
        if one.type == "turn_start":
            self._turn += 1
            self._asked, self._answered = True, False
        elif one.type in _COURSE:
            self._asked = self._asked or one.type == "chat_request"
            self._answered = one.type == "chat_response" and not one.thought
            if one.id is not None and one.type in _RESPONSE_OF:
                self._waiting[one.type, one.id] = self._turn, one.secret
            elif one.id is not None and one.type in _REQUEST_OF:
                self._waiting.pop((_REQUEST_OF[one.type], one.id), None)

    def check(self, event: Event) -> None:
        """Raises `_Fault` where an event can't follow; takes the answer to a secret out."""
        kind = event.type
        if not self._asked and kind not in ("turn_start", "chat_request", "config_delta"):
            raise _Fault("there is no turn yet that it could belong to; a `chat_request` begins one")
        if isinstance(event, events.ToolCallRequest | events.InquiryRequest):
            turn, _ = self._waiting.get((kind, event.id), (None, False))
            if turn == self._turn:
                raise _Fault(f"the `{kind}` before it with the same id `{_short(event.id)}` has no response yet")
        elif isinstance(event, events.ToolCallResponse | events.InquiryResponse):
            wanted = _REQUEST_OF[kind]
            if (wanted, event.id) not in self._waiting:
                raise _Fault(f"no `{wanted}` before it with the id `{_short(event.id)}` waits for a response")
            if isinstance(event, events.InquiryResponse) and self._waiting[wanted, event.id][1]:
                event.answer = REDACTED


# --- one event


class _Head(Struct):
    type: Any = None
    timestamp: Any = UNSET


@cache
def _decoders() -> dict[str, msgspec.json.Decoder[Any]]:
    return {each.type: msgspec.json.Decoder(each) for each in get_args(events.Event)}


def _head(raw: bytes) -> _Head:
    try:
        return msgspec.json.decode(raw, type=_Head)
    except msgspec.ValidationError:
        raise _Fault("it is no JSON object") from None
    except (ValueError, RecursionError) as error:
        raise _Fault(f"it is no JSON that can be read ({_said(error)})") from None


def _type(raw: bytes) -> str:
    kind = _head(raw).type
    if kind is None:
        raise _Fault("it has no `type`")
    if not isinstance(kind, str):
        raise _Fault("its `type` is no string")
    return kind


def _decoded(raw: bytes, kind: str, now: str) -> Event:
    decoder = _decoders().get(kind)
    if decoder is None:
        raise _Fault(f"unknown event type: `type` is one of {', '.join(f'`{each}`' for each in _decoders())}")
    try:
        event: Event = decoder.decode(raw)
    except (ValueError, RecursionError) as error:
        raise _Fault(_said(error)) from None
    if _head(raw).timestamp is UNSET:
        event.timestamp = now
    elif not _TIMESTAMP.fullmatch(event.timestamp) or parse_timestamp(event.timestamp) is None:
        raise _Fault("`timestamp` is no time in UTC such as `2026-05-29 19:42:36.46732`")
    _check_form(event)
    if _is_deeper(events.to_dict(event), DEEPEST):
        raise _Fault(f"it is nested more than {DEEPEST} levels deep")
    try:
        events.encode(event)
    except (ValueError, OverflowError, RecursionError) as error:
        raise _Fault(f"it can't be stored ({_said(error)})") from None
    return event


def _check_form(event: Event) -> None:
    """Raises `_Fault` for what the types do not say."""
    if isinstance(event, events.ChatRequest):
        if event.author is not UNSET and not isinstance(event.author, str | dict):
            raise _Fault("`author` is neither a string nor an object")
    elif isinstance(event, events.InquiryRequest):
        if not isinstance(event.source, str | dict):
            raise _Fault("`source` is neither a string nor an object")
        try:
            question = msgspec.convert(event.question, _Question)
        except ValueError as error:
            raise _Fault(_said(error, "question")) from None
        if question.answer_type.type == "select" and question.answer_type.options is UNSET:
            raise _Fault("`question.answer_type` is a select and has no `options`")
    elif isinstance(event, events.Compaction) and not 0 <= event.from_turn <= event.to_turn:
        raise _Fault("`from_turn` and `to_turn` are no range of turns (from 0, both included)")


class _AnswerType(Struct):
    type: Literal["boolean", "select", "text", "secret"]
    options: list[Any] | msgspec.UnsetType = UNSET


class _Question(Struct):
    text: str
    answer_type: _AnswerType


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        below = (one.values() if isinstance(one, dict) else one for one in level)
        level = [each for one in below for each in one if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _said(error: BaseException, above: str = "") -> str:
    """What msgspec says, with the path of a field as a plugin knows it."""
    text = str(error)
    if not above:
        return text.replace(" - at `$.", " at `")
    return text.replace(" - at `$", f" at `{above}") if " - at `$" in text else f"{text} at `{above}`"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
