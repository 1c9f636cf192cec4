"""Time limits: what counts as waiting."""

from __future__ import annotations

import time

import pytest

from jp.llm import errors as e
from jp.llm import wire
from jp.llm.address import parse
from jp.llm.connect import Lifeline
from jp.llm.wire import Wire
from tests.llm.receiving import Receiver
from tests.wire.model_server import ModelServer, drip, silent
from tests.wire.raw_server import AT_ONCE, HANG, RawServer


def test_time_in_which_the_process_was_stopped_is_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "SLICE", 0.05)
    with RawServer([[AT_ONCE, HANG]]) as server:
        at = parse(server.base_url)
        line = Lifeline()
        connection = Wire(at, line, server=at, timeout=30)
        stopped_for = iter(range(0, 10**6, 1000))  # the clock jumps by 1000 s at every look
        begun = time.monotonic()
        with monkeypatch.context() as patch:
            clock = time.monotonic
            patch.setattr(time, "monotonic", lambda: clock() + next(stopped_for))
            with pytest.raises(e.Timeout, match=r"for 0\.35 s"):
                connection.receive(limit=0.35)
        took = time.monotonic() - begun
        connection.close()
        line.close()
    assert took >= 3 * 0.05, "each slice counts for two at most"


def test_no_limit_is_for_ever() -> None:
    with ModelServer(silent(after="kept")) as server:
        receiver = Receiver(server.base_url, idle_secs=0).until_text("kept")
        receiver.source.stop()
        receiver.finish()
    assert isinstance(receiver.error, e.Stopped)


def test_the_limit_is_for_silence_and_not_for_the_whole() -> None:
    with ModelServer(drip(per_second=50, chunks=40)) as server:
        receiver = Receiver(server.base_url, idle_secs=0.5).finish()
    assert receiver.error is None
    assert receiver.text.count("[") == 40
