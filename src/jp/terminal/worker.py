"""The Printer's worker: the one thread that writes to stdout, stderr and the terminal.

What does not work, and why:

* Writing in the caller's thread under a lock: a pipe that nobody reads then stops the turn, and a press of Ctrl-C
  finds the lock taken.
* Blocking writes in a thread of its own: one full pipe holds up the terminal's chrome, the status line stops ticking,
  and a flush with a deadline cannot keep it.
* One queue for all: the same, and a lend of the terminal would have to wait for a pipe.
* A queue for each channel: on a terminal, chrome and reply change places.

Chosen: callers append to one inbox and wake the worker; the worker deals the entries out to a queue a device, writes
what poll says a device takes, and sleeps in poll. Nobody ever waits for it without a deadline. A pipe nobody reads
costs memory (its text is kept, every byte), not time.
"""

import _thread
import errno
from collections import deque

from jp.interrupt import end
from jp.terminal.device import Device, Entry
from jp.terminal.escapes import CLEAR_LINE
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jp.terminal.statusline import StatusLine
    from jp.terminal.system import Waiter

LEND_SECS = 0.05  # how long a lend waits for the terminal's queue
_READER_LEFT = (errno.EPIPE, errno.ECONNRESET)
_FAULTS = 20


class Leftovers(end.Restore):
    """What a run that ends in mid-output would leave on the terminal: a style in force, the status line.

    Asked by `end_now`, from whatever thread and with no lock, and only then: keeping it up to date costs nothing.
    """

    __slots__ = ("_worker",)

    def __init__(self, fd: int, worker: "Worker") -> None:
        self._worker = worker
        super().__init__(fd)

    @property
    def escapes(self) -> bytes:
        """The escapes that clean up, none when all is well."""
        return self._worker.left_behind()

    @escapes.setter
    def escapes(self, _: bytes) -> None: ...


class Gate:
    """Opened once by the worker, waited for by a caller with a deadline."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let the waiting caller go on."""
        if self._lock.locked():
            self._lock.release()

    def wait(self, timeout: float | None) -> bool:
        """Whether it opened in time; `None` waits for as long as it takes."""
        return self._lock.acquire(timeout=-1 if timeout is None else max(0.0, min(timeout, _thread.TIMEOUT_MAX)))


