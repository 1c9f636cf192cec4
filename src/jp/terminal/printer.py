"""The one Printer: every byte that JP writes to stdout, stderr or the terminal goes through it (contracts, section 2).

Calls only queue text; the worker (`jp.terminal.worker`) writes it. Nothing here blocks without a deadline, and every
method may be called from any thread. Text is queued without a limit: a pipe that nobody reads holds up nothing and
loses nothing, it costs the memory of what it was to get.
"""

import _thread
import time

from jp.terminal import system
from jp.terminal.capabilities import ChannelCaps, Format, resolve, smart_terminal
from jp.terminal.capabilities import colour as resolve_colour
from jp.terminal.device import Device
from jp.terminal.escapes import Strip
from jp.terminal.sink import Buffer, FdSink, MemorySink
from jp.terminal.target import Target
from jp.terminal.worker import Gate, Worker, urgent_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from jp.terminal.status import StatusHandle
    from jp.terminal.tty import Tty

__all__ = ["Buffer", "ChannelCaps", "Format", "Loan", "Printer", "Target"]

ANNOUNCE_SECS = 0.05
LEND_WAIT_SECS = 0.1
_NONE = ChannelCaps(False, False)


class Setup:
    """What a Printer is made of: how the channels go, the values they were resolved from, and who has a say."""

    def __init__(
        self,
        format_: Format,
        caps: "Mapping[Target, ChannelCaps]",
        devices: "list[Device]",
        *,
        environ: "Mapping[str, str]",
        quiet: bool = False,
        log_on_stderr: bool = False,
    ) -> None:
        self.format = format_
        self.caps = caps
        self.devices = devices
        self.environ = environ
        self.quiet = quiet
        self.log_on_stderr = log_on_stderr


