"""Starts the programs of `program.py`, without a terminal or on one."""

import signal
import sys
from typing import Any

from tests.conftest import REPOSITORY
from tests.support.process import Process
from tests.support.terminal import Terminal

INT, TERM, HUP, QUIT = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
GRACEFUL = "gracefully shutting down…\n".encode()
TERMINATING = "terminating program…\n".encode()


def argv(*args: str) -> list[str]:
    return [sys.executable, "-m", "tests.interrupt.program", *args]


def process(*args: str, **options: Any) -> Process:
    """The program without a terminal, past the point where it says `up`."""
    started = Process(argv(*args), cwd=REPOSITORY, **options)
    return started.until(b"up\n")


def terminal(*args: str, **options: Any) -> Terminal:
    """The program on a terminal, past the point where it says `up`."""
    started = Terminal(argv(*args), cwd=REPOSITORY, **options)
    started.until(lambda screen: "up" in screen.text or b"up\n" in started.piped[1] + started.piped[2])
    return started
