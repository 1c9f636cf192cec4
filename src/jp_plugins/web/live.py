"""What is new in a conversation for a page that shows it: found by a cursor that the page keeps."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any

from jp.plugin.messages import Events
from jp_plugins.conversation_html import Look, one_part, turn
from jp_plugins.turns import Turn, turns

_CURSOR = re.compile(r"(\d{1,9})\.([0-9a-f]{12})\.([0-9a-f]{12})\.([01])")


def running(events: Events) -> bool:
    """Whether somebody is writing the conversation."""
    return events.lock == "elsewhere"


def cursor(events: Events) -> str:
    """How far a page is that shows these events: how many they are, which, and how the last one stands."""
    count = len(events.data)
    return f"{count}.{_before(events, count)}.{_last(events, count)}.{int(running(events))}"


def news(events: Events, after: str, look: Look) -> dict[str, Any] | None:
    """What a page with the cursor `after` lacks, for the script; None where that is nothing.

    `reload` where the page shows what is not there any more. Else `parts`: each with its `turn` and `html`, which takes
    the place of the element with the same id or comes last in its turn; and for a new turn that turn, whole.
    """
    at = cursor(events)
    if at == after:
        return None
    answer: dict[str, Any] = {"cursor": at, "running": running(events), "parts": []}
    given = _CURSOR.fullmatch(after)
    count = int(given[1]) if given else 0
    if given is None or count > len(events.data) or given[2] != _before(events, count):
        return answer | {"reload": True}
    # The last event that the page knows may have grown since.
    known = count if given[3] == _last(events, count) else count - 1
    for each in turns(events.data):
        answer["parts"] += _of_turn(each, known, look)
    return answer


def _of_turn(each: Turn, known: int, look: Look) -> list[dict[str, Any]]:
    touched = [part for part in each.parts if part.touched >= known]
    if not touched:
        return []
    if all(part.index >= known for part in each.parts):
        return [{"turn": each.number, "whole": True, "html": "".join(turn(each, look))}]
    found = [one_part(part, look) for part in touched]
    return [{"turn": each.number, "whole": False, "html": html} for html in found if html]


def _before(events: Events, count: int) -> str:
    """Which events stand before the last of the first `count`."""
    heads = [f"{each.get('type')} {each.get('timestamp')}" for each in events.data[: max(count - 1, 0)]]
    return _digest("\n".join(heads))


def _last(events: Events, count: int) -> str:
    return _digest(json.dumps(events.data[count - 1], default=str) if count else "")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
