"""One run of a plugin against a host that is made up: what it wrote, how it ended, what it left behind.

The plugin gets a session of its own, without a terminal. Whatever becomes of the run, nothing of the plugin is left:
neither its group nor, where `/proc` tells of them, those that have moved out of it.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import Protocol
from uuid import uuid4

from msgspec import Struct, field

from jp.interrupt import children
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.signals import INT, KILL
from jp.plugin import messages, wire
from jp.plugin.check_left import marked, now
from jp.plugin.exchange import Exchange
from jp.plugin.messages import Message
from jp.plugin.wire import Faulty, MalformedError
from jp.terminal.sanitize import one_line

MARK = "PLUGIN_CHECK_RUN"  # in the environment: names what the plugin has started

MAX_LINES = 10_000
MAX_BYTES = 64 * 1024 * 1024
ENDS_SECS = 3.0  # for the process to end after `exit`
_STEP_SECS = 0.02
_HELD_SECS = 0.5  # that others may hold its stdout after its end
_LINGER_SECS = 0.5  # for what it has started to end, too
_REAP_SECS = 2.0


class Program(Struct, frozen=True, kw_only=True):
    """The plugin, and what it is run with."""

    path: str  # absolute
    environ: Mapping[str, str]
    cwd: str


class Line(Struct, kw_only=True):
    """A line that the plugin wrote; `fault` is what is wrong with it."""

    number: int
    data: bytes
    message: Message | Faulty | None = None
    fault: str = ""

    @property
    def excerpt(self) -> str:
        """Its beginning, fit to be shown."""
        return shortened(self.data)


class Record(Struct, kw_only=True):
    """What is left of a run."""

    about: str
    lines: list[Line] = field(default_factory=list)
    exit: messages.Exit | None = None  # the first that it said
    unfinished: bytes = b""
    status: int | None = None  # as `Child.returncode`; None where it had to be killed
    stopped: int | None = None
    left: list[str] = field(default_factory=list)  # what it started and left running
    stderr: str = ""
    waited: float = 0.0  # seconds
    given_up: str = ""  # why the run was cut short
    failed: str = ""  # why it could not be started

    @property
    def said(self) -> list[Message]:
        """The right messages in it."""
        return [each.message for each in self.lines if isinstance(each.message, Message)]


class Script(Protocol):
    """How the host behaves in a run; `about` names it."""

    about: str

    def begin(self, run: "Run") -> None: ...
    def take(self, run: "Run", message: Message | Faulty) -> None: ...


class Run:
    """A run that goes on, as a Script has it."""

    def __init__(self, program: Program, script: Script, seconds: float) -> None:
        self._script = script
        mark = uuid4().hex
        self._mark = f"{MARK}={mark}".encode()
        self._begun = time.monotonic()
        self._since = now()
        self._until = self._begun + seconds
        self._timers: list[tuple[float, Callable[[], object]]] = []
        self._exited_at: float | None = None
        self._bytes = 0
        self.record = Record(about=script.about)
        self._child = children.spawn(
            [program.path],
            env={**program.environ, MARK: mark},
            cwd=program.cwd,
            stdin=children.PIPE,
            stdout=children.PIPE,
            stderr=children.PIPE,
            session=True,
        )
        stdin, stdout, stderr = self._child.stdin, self._child.stdout, self._child.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._exchange = Exchange(stdin, stdout, stderr)

    # --- for the script

    def send(self, message: Message | bytes) -> None:
        """Send a message, or bytes that are to look like one."""
        self._exchange.send(message if isinstance(message, bytes) else wire.encode(message))

    def hang_up(self) -> None:
        """Close its standard input."""
        self._exchange.hang_up()

    def interrupt(self) -> None:
        """SIGINT to its group, as a press of Ctrl-C."""
        self._child.kill_group(INT)

    def after(self, seconds: float, fn: Callable[[], object]) -> None:
        """Call `fn` in so many seconds, if the run goes on until then."""
        self._timers.append((time.monotonic() + seconds, fn))

    def within(self, seconds: float) -> None:
        """The plugin has so many seconds left, and no more than before."""
        self._until = min(self._until, time.monotonic() + seconds)

    def give_up(self, why: str) -> None:
        """End the run here."""
        self.record.given_up = self.record.given_up or why

    # --- for who performs it

    def perform(self) -> None:
        """Go through it, to the end of the plugin or of its time. Main thread; raises Shutdown."""
        self._script.begin(self)
        while not (self._over() or self.record.given_up or time.monotonic() >= self._until):
            try:
                for data in self._exchange.step(0.0 if self._idle() else self._patience()):
                    if not self.record.given_up:
                        self._take(data)
            except MalformedError as error:
                self._add(Line(number=len(self.record.lines) + 1, data=b"", fault=f"it {error}"))
            self._fire()
            self._pause()

    def close(self) -> Record:
        """Kill what is left; the record of it all."""
        record, child = self.record, self._child
        if child.exited.is_set():
            record.status = child.returncode
            record.left = self._lingering()
        record.stopped = child.stopped
        self._kill()
        child.exited.wait(_REAP_SECS)
        record.unfinished = self._exchange.unfinished
        record.stderr = self._exchange.errors.decode("utf-8", "replace")
        record.waited = time.monotonic() - self._begun
        self._exchange.close()
        return record

    def _take(self, data: bytes) -> None:
        line = Line(number=len(self.record.lines) + 1, data=data)
        over = self.record.exit is not None
        try:
            line.message = wire.decode(data)
        except MalformedError as error:
            line.fault = f"it {error}"
        if isinstance(line.message, Faulty):
            line.fault = line.message.message
        self._add(line)
        if isinstance(line.message, messages.Exit) and not over:
            self.record.exit = line.message
            self.within(ENDS_SECS)
        if line.message is not None and not over:
            self._script.take(self, line.message)

    def _add(self, line: Line) -> None:
        self.record.lines.append(line)
        self._bytes += len(line.data)
        if len(self.record.lines) > MAX_LINES or self._bytes > MAX_BYTES:
            self.give_up(f"it wrote on and on: {len(self.record.lines):,} lines, {self._bytes:,} bytes")
        if line.fault and line.message is None:
            self.give_up("it wrote what is no message")  # there the host ends it, too

    def _over(self) -> bool:
        """Whether the plugin has ended, and all that it wrote was read."""
        if not self._child.exited.is_set():
            return False
        if self._exited_at is None:
            self._exited_at = time.monotonic()
        return self._exchange.over or time.monotonic() > self._exited_at + _HELD_SECS

    def _idle(self) -> bool:
        """Whether only its end is waited for; waits for it for a moment."""
        return self._exchange.over and (self._child.exited.wait(_STEP_SECS) or True)

    def _patience(self) -> float:
        due = min((at for at, _ in self._timers), default=self._until)
        return min(_STEP_SECS, max(0.0, due - time.monotonic()))

    def _fire(self) -> None:
        due = [each for each in self._timers if each[0] <= time.monotonic()]
        self._timers = [each for each in self._timers if each not in due]
        for _, fn in due:
            fn()

    def _pause(self) -> None:
        """Let an interrupt in; the time that a person takes over it is not the plugin's."""
        before = time.monotonic()
        checkpoint()
        paused = time.monotonic() - before
        self._until += paused
        self._timers = [(at + paused, fn) for at, fn in self._timers]

    def _lingering(self) -> list[str]:
        """What still runs a moment after its end."""
        until = time.monotonic() + _LINGER_SECS
        while True:
            found, doubt = marked(self._mark, self._since)
            if not (found or doubt or self._child.lives()):
                return []
            if time.monotonic() > until:
                return [one_line(line) for line in found.values()] or (
                    ["a process of its group"] if self._child.lives() else []
                )
            time.sleep(0.005)

    def _kill(self) -> None:
        """End its group, and whatever has moved out of it."""
        until = time.monotonic() + _LINGER_SECS
        self._child.kill_group(KILL)
        while True:
            found, doubt = marked(self._mark, self._since)
            for pid in found:
                try:
                    os.kill(pid, KILL)
                except OSError:
                    pass
            if not (found or doubt) or time.monotonic() > until:
                return
            time.sleep(0.005)


def perform(program: Program, script: Script, seconds: float) -> Record:
    """Run the plugin once, for at most so many seconds. Main thread; raises Shutdown."""
    try:
        run = Run(program, script, seconds)
    except (OSError, ValueError) as error:
        return Record(about=script.about, failed=getattr(error, "strerror", None) or str(error))
    try:
        run.perform()
    finally:
        record = run.close()
    return record


def shortened(data: bytes) -> str:
    """The beginning of what a plugin wrote, fit to be shown."""
    text = one_line(data[:400].decode("utf-8", "replace"))
    return f"`{text[:100]}{'…' if len(text) > 100 or len(data) > 400 else ''}`"
