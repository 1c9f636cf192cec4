"""Limits of time do not run while the process is stopped."""

import asyncio
import time

import pytest

from jp.tool.mcp.waiting import within


class Loop(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward, as it is after the process was stopped."""

    forward = 0.0

    def time(self) -> float:
        return super().time() + self.forward


@pytest.fixture
def loop() -> Loop:
    return Loop()


async def _answer(loop: Loop, forward: float) -> str:
    await asyncio.sleep(0.02)
    loop.forward += forward
    before = time.monotonic()
    while time.monotonic() < before + 0.05:
        await asyncio.sleep(0.005)
    return "answer"


@pytest.mark.parametrize("forward", [0, 3600])
def test_time_in_which_nothing_runs_does_not_count(loop: Loop, forward: float) -> None:
    try:
        assert loop.run_until_complete(within(5, _answer(loop, forward))) == "answer"
    finally:
        loop.close()


def test_what_takes_too_long_is_cancelled(loop: Loop) -> None:
    ended = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async def limited() -> None:
        with pytest.raises(TimeoutError):
            await within(0.05, endless())
        await asyncio.sleep(0)

    try:
        loop.run_until_complete(limited())
    finally:
        loop.close()
    assert ended == [True]


def test_zero_is_no_limit(loop: Loop) -> None:
    try:
        assert loop.run_until_complete(within(0, _answer(loop, 3600))) == "answer"
    finally:
        loop.close()
