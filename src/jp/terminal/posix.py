"""Terminals and waiting on POSIX systems.

Writing to a terminal without ever blocking: poll alone does not do it, because a terminal with one free byte polls as
writable and then blocks a longer write until somebody reads (and Ctrl-S may come between the two). `O_NONBLOCK` on the
inherited descriptor does not do it either: the flag belongs to the open file description, which the shell and every
other process on the terminal share. So the terminal is opened a second time, by name: that description is ours alone.
"""

import errno
import os
import select
import stat
import sys
import time

from jp.errors import JpError

assert sys.platform != "win32"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Modes = list[Any]

TERMINAL = "/dev/tty"
SHELL: str | None = "/bin/sh"  # what reads a command text, with "$@" for its arguments
TERM_EXPECTED = True
PIPE_CHUNK = min(4096, select.PIPE_BUF)  # POSIX: a pipe that polls as writable takes this much at once
POLLABLE = True
_POLL_REFUSES_TERMINALS = sys.platform == "darwin"
_SWEEP_SECS = 1.0
_SPARE = 3  # descriptors that must be left: a pipe to wake the writer, and one to read files and modules with


class NoDescriptors(JpError):
    """No pipe to wake the writer with, and a descriptor to spare: the limit is too low, or too many are open."""

    code = "system"

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"the system does not let JP open what it needs to begin: {error.strerror or error}",
            hints=["Raise the limit on open files (`ulimit -n 256`), or end what has so many open."],
            metadata={"errno": error.errno},
        )


def open_terminal(path: str = TERMINAL) -> tuple[int, int]:
    """The controlling terminal for reading and writing, as (input, output), here one descriptor.

    Raises OSError; ENXIO means that the process has none.
    """
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    if not os.isatty(fd):
        os.close(fd)
        raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY), path)
    _leave(_SPARE, fd)
    return fd, fd


def _leave(spare: int, *fds: int) -> None:
    """Close `fds` and raise OSError if, with them open, fewer than `spare` more could be opened."""
    more: list[int] = []
    try:
        for _ in range(spare):
            more.append(os.dup(fds[0]))
    except OSError:
        more += fds
        raise
    finally:
        for fd in more:
            os.close(fd)


def is_terminal(fd: int) -> bool:
    """Whether the descriptor itself is a terminal; a closed one is not."""
    return os.isatty(fd)


def prepare(fd: int) -> None:
    """Nothing to switch on: terminals here take escapes as they are."""


def controls(fd: int) -> bool:
    """Whether `fd` is the controlling terminal of this process."""
    try:
        os.tcgetpgrp(fd)
    except OSError:
        return False
    return True


def foreground(fd: int) -> bool | None:
    """Whether our process group is the terminal's foreground; None where `fd` does not control our jobs."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return None


def take_foreground_of_the_dead(fd: int) -> None:
    """Become the terminal's foreground if the group that is has no process left."""
    from jp.interrupt.signals import take_foreground

    try:
        os.killpg(os.tcgetpgrp(fd), 0)
    except ProcessLookupError:
        take_foreground(fd)
    except OSError:
        pass


def size(fd: int) -> tuple[int, int] | None:
    """(columns, lines) of a terminal, None if it does not know (a fresh pty says 0 by 0)."""
    try:
        columns, lines = os.get_terminal_size(fd)
    except OSError:
        return None
    return (columns, lines) if columns > 0 and lines > 0 else None


def identity(fd: int) -> tuple[int, int] | None:
    """Equal for descriptors of the same file, pipe or terminal; None for a closed one."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def readable(fd: int) -> bool:
    """Whether an open descriptor is for reading: `nohup` gives a command a stdin that is write-only."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY


def writable(fd: int) -> bool:
    """Whether a small write would be taken right now (a broken pipe counts: the write will say so)."""
    try:
        return bool(select.select([], [fd], [], 0)[1])
    except (OSError, ValueError):
        return True


def private_writer(fd: int) -> int | None:
    """A non-blocking descriptor of our own for the terminal behind `fd`; None where it can't be had, for any reason."""
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    if controls(fd):
        try:
            own = os.open(TERMINAL, flags)
            _leave(_SPARE, own)
            return own
        except OSError:
            pass
    try:
        found = os.fstat(fd)
        own = os.open(os.ttyname(fd), flags)
        _leave(_SPARE, own)
    except OSError:
        return None
    opened = os.fstat(own)
    if (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino):
        return own
    os.close(own)  # a name of another mount namespace
    return None


