"""How the process ends: `finish` (may block) and `end_now` (may not), and nothing else ends it.

The parent must see what happened (RFD 092, "Exit convention"): an interrupt ends by death of its signal, because a
shell goes on with its loop after an exit *code* of 130. The terminal must be as it was, and nothing may still run.

What does not work, and why:

* `sys.exit(130)`, an uncaught KeyboardInterrupt: the first is no death by signal; the second prints a traceback, and a
  thread that still lives makes it exit 0.
* Leaving the ordinary end to the interpreter: it overtakes a watchdog that is half way through, and the parent sees 0
  with the terminal still changed. Hence one gate that both pass; the first wins, the rest wait for the end.
* `signal.signal(sig, SIG_DFL)` from another thread: ValueError. libc's `signal` through ctypes does it, at the price of
  an import in the very moment in which nothing may block.
* A lock around the ending: the thread that holds it may be the one that a handler has interrupted.

Chosen: while signals are still blocked at start, `prepare` registers each deadly signal with `faulthandler` over the
default action and puts the router's handler over that. `faulthandler.unregister` then puts the default action back by
plain `sigaction`, from any thread, importing nothing. The rest is a list of undo steps, each allowed to fail.

Still open: SIGKILL, SIGSEGV and the out-of-memory killer restore nothing; neither does the last backstop, when C code
holds the interpreter beyond the deadline (exit 1).
"""

import _thread
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from typing import ClassVar, NoReturn
else:
    import _signal  # the signal module itself would import enum


class Cause:
    """Why a run ends early. It decides the signal that the parent sees, and whether it is announced."""

    __slots__ = ("name", "signal", "silent")

    PRESS: "ClassVar[Cause]"
    TERM: "ClassVar[Cause]"
    HUP: "ClassVar[Cause]"
    QUIT: "ClassVar[Cause]"
    PIPE: "ClassVar[Cause]"

    def __init__(self, name: str, signal: int, silent: bool = False) -> None:
        self.name = name
        self.signal = signal
        self.silent = silent

    def __repr__(self) -> str:
        return f"Cause.{self.name}"


# The numbers are the same on Linux, macOS and the BSDs; Windows has only the first two, as exit codes.
Cause.PRESS = Cause("PRESS", 2)
Cause.TERM = Cause("TERM", 15)
Cause.HUP = Cause("HUP", 1, silent=True)  # nobody is left to read a message
Cause.QUIT = Cause("QUIT", 3, silent=True)
Cause.PIPE = Cause("PIPE", 13, silent=True)  # the reader of stdout is gone: quiet, as everywhere in a pipeline

DEADLY = (Cause.PRESS, Cause.TERM, Cause.HUP, Cause.QUIT, Cause.PIPE)


class Restore:
    """What puts one change of a terminal back.

    `fd` is the terminal; `modes` puts its modes back (called only while this process is its foreground; must not
    block: TCSANOW, never TCSADRAIN); `escapes` are bytes for the terminal, such as "show the cursor".
    """

    __slots__ = ("escapes", "fd", "modes")

    def __init__(self, fd: int, modes: "Callable[[], object] | None" = None, escapes: bytes = b"") -> None:
        self.fd = fd
        self.modes = modes
        self.escapes = escapes


# What is to be undone, by any key its owner likes (a descriptor, an id); undone in reverse order.
restores: dict[int, Restore] = {}

# A terminal whose foreground was lent to a child's group, to be taken back: its descriptor.
lent_foreground: list[int] = []

# Set by the router when a shutdown begins: monotonic seconds by which it must be over, and why it began.
deadline: float | None = None
cause: Cause | None = None
# Called by `finish(cause)` when no shutdown has begun yet, so that this wind-down is bounded too.
bound: "Callable[[Cause], object]" = lambda _: None

# "No deadline" as a number that every timeout parameter takes (poll wants milliseconds in 31 bits).
ORDINARY_SECS = 1e6

_steps: "dict[int, Callable[[float], object]]" = {}
_kills: "list[tuple[Callable[[], object], Callable[[], object]]]" = []
_gate: "dict[str, tuple[int, object]]" = {}
_prepared: list[int] = []
_main: list[int] = []
_parked: list[int] = []
_PARK_SECS = 0.02
_next = iter(range(1, 1 << 62)).__next__
_NOWHERE = 0x7FFFFFFF  # a descriptor that is never open


def at_wind_down(fn: "Callable[[float], object]") -> "Callable[[], None]":
    """Have `finish` call `fn(deadline)`, last registered first; returns what takes it off again.

    `deadline` is in monotonic seconds. `fn` may block until then and may be abandoned at any point.
    """
    key = _next()
    _steps[key] = fn
    return lambda: (_steps.pop(key, None), None)[1]


def at_end(before: "Callable[[], object]", after: "Callable[[], object]") -> None:
    """Have `end_now` call `before` ahead of restoring the terminal and `after` behind it (`children` does this).

    Both run on any thread, take no lock and do not block for more than 50 ms.
    """
    _kills.append((before, after))


def ended() -> bool:
    """Whether the end has begun: from then on nothing may touch the terminal or the signals."""
    return bool(_gate)


def finish(how: int | Cause) -> "NoReturn":
    """The ordinary end, on the main thread: wind down, then `end_now`.

    `how` is an exit status, or the cause whose signal the parent shall see. A shutdown that began meanwhile decides
    instead of a status: its message has been shown.
    """
    try:
        _wind_down(how)
    finally:  # whatever went wrong there, this is the one way out
        end_now(cause if isinstance(how, int) and cause is not None else how)


