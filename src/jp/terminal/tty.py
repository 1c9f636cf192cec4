"""The controlling terminal: where prompts are drawn and answered, whatever is redirected (RFD 104, "Promptability").

Opening it costs microseconds, so the probe is made once, eagerly, by every run; its failure is silent.
"""

import _thread
import os
import stat

from jp.terminal import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

TERMINAL = system.TERMINAL
is_terminal = system.is_terminal
size = system.size


def is_piped(fd: int = 0) -> bool:
    """Whether a descriptor is open for reading and leads to no terminal: whether text is piped in."""
    return system.identity(fd) is not None and not system.is_terminal(fd) and system.readable(fd)


def is_pipe(fd: int) -> bool:
    """Whether another program may be at the other end of the descriptor."""
    try:
        kind = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)


class Tty:
    """The controlling terminal, open for both directions for as long as the process lives.

    `fd` is read from, `out_fd` written to (one descriptor on POSIX).
    """

    __slots__ = ("_asking", "_lock_fd", "_look_fd", "_turn", "fd", "out_fd")

    def __init__(self, fd: int, out_fd: int) -> None:
        self.fd = fd
        self.out_fd = out_fd
        self._lock_fd: int | None = None
        self._look_fd: int | None = None
        self._asking = False
        self._turn = _thread.allocate_lock()  # of `_asking` and the lock together

    def foreground(self) -> bool:
        """Whether we may read: our process group is the terminal's foreground. A lost terminal says no."""
        return bool(system.foreground(self.fd))

    def reclaim(self) -> None:
        """Take the foreground back from a process group that is gone: a program that had the terminal took it along."""
        system.take_foreground_of_the_dead(self.fd)

    def is_there(self) -> bool:
        """Whether the terminal still is: a window that was closed is not."""
        return system.read_modes(self.fd) is not None

    def size(self) -> tuple[int, int] | None:
        """(columns, lines), None where the terminal does not know."""
        return system.size(self.fd)

    def lock_fd(self) -> int | None:
        """A descriptor to `flock` for one question at a time on this terminal, over processes too; None without one.

        `/dev/tty` will not do: it is one inode for all terminals of the system.
        """
        if self._lock_fd is None:
            try:
                self._lock_fd = system.open_device(self.fd)
            except OSError:
                return None
        return self._lock_fd

    def take_turn(self) -> bool:
        """Take the terminal's lock for a question; False while another process has it."""
        fd = self.lock_fd()
        with self._turn:
            self._asking = fd is None or system.lock_now(fd)
            return self._asking

    def give_turn(self) -> None:
        """Give the lock back."""
        with self._turn:
            self._asking = False
            if self._lock_fd is not None:
                system.unlock(self._lock_fd)

    def asked_on(self) -> bool:
        """Whether another process asks a question on this terminal: it holds the lock.

        Looked at through an open of its own; a look through `lock_fd` would give our own lock away.
        """
        with self._turn:
            return not self._asking and self._held_elsewhere()

    def _held_elsewhere(self) -> bool:
        if self._look_fd is None:
            try:
                self._look_fd = system.open_device(self.fd)
            except OSError:
                return False
        return system.held_by_another(self._look_fd)

    def close(self) -> None:
        """Give the descriptors back."""
        for fd in {self.fd, self.out_fd, self._lock_fd, self._look_fd} - {None}:
            try:
                os.close(fd)  # type: ignore[arg-type]
            except OSError:
                pass

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def probe(path: str = TERMINAL) -> Tty | None:
    """Open the controlling terminal for reading and writing; None when it does not open for both.

    `path` is for tests; on Windows it is the pair `CONIN$/CONOUT$`.
    """
    try:
        fd, out_fd = system.open_terminal(path)
    except OSError:
        return None
    return Tty(fd, out_fd)
