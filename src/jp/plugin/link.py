"""A running plugin as its host has it: lines that come, messages that go, and news of its end.

Threads that only wait and post: one reads stdout, one stderr, one writes (`outbox`). Nothing that a plugin writes is
kept beyond a bound: what the host has not looked at yet holds up the reader, and the pipe then holds up the plugin.
"""

import _thread
import errno
import os
from threading import Event

from jp import log
from jp.interrupt import children
from jp.interrupt.mailbox import Mailbox
from jp.interrupt.signals import KILL
from jp.plugin.outbox import Outbox
from jp.plugin.wire import Lines, MalformedError
from jp.terminal.modes import waiting
from jp.tool.output import Errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jp.interrupt.children import Child

_CHUNK = 65536
_FULL = 32 * 1024  # bytes: a full pipe holds at least as many, for writes are not cut at the ends of its pages
_BATCHES = 4  # that may wait for the host
_LINES_EVERY_SECS = 10.0  # stderr: after this long, as many lines as the first time may be logged again


class Came:
    """Lines that the plugin has written."""

    __slots__ = ("lines",)

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines


class Closed:
    """Its stdout is at an end. `malformed`: because what it wrote can't be read; `unfinished`: a line without end."""

    __slots__ = ("malformed", "unfinished")

    def __init__(self, malformed: str = "", unfinished: bytes = b"") -> None:
        self.malformed = malformed
        self.unfinished = unfinished


class Exited:
    """The process has ended."""


class Stopped:
    """The process was stopped by a signal."""

    __slots__ = ("signal",)

    def __init__(self, signal: int) -> None:
        self.signal = signal


class Drained:
    """The plugin has read all that was written to it."""


class Unwritable:
    """A response could not be made."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Link:
    """One plugin's process. `post` gets the events above, on other threads. Raises OSError where it can't be started.

    `say(line)` gets each line of its stderr.
    """

    def __init__(
        self,
        argv: "Sequence[str]",
        *,
        post: "Callable[[object], object]",
        say: "Callable[[str], object]",
        cwd: str,
        environ: "Mapping[str, str]",
    ) -> None:
        self._post = post
        self._say = say
        self._credits: Mailbox[None] = Mailbox()  # one for each batch that may wait for the host
        for _ in range(_BATCHES):
            self._credits.post(None)
        self._over = False
        self.child: Child = children.spawn(
            argv,
            env=environ,
            cwd=cwd,
            stdin=children.PIPE,
            stdout=children.PIPE,
            stderr=children.PIPE,
            on_exit=lambda _: post(Exited()),
            on_stop=lambda child: post(Stopped(child.stopped or 0)),
        )
        stdin, stdout, stderr = self.child.stdin, self.child.stdout, self.child.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self.outbox = Outbox(stdin, lambda: post(Drained()), lambda error: post(Unwritable(error)))
        self.heard = Event()  # stderr is at its end
        self.starved = False  # the reader waits for the host
        self._stdout = stdout
        try:
            _thread.start_new_thread(self._listen, (stderr,))
            _thread.start_new_thread(self._read, (stdout,))
        except RuntimeError as error:
            self.child.kill_group(KILL)
            self.end()
            raise OSError(errno.EAGAIN, f"{error} to listen to the plugin", argv[0]) from error

    def send(self, data: "bytes | Iterator[bytes]") -> None:
        """Write to its stdin; never waits."""
        self.outbox.send(data)

    def taken(self) -> None:
        """The host is done with one `Came`."""
        self._credits.post(None)

    @property
    def stuck(self) -> bool:
        """Whether the plugin itself waits to write: the host takes nothing more, and the pipe is full."""
        return self.starved and waiting(self._stdout) > _FULL and self.child.stopped is None

    def end(self) -> None:
        """Read and write nothing more."""
        self._over = True
        self._credits.post(None)
        self.outbox.abandon()

    def _read(self, fd: int) -> None:
        from jp.interrupt.signals import alone

        alone()
        lines = Lines()
        closed = Closed()
        try:
            while not self._over and (data := os.read(fd, _CHUNK)):
                if whole := lines.feed(data):
                    self.starved = True
                    self._credits.get()
                    self.starved = False
                    self._post(Came(whole))
            closed = Closed(unfinished=lines.unfinished)
        except MalformedError as error:
            closed = Closed(malformed=str(error))
        except OSError as error:
            log.log(log.WARN, "plugin", "its output can't be read", error=str(error))
        finally:
            self.starved = False
            os.close(fd)
            self._post(closed)

    def _listen(self, fd: int) -> None:
        from jp.interrupt.signals import alone

        alone()
        errors = Errors(self._say, every_secs=_LINES_EVERY_SECS)
        try:
            while data := os.read(fd, _CHUNK):
                errors.feed(data)
            errors.end()
        except OSError:
            pass
        finally:
            os.close(fd)
            self.heard.set()
