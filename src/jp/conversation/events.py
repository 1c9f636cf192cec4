"""The events of a conversation as they stand in `events.json` (contracts, section 6).

An event on disk is never rewritten: what this module does not know (an unknown type, an unknown field, a form that no
version documents) is kept as bytes elsewhere and comes here only to be looked at, as `Unknown`.

Text that tools and providers produced (arguments, tool output, metadata) is base64 on disk, string by string, so that
searching a project does not find it; the classes hold it decoded. Reading is tolerant: a string that is no base64 of
UTF-8 is taken as it is.
"""

from __future__ import annotations

import binascii
import codecs
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

JSON = dict[str, Any]


class _Event(Struct, kw_only=True):
    """What all events have: `timestamp` as written on disk (UTC), and opaque `metadata` that providers want back."""

    type: ClassVar[str]
    timestamp: str = ""
    metadata: JSON | UnsetType = UNSET


class TurnStart(_Event):
    """A turn begins."""

    type: ClassVar[str] = "turn_start"


class ConfigDelta(_Event):
    """Configuration that changed from here on; `delta` is a partial config."""

    type: ClassVar[str] = "config_delta"
    delta: JSON


class ChatRequest(_Event):
    """What the user said; `schema` asks for a structured answer."""

    type: ClassVar[str] = "chat_request"
    content: str
    author: Any = UNSET
    schema: JSON | UnsetType | None = UNSET


class ChatResponse(_Event):
    """What the model said: exactly one of `message`, `reasoning` and `data` (structured) is set."""

    type: ClassVar[str] = "chat_response"
    message: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    data: Any = UNSET

    def __post_init__(self) -> None:
        given = [self.message, self.reasoning, self.data]
        if sum(one is not UNSET for one in given) != 1:
            raise ValueError("a chat_response has exactly one of message, reasoning and data")


class ToolCallRequest(_Event):
    """The model wants a tool to run."""

    type: ClassVar[str] = "tool_call_request"
    id: str
    name: str
    arguments: JSON = {}


class ToolCallResponse(_Event):
    """What came of a tool call."""

    type: ClassVar[str] = "tool_call_response"
    id: str
    content: str
    is_error: bool = False


class InquiryRequest(_Event):
    """A question asked while a tool ran; `id` is `<call id>.<question id>`."""

    type: ClassVar[str] = "inquiry_request"
    id: str
    source: Any
    question: JSON


class InquiryResponse(_Event):
    """The answer to an inquiry; a secret is stored as redacted."""

    type: ClassVar[str] = "inquiry_response"
    id: str
    answer: Any


class Compaction(_Event):
    """An overlay that shows a range of turns (0-based, both ends included) to the provider in a shorter form."""

    type: ClassVar[str] = "compaction"
    from_turn: int
    to_turn: int
    summary: JSON | str | UnsetType | None = UNSET
    reasoning: Any = UNSET
    tool_calls: Any = UNSET


class Unknown:
    """An event of a type or form that this version does not know; `raw` is its JSON, untouched."""

    __slots__ = ("raw", "reason", "timestamp", "type")

    def __init__(self, type_: str, timestamp: str, raw: bytes, reason: str) -> None:
        self.type = type_
        self.timestamp = timestamp
        self.raw = raw
        self.reason = reason


Event = (
    TurnStart
    | ConfigDelta
    | ChatRequest
    | ChatResponse
    | ToolCallRequest
    | ToolCallResponse
    | InquiryRequest
    | InquiryResponse
    | Compaction
)

_CLASSES: dict[str, type[Event]] = {
    cls.type: cls
    for cls in (
        TurnStart,
        ConfigDelta,
        ChatRequest,
        ChatResponse,
        ToolCallRequest,
        ToolCallResponse,
        InquiryRequest,
        InquiryResponse,
        Compaction,
    )
}
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


class Head(Struct):
    """The two fields that every event has. Decoding them checks the JSON of the whole event."""

    type: Any = ""
    timestamp: Any = ""


_decode_head = msgspec.json.Decoder(Head).decode


def read_head(raw: bytes | memoryview) -> Head:
    """Type and timestamp of an event, empty where it has none. Raises `ValueError` when `raw` is no JSON."""
    try:
        try:
            found = _decode_head(raw)
        except msgspec.ValidationError:
            msgspec.json.decode(raw, type=msgspec.Raw)
            return Head()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found.type, str) or not isinstance(found.timestamp, str):
        return Head(str(found.type), "")
    return found


def decode(
    raw: bytes | memoryview, kind: str | None = None, restore: Callable[[Any], Any] | None = None
) -> Event | Unknown:
    """The event that `raw` (one JSON value) holds; what is no event of a known form is `Unknown`.

    `kind` is its type where that is known already; `restore` completes every value before base64 is undone. Raises
    `ValueError` when `raw` is no JSON.
    """
    kind = read_head(raw).type if kind is None else kind
    cls = _CLASSES.get(kind)
    if cls is None:
        return Unknown(kind, read_head(raw).timestamp, bytes(raw), "unknown type")
    decoder = _decoders.get(kind) or _decoders.setdefault(kind, msgspec.json.Decoder(cls))
    try:
        event: Event = decoder.decode(raw)
    except (ValueError, RecursionError) as error:
        # Beside a wrong field this is text that is no UTF-8, which the check of the JSON passes over.
        if cls is ConfigDelta and isinstance(error, msgspec.ValidationError):
            return _inline_delta(raw)
        return Unknown(kind, read_head(raw).timestamp, bytes(raw), str(error))
    if restore is not None:
        for key in event.__struct_fields__:
            setattr(event, key, restore(getattr(event, key)))
    _decode_opaque(event)
    return event


