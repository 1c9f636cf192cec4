"""Waiting with a limit on the event loop."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

STEP_SECS = 1.0


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives; raises TimeoutError when it takes longer than `seconds` (0: no limit), and cancels it.

    The time in which this process is stopped does not count: it is measured in steps, and a step that took much
    longer than it should counts as one.
    """
    task = asyncio.ensure_future(work)
    clock = asyncio.get_running_loop().time
    left = seconds
    try:
        while not task.done():
            if seconds and left <= 0:
                raise TimeoutError
            step = min(STEP_SECS, left) if seconds else None
            before = clock()
            await asyncio.wait({task}, timeout=step)
            left -= min(clock() - before, 2 * STEP_SECS)
        return task.result()
    finally:
        task.cancel()