class Printer:
    """Writes text, records and chrome to the channels that can carry them. Made by `for_process` or `memory`.

    `on_closed` is called once, on the worker, when the reader of stdout is gone; it must not block. `on_hangup`, if
    set, is called instead when stdout was a terminal that went away. `out_error` is why stdout took no more (a full
    disk). `max_latency` bounds the typewriter's lag in seconds; 0 is no pacing.
    """

    def __init__(self, setup: Setup, *, clock: "Callable[[], float]" = time.monotonic) -> None:
        """For the constructors below."""
        self.format = setup.format
        self.quiet = setup.quiet
        self.tty: Tty | None = None
        self.tty_buffer = Buffer()
        self.transcript = Buffer()
        self._caps = dict(setup.caps)
        self._environ = setup.environ
        self._clock = clock
        self._columns: Mapping[Target, Callable[[], int | None]] = {}
        self._worker = Worker(setup.devices, clock)
        self._devices = setup.devices
        self._status_on = self.can_repaint and not setup.log_on_stderr and not setup.quiet and not self.format.is_json
        self._inline = False
        self._suspended: list[Loan] = []
        self._turn = _thread.allocate_lock()
        self._max_latency: float | None = None

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
        out_tty, err_tty = system.is_terminal(1), system.is_terminal(2)
        out_caps, err_caps = resolve(format, out_tty=out_tty, err_tty=err_tty, environ=environ)
        fds = {Target.OUT: 1, Target.ERR: 2}
        terminals = {Target.OUT: out_tty, Target.ERR: err_tty}
        caps = {Target.OUT: out_caps, Target.ERR: err_caps, Target.TTY: _NONE}
        if tty is not None:
            smart = smart_terminal(environ)
            fds[Target.TTY], terminals[Target.TTY] = tty.out_fd, True
            caps[Target.TTY] = ChannelCaps(smart, smart)
        groups: dict[object, dict[Target, int]] = {}
        for target, fd in fds.items():
            groups.setdefault(_place(fd, terminals[target]), {})[target] = fd
        devices = [
            Device(FdSink(group, terminal=all(terminals[target] for target in group)), tuple(group), _filters(caps))
            for group in groups.values()
        ]
        setup = Setup(format, caps, devices, environ=environ, quiet=quiet, log_on_stderr=log_on_stderr)
        printer = cls(setup)
        printer.tty = tty
        printer._columns = {
            target: lambda fd=fd: (system.size(fd) or (None, 0))[0]  # type: ignore[misc]
            for target, fd in fds.items()
            if terminals[target]
        }
        printer._open_status(lambda: system.foreground(2) is not False)
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
        quiet: bool = False,
        environ: "Mapping[str, str] | None" = None,
    ) -> "tuple[Self, Buffer, Buffer]":
        """A Printer on buffers with the capabilities given: (printer, stdout, stderr).

        Every call has been carried out when it returns. Addressable channels are one terminal, which has a prompt
        channel (`tty_buffer`) as well when `tty` is true; `transcript` holds what all channels got, in order. Time is
        the clock's; `tick` lets the worker look at it.
        """
        caps = {Target.OUT: out_caps, Target.ERR: err_caps, Target.TTY: ChannelCaps(True, True) if tty else _NONE}
        buffers = {Target.OUT: Buffer(), Target.ERR: Buffer(), Target.TTY: Buffer()}
        transcript = Buffer()
        targets = [target for target in Target if tty or target is not Target.TTY]
        screen = tuple(target for target in targets if caps[target].addressable)
        groups = [(target,) for target in targets if target not in screen] + ([screen] if screen else [])
        devices = [
            Device(MemorySink(buffers, terminal=group is screen, order=transcript), group, _filters(caps))
            for group in groups
        ]
        printer = cls(Setup(format, caps, devices, environ=environ or {}, quiet=quiet), clock=clock)
        printer.tty_buffer = buffers[Target.TTY]
        printer.transcript = transcript
        printer._inline = True
        printer._open_status(lambda: True, throttle=0.0)
        return printer, buffers[Target.OUT], buffers[Target.ERR]

    # -- what the channels are --------------------------------------------------------------------------------------

    def caps(self, target: Target) -> ChannelCaps:
        """What a channel can carry."""
        return self._caps[target]

    @property
    def can_repaint(self) -> bool:
        """Whether chrome can be repainted in place: stderr takes escapes and is addressable."""
        return self._caps[Target.ERR].can_repaint

    def colour(self, target: Target) -> bool:
        """Whether colour may be used on a channel (its escape capability and `NO_COLOR`)."""
        return resolve_colour(self.format, self._caps[target], self._environ)

    def width(self, target: Target) -> int | None:
        """Columns of a channel: its terminal's, else those that `COLUMNS` declares, else None. Asked anew each time."""
        ask = self._columns.get(target)
        found = ask() if ask is not None else None
        if found is None:
            declared = self._environ.get("COLUMNS", "")
            if declared.isascii() and declared.isdigit() and len(declared) < 6:
                found = int(declared) or None
        return found

    # -- writing ----------------------------------------------------------------------------------------------------

    def out(self, text: str) -> None:
        """Data on stdout, verbatim; escapes only where it can carry them."""
        self._write(Target.OUT, text)

    def typed(self, text: str, delay: float) -> None:
        """Reply text on stdout, `delay` seconds a character where stdout is a terminal that shows escapes.

        It is written at once by a flush, a lend and the end.
        """
        self._write(Target.OUT, text, delay=delay if self._caps[Target.OUT].can_repaint else 0.0)

    def record(self, record: bytes | str) -> None:
        """One JSON record on stdout, already encoded: a line under `json`, indented under `json-pretty`."""
        if self.format is Format.JSON_PRETTY:
            from msgspec import json

            record = json.format(record, indent=2)
        text = record.decode("utf-8", "replace") if isinstance(record, bytes) else record
        self._write(Target.OUT, text if text.endswith("\n") else text + "\n")

    def note(self, text: str) -> None:
        """Chrome: a line on stderr, `{"message": …}` under json; silenced by quiet."""
        if not self.quiet:
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
        if device is None or not (device.held or device.blocked):
            self._post(print_it)
            if self._inline or written.wait(ANNOUNCE_SECS):
                return
        if not taken.acquire(blocking=False) or device is None:
            return  # the worker has it, and it is on its way
        data = urgent_line(line, repaint=self.can_repaint, fresh=device.line.is_open)
        try:
            device.sink.write(Target.ERR, memoryview(data))
        except OSError:
            pass

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
        return gate.wait(timeout)

    def lend(self) -> "Loan":
        """The terminal for a prompt or an editor: a context manager.

        What is queued for the terminal is written first, for at most 50 ms; what comes later waits for the end, and so
        does the status line. Other devices go on. An unfinished line is written again afterwards.
        """
        return Loan(self)

    def suspend(self) -> None:
        """Before the job is stopped: the status line goes, the terminal gets nothing more. Returns within 100 ms."""
        loan = self.lend()
        self._suspended.append(loan)
        loan.begin()

    def resume(self) -> None:
        """The job goes on: so does the terminal's queue, with an unfinished line written again."""
        while self._suspended:
            self._suspended.pop().end()

    def close(self, timeout: float | None) -> bool:
        """Take the status line away, write what is queued within `timeout` seconds, and end the worker."""
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
    def on_closed(self) -> "Callable[[Target], None]":
        """Called on the worker when the reader of stdout is gone."""
        return self._worker.on_closed

    @on_closed.setter
    def on_closed(self, fn: "Callable[[Target], None]") -> None:
        self._worker.on_closed = fn

    @property
    def on_hangup(self) -> "Callable[[], None] | None":
        """Called on the worker when stdout was a terminal that is gone."""
        return self._worker.on_hangup

    @on_hangup.setter
    def on_hangup(self, fn: "Callable[[], None] | None") -> None:
        self._worker.on_hangup = fn

    @property
    def max_latency(self) -> float | None:
        """How many seconds the typewriter may lag behind; None: no bound."""
        return self._max_latency

    @max_latency.setter
    def max_latency(self, seconds: float | None) -> None:
        self._max_latency = seconds
        for device in self._devices:
            device.max_latency = seconds

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

    def _open_status(self, allowed: "Callable[[], bool]", throttle: float | None = None) -> None:
        device = self._worker.device(Target.ERR)
        if not self._status_on or device is None:
            return
        from jp.terminal.statusline import StatusLine

        columns = lambda: self.width(Target.ERR)
        if throttle is None:
            self._worker.status = StatusLine(device, columns=columns, allowed=allowed)
        else:
            self._worker.status = StatusLine(device, columns=columns, allowed=allowed, throttle=throttle)


