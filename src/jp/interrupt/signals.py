"""The process's signals as one queue of bytes (experiments, 3.3 to 3.5).

What does not work, and why:

* Raising from a handler: of 20,000 interrupts 12,877 landed inside a `finally` and cut it short; 113 of 118 children
  that were just being started ran on unknown.
* A handler alone: it runs on the main thread between bytecodes, so seconds late behind C code that releases the
  interpreter. A thread alone: seconds late behind C code that holds it but looks at signals.
* Blocking the signals for a thread in `sigwait`: every child inherits the mask.
* An event loop's `add_signal_handler`: takes the wake-up descriptor and leaves -1 behind.
* A handler without a guard against itself: a storm of signals recurses until it breaks.
* Leaving it at that: a thread that has just taken a byte from the pipe can lose the interpreter to C code that keeps
  it, and the press with it.

Chosen: the interpreter's C handler writes each signal as one byte into one non-blocking pipe, which is the queue. A
thread drains it, and so does the handler on the main thread, whoever comes first; each byte is read once and queued in
order. Who finds the other one draining leaves it to it. Before the handler goes back to the code it has interrupted, it
lets the other threads finish what they have taken (50 ms at most).

Stopping (SIGTSTP) is the exception: only the main thread can change a disposition and take it back, so a stop waits
until the main thread looks at signals. Two things can keep it from looking: the kernel may give the signal to another
thread, and one that comes just before the main thread goes to sleep in a lock does not wake it. So the thread that
reads such a byte knocks at the main thread until it has acted.
"""

import _thread
import os
import sys
import time

from jp.interrupt import end

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Mapping
    from types import FrameType
else:
    import _signal


def _number(name: str) -> int:
    """The signal's number on this platform, 0 where it has none."""
    return int(getattr(_signal, name, 0))


INT, TERM, HUP, QUIT = (_number(name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"))
TSTP, CONT, WINCH, ALRM = (_number(name) for name in ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGALRM"))
STOP, TTIN, TTOU = (_number(name) for name in ("SIGSTOP", "SIGTTIN", "SIGTTOU"))
KILL = _number("SIGKILL") or TERM
BREAK = _number("SIGBREAK")  # Windows: Ctrl-Break
OWNED = tuple(n for n in (INT, TERM, HUP, QUIT, TSTP, CONT, WINCH, ALRM, BREAK) if n)

# Ignored from the start by `nohup`, by `&` in a script, by a parent without job control: stays so.
_KEPT_IGNORED = (INT, HUP, TSTP)
_OTHERS_SECS = 0.05
_CALM_LOOKS = 4
_SETTLE_SECS = 0.5
_KNOCKS, _KNOCK_SECS = 20, 0.005
_DEADLY = tuple(cause.signal for cause in end.DEADLY)


def name_of(number: int) -> str:
    """`SIGINT`, or `signal 37` where it has no name."""
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Busy:
    """The threads that are at work on a signal just now, as a context manager for each of them."""

    __slots__ = ("_depths",)

    def __init__(self) -> None:
        self._depths: dict[int, int] = {}

    def __enter__(self) -> None:
        me = _thread.get_ident()
        self._depths[me] = self._depths.get(me, 0) + 1  # whatever comes in the middle of this leaves it as found

    def __exit__(self, *_: object) -> None:
        me = _thread.get_ident()
        depth = self._depths.get(me, 1) - 1
        if depth:
            self._depths[me] = depth
        else:
            self._depths.pop(me, None)

    def __bool__(self) -> bool:
        return bool(self._depths)

    @property
    def here(self) -> bool:
        """Whether this thread is at work."""
        return _thread.get_ident() in self._depths

    def let_others_finish(self, seconds: float) -> None:
        """Give the interpreter to the other threads at work until they are done, for so long at most."""
        me = _thread.get_ident()
        limit = time.monotonic() + seconds
        while any(other != me for other in list(self._depths)) and time.monotonic() < limit:
            time.sleep(0.0005)


def alone() -> None:
    """For a thread that reads a terminal: no signal is delivered to it, and a read from the background fails (EIO).

    SIGTTOU stays as it is: with it blocked, a thread in the background could change the modes under the shell.
    """
    if sys.platform != "win32":
        _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals() - {_signal.SIGTTOU})


def take_foreground(fd: int) -> None:
    """Make our process group the terminal's foreground, from the background; a terminal that is gone stays so."""
    if sys.platform != "win32":
        before = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTTOU,))  # or it would stop us
        try:
            os.tcsetpgrp(fd, os.getpgrp())
        except OSError:
            pass
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, before)


