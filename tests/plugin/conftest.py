"""A host to run plugins with, what is logged, and an end to whatever a test has begun, but not of this process."""

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jp import log
from jp.interrupt import end
from tests.plugin.hostile import Logged
from tests.plugin.hosting import Hosting
from tests.support.marked import marked

RESCUE_SECS = 40.0


@pytest.fixture(autouse=True)
def no_deadline() -> Iterator[None]:
    """A shutdown that a test has begun has a deadline, at which the process of the tests would end."""
    yield
    if end.deadline is not None:
        end.deadline = end.cause = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def rescued() -> Iterator[None]:
    """A plugin that JP does not end when it should makes a test fail, not wait for ever."""
    rescue = threading.Timer(RESCUE_SECS, lambda: [os.kill(pid, signal.SIGKILL) for pid in marked()])
    rescue.start()
    yield
    rescue.cancel()


@pytest.fixture
def hosting(tmp_path: Path) -> Hosting:
    hosting = Hosting(tmp_path)
    hosting.router.shutdown_timeout_secs = 2 * RESCUE_SECS
    return hosting


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Logged:
    """What is logged, at every level."""
    logged = Logged()
    monkeypatch.setattr(log, "_level", log.TRACE)
    monkeypatch.setattr(log, "_hide", None, raising=False)  # the secrets of another test
    monkeypatch.setattr(log, "_write", logged.raw.append)
    return logged