class Loan:
    """The terminal while it is lent: `fd` to read from, `write` to draw with. None of it when there is no terminal."""

    __slots__ = ("_gate", "_printer", "_state")

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._gate = Gate()
        self._state = "new"

    @property
    def fd(self) -> int | None:
        """The descriptor to read from."""
        tty = self._printer.tty
        return tty.fd if tty is not None else None

    def write(self, text: str) -> None:
        """Draw on the terminal, in order, without blocking."""
        self._printer.terminal(text)

    def begin(self) -> None:
        """Take the terminal; returns within 100 ms."""
        self._state = "lent"
        printer = self._printer
        printer._post(printer._worker.lend, self._gate)
        self._gate.wait(0 if printer._inline else LEND_WAIT_SECS)

    def end(self) -> None:
        """Give the terminal back; a second call does nothing."""
        if self._state == "lent":
            self._state = "ended"
            self._printer._post(self._printer._worker.take_back, self._gate)

    def __enter__(self) -> "Self":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _place(fd: int, terminal: bool) -> object:
    """Equal for descriptors that are one device."""
    if terminal and system.controls(fd):
        return "the controlling terminal"  # /dev/tty is another inode than the terminal it leads to
    return system.identity(fd) or ("closed", fd)


def _filters(caps: "Mapping[Target, ChannelCaps]") -> "dict[Target, Strip]":
    """What each channel loses on its way: escapes it cannot carry, and on stderr repaints it cannot act on."""
    filters = {}
    if not caps[Target.OUT].escapes:
        filters[Target.OUT] = Strip()
    if not caps[Target.ERR].can_repaint:
        filters[Target.ERR] = Strip(keep_style=caps[Target.ERR].escapes, drop_returns=True)
    return filters


def _json(record: "Mapping[str, object]") -> str:
    from json import dumps

    return dumps(record, ensure_ascii=False) + "\n"
