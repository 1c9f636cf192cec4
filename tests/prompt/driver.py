"""A prompt on a pty in the modes of a prompt, with an emulator for the screen and a thread for the prompt.

What a person does is done from the test's thread, which also feeds the screen.
"""

import fcntl
import os
import select
import struct
import termios
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from pyghostty import Terminal as Emulator  # type: ignore[import-untyped]

from jp.prompt.backend import PRESS, RESIZE, STOP
from jp.prompt.outcomes import Outcome
from jp.prompt.questions import Question
from jp.prompt.terminal_prompts import TerminalPrompts
from jp.terminal import system
from tests.support.terminal import Screen

DEADLINE = 20.0
QUIET = 0.35  # more than the prompts want, on a busy machine too


class OnTerminal:
    """A `PromptTerminal` and the person in front of it."""

    def __init__(self, *, columns: int = 40, rows: int = 12, escapes: bool = True, colour: bool = False) -> None:
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self.fd, self.escapes, self.colour = self.slave, escapes, colour
        self.idle = True
        self.wake_fd, self._wake = os.pipe()
        self._notices: set[str] = set()
        self._lock = threading.Lock()
        self._emulator = Emulator(columns, rows)
        self.screen = Screen(self._emulator)
        self._set_size(columns, rows)
        modes = termios.tcgetattr(self.slave)
        modes[6][termios.VINTR] = b"\0"  # Ctrl-C comes as a byte: a press by the key is a signal, and has its own tests
        termios.tcsetattr(self.slave, termios.TCSANOW, system.cbreak(modes) if escapes else modes)
        self.output = b""
        self.undo = ""
        self.undos: list[str] = []
        self.discarded = 0
        self.drawn = 0.0  # when the input was last thrown away
        self.parked = threading.Event()
        self.go_on = threading.Event()
        self.presses = 0
        self.is_lost = False
        self.failed_reads = 0
        self.outcome: Outcome | None = None
        self._thread: threading.Thread | None = None

    # --- the terminal, as the prompt knows it

    def write(self, text: str) -> None:
        if not self.is_lost:
            os.write(self.slave, text.encode())

    def size(self) -> tuple[int, int]:
        return system.size(self.slave) or (1, 1)

    def notices(self) -> set[str]:
        with self._lock:
            os.read(self.wake_fd, 4096)
            notices, self._notices = self._notices, set()
            return notices

    def park(self) -> None:
        self.parked.set()
        assert self.go_on.wait(DEADLINE)
        self.go_on.clear()

    def press(self) -> None:
        self.presses += 1
        self.notify(PRESS)

    def suspend(self) -> None:
        self.notify(STOP)

    def quit(self) -> None:
        raise AssertionError("no prompt here asks for that")

    def undo_with(self, escapes: str) -> None:
        self.undo = escapes
        self.undos.append(escapes)

    def discard_input(self) -> None:
        system.discard_input(self.slave)
        self.discarded += 1
        self.drawn = time.monotonic()

    def waiting(self) -> int:
        return system.waiting(self.slave)

    def echo(self, shown: bool) -> None:
        modes = termios.tcgetattr(self.slave)
        modes[3] = modes[3] | termios.ECHO if shown else modes[3] & ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, modes)

    def lost(self) -> bool:
        self.failed_reads += 1
        return self.is_lost

    # --- the person

    def ask(self, question: Question) -> Self:
        """Begin to ask on a thread."""

        def run() -> None:
            self.outcome = TerminalPrompts().ask(question, self)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        return self

    def notify(self, *notices: str) -> None:
        """Something has happened to the prompt."""
        with self._lock:
            self._notices.update(notices)
            os.write(self._wake, b"\0")

    def send(self, data: bytes | str) -> None:
        """Type, at once."""
        os.write(self.master, data.encode() if isinstance(data, str) else data)

    def typed_ahead(self, data: bytes | str) -> None:
        """Type, and wait until it has arrived: the kernel hands it over when it finds the time."""
        before = self.waiting()
        self.send(data)
        self.until(lambda: self.waiting() >= before + len(data))

    def key(self, data: bytes | str) -> None:
        """Type after a silence that is long enough."""
        self.pump_for(QUIET)
        self.send(data)

    def ready(self, text: str, discards: int = 1) -> Self:
        """Wait until the prompt is there and has thrown away what was typed before."""
        self.until(lambda: text in self.screen.text and self.discarded >= discards)
        return self

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self.pump()
        self._emulator.resize(columns, rows)
        self._set_size(columns, rows)
        self.notify(RESIZE)

    def lose(self) -> None:
        """Close the window."""
        self.is_lost = True
        os.close(self.master)
        self.master = -1

    def stop(self) -> None:
        """Ctrl-Z: returns when the prompt has left the terminal."""
        self.notify(STOP)
        self.until(self.parked.is_set)
        self.parked.clear()

    def pump(self, secs: float = 0) -> None:
        if self.master < 0:
            time.sleep(secs)
            return
        while select.select([self.master], [], [], secs)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.output += data
            self._emulator.feed(data)

    def pump_for(self, secs: float) -> None:
        end = time.monotonic() + secs
        while (left := end - time.monotonic()) > 0:
            self.pump(left)

    def until(self, condition: Callable[[], object] | str) -> Screen:
        met = condition if callable(condition) else lambda: condition in self.screen.text
        end = time.monotonic() + DEADLINE
        while True:
            self.pump(0.005)
            if met():
                return self.screen
            if time.monotonic() > end:
                raise AssertionError(f"not within {DEADLINE} s:\n{self.screen!r}\n{self.output[-300:]!r}")

    def ended(self) -> Any:
        """The outcome; everything that was written is on the screen then."""
        assert self._thread is not None
        self.until(lambda: not self._thread.is_alive())  # type: ignore[union-attr]
        self._thread.join()
        self.pump()
        assert self.undo == ""
        return self.outcome

    def still_asks(self) -> bool:
        """Whether the prompt has not ended, after all that was typed was read."""
        self.until(lambda: not select.select([self.slave], [], [], 0)[0])
        self.pump_for(0.1)
        return self._thread is not None and self._thread.is_alive()

    def queued(self) -> bytes:
        """What was typed and not read by the prompt."""
        return os.read(self.slave, 4096) if select.select([self.slave], [], [], 0)[0] else b""

    def close(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.notify("end")
            self.go_on.set()
            self._thread.join(DEADLINE)
        for fd in (self.master, self.slave, self.wake_fd, self._wake):
            if fd >= 0:
                os.close(fd)
        self._emulator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
