"""Where a line of markdown belongs: the containers that it continues and begins, and the kind of block inside them.

Pure: looks at a line and at the open containers, changes neither.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jp.render import lines
from jp.render.page import Prefix
from jp.render.pen import MARKER

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACES = re.compile(r"[ \t]*")
MAX_DEPTH = 40  # containers in containers; deeper markers are text


class Container:
    """A quote, or a list item when `indent` is not 0: the columns that its lines are indented by."""

    __slots__ = ("empty", "fresh", "indent", "kind", "number", "prefix")

    def __init__(self, kind: str, indent: int, number: int, prefix: Prefix) -> None:
        self.kind = kind  # `>`, or the character that marks the items of this list
        self.indent = indent
        self.number = number
        self.prefix = prefix
        self.fresh = True  # no block was begun in it
        self.empty = False  # an item that a blank line came into before anything else


class Spot:
    """Where a line belongs: `matched` containers stay, `opened` begin, and `kind` of block has its text at `at`."""

    __slots__ = ("at", "continues", "indent", "kind", "matched", "opened", "short")

    def __init__(self, matched: int, at: int, short: int = 0) -> None:
        self.matched = matched
        self.at = at
        self.short = short  # columns that the last matched container lacks
        self.indent = 0
        self.opened: list[Container] = []
        self.kind = "paragraph"
        self.continues = False  # the line is another one of the open block


def matched(text: str, containers: Sequence[Container]) -> Spot:
    """The containers that the line continues."""
    at = start = 0
    count = 0
    for container in containers:
        if start <= at:
            start = skip(text, at)
        if container.kind == ">":
            if start - at > 3 or text[start : start + 1] != ">":
                break
            at = start + (2 if text[start + 1 : start + 2] == " " else 1)
        elif start < len(text):
            if container.empty:
                break
            if start - at < container.indent:
                # Models indent bullets below a number by two; in the specification they would be a list of their own.
                if start - at < 2 or container.kind not in ".)" or not lines.BULLET.match(text, start):
                    break
                return Spot(count + 1, start, container.indent - (start - at))
            at += container.indent
        count += 1
    return Spot(count, at)


def begun(text: str, spot: Spot, containers: Sequence[Container], *, paragraph: bool, complete: bool) -> Spot | None:
    """The containers that the line begins, and the kind of block inside them; None while that is not decided.

    `paragraph` is whether one is open, which the line may continue or interrupt.
    """
    everything = spot.matched == len(containers)
    while True:
        start = skip(text, spot.at)
        spot.indent = start - spot.at
        inside = paragraph and everything and not spot.opened
        if start == len(text):
            spot.kind = "empty"
            return spot if complete else None
        if spot.indent >= 4:
            if paragraph and not spot.opened:
                return _continued(spot, start, len(containers))
            spot.kind = "code"
            return spot if complete else None
        rest = text[start:]
        kind = lines.leaf(rest, complete=complete, in_paragraph=inside)
        if kind is None:
            return None
        if kind == "paragraph" and spot.matched + len(spot.opened) < MAX_DEPTH:
            if not complete and lines.is_bare_marker(rest):
                return None
            opened = _container(text, start, spot, before=_sibling(spot, containers), interrupts=inside)
            if opened is not None:
                spot.opened.append(opened)
                continue
        if kind == "paragraph" and paragraph and not spot.opened:
            return _continued(spot, start, len(containers))
        spot.at = start
        spot.kind = kind
        if spot.opened and spot.opened[-1].indent and rest[0] == "[" and kind == "paragraph":
            return _task(text, spot, complete=complete)
        return spot


def _continued(spot: Spot, at: int, containers: int) -> Spot:
    """The line is more text of the open paragraph, also where it lacks the marks of its containers."""
    spot.matched = containers
    spot.kind = "continuation"
    spot.at = at
    return spot


def _container(text: str, start: int, spot: Spot, *, before: Container | None, interrupts: bool) -> Container | None:
    """The container whose marker is at `start`; moves the spot behind it."""
    if text[start] == ">":
        spot.at = start + (2 if text[start + 1 : start + 2] == " " else 1)
        return Container(">", 0, 0, Prefix("│ "))
    match = lines.BULLET.match(text, start) or lines.ORDERED.match(text, start)
    if match is None:
        return None
    bullet = match.re is lines.BULLET
    mark = match[1] if bullet else match[1] + match[2]
    spaces = len(match[match.re.groups])
    empty = match.end() == len(text)
    if interrupts and (empty or not (bullet or int(match[1]) == 1)):
        return None
    if empty or spaces > 4:
        spaces = 1
    indent = max(1, start - spot.at + len(mark) + spaces - (0 if spot.opened else spot.short))
    spot.at = min(start + len(mark) + spaces, len(text))
    kind = mark[-1]
    number = 0 if bullet else int(match[1])
    if number and before is not None and before.kind == kind:
        number = before.number + 1  # items are counted from the number of the first one of their list
    shown = "• " if bullet else f"{number}{kind} "
    return Container(kind, indent, number, Prefix(" " * len(shown), MARKER, shown))


def _sibling(spot: Spot, containers: Sequence[Container]) -> Container | None:
    """The container that a new one at this place comes after."""
    return containers[spot.matched] if not spot.opened and spot.matched < len(containers) else None


def _task(text: str, spot: Spot, *, complete: bool) -> Spot | None:
    rest = text[spot.at :]
    match = lines.TASK.match(rest)
    if match is None:
        return None if not complete and len(rest) < 4 else spot
    if skip(text, spot.at + 3) == len(text):
        return spot if complete else None
    item = spot.opened[-1]
    box = "☐ " if match[1] == " " else "☑ "
    numbered = item.prefix.first if item.number else ""
    item.prefix = Prefix(" " * (len(numbered or "") + 2), MARKER, f"{numbered}{box}")
    spot.at = skip(text, spot.at + 3)
    return spot


def skip(text: str, at: int) -> int:
    """Where the spaces at `at` end; tabs are left only at the end of a line."""
    match = _SPACES.match(text, at)
    return match.end() if match is not None else at
