"""Terminals and waiting on Windows: the console is CONIN$ and CONOUT$, and both are needed.

Checked by types only; the documentation says where JP has been run. Consoles here can neither be polled nor written
without blocking, so the worker's writes may block; nothing waits for them without a deadline.
"""

import _thread
import ctypes
import errno
import os
import sys

assert sys.platform == "win32"

import msvcrt  # noqa: E402 (only there)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Modes = list[Any]

TERMINAL = "CONIN$/CONOUT$"
SHELL: str | None = None
TERM_EXPECTED = False
POLLABLE = False
PIPE_CHUNK = 4096
_PROCESSED_OUTPUT = 0x0001
_VIRTUAL_TERMINAL = 0x0004
_PROCESSED_INPUT = 0x0001
_LINE_INPUT = 0x0002
_ECHO_INPUT = 0x0004


def open_terminal(path: str = TERMINAL) -> tuple[int, int]:
    """The console for reading and writing, as (input, output). Raises OSError."""
    names = path.split("/")
    console_in = os.open(names[0], os.O_RDWR | os.O_BINARY)
    try:
        console_out = os.open(names[-1], os.O_RDWR | os.O_BINARY)
    except OSError:
        os.close(console_in)
        raise
    if os.isatty(console_in) and os.isatty(console_out):
        return console_in, console_out
    os.close(console_in)
    os.close(console_out)
    raise OSError(errno.ENOTTY, "not a console", path)


def is_terminal(fd: int) -> bool:
    """Whether the descriptor itself is a console."""
    return os.isatty(fd)


def prepare(fd: int) -> None:
    """Make the console understand escapes."""
    try:
        handle = msvcrt.get_osfhandle(fd)
    except OSError:
        return
    mode = ctypes.c_ulong()
    kernel = ctypes.windll.kernel32
    if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        kernel.SetConsoleMode(handle, mode.value | _PROCESSED_OUTPUT | _VIRTUAL_TERMINAL)


def controls(fd: int) -> bool:
    """A console is always the controlling one."""
    return os.isatty(fd)


def foreground(fd: int) -> bool | None:
    """There is no job control: whoever has the console is its foreground."""
    return True if os.isatty(fd) else None


def take_foreground_of_the_dead(fd: int) -> None:
    """There are no groups that could have it."""


def size(fd: int) -> tuple[int, int] | None:
    """(columns, lines) of a console, None if it does not know."""
    try:
        columns, lines = os.get_terminal_size(fd)
    except OSError:
        return None
    return (columns, lines) if columns > 0 and lines > 0 else None


def identity(fd: int) -> tuple[int, int] | None:
    """Equal for descriptors of the same file; None for a closed one."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else (-1, fd)


def readable(fd: int) -> bool:  # noqa: ARG001 (no way to ask)
    """Not to be known here."""
    return True


def writable(fd: int) -> bool:  # noqa: ARG001 (no way to ask)
    """Not to be known here."""
    return True


def private_writer(fd: int) -> int | None:
    """A descriptor of our own for the console behind `fd`."""
    return os.dup(fd)


def open_device(fd: int) -> int:
    """A console has no name of its own to open. Raises OSError."""
    raise OSError(errno.ENOTSUP, "no device", str(fd))


class Waiter:
    """Waits until woken or until a deadline; descriptors are always taken as ready."""

    __slots__ = ("_gate", "awake")

    def __init__(self) -> None:
        self._gate = _thread.allocate_lock()
        self._gate.acquire()
        self.awake = False

    def wake(self) -> None:
        """End the wait, now or the next one; from any thread."""
        self.awake = True
        try:
            self._gate.release()
        except RuntimeError:
            pass  # already awake

    def wait(self, timeout: float | None, watched: "Mapping[int, bool]") -> "Iterable[tuple[int, bool]]":
        """Wait; what wants room is reported as ready."""
        wanting = [(fd, False) for fd, room in watched.items() if room]
        self._gate.acquire(timeout=-1 if timeout is None else 0.0 if wanting else max(0.0, timeout))
        self.awake = False
        return wanting


def held_by_another(fd: int) -> bool:  # noqa: ARG001 (consoles are not locked)
    """Whether somebody holds the lock on the terminal."""
    return False


def lock_now(fd: int) -> bool:  # noqa: ARG001 (consoles are not locked)
    """Nobody else can have it."""
    return True


def unlock(fd: int) -> None:
    """Nothing to give back."""


def read_modes(fd: int) -> "Modes | None":
    """The console's input modes; None when it has none."""
    mode = ctypes.c_ulong()
    try:
        found = ctypes.windll.kernel32.GetConsoleMode(msvcrt.get_osfhandle(fd), ctypes.byref(mode))
    except OSError:
        return None
    return [mode.value] if found else None


def write_modes(fd: int, modes: "Modes") -> bool:
    """Set the modes; whether that worked."""
    try:
        return bool(ctypes.windll.kernel32.SetConsoleMode(msvcrt.get_osfhandle(fd), modes[0]))
    except OSError:
        return False


def is_canonical(modes: "Modes") -> bool:
    """Whether the console reads whole lines."""
    return bool(modes[0] & _LINE_INPUT)


def cbreak(modes: "Modes") -> "Modes":
    """Key by key, no echo; Ctrl-C stays a signal."""
    return [(modes[0] & ~(_LINE_INPUT | _ECHO_INPUT)) | _PROCESSED_INPUT]


def whole_lines(modes: "Modes", echo: bool) -> "Modes":
    """Line by line, as the console edits them itself."""
    wanted = modes[0] | _LINE_INPUT | _PROCESSED_INPUT
    return [wanted | _ECHO_INPUT if echo else wanted & ~_ECHO_INPUT]


def streaming_bits(modes: "Modes") -> "Modes":
    """Nothing to change here."""
    return list(modes)


def without_change(now: "Modes", before: "Modes", ours: "Modes") -> "Modes":
    """`now` with our change taken back, bit by bit."""
    mask = (before[0] ^ ours[0]) & ~(now[0] ^ ours[0])
    return [(now[0] & ~mask) | (before[0] & mask)]


def with_found(now: "Modes", found: "Modes", ours: "Modes") -> "Modes":
    """`now` with everything that we changed from `found` to `ours` as it was found."""
    mask = found[0] ^ ours[0]
    return [(now[0] & ~mask) | (found[0] & mask)]


def discard_input(fd: int) -> None:  # noqa: ARG001 (the console has one input)
    """Throw away what was typed and not read."""
    while msvcrt.kbhit():
        msvcrt.getwch()


def waiting(fd: int) -> int:  # noqa: ARG001 (the console has one input)
    """How much was typed and not read, at least."""
    return 1 if msvcrt.kbhit() else 0
