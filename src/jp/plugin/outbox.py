"""What JP writes to a plugin's stdin, in order and without ever waiting for the plugin.

The caller writes what the pipe takes at once; the rest is written by a thread, as the plugin reads. A long response is
an iterator of pieces, made as they are needed. The lock is held for steps that don't block, never across a write that
waits; whoever kills the plugin needs it not at all.
"""

import _thread
import os
from collections import deque

from jp.interrupt.mailbox import Mailbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FULL = 8 * 1024 * 1024  # bytes that wait; beyond it nothing more is taken from the plugin until it has read
_LOOK_MS = 500
_CHUNK = 256 * 1024


class Outbox:
    """The writing end of one plugin's stdin.

    On the writing thread `drained` is called when it is empty again or a stream is through, `failed` when one fails.
    """

    def __init__(self, fd: int, drained: "Callable[[], object]", failed: "Callable[[BaseException], object]") -> None:
        self._fd = fd
        self._drained = drained
        self._failed = failed
        self._lock = _thread.allocate_lock()
        self._waiting: deque[bytes | Iterator[bytes]] = deque()
        self._woken: Mailbox[None] = Mailbox()
        self._busy = False  # the thread has something in its hand
        self._started = False
        self._closing = False
        self._abandoned = False
        self.size = 0  # bytes that wait, those of iterators not counted
        self.streams = 0  # iterators that wait
        self.written = 0  # bytes that the plugin has taken
        os.set_blocking(fd, False)

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more should be asked for."""
        return self.size > FULL or self.streams > 1

    def send(self, piece: "bytes | Iterator[bytes]") -> None:
        """Write `piece` behind all that waits. Main thread; never blocks."""
        with self._lock:
            if self._closing or self._abandoned:
                return
            if isinstance(piece, bytes) and not self._busy and not self._waiting:
                piece = piece[self._write_now(piece) :]
                if not piece:
                    return
            self._put(piece)
            start = not self._started
            self._started = True
        if start:
            _thread.start_new_thread(self._serve, ())
        self._woken.post(None)

    def close(self) -> None:
        """The plugin's stdin ends behind what waits."""
        with self._lock:
            self._closing = True
            if not self._busy and not self._waiting:
                self._shut()
        self._woken.post(None)

    def abandon(self) -> None:
        """Write nothing more; the pipe is closed."""
        with self._lock:
            self._abandoned = True
            self._waiting.clear()
            if not self._busy:
                self._shut()
        self._woken.post(None)

    def _put(self, piece: "bytes | Iterator[bytes]") -> None:
        self._waiting.append(piece)
        if isinstance(piece, bytes):
            self.size += len(piece)
        else:
            self.streams += 1

    def _write_now(self, data: "bytes | memoryview") -> int:
        """Write what the pipe takes; how much that was. A plugin that is gone takes everything."""
        done = 0
        view = memoryview(data)
        while done < len(view):
            try:
                done += os.write(self._fd, view[done : done + _CHUNK])
            except BlockingIOError:
                break
            except OSError:
                return len(view)
        self.written += done
        return done

    def _shut(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    # --- the thread

    def _serve(self) -> None:
        from jp.interrupt.signals import alone

        alone()
        while True:
            self._woken.get()
            while (piece := self._next()) is not None:
                try:
                    self._write(piece)
                except Exception as error:  # a response that could not be made: the plugin would wait for ever
                    self._abandoned = True
                    self._failed(error)
            if self._fd < 0:
                return

    def _next(self) -> "bytes | Iterator[bytes] | None":
        with self._lock:
            self._busy = bool(self._waiting) and not self._abandoned
            if self._busy:
                return self._waiting.popleft()
            if self._closing or self._abandoned:
                self._shut()
        self._drained()
        return None

    def _write(self, piece: "bytes | Iterator[bytes]") -> None:
        if isinstance(piece, bytes):
            self._write_all(piece)
            with self._lock:
                self.size -= len(piece)
            return
        for part in piece:
            if self._abandoned:
                return
            self._write_all(part)
        with self._lock:
            self.streams -= 1
        self._drained()

    def _write_all(self, data: bytes) -> None:
        from select import POLLOUT, poll

        view = memoryview(data)
        while view and not self._abandoned:
            view = view[self._write_now(view) :]
            if view:
                room = poll()
                room.register(self._fd, POLLOUT)
                room.poll(_LOOK_MS)
