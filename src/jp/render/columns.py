"""How wide the columns of a table are: pure arithmetic, for markdown tables and for listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def fit(natural: Sequence[int], least: Sequence[int], available: int) -> list[int] | None:
    """Widths for columns that would like to be `natural` wide and can't be narrower than `least`.

    What is too much is taken from the widest columns first, so that narrow ones stay whole. None when even the least
    widths are more than is available.
    """
    widths = list(natural)
    floor = [min(one, other) for one, other in zip(natural, least, strict=True)]
    excess = sum(widths) - available
    if excess <= 0:
        return widths
    if sum(floor) > available:
        return None
    while excess > 0:
        open_ = [index for index, width in enumerate(widths) if width > floor[index]]
        widest = max(widths[index] for index in open_)
        top = [index for index in open_ if widths[index] == widest]
        below = max([widths[index] for index in open_ if widths[index] < widest] + [floor[index] for index in top])
        step = min(widest - below, max(1, excess // len(top)))
        for index in top:
            taken = min(step, excess)
            widths[index] -= taken
            excess -= taken
    return widths


def aligned(text: str, width: int, alignment: str, wide: int) -> str:
    """`text`, which takes `width` columns, in a cell of `wide` columns. `alignment` is `<`, `^` or `>`."""
    room = max(0, wide - width)
    left = {"<": 0, "^": room // 2, ">": room}[alignment]
    return " " * left + text + " " * (room - left)
