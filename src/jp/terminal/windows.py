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

TERMINAL = "CONIN$/CONOUT$"
TERM_EXPECTED = False
POLLABLE = False
_PROCESSED_OUTPUT = 0x0001
_VIRTUAL_TERMINAL = 0x0004


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

    def close(self) -> None:
        """Nothing to give back."""