class Signals:
    """Owns the handlers, the wake-up descriptor and the pipe behind it.

    `queue(number)` gets each signal, in order; then `run()` is called to act on what was queued. Both on any thread or
    in a handler on the main thread. `on_main` maps signals that only the main thread can act on to what does so, in the
    handler. None of them may block or take a lock; what they raise is said and dropped.
    """

    def __init__(
        self,
        queue: "Callable[[int], object]",
        run: "Callable[[], object]",
        on_main: "Mapping[int, Callable[[], object]]",
    ) -> None:
        self._queue = queue
        self._run = run
        self._on_main = on_main
        self.busy = Busy()
        self._turn = _thread.allocate_lock()
        self._reader = self._writer = -1
        self._main = 0
        self._owed = False  # a stop was read, on which only the main thread can act
        self._acted = 0  # stops that it has acted on
        self._installed: tuple[int, ...] = ()

    def arm(self) -> None:
        """Take the signals over. Once, on the main thread."""
        self._main = _thread.get_ident()
        if sys.platform == "win32":
            self._reader, self._writer = os.pipe()
            self._install(())
            _thread.start_new_thread(self._consume_blocking, ())
        else:
            # Blocked while the handlers change places: what comes meanwhile is delivered to ours. The thread starts
            # blocked and stays so: the main thread is the one that a signal wakes. A mask that was inherited is
            # lifted, which lets a launcher hold a press back until somebody listens.
            from select import select  # now, or a thread that finds no descriptor left could not

            _signal.pthread_sigmask(_signal.SIG_BLOCK, OWNED + _DEADLY)
            ignored = tuple(n for n in _KEPT_IGNORED if n and _signal.getsignal(n) is _signal.SIG_IGN)
            self._reader, self._writer = os.pipe()
            os.set_blocking(self._reader, False)
            os.set_blocking(self._writer, False)
            end.prepare()
            self._install(ignored)
            _thread.start_new_thread(self._consume, (select,))
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, OWNED + _DEADLY)

    def _install(self, ignored: tuple[int, ...]) -> None:
        _signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._installed = tuple(n for n in OWNED if n not in ignored)
        for number in self._installed:
            _signal.signal(number, self._handle)
        for number in (*ignored, _number("SIGPIPE")):
            if number:
                _signal.signal(number, _signal.SIG_IGN)

    def reassert(self) -> None:
        """Take back what a foreign loop may have taken: wake-up descriptor and handlers. Only the main thread can."""
        if self._writer < 0 or _thread.get_ident() != self._main or end.ended():
            return
        _signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in self._installed:
            if _signal.getsignal(number) != self._handle:
                _signal.signal(number, self._handle)

    def stop_here(self) -> None:
        """The default action of SIGTSTP, in this thread (the main one), so that it is over when the call returns."""
        if sys.platform != "win32":
            _signal.signal(TSTP, _signal.SIG_DFL)
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (TSTP,))
            _signal.pthread_kill(_thread.get_ident(), TSTP)
            _signal.signal(TSTP, self._handle)

    def settle(self) -> None:
        """Wait until no press is on its way: in the kernel, in the pipe, or just being acted on."""
        if sys.platform != "win32" and self._reader >= 0:
            from select import select

            limit = time.monotonic() + _SETTLE_SECS
            calm = 0  # looks in a row: a thread may be between taking the signal and writing its byte
            while calm < _CALM_LOOKS and time.monotonic() < limit:
                waiting = select([self._reader], [], [], 0)[0] or self.busy
                calm = 0 if waiting or INT in _signal.sigpending() else calm + 1  # as a thread that blocks it is told
                time.sleep(0.002)

    def suspend(self) -> None:
        """Send SIGTSTP to our process group, as the terminal does."""
        if sys.platform != "win32":
            os.kill(0, TSTP)

    def _handle(self, number: int, _frame: "FrameType | None") -> None:
        """Runs on the main thread, between any two of its bytecodes: must not raise, block or take a lock."""
        try:
            end.park()
            if _signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False) != self._writer:
                self._queue(number)  # somebody had taken the descriptor, and this byte with it
            act = self._on_main.get(number)
            if act is not None:
                self._acted += number == TSTP
                act()
            elif sys.platform != "win32":
                with self.busy:
                    self._drain()
                    self._run()
                if not self.busy.here:  # further up this thread may be what the others wait for
                    self.busy.let_others_finish(_OTHERS_SECS)
        except Exception as error:  # out of a handler it would hit whatever code was interrupted
            end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    def _drain(self) -> bool:
        """Queue what is in the pipe; False when somebody else is just doing so, this thread further up included."""
        if not self._turn.acquire(False):
            return False
        try:
            while True:
                for number in os.read(self._reader, 512):
                    self._owed = self._owed or number == TSTP
                    self._queue(number)
        except (BlockingIOError, InterruptedError):
            return True
        finally:
            self._turn.release()

    def _consume(self, select: "Callable[..., object]") -> None:
        knocks = acted = 0
        due = 0.0
        while True:
            try:
                select([self._reader], [], [], max(0.0, due - time.monotonic()) if knocks else None)
                with self.busy:
                    alone = self._drain()
                    self._run()
                if self._owed:
                    self._owed = False
                    knocks, acted = _KNOCKS, self._acted
                if self._acted != acted:
                    knocks = 0
                elif knocks and time.monotonic() >= due:  # each knock is a byte here, too
                    knocks, due = knocks - 1, time.monotonic() + _KNOCK_SECS
                    self._knock()
                if not alone:
                    time.sleep(0.0005)  # the other one is at it; looked at again, in case it has just finished
            except Exception as error:  # without this thread no signal is ever heard again
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    def _knock(self) -> None:
        """Make the main thread look at its signals, by one that means nothing while no shutdown has begun."""
        if sys.platform != "win32":
            _signal.pthread_kill(self._main, ALRM)

    def _consume_blocking(self) -> None:
        while True:
            try:
                for number in os.read(self._reader, 512):
                    self._queue(number)
                self._run()
            except Exception as error:  # as in `_consume`
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")
