"""Whether what somebody wrote into a conversation's files can be stored. Pure; nothing is corrected.

What was there before is never a fault, however odd: files of other versions hold what this one does not know.
"""

from copy import deepcopy
from typing import Any

import msgspec

from jp.config.errors import ConfigError, describe
from jp.config.layers import Layer
from jp.config.resolved import said
from jp.config.schema import split_key
from jp.conversation import events
from jp.conversation.stream import NotEventsError, Stream
from jp.conversation.timestamps import parse_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jp.conversation.events import Event, Unknown

EVENTS = "events.json"
METADATA = "metadata.json"
BASE_CONFIG = "base_config.json"

_TIMES = ("last_activated_at", "pinned_at", "archived_at", "expires_at")


class Fault(Exception):
    """Why a file can't be stored, in words that begin with its name."""


def check(name: str, new: bytes, old: bytes) -> None:
    """Raises `Fault` when `new` can't take the place of `old` in the file `name`."""
    if not _is_text(new) and _is_text(old):
        raise Fault(f"{name}: not valid UTF-8")
    _CHECKS[name](new, old)


def _events(new: bytes, old: bytes) -> None:
    try:
        stream = Stream(new)
    except NotEventsError as error:
        raise Fault(f"{EVENTS}{_place(new)}: {error.message}") from error
    known = _raws(old)
    for i in range(len(stream)):
        raw = bytes(stream.raw(i))
        if raw not in known:
            why = _event(raw, stream.event(i))
            if why:
                line = new.count(b"\n", 0, new.find(raw)) + 1
                raise Fault(f"{EVENTS}, line {line}, event {i + 1}: {why}")


def _raws(data: bytes) -> set[bytes]:
    try:
        stream = Stream(data)
    except NotEventsError:
        return set()
    return {bytes(stream.raw(i)) for i in range(len(stream))}


def _event(raw: bytes, event: "Event | Unknown") -> str:
    """What is wrong with one event; empty when nothing is."""
    what = _not_an_object(raw)
    if what:
        return f"is {what}, not an object"
    if not _has_type(raw):
        return 'has no "type" that is a text'
    if isinstance(event, events.Event):
        return (
            "" if parse_timestamp(event.timestamp) else f'"{event.type}" has no valid "timestamp" ({event.timestamp!r})'
        )
    return "" if event.reason == "unknown type" else f'"{event.type}": {event.reason}'


def _not_an_object(raw: bytes) -> str:
    """What an event is instead of an object; empty where it is one."""
    kinds = {b"{": "", b"[": "a list", b'"': "a text", b"n": "null", b"t": "true", b"f": "false"}
    return kinds.get(raw[:1], "a number")


class _Type(msgspec.Struct):
    type: str


def _has_type(raw: bytes) -> bool:
    try:
        return msgspec.json.decode(raw, type=_Type).type != ""
    except (ValueError, RecursionError):
        return False


def _metadata(new: bytes, old: bytes) -> None:
    fields, before = _json(METADATA, new), _json_or_empty(old)
    for key, value in fields.items():
        if value is None or (key in before and before[key] == value):
            continue
        if key == "title" and not isinstance(value, str):
            raise Fault(f'{METADATA}: "title" is {describe(value)}; allowed: a text')
        if key in _TIMES and parse_timestamp(value) is None:
            raise Fault(f'{METADATA}: "{key}" is {describe(value)}; allowed: a time such as "2026-05-29 19:42:36.5"')
        if key == "labels" and not _are_labels(value):
            raise Fault(f'{METADATA}: "labels" is {describe(value)}; allowed: an object of texts or lists of texts')


def _are_labels(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, str) or (isinstance(one, list) and all(isinstance(text, str) for text in one))
        for one in value.values()
    )


def _base_config(new: bytes, old: bytes) -> None:
    tree, before = deepcopy(_json(BASE_CONFIG, new)), _json_or_empty(old)
    while True:
        try:
            Layer("file", BASE_CONFIG, tree).read()
            return
        except ConfigError as error:
            path = split_key(str(error.metadata.get("key", "")))
            if not _was_there(tree, before, path):
                raise Fault("; ".join((error.message, *error.hints))) from error
            _drop(tree, path)


def _was_there(tree: "Mapping[str, Any]", before: "Mapping[str, Any]", path: tuple[str, ...]) -> bool:
    now, then = (said(Layer("file", BASE_CONFIG, one), path) for one in (tree, before))
    return bool(path) and type(now) is type(then) and bool(now == then)


def _drop(tree: Any, path: tuple[str, ...]) -> None:
    """Take a value out; one inside a list goes with the whole list."""
    for step in path[:-1]:
        below = tree[step]
        if not isinstance(below, dict):
            tree.pop(step)
            return
        tree = below
    tree.pop(path[-1])


def _json(name: str, data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise Fault(f"{name}{_place(data)}: not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise Fault(f"{name}: is {describe(found)}, not an object")
    return found


def _json_or_empty(data: bytes) -> dict[str, Any]:
    try:
        return _json("", data)
    except Fault:
        return {}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _place(data: bytes) -> str:
    """Where JSON ends to be JSON, for a message; empty where the standard library sees no fault either."""
    import json

    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        return f", line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return ""
    return ""


_CHECKS: "dict[str, Callable[[bytes, bytes], None]]" = {
    EVENTS: _events,
    METADATA: _metadata,
    BASE_CONFIG: _base_config,
}