def _wind_down(how: int | Cause) -> None:
    from jp.interrupt.checkpoint import hold

    if deadline is None and isinstance(how, Cause):
        bound(how)
    with hold():
        while _steps:
            _, step = _steps.popitem()
            try:
                step(time.monotonic() + ORDINARY_SECS if deadline is None else deadline)
            except BaseException as error:  # one step's fault must not cost the others, and the end comes all the same
                complain(f"jp: while ending: {type(error).__name__}: {error}")
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass


def end_now(how: int | Cause) -> "NoReturn":
    """End this instant: any thread, no lock, nothing that blocks; the first caller wins.

    Undoes what `restores` and the children's registry hold, then exits with the status or dies of the cause's signal.
    """
    mine = object()
    _, winner = _gate.setdefault("end", (_thread.get_ident(), mine))  # one step, whoever interrupts whom
    if winner is not mine:
        park()
        return  # type: ignore[misc]  # in a handler on top of the winner: let it go on
    try:
        _undo()
    finally:
        _die(how)


def park() -> None:
    """For a thread that finds the end begun by another: never go on. The winner itself returns at once."""
    if not _gate or _gate["end"][0] == _thread.get_ident():
        return
    _parked.append(_thread.get_ident())
    while True:
        time.sleep(60)


def _undo() -> None:
    _guarded(_park_main)
    _guarded(_block_stops)
    for before, _ in list(_kills):
        _guarded(before)
    # The terminal before the children: a wait for a child that returns must find the gate taken and the modes back.
    _guarded(_take_foreground)
    _guarded(_restore_terminal)
    for _, after in list(_kills):
        _guarded(after)


def _guarded(step: "Callable[[], object]") -> None:
    try:
        step()
    except BaseException:
        # termios.error is no OSError, and there is nothing left to tell anybody with.
        pass


def complain(text: str) -> None:
    """Write one line on stderr if that is possible without waiting; for when there is no Printer."""
    try:
        data = (text + "\n").encode("utf-8", "replace")
        if sys.platform != "win32":
            from select import select

            if not select([], [2], [], 0)[1]:
                return
        os.write(2, data[:4096])
    except BaseException:
        pass  # called where nothing may be raised, and there is nothing left to tell anybody with


if sys.platform == "win32":

    def prepare() -> None:
        """Nothing to do: Windows has no death by signal."""

    def backstop(seconds: float) -> None:
        """Nothing to do: there is no timer below the interpreter."""

    def _park_main() -> None: ...

    def _block_stops() -> None: ...

    def _take_foreground() -> None: ...

    def _restore_terminal() -> None:
        for restore in reversed(list(restores.values())):
            if restore.modes is not None:
                _guarded(restore.modes)

    def _die(how: int | Cause) -> "NoReturn":
        os._exit(windows_status(how))

else:

    def prepare() -> None:
        """Make the default action of each deadly signal available to every thread. Main thread, signals blocked.

        Leaves the default action in place for all of them; the router puts its handlers over that.
        """
        import faulthandler

        _main.append(_thread.get_ident())
        for each in DEADLY:
            _signal.signal(each.signal, _signal.SIG_DFL)
            faulthandler.register(each.signal, file=_NOWHERE, all_threads=False, chain=False)
            _prepared.append(each.signal)

    def backstop(seconds: float) -> None:
        """Have a timer below the interpreter end the process in `seconds`, with status 1 and nothing restored.

        For C code that holds the interpreter and never looks at signals; every other case ends long before.
        """
        import faulthandler

        try:
            sink = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            sink = 2
        faulthandler.dump_traceback_later(max(seconds, 0.001), exit=True, file=sink)

    def _park_main() -> None:
        # What the main thread is just doing to the terminal would be done behind its restoration. Its handler parks it;
        # where it is in C code it does nothing to the terminal.
        main = _main[0] if _main else 0
        if not main or main == _thread.get_ident():
            return
        _signal.pthread_kill(main, _signal.SIGALRM)
        limit = time.monotonic() + _PARK_SECS
        while main not in _parked and time.monotonic() < limit:
            time.sleep(0.0005)

    def _block_stops() -> None:
        # Between the look at the foreground and the change a shell may take it: never be stopped here.
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGTTOU, _signal.SIGTTIN, _signal.SIGTSTP))

    def _take_foreground() -> None:
        for fd in list(lent_foreground):
            _guarded(lambda fd=fd: os.tcsetpgrp(fd, os.getpgrp()))  # type: ignore[misc]

    def _restore_terminal() -> None:
        escapes = b""
        for restore in reversed(list(restores.values())):
            try:
                if os.tcgetpgrp(restore.fd) != os.getpgrp():
                    continue  # a shell has the terminal: its modes are not ours to touch
            except OSError:
                continue
            if restore.modes is not None:
                _guarded(restore.modes)
            escapes += restore.escapes
        if escapes:
            # An open description of our own: making a shared one non-blocking would change other programs' too.
            fd = os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
            os.write(fd, escapes)

    def _die(how: int | Cause) -> "NoReturn":
        try:
            if isinstance(how, Cause):
                _die_of(how.signal)
        finally:
            os._exit(how if isinstance(how, int) else 128 + how.signal)

    def _die_of(signum: int) -> None:
        import faulthandler

        if signum in _prepared:
            faulthandler.unregister(signum)
        else:
            _signal.signal(signum, _signal.SIG_DFL)  # only the main thread can
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (signum,))
        # To this thread, so that it is delivered before the call returns and not somewhere else a moment later.
        _signal.pthread_kill(_thread.get_ident(), signum)
        time.sleep(1)


def windows_status(how: int | Cause) -> int:
    """The exit code on Windows, where no signal can end a process: 130 for a press, 128 + the number in general."""
    return how if isinstance(how, int) else 128 + how.signal
