"""Turns: from one `turn_start` to the next (contracts, section 1).

The oldest conversations have no `turn_start`; there a turn begins with each chat request.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jp.conversation.stream import Stream


def starts(stream: Stream) -> list[int]:
    """The index of the first event of every turn. What comes before the first one belongs to no turn."""
    kinds = [stream.type(i) for i in range(len(stream))]
    marker = "turn_start" if "turn_start" in kinds else "chat_request"
    return [i for i, kind in enumerate(kinds) if kind == marker]


def turns(stream: Stream) -> list[range]:
    """The turns as ranges of event indices, in order."""
    edges = [*starts(stream), len(stream)]
    return [range(a, b) for a, b in pairwise(edges)]


def numbers(stream: Stream) -> list[int]:
    """For every event the 0-based number of its turn; what comes before the first turn counts as the first."""
    found: list[int] = []
    for number, turn in enumerate(turns(stream)):
        found += [max(number - 1, 0)] * (turn.start - len(found))
        found += [number] * len(turn)
    return found + [0] * (len(stream) - len(found))
