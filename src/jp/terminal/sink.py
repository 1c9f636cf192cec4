"""Where a device's bytes end: descriptors that are written without blocking, or memory.

What "without blocking" rests on, a kind of descriptor each: a terminal is opened a second time by name, so that
`O_NONBLOCK` is ours alone (`posix.private_writer`); a pipe or socket that polls as writable takes `PIPE_BUF` bytes at
once; a file takes everything. Two cases are left, and both only hold up the worker, never a caller: another process
filling the same pipe between poll and write, and a terminal that cannot be opened by name (64 bytes a write then).
"""

import os
import stat

from jp.terminal import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.terminal.target import Target

CHUNK = 4096
_WARY = 64


class FdSink:
    """Descriptors of one file, pipe or terminal, one for each target that is written to it."""

    __slots__ = ("_checked", "_chunk", "_fds", "_own", "terminal")

    def __init__(self, fds: "Mapping[Target, int]", *, terminal: bool) -> None:
        self._fds = dict(fds)
        self.terminal = terminal
        self._own: int | None = None
        self._checked = False
        self._chunk = CHUNK
        first = next(iter(self._fds.values()))
        if terminal:
            system.prepare(first)
            self._own = system.private_writer(first)
            self._checked = self._own is None
            self._chunk = CHUNK if self._own is not None else _WARY
        else:
            self._checked = _can_be_full(first)
            self._chunk = system.PIPE_CHUNK if self._checked else CHUNK

    def watched(self) -> int | None:
        """The descriptor to poll for room and for a reader that left; None for files, which are always ready."""
        if self._own is not None:
            return self._own
        return next(iter(self._fds.values())) if self._checked and system.POLLABLE else None

    def columns(self) -> int | None:
        """The terminal's width; None where it does not know."""
        return (system.size(next(iter(self._fds.values()))) or (None, None))[0] if self.terminal else None

    def write(self, target: "Target", data: memoryview) -> int:
        """Write at most one chunk; 0 when there is no room now. Raises OSError for everything else."""
        fd = self._fds[target] if self._own is None else self._own
        if self._checked and not system.writable(fd):
            return 0
        try:
            return os.write(fd, data[: self._chunk])
        except BlockingIOError:
            return 0


def _can_be_full(fd: int) -> bool:
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class Buffer:
    """What one channel of an in-memory Printer has received."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def append(self, data: bytes | memoryview) -> None:
        """Take bytes as a terminal or file would."""
        self._data += data

    @property
    def data(self) -> bytes:
        """All bytes so far."""
        return bytes(self._data)

    @property
    def text(self) -> str:
        """All text so far."""
        return self._data.decode("utf-8", "replace")

    def take(self) -> str:
        """The text so far, which is forgotten."""
        text = self.text
        self._data.clear()
        return text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Buffer({self.text!r})"


class MemorySink:
    """Buffers in place of descriptors; `order` holds the writes of all targets as they came.

    `width` is the terminal's, None where it does not know.
    """

    __slots__ = ("_buffers", "order", "terminal", "width")

    def __init__(self, buffers: "Mapping[Target, Buffer]", *, terminal: bool, order: Buffer) -> None:
        self._buffers = dict(buffers)
        self.terminal = terminal
        self.order = order
        self.width: int | None = None

    def watched(self) -> int | None:
        """Nothing to poll."""
        return None

    def columns(self) -> int | None:
        """The width that was set."""
        return self.width

    def write(self, target: "Target", data: memoryview) -> int:
        """Take everything."""
        self._buffers[target].append(data)
        self.order.append(data)
        return len(data)
