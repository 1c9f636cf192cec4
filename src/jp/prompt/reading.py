"""Waiting for what a person types and for what else happens, on the terminal of a prompt.

A signal overtakes the bytes that were typed before it. So what is queued on the terminal is always taken first, and a
notice only then; a prompt that is answered by those bytes leaves the notice to whoever comes next.
"""

import os
import select
import time
from collections import deque
from typing import NamedTuple

from jp.prompt.backend import CONTINUE, END, PRESS, RESIZE, STOP, PromptTerminal
from jp.prompt.keys import KeyReader, Press, Reply, Token

LOST = "lost"  # beside the notices: the terminal is gone
CHUNK = 65536
_DRAIN_READS = 256  # a flood of input must not keep a press waiting for ever
_EMPTY: tuple[int, ...] = ()


class Keys(NamedTuple):
    """What came in one read, without the terminal's own answers.

    `quiet`: seconds without any input before it. `alone`: it is one key or paste, and nothing came with it. `early`: it
    was typed before the prompt was there, as one of so many bytes.
    """

    tokens: list[Token]
    quiet: float
    early: int = 0

    @property
    def alone(self) -> bool:
        """Whether nothing else came in the same read."""
        return len(self.tokens) == 1


def read(terminal: PromptTerminal, size: int = CHUNK) -> bytes | None:
    """What is there; nothing at the end of the input, None when it can't be read (lost, or not ours just now)."""
    try:
        return os.read(terminal.fd, size)
    except OSError:  # in the background, too: the prompt thread blocks the signal that would stop the job
        return None


def queued(terminal: PromptTerminal, secs: float = 0) -> bool:
    """Whether something was typed and not read, now or within `secs`."""
    return bool(select.select([terminal.fd], _EMPTY, _EMPTY, secs)[0])


def flush(reader: KeyReader) -> list[Token]:
    """What the reader holds, without waiting for more."""
    tokens: list[Token] = []
    while reader.waiting is not None:
        tokens += reader.silence()
    return tokens


class Reading:
    """Events for one prompt, in the order in which they happened. `size`: bytes a read takes at most.

    With a `size` of 1 nothing is taken that was typed after the key that answers.
    """

    def __init__(self, terminal: PromptTerminal, size: int = CHUNK) -> None:
        self.keys = KeyReader()
        self._terminal = terminal
        self._size = size
        self._events: deque[Keys | str] = deque()
        self._readable = True
        self._reads_since_wake = 0
        self._last = time.monotonic()
        self._quiet = 0.0
        self._early = self._early_left = 0  # bytes

    def begin(self) -> None:
        """The prompt is about to be drawn: what waits by now was typed before."""
        self._early = self._early_left = self._terminal.waiting()

    def restart(self) -> None:
        """Throw away what was typed so far; the silence begins now."""
        self._terminal.discard_input()
        self.keys = KeyReader()
        self._events = deque(event for event in self._events if isinstance(event, str))
        self._last = time.monotonic()

    def next(self) -> Keys | str:
        """Wait for keys, for a notice of the terminal, or for its loss (`LOST`)."""
        while not self._events:
            fds = [self._terminal.wake_fd]
            if self._readable and self._reads_since_wake < _DRAIN_READS:
                fds.append(self._terminal.fd)
            self._terminal.idle = self.keys.waiting is None
            ready = select.select(fds, _EMPTY, _EMPTY, self.keys.waiting)[0]
            self._terminal.idle = False
            if self._terminal.fd in ready:
                self._reads_since_wake += len(ready) - 1
                self._read()
            elif ready:
                self._reads_since_wake = 0
                self._noticed()
            else:
                self._give(self.keys.silence(), early=self._early if self._early_left >= 0 else 0)
        return self._events.popleft()

    def _read(self) -> None:
        data = read(self._terminal, self._size)
        if not data:
            self._readable = False  # until a notice says that something has changed
            if self._terminal.lost():
                self._give(flush(self.keys))
                self._events.append(LOST)
            return
        now = time.monotonic()
        if self.keys.waiting is None:
            self._quiet = now - self._last
        self._last = now
        early = self._early if self._early_left > 0 else 0
        self._early_left -= len(data)
        self._give(self.keys.feed(data), early=early)

    def _noticed(self) -> None:
        self._readable = True
        notices = self._terminal.notices()
        for last in (PRESS, END):
            if last in notices:
                self._give(flush(self.keys))
                self._events.append(last)
        if STOP in notices:
            self._events.append(STOP)  # after it the prompt is drawn anew, whatever else has happened
        else:
            self._events.extend(notice for notice in (CONTINUE, RESIZE) if notice in notices)

    def _give(self, tokens: list[Token], *, early: int = 0) -> None:
        kept: list[Token] = []
        for token in tokens:
            if isinstance(token, Press):
                self._terminal.press()  # what came after it in this read was not meant for this prompt
                break
            if not isinstance(token, Reply):
                kept.append(token)
        if kept:
            self._events.append(Keys(kept, self._quiet, early))