def _inline_delta(raw: bytes | memoryview) -> Event | Unknown:
    # The oldest form has the config beside `type` and `timestamp`.
    try:
        config = msgspec.json.decode(raw)
    except RecursionError:
        return Unknown(ConfigDelta.type, read_head(raw).timestamp, bytes(raw), "it is nested too deeply")
    timestamp = config.pop("timestamp", "")
    del config["type"]
    metadata = config.pop("metadata", UNSET)
    return ConfigDelta(timestamp=timestamp, delta=config, metadata=metadata)


def encode(event: Event | Unknown) -> bytes:
    """The event as `events.json` holds it: two-space indentation, `timestamp` and `type` first, no final newline."""
    return event.raw if isinstance(event, Unknown) else msgspec.json.format(encode_line(event), indent=2)


def encode_line(event: Event | Unknown) -> bytes:
    """The event in its stored form, as one line of JSON."""
    if isinstance(event, Unknown):
        return msgspec.json.format(event.raw, indent=-1)
    fields = to_dict(event)
    for key in _OPAQUE.get(event.type, ("metadata",)):
        if key in fields:
            fields[key] = encode_strings(fields[key])
    return _dump(fields)


def to_dict(event: Event) -> JSON:
    """The event's fields in the order of the disk, text readable."""
    first = {"type": event.type, "timestamp": event.timestamp}
    # Bookkeeping events lead with their type, the others with their time: the order that exists on disk.
    fields: JSON = first if isinstance(event, ConfigDelta | Compaction) else dict(reversed(first.items()))
    for key in event.__struct_fields__:
        value = getattr(event, key)
        if value is not UNSET and key not in ("timestamp", "metadata"):
            fields[key] = value
    if event.metadata is not UNSET:
        fields["metadata"] = event.metadata
    return fields


def _dump(fields: JSON) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form and no reader of the format would accept it escaped.
        return msgspec.json.encode(each_string(fields, lambda s: s.encode(errors="replace").decode()))


_OPAQUE = {
    "tool_call_request": ("arguments", "metadata"),
    "tool_call_response": ("content", "metadata"),
}


def _decode_opaque(event: Event) -> None:
    if event.metadata is not UNSET:
        event.metadata = decode_strings(event.metadata)
    if isinstance(event, ToolCallRequest):
        event.arguments = decode_strings(event.arguments)
    elif isinstance(event, ToolCallResponse):
        event.content = decode_text(event.content)


def encode_strings(value: Any) -> Any:
    """`value` with every string in it, at any depth, as base64 (keys stay)."""
    return each_string(value, encode_text)


def decode_strings(value: Any) -> Any:
    """`value` with every string in it, at any depth, decoded from base64 where it is that."""
    return each_string(value, decode_text)


def each_string(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a JSON value with every string in it changed (keys stay).

    With a stack of its own: what the parser takes may be nested deeper than calls of functions may be.
    """
    copy: list[Any] = []
    todo: list[tuple[Any, Any]] = [([value], copy)]
    while todo:
        old, new = todo.pop()
        for key, one in old.items() if isinstance(old, dict) else enumerate(old):
            changed = one
            if isinstance(one, str):
                changed = change(one)
            elif isinstance(one, dict | list):
                changed = {} if isinstance(one, dict) else []
                todo.append((one, changed))
            if isinstance(new, dict):
                new[key] = changed
            else:
                new.append(changed)
    return copy[0]


def encode_text(text: str) -> str:
    """`text` as the base64 of its UTF-8."""
    data = text.encode(errors="replace")
    step = 3 * _PIECE // 4
    pieces = [binascii.b2a_base64(data[at : at + step], newline=False) for at in range(0, len(data), step)]
    return b"".join(pieces).decode("ascii")


_URL_ALPHABET = {ord("-"): "+", ord("_"): "/"}
_PIECE = 3 << 20  # a multiple of 4 and of 3: one call over a huge text would hold the interpreter for too long


def decode_text(text: str) -> str:
    """The text whose base64 `text` is, or `text` itself when it is no base64 of UTF-8."""
    if len(text) % 4:
        return text
    given = text
    if "-" in text or "_" in text:
        # The alphabet for URLs, which versions before 2026 used.
        text = text.translate(_URL_ALPHABET)
    try:
        if len(text) <= _PIECE:
            return binascii.a2b_base64(text, strict_mode=True).decode()
        decoder = codecs.getincrementaldecoder("utf-8")()
        pieces: list[str] = []
        for at in range(0, len(text), _PIECE):
            piece, last = text[at : at + _PIECE], at + _PIECE >= len(text)
            if piece.endswith("=") and not last:
                return given
            pieces.append(decoder.decode(binascii.a2b_base64(piece, strict_mode=True), final=last))
        return "".join(pieces)
    except ValueError:
        return given
