"""Compaction overlays: what the provider sees of a conversation that was shortened (contracts, section 6).

Nothing is deleted: a `compaction` event says how a range of turns is shown. For each turn, the overlay with the latest
timestamp wins, separately for `summary`, `reasoning` and `tool_calls`; a summary hides all the rest of its turns.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec

from jp.conversation import events, turns
from jp.conversation.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jp.conversation.stream import Stream

_SEEN = ("turn_start", "chat_request", "chat_response", "tool_call_request", "tool_call_response")
SUMMARY_REQUEST = "[Summary of previous conversation]"
_UNITS = {"": 1, "B": 1, "K": 1000, "KB": 1000, "M": 1000**2, "MB": 1000**2, "G": 1000**3, "GB": 1000**3}
_UNITS |= {"KIB": 1024, "MIB": 1024**2, "GIB": 1024**3}


class Policy:
    """How one turn is shown. `first_turn` is where the summary's range begins; the `over` are sizes in bytes."""

    __slots__ = ("first_turn", "omit", "reasoning_over", "strip_over", "strip_request", "strip_response", "summary")

    def __init__(self) -> None:
        self.summary: str | None = None
        self.first_turn = 0
        self.reasoning_over: int | None = None  # None: shown; else reasoning larger than this is not
        self.omit = False
        self.strip_request = False
        self.strip_response = False
        self.strip_over = -1


def visible(stream: Stream) -> Iterator[events.Event]:
    """The events that a provider is to see, in order, overlays applied; all others are left out."""
    overlays = [one for one in stream.events("compaction") if isinstance(one, events.Compaction)]
    if not overlays:
        for event in stream.events(*_SEEN):
            if not isinstance(event, events.Unknown):
                yield event
        return
    numbers = turns.numbers(stream)
    policies = resolve(overlays, max(numbers, default=0) + 1)
    yield from _project(stream, numbers, policies)


def resolve(overlays: list[events.Compaction], count: int) -> list[Policy]:
    """The policy of each of `count` turns."""
    policies = [Policy() for _ in range(count)]
    # The latest is applied last.
    for one in sorted(overlays, key=lambda one: _time(one.timestamp)):
        for policy in policies[max(one.from_turn, 0) : max(one.to_turn + 1, 0)]:
            if (text := _summary(one.summary)) is not None:
                policy.summary, policy.first_turn = text, one.from_turn
            if one.reasoning not in (None, msgspec.UNSET):
                policy.reasoning_over = _over(one.reasoning)
            if one.tool_calls not in (None, msgspec.UNSET):
                _tool_calls(policy, one.tool_calls)
    return policies


def _time(text: str) -> float:
    moment = parse_timestamp(text)
    return moment.timestamp() if moment else 0.0


def _summary(value: object) -> str | None:
    if isinstance(value, dict):
        value = value.get("summary")
    return value if isinstance(value, str) else None


def _tool_calls(policy: Policy, spec: object) -> None:
    fields = spec if isinstance(spec, dict) else {"policy": spec}
    kind = fields.get("policy")
    policy.omit = kind == "omit"
    both = kind == "strip" and "request" not in fields and "response" not in fields
    policy.strip_request = kind == "strip-requests" or (kind == "strip" and (both or bool(fields.get("request"))))
    policy.strip_response = kind == "strip-responses" or (kind == "strip" and (both or bool(fields.get("response"))))
    policy.strip_over = _over(spec)


def _over(spec: object) -> int:
    """The size that an item must exceed for a policy to reach it; -1 reaches all."""
    value = spec.get("over") if isinstance(spec, dict) else None
    if isinstance(value, int):
        return value
    unit = 1
    if isinstance(value, str):
        number = value.rstrip("BbKkMmGgIi ")
        unit = _UNITS.get(value[len(number) :].strip().upper(), 1)
        value = number
    try:
        size = float(value) * unit  # type: ignore[arg-type]  # what is no number is the TypeError
        return sys.maxsize if size >= sys.maxsize else int(size)  # of `inf`, too: nothing is as large
    except (TypeError, ValueError, OverflowError):
        return -1


def _project(stream: Stream, numbers: list[int], policies: list[Policy]) -> Iterator[events.Event]:
    told: set[int] = set()
    sizes = _pair_sizes(stream) if any(policy.omit and policy.strip_over >= 0 for policy in policies) else {}
    names: dict[str, str] = {}
    for i, number in enumerate(numbers):
        if stream.type(i) not in _SEEN:
            continue
        policy = policies[number]
        if policy.summary is not None:
            if policy.first_turn not in told:
                told.add(policy.first_turn)
                when = events.read_head(stream.raw(i)).timestamp
                yield events.ChatRequest(timestamp=when, content=SUMMARY_REQUEST)
                yield events.ChatResponse(timestamp=when, message=policy.summary)
            continue
        event = stream.event(i)
        if isinstance(event, events.Unknown) or _hidden(event, policy, sizes):
            continue
        if isinstance(event, events.ToolCallRequest):
            names[event.id] = event.name
        _strip(event, policy, names)
        yield event


def _pair_sizes(stream: Stream) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for event in stream.events("tool_call_request", "tool_call_response"):
        if isinstance(event, events.ToolCallRequest | events.ToolCallResponse):
            sizes[event.id] = sizes.get(event.id, 0) + _size(event)
    return sizes


def _size(event: events.ToolCallRequest | events.ToolCallResponse) -> int:
    if isinstance(event, events.ToolCallResponse):
        return len(event.content.encode(errors="replace"))
    return len(msgspec.json.encode(event.arguments))


def _hidden(event: events.Event, policy: Policy, sizes: dict[str, int]) -> bool:
    if isinstance(event, events.ChatResponse) and isinstance(event.reasoning, str):
        return policy.reasoning_over is not None and len(event.reasoning.encode()) > policy.reasoning_over
    if policy.omit and isinstance(event, events.ToolCallRequest | events.ToolCallResponse):
        return policy.strip_over < 0 or sizes.get(event.id, 0) > policy.strip_over
    return False


def _strip(event: events.Event, policy: Policy, names: dict[str, str]) -> None:
    if isinstance(event, events.ToolCallRequest) and policy.strip_request and _size(event) > policy.strip_over:
        event.arguments = {}
    elif isinstance(event, events.ToolCallResponse) and policy.strip_response and _size(event) > policy.strip_over:
        said: Any = "error" if event.is_error else "success"
        event.content = f"[compacted] {names.get(event.id, 'unknown')}: {said}"