def open_device(fd: int) -> int:
    """Open the terminal behind `fd` by its own name, for both directions. Raises OSError."""
    return os.open(_device_name(fd), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


def _device_name(fd: int) -> str:
    """The terminal's own name: that of a descriptor opened as `/dev/tty` is just that, whatever the terminal."""
    name = os.ttyname(fd)
    if name != TERMINAL:
        return name
    for other in (0, 1, 2):
        if os.isatty(other) and controls(other) and (name := os.ttyname(other)) != TERMINAL:
            return name
    device = _controlling_device()
    for name in (f"/dev/pts/{_pts_number(device)}", f"/dev/tty{os.minor(device)}", f"/dev/ttyS{os.minor(device) - 64}"):
        try:
            if os.stat(name).st_rdev == device:
                return name
        except OSError:
            continue
    raise OSError(errno.ENXIO, "the terminal has no name", TERMINAL)


def _controlling_device() -> int:
    """The device number of the controlling terminal, as Linux tells it. Raises OSError elsewhere."""
    with open("/proc/self/stat", "rb") as file:
        number = int(file.read().rpartition(b")")[2].split()[4])
    return os.makedev((number >> 8) & 0xFFF, (number & 0xFF) | ((number >> 12) & 0xFFF00))


def _pts_number(device: int) -> int:
    return (os.major(device) - 136) * 256 + os.minor(device)


class Waiter:
    """Waits until woken, until a deadline, or until a watched descriptor takes bytes or loses its reader.

    Raises NoDescriptors where there can be none.
    """

    __slots__ = ("_masks", "_poll", "_wake_in", "_wake_out", "awake")

    def __init__(self) -> None:
        self._wake_in, self._wake_out = _pipe_with_one_to_spare()
        os.set_blocking(self._wake_in, False)
        os.set_blocking(self._wake_out, False)
        self._poll = select.poll()
        self._poll.register(self._wake_in, select.POLLIN)
        self._masks: dict[int, int] = {}
        self.awake = False

    def wake(self) -> None:
        """End the wait, now or the next one; from any thread, never blocks."""
        if self.awake:
            return
        self.awake = True
        try:
            os.write(self._wake_out, b"\0")
        except OSError:
            pass  # full: it is awake

    def wait(self, timeout: float | None, watched: "Mapping[int, bool]") -> "Iterable[tuple[int, bool]]":
        """Wait; `watched` maps a descriptor to whether room for writing ends the wait as well.

        Returns (descriptor, broken) of those that are ready. What was posted before `awake` is false is seen by the
        caller after this returns.
        """
        ready = self._select(timeout, watched) if _POLL_REFUSES_TERMINALS else self._polled(timeout, watched)
        try:
            os.read(self._wake_in, 4096)
        except OSError:
            pass
        self.awake = False
        return ready

    def _polled(self, timeout: float | None, watched: "Mapping[int, bool]") -> list[tuple[int, bool]]:
        masks = {fd: select.POLLOUT if room else 0 for fd, room in watched.items()}
        if masks != self._masks:
            for fd in self._masks.keys() - masks.keys():
                self._poll.unregister(fd)
            for fd, mask in masks.items():
                self._poll.register(fd, mask)
            self._masks = masks
        found = self._poll.poll(None if timeout is None else max(0, timeout * 1000))
        broken = select.POLLERR | select.POLLHUP | select.POLLNVAL
        return [(fd, bool(event & broken)) for fd, event in found if fd != self._wake_in]

    def _select(self, timeout: float | None, watched: "Mapping[int, bool]") -> list[tuple[int, bool]]:
        """For a kernel whose poll refuses terminals: select, and poll looks after the pipes once a second."""
        deadline = None if timeout is None else time.monotonic() + timeout
        wanting = [fd for fd, room in watched.items() if room]
        while True:
            left = _SWEEP_SECS if deadline is None else max(0.0, min(_SWEEP_SECS, deadline - time.monotonic()))
            woken, ready, _ = select.select([self._wake_in], wanting, [], left if watched else timeout)
            broken = self._sweep(watched)
            if woken or ready or broken or not watched or (deadline is not None and time.monotonic() >= deadline):
                return [(fd, fd in broken) for fd in {*ready, *broken}]

    def _sweep(self, watched: "Mapping[int, bool]") -> set[int]:
        pipes = select.poll()
        for fd in watched:
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode) or stat.S_ISSOCK(os.fstat(fd).st_mode):
                    pipes.register(fd, 0)
            except OSError:
                return {fd}
        return {fd for fd, event in pipes.poll(0) if event & (select.POLLERR | select.POLLHUP)}