class Worker:
    """The inbox, the devices and what is waited for. `work` is one step; a thread or a caller in memory runs it."""

    def __init__(self, devices: "list[Device]", clock: "Callable[[], float]") -> None:
        self._inbox: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._devices = devices
        self._by_target = {target: device for device in devices for target in device.targets}
        self._clock = clock
        self._flushes: list[tuple[list[tuple[Device, int]], Gate]] = []
        self._lends: list[tuple[Device, int, float, Gate]] = []
        self._drawings: list[tuple[Device, Gate]] = []
        self._stop = False
        self.ended = False
        self._waiter: Waiter | None = None
        self.status: StatusLine | None = None
        self.max_latency: float | None = None
        self.on_closed: Callable[[Target], None] | None = None
        self.on_hangup: Callable[[], None] | None = None
        self._news = ""  # "closed" or "hangup", until somebody who listens was told
        self.out_error: OSError | None = None
        self.fault: BaseException | None = None

    # -- any thread -------------------------------------------------------------------------------------------------

    def post(self, what: "Callable[..., None]", *args: "Any") -> None:
        """Have the worker do something, in order with everything else that was posted."""
        self._inbox.append((what, args))
        waiter = self._waiter
        if waiter is not None:
            waiter.wake()

    @property
    def waiting(self) -> bool:
        """Whether something posted has not been done."""
        return bool(self._inbox)

    def device(self, target: Target) -> "Device | None":
        """The device that a target is written to."""
        return self._by_target.get(target)

    def left_behind(self) -> bytes:
        """Escapes that clean the terminal after an end in mid-output."""
        styled = any(device.sink.terminal and device.line.style for device in self._devices)
        return (b"\x1b[0m" if styled else b"") + (self.status.left_behind() if self.status is not None else b"")

    # -- what may be posted -----------------------------------------------------------------------------------------

    def write(self, target: Target, text: str, fresh: bool, delay: float) -> None:
        """Queue text for a target."""
        device = self._by_target.get(target)
        if device is None:
            return
        if delay > 0 and self.max_latency is not None:
            device.typed_by = self._clock() + self.max_latency
            delay = delay if self.max_latency > 0 else 0.0
        lent = target is Target.TTY and (device.held or any(lend[0] is device for lend in self._lends))
        device.push(Entry(target, text, fresh, delay), urgent=bool(lent))

    def write_now(self, target: Target, text: str) -> None:
        """Queue a line of its own for a target, with the prompt's drawing where that has the terminal."""
        device = self._by_target.get(target)
        if device is None:
            return
        if device.held:
            device.leave_trace()
            device.push(Entry(target, text), urgent=True)
        else:
            self.write(target, text, True, 0.0)

    def flush(self, gate: Gate) -> None:
        """Open `gate` when all that was posted before is written."""
        for device in self._devices:
            device.hasten()
        self._flushes.append(([(device, device.accepted) for device in self._devices], gate))

    def lend(self, gate: Gate) -> None:
        """Open `gate` when the terminal is the caller's."""
        device = self._by_target.get(Target.TTY)
        if device is None:
            gate.open()
            return
        device.hasten()
        self._lends.append((device, device.accepted, self._clock() + LEND_SECS, gate))

    def drawn(self, gate: Gate) -> None:
        """Open `gate` when all that was drawn on the terminal is out."""
        device = self._by_target.get(Target.TTY)
        if device is None:
            gate.open()
        else:
            self._drawings.append((device, gate))

    def take_back(self, gate: Gate, clean: bool = False) -> None:
        """The lend that was asked for with `gate` is over; its loan may not even have begun.

        `clean`: its drawing is erased and the cursor where it was.
        """
        device = self._by_target.get(Target.TTY)
        if device is None:
            return
        waiting = [lend for lend in self._lends if lend[3] is not gate]
        if len(waiting) < len(self._lends):  # it never began: its drawing is text like any other
            self._lends = waiting
            if not device.held:
                while device.urgent:
                    device.push(device.urgent.popleft())
            return
        self._advance(device, self._clock())
        device.release(clean)

    def touch_status(self) -> None:
        """A claim on the status line has changed."""
        if self.status is not None:
            self.status.changed(self._clock())

    def tell(self) -> None:
        """Tell whoever listens that stdout has lost its reader; it may have happened before anybody listened."""
        if self._news == "hangup" and self.on_hangup is not None:
            self._news = ""
            self.on_hangup()
        elif self._news and self.on_closed is not None:
            self._news = ""
            self.on_closed(Target.OUT)

    def nothing(self) -> None:
        """Just look around (the window changed)."""

    def stop(self) -> None:
        """End the thread after this step."""
        self._stop = True

    # -- the worker -------------------------------------------------------------------------------------------------

    def work(self) -> float | None:
        """Do everything that can be done now; returns the seconds until there is more, None: not before a post."""
        self._take_inbox()
        now = self._clock()
        again = False
        if self.status is not None:
            self._guard(self.status.expire, now)
        for device in self._devices:
            if self.status is not None and self.status.drawn and device.starts_now(now):
                self._guard(self.status.clear, now, device)
            again = self._advance(device, now) or again
        self._settle(now)
        if again or self._inbox:
            return 0.0
        if self.status is not None:
            self._guard(self.status.draw, now)
        times = [due for device in self._devices if (due := self._due(device, now)) is not None]
        times += [deadline for _, _, deadline, _ in self._lends]
        if self.status is not None and (due := self.status.next_due(now)) is not None:
            times.append(due)
        return max(0.0, min(times) - self._clock()) if times else None

    def run(self, waiter: "Waiter") -> None:
        """The thread's life: step and wait."""
        self._waiter = waiter
        faults = 0
        timeout: float | None = 0.0
        while not self._stop:
            try:
                for fd, broken in waiter.wait(timeout, self._watched()):
                    self._polled(fd, broken)
                timeout = self.work()
            except Exception as error:  # a fault here must not silence every channel
                self.fault = error
                faults += 1
                if faults > _FAULTS:
                    break
        self.ended = True  # first this: whoever posts from now on does not wait
        self._give_up()

    def _take_inbox(self) -> None:
        inbox = self._inbox
        for _ in range(len(inbox)):
            what, args = inbox.popleft()
            what(*args)

    def _due(self, device: Device, now: float) -> float | None:
        due = device.next_due(now)
        # Blocked: poll ends the wait, a clock only where poll was wrong a moment ago.
        return None if due is not None and device.blocked and due <= now else due

    def _watched(self) -> dict[int, bool]:
        watched: dict[int, bool] = {}
        now = self._clock()
        for device in self._devices:
            fd = device.sink.watched()
            if fd is not None and not device.dead:
                watched[fd] = device.blocked and device.retry_at <= now
        return watched

    def _polled(self, fd: int, broken: bool) -> None:
        for device in self._devices:
            if device.sink.watched() != fd or device.dead:
                continue
            if not broken:
                device.ready = True
            elif device.sink.terminal:
                self._lost(device, OSError(errno.EIO, "the terminal is gone"))
            else:
                self._lost(device, OSError(errno.EPIPE, "the reader is gone"))

    def _advance(self, device: Device, now: float) -> bool:
        if device.dead or (device.blocked and not device.ready):
            return False
        device.ready = False
        try:
            return device.advance(now)
        except OSError as error:
            self._lost(device, error)
            return False

    def _guard(self, step: "Callable[..., None]", *args: object) -> None:
        try:
            step(*args)
        except OSError as error:
            device = self._by_target.get(Target.ERR)
            if device is not None:
                self._lost(device, error)

    def _lost(self, device: Device, error: OSError) -> None:
        """A device takes nothing any more: who reads stdout decides over the run, stderr is dropped."""
        device.kill()
        if Target.OUT not in device.targets:
            return
        if device.sink.terminal:
            self._news = "hangup"
        elif error.errno in _READER_LEFT:
            self._news = "closed"
        else:
            self.out_error = error
        self.tell()

    def _settle(self, now: float) -> None:
        """Answer whoever waits for what has been written."""
        if self._lends:
            waiting = []
            for lend in self._lends:
                device, mark, deadline, _ = lend
                if device.wrote(mark) or now >= deadline:
                    self._begin_loan(lend)
                else:
                    waiting.append(lend)
            self._lends = waiting
        if self._drawings:
            for device, gate in self._drawings:
                if device.drawn:
                    gate.open()
            self._drawings = [each for each in self._drawings if not each[0].drawn]
        if self._flushes:
            left = []
            for marks, gate in self._flushes:
                if all(device.wrote(mark) for device, mark in marks):
                    gate.open()
                else:
                    left.append((marks, gate))
            self._flushes = left

    def _begin_loan(self, lend: "tuple[Device, int, float, Gate]") -> None:
        device, _, _, gate = lend
        now = self._clock()
        if self.status is not None:
            self._guard(self.status.clear, now)
        device.hold()
        self._advance(device, now)
        gate.open()

    def _give_up(self) -> None:
        """Nobody waits for a worker that has ended."""
        for device in self._devices:
            device.kill()
        try:
            self._take_inbox()
        except Exception as error:  # whoever waits at a gate must be let go all the same
            self.fault = error
        self._settle(self._clock())


def urgent_line(text: str, device: Device, *, repaint: bool) -> bytes:
    """A message that is written past the queue: on a line of its own, over a status line but not over a prompt."""
    if device.held:
        device.leave_trace()
        lead = "\r\n"
    elif device.line.is_open:  # there is no status line then
        device.line.astray = True
        lead = "\n"
    else:
        lead = CLEAR_LINE if repaint else ""
    return (lead + text).encode("utf-8", "replace")
