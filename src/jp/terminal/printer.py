"""The one Printer: every byte that JP writes to stdout, stderr or the terminal goes through it (contracts, section 2).

Calls only queue text; the worker (`jp.terminal.worker`) writes it. Nothing here blocks without a deadline, and every
method may be called from any thread. Text is queued without a limit: a pipe that nobody reads holds up nothing and
loses nothing, it costs the memory of what it was to get.
"""

import _thread
import time

from jp.interrupt import end
from jp.terminal import channels, system
from jp.terminal.capabilities import ChannelCaps, Format, resolve
from jp.terminal.capabilities import colour as resolve_colour
from jp.terminal.loan import Loan
from jp.terminal.sink import Buffer
from jp.terminal.target import Target
from jp.terminal.worker import Gate, Leftovers, Worker, urgent_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from jp.terminal.channels import Channels
    from jp.terminal.device import Device
    from jp.terminal.status import StatusHandle
    from jp.terminal.tty import Tty

__all__ = ["Buffer", "ChannelCaps", "Format", "Loan", "Printer", "Target"]

ANNOUNCE_SECS = 0.05
_STEP_SECS = 0.5


class Printer:
    """Writes text, records and chrome to the channels that can carry them. Made by `for_process` or `memory`.

    `on_closed` is called once, on the worker, when the reader of stdout is gone; it must not block. `on_hangup`, if
    set, is called instead when stdout was a terminal that went away. `out_error` is why stdout took no more (a full
    disk). `max_latency` bounds the typewriter's lag in seconds; 0 is no pacing.
    """

    def __init__(
        self,
        made_of: "Channels",
        *,
        quiet: bool = False,
        log_on_stderr: bool = False,
        clock: "Callable[[], float]" = time.monotonic,
    ) -> None:
        """For the constructors below."""
        self.format = made_of.format
        self.quiet = quiet
        self.tty: Tty | None = None
        self.tty_buffer = made_of.buffers[Target.TTY]
        self.transcript = made_of.transcript
        self._channels = made_of
        self._clock = clock
        self._worker = Worker(made_of.devices, clock)
        self._has_status = self.can_repaint and not (log_on_stderr or quiet or self.format.is_json)
        self._inline = False
        self._turn = _thread.allocate_lock()
        self._suspended: list[tuple[Loan, float]] = []

    # -- making one -------------------------------------------------------------------------------------------------

    @classmethod
    def for_process(
        cls,
        *,
        format: Format,  # noqa: A002 (the flag's own name)
        environ: "Mapping[str, str]",
        tty: "Tty | None",
        log_on_stderr: bool = False,
        quiet: bool = False,
    ) -> "Self":
        """The Printer of this process: descriptors 1 and 2, and the controlling terminal that was probed."""
        made_of = channels.of_process(format, environ, tty)
        printer = cls(made_of, quiet=quiet, log_on_stderr=log_on_stderr)
        printer.tty = tty
        printer._open_status(None)
        if tty is not None:
            end.restores[id(printer)] = Leftovers(tty.fd, printer._worker)
        _thread.start_new_thread(printer._worker.run, (system.Waiter(),))
        return printer

    @classmethod
    def memory(
        cls,
        format: Format,  # noqa: A002
        *,
        clock: "Callable[[], float]" = time.monotonic,
        quiet: bool = False,
    ) -> "tuple[Self, Buffer, Buffer]":
        """A Printer on buffers, with the capabilities of a terminal run of `format`: (printer, stdout, stderr)."""
        out_caps, err_caps = resolve(format, out_tty=True, err_tty=True, environ={"TERM": "xterm-256color"})
        return cls.memory_with(format, out_caps, err_caps, clock=clock, quiet=quiet)

    @classmethod
    def memory_with(
        cls,
        format: Format,  # noqa: A002
        out_caps: ChannelCaps,
        err_caps: ChannelCaps,
        *,
        tty: bool = False,
        clock: "Callable[[], float]" = time.monotonic,
        environ: "Mapping[str, str] | None" = None,
        **how: bool,
    ) -> "tuple[Self, Buffer, Buffer]":
        """A Printer on buffers with the capabilities given: (printer, stdout, stderr). `how`: quiet, log_on_stderr.

        Every call has been carried out when it returns. Addressable channels are one terminal, which has a prompt
        channel (`tty_buffer`) as well when `tty` is true; `transcript` holds what all channels got, in order. Time is
        the clock's; `tick` lets the worker look at it.
        """
        caps = {Target.OUT: out_caps, Target.ERR: err_caps, Target.TTY: ChannelCaps(tty, tty)}
        made_of = channels.of_memory(format, caps, environ or {}, tty=tty)
        printer = cls(made_of, clock=clock, **how)
        printer._inline = True
        printer._open_status(0.0)
        return printer, made_of.buffers[Target.OUT], made_of.buffers[Target.ERR]

    # -- what the channels are --------------------------------------------------------------------------------------

    def caps(self, target: Target) -> ChannelCaps:
        """What a channel can carry."""
        return self._channels.caps[target]

    @property
    def can_repaint(self) -> bool:
        """Whether chrome can be repainted in place: stderr takes escapes and is addressable."""
        return self._channels.caps[Target.ERR].can_repaint

    def colour(self, target: Target) -> bool:
        """Whether colour may be used on a channel (its escape capability and `NO_COLOR`)."""
        return resolve_colour(self.format, self._channels.caps[target], self._channels.environ)

    def width(self, target: Target) -> int | None:
        """Columns of a channel: its terminal's, else those that `COLUMNS` declares, else None. Asked anew each time."""
        return self._channels.width(target)

    # -- writing ----------------------------------------------------------------------------------------------------

    def out(self, text: str) -> None:
        """Data on stdout, verbatim; escapes only where it can carry them."""
        self._write(Target.OUT, text)

    def typed(self, text: str, delay: float) -> None:
        """Reply text on stdout, `delay` seconds a character where stdout is a terminal that shows escapes.

        It is written at once by a flush, a lend and the end.
        """
        self._write(Target.OUT, text, delay=delay if self._channels.caps[Target.OUT].can_repaint else 0.0)

    def record(self, record: bytes | str) -> None:
        """One JSON record on stdout, already encoded: a line under `json`, indented under `json-pretty`."""
        if self.format is Format.JSON_PRETTY:
            from msgspec import json

            record = json.format(record, indent=2)
        text = record.decode("utf-8", "replace") if isinstance(record, bytes) else record
        self._write(Target.OUT, text if text.endswith("\n") else text + "\n")

    def note(self, text: str, *, now: bool = False) -> None:
        """Chrome: a line on stderr, `{"message": …}` under json; silenced by quiet.

        `now`: also while the terminal is lent, between two prompts of a dialogue.
        """
        if self.quiet:
            return
        if now:
            self._post(self._worker.write_now, Target.ERR, self._message(text))
        else:
            self._line(text)

    def chrome(self, text: str) -> None:
        """A raw piece of chrome on stderr; not under json, not when quiet."""
        if not (self.quiet or self.format.is_json):
            self._write(Target.ERR, text)

    def error(self, record: "Mapping[str, object]", text: str) -> None:
        """An error on stderr: the `{"message", "metadata", "code"}` record under json, `text` otherwise."""
        if self.format.is_json:
            self._write(Target.ERR, _json(record))
        else:
            self._line(text)

    def show(self, text: str) -> None:
        """Lines for the person at the terminal, in the middle of a dialogue: whatever becomes of stdout and stderr.

        They are foreign text, which may have colours and nothing else that acts.
        """
        from jp.terminal.sanitize import Sanitizer

        sanitizer = Sanitizer()
        shown = sanitizer.feed(text) + sanitizer.end()
        self._post(self._worker.write_now, Target.TTY, shown.rstrip("\n") + "\n")

    def terminal(self, text: str) -> None:
        """The prompt channel: drawn on the controlling terminal, or nowhere. Goes through while it is lent."""
        self._write(Target.TTY, text)

    def announce(self, text: str) -> None:
        """A message that must be seen now: a line of its own on stderr, also when quiet.

        Past the queue when that does not move: then it is one non-blocking write. Returns within 50 ms.
        """
        line = self._message(text)
        taken = _thread.allocate_lock()
        written = Gate()

        def print_it() -> None:
            if taken.acquire(blocking=False):
                self._worker.write(Target.ERR, line, True, 0.0)
                self._worker.flush(written)

        device = self._worker.device(Target.ERR)
        if device is not None and device.held:
            self._await_return(device)
        if device is None or not (device.held or device.blocked):
            self._post(print_it)
            if self._inline or written.wait(ANNOUNCE_SECS):
                return
        if not taken.acquire(blocking=False) or device is None:
            return  # the worker has it, and it is on its way
        data = urgent_line(line, device, repaint=self.can_repaint)
        try:
            if not device.sink.write(Target.ERR, memoryview(data)):
                self._write(Target.ERR, line, fresh=True)  # a stopped terminal shows it when it goes on
        except OSError:
            pass  # nobody is there to see it

    def _await_return(self, device: "Device") -> None:
        """Who has the terminal is just being told to give it back: a moment for that, or the line lands in a prompt."""
        until = time.monotonic() + ANNOUNCE_SECS
        while device.held and time.monotonic() < until and not self._inline:
            time.sleep(0.001)

    # -- the status line --------------------------------------------------------------------------------------------

    def status(
        self, subject: str, *, delay: float = 0.0, interval: float = 0.1, countdown_from: float | None = None
    ) -> "StatusHandle":
        """Claim the status line: `subject` (`Waiting…`), the elapsed time, and a detail in parentheses.

        Seconds: shown after `delay`, redrawn every `interval`; `countdown_from` counts down instead of up. The latest
        claim is shown. Works, and writes nothing, where the line cannot be drawn.
        """
        from jp.terminal.status import StatusHandle

        handle = StatusHandle(
            subject,
            since=self._clock(),
            delay=delay,
            interval=interval,
            countdown_from=countdown_from,
            changed=lambda _: self._post(self._worker.touch_status),
        )
        if self._worker.status is not None:
            self._post(self._worker.status.add, handle)
        return handle

    def update(self, handle: "StatusHandle", text: str) -> None:
        """News that a claim has (a retry): its detail on the status line, a plain line where there is none."""
        if self._worker.status is not None:
            handle.detail(text)
        else:
            self.note(text)

    def resized(self) -> None:
        """The window has another size: the status line is fitted to it."""
        self._post(self._worker.touch_status)

    def tick(self) -> None:
        """Let an in-memory Printer look at its clock."""
        self._post(self._worker.nothing)

    # -- lending and ending -----------------------------------------------------------------------------------------

    def flush(self, timeout: float | None) -> bool:
        """Write what is queued, within `timeout` seconds (None: however long it takes); whether that was done in time.

        Text for a channel whose reader is gone or whose disk is full counts as done; `out_error` tells.
        """
        gate = Gate()
        self._post(self._worker.flush, gate)
        if self._inline:
            with self._turn:  # another thread may be carrying it out at this moment
                return gate.wait(0)
        until = None if timeout is None else time.monotonic() + timeout
        while not self._worker.ended:
            if gate.wait(_STEP_SECS if until is None else min(_STEP_SECS, until - time.monotonic())):
                return True
            if until is not None and time.monotonic() >= until:
                return False
        return gate.wait(0)

    def lend(self) -> "Loan":
        """The terminal for a prompt or an editor: a context manager.

        What is queued for the terminal is written first, for at most 50 ms; what comes later waits for the end, and so
        does the status line. Other devices go on. The prompt begins at column 0. An unfinished line is written again
        afterwards, or goes on where it stopped when the loan's end is clean (`Loan.end`).
        """
        worker = self._worker
        return Loan(
            self.tty,
            begin=lambda gate: self._post(worker.lend, gate),
            end=lambda gate, clean: self._post(worker.take_back, gate, clean),
            write=self.terminal,
            drawn=lambda gate: self._post(worker.drawn, gate),
        )

    def suspend(self) -> None:
        """Before the job is stopped: the status line goes, the terminal gets nothing more. Returns within 100 ms."""
        loan = self.lend()
        self._suspended.append((loan, self._clock()))
        loan.begin()

    def resume(self) -> None:
        """The job goes on: so does the terminal's queue, with an unfinished line written again."""
        while self._suspended:
            loan, since = self._suspended.pop()
            if self._worker.status is not None:
                self._post(self._worker.status.stood, self._clock() - since)
            loan.end()

    def close(self, timeout: float | None) -> bool:
        """Take the status line away, write what is queued within `timeout` seconds, and end the worker."""
        if self._worker.ended:
            return True
        status = self._worker.status
        if status is not None:
            self._post(lambda: status.close(self._clock()))
        done = self.flush(timeout)
        self._post(self._worker.stop)
        return done

    # -- what happened ----------------------------------------------------------------------------------------------

    @property
    def out_error(self) -> OSError | None:
        """Why stdout takes nothing more, except that its reader is gone."""
        return self._worker.out_error

    @property
    def fault(self) -> BaseException | None:
        """A fault of the worker itself, for the log."""
        return self._worker.fault

    @property
    def on_closed(self) -> "Callable[[Target], None] | None":
        """Called on the worker when the reader of stdout is gone."""
        return self._worker.on_closed

    @on_closed.setter
    def on_closed(self, fn: "Callable[[Target], None] | None") -> None:
        self._worker.on_closed = fn
        self._post(self._worker.tell)

    @property
    def on_hangup(self) -> "Callable[[], None] | None":
        """Called on the worker when stdout was a terminal that is gone."""
        return self._worker.on_hangup

    @on_hangup.setter
    def on_hangup(self, fn: "Callable[[], None] | None") -> None:
        self._worker.on_hangup = fn
        self._post(self._worker.tell)

    @property
    def max_latency(self) -> float | None:
        """How many seconds the typewriter may lag behind; None: no bound."""
        return self._worker.max_latency

    @max_latency.setter
    def max_latency(self, seconds: float | None) -> None:
        self._worker.max_latency = seconds

    # -- inside -----------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._write(Target.ERR, self._message(text), fresh=True)

    def _message(self, text: str) -> str:
        if self.format.is_json:
            return _json({"message": text})
        return text if text.endswith("\n") else text + "\n"

    def _write(self, target: Target, text: str, *, fresh: bool = False, delay: float = 0.0) -> None:
        if text:
            self._post(self._worker.write, target, text, fresh, delay)

    def _post(self, what: "Callable[..., None]", *args: object) -> None:
        self._worker.post(what, *args)
        if self._inline:
            self._work_here()

    def _work_here(self) -> None:
        while self._worker.waiting and self._turn.acquire(blocking=False):
            try:
                while self._worker.work() == 0.0:
                    pass
            finally:
                self._turn.release()

    def _open_status(self, throttle: float | None) -> None:
        device = self._worker.device(Target.ERR)
        if not self._has_status or device is None:
            return
        from jp.terminal.statusline import StatusLine

        columns = lambda: self.width(Target.ERR)
        status = StatusLine(device, columns=columns, may_draw=self._channels.may_draw)
        if throttle is not None:
            status.throttle = throttle
        self._worker.status = status


def _json(record: "Mapping[str, object]") -> str:
    from json import dumps

    return dumps(record, ensure_ascii=False) + "\n"