def _pipe_with_one_to_spare() -> tuple[int, int]:
    """A pipe, but not with the last descriptors: without one more, no file can be read and no module imported."""
    try:
        reader, writer = os.pipe()
        _leave(1, reader, writer)
    except OSError as error:
        raise NoDescriptors(error) from error
    return reader, writer


def held_by_another(fd: int) -> bool:
    """Whether somebody holds the lock on the file that `fd` was opened for; `fd` must be an open of its own."""
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def lock_now(fd: int) -> bool:
    """Take the lock on the file that `fd` was opened for; False while another open of it has the lock."""
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system that has no locks: nobody else can have it either
    return True


def unlock(fd: int) -> None:
    """Give the lock back."""
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_UN)
    except OSError:
        pass


def read_modes(fd: int) -> "Modes | None":
    """The terminal's modes; None when it is gone."""
    import termios

    try:
        return termios.tcgetattr(fd)
    except (termios.error, OSError, ValueError):
        return None


def write_modes(fd: int, modes: "Modes") -> bool:
    """Set the modes at once; whether that worked. Never TCSADRAIN: it blocks on a stopped terminal."""
    import termios

    try:
        termios.tcsetattr(fd, termios.TCSANOW, modes)
    except (termios.error, OSError, ValueError):
        return False
    return True


def is_canonical(modes: "Modes") -> bool:
    """Whether the terminal reads whole lines, as it does when no program has taken it."""
    import termios

    return bool(modes[3] & termios.ICANON)


def cbreak(modes: "Modes") -> "Modes":
    """Key by key, every key as it is, no echo; the keys for signals stay and throw no input away."""
    import termios

    wanted = list(modes)
    wanted[0] = modes[0] & ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP | termios.IXON)
    wanted[3] = (modes[3] & ~(termios.ICANON | termios.ECHO | termios.IEXTEN)) | termios.ISIG | termios.NOFLSH
    wanted[6] = list(modes[6])
    wanted[6][termios.VMIN], wanted[6][termios.VTIME] = 1, 0
    return wanted


def whole_lines(modes: "Modes", echo: bool) -> "Modes":
    """Line by line, as the terminal edits them itself; the keys for signals throw no input away."""
    import termios

    wanted = list(modes)
    wanted[3] = (modes[3] | termios.ICANON | termios.ISIG | termios.NOFLSH) & ~termios.ECHO
    if echo:
        wanted[3] |= termios.ECHO
    return wanted


def streaming_bits(modes: "Modes") -> "Modes":
    """What a turn wants of the terminal: Ctrl-C throws no accepted output away, and nothing typed is shown in it.

    Without ECHOCTL alone, which would hide `^C`, an arrow key that is typed meanwhile moves the cursor.
    """
    import termios

    wanted = list(modes)
    wanted[3] = (modes[3] | termios.NOFLSH) & ~termios.ECHO
    return wanted


def without_change(now: "Modes", before: "Modes", ours: "Modes") -> "Modes":
    """`now` with our change of local modes taken back: of the bits we changed, those that are still as we set them."""
    mask = (before[3] ^ ours[3]) & ~(now[3] ^ ours[3])
    return [*now[:3], (now[3] & ~mask) | (before[3] & mask), *now[4:]]


def with_found(now: "Modes", found: "Modes", ours: "Modes") -> "Modes":
    """`now` with everything that we changed from `found` to `ours` as it was found."""
    flags = [(now[n] & ~(found[n] ^ ours[n])) | (found[n] & (found[n] ^ ours[n])) for n in range(4)]
    return [*flags, *found[4:]]


def discard_input(fd: int) -> None:
    """Throw away what was typed and not read."""
    import termios

    try:
        termios.tcflush(fd, termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        pass


def waiting(fd: int) -> int:
    """How many bytes were typed and not read; 0 where that can't be told."""
    import fcntl
    import termios

    try:
        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4), sys.byteorder)
    except OSError:
        return 0
