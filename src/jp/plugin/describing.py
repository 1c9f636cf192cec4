"""Asking plugins what they are: `describe` on stdin, one line back, and the end, whatever they do.

A plugin is run for that, so only those are asked that may be run (`admission`). It gets a session of its own, without a
terminal, and pipes; a thread a plugin listens to it and kills its group, and main waits for the threads in a mailbox.

It runs in `/`. Nobody has asked for it by name, and the current directory may be a clone of anybody's, out of which an
interpreter would take what it finds (a module, settings, a program by a relative entry of `$PATH`). The user's home has
such files too, and may not be there.
"""

import _thread
import os
import time

from jp.interrupt import children, signals
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.plugin.fingerprint import stamp
from jp.plugin.messages import Describe, Description
from jp.plugin.wire import Faulty, Lines, MalformedError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jp.interrupt.children import Child
    from jp.interrupt.token import ShutdownToken
    from jp.plugin.fingerprint import Stamp

    Judged = tuple[str, Stamp | None]
    Answer = Description | str

PATIENCE_SECS = 5.0
LIMIT = 1 << 20  # bytes of what it writes
AT_ONCE = 16
_REST_SECS = 0.5  # for its own end once it has answered, and to hear how it ended when it has not
_HELD_SECS = 1.0  # that a thread may be late
_ERRORS = 4096  # bytes of its stderr
_CHUNK = 65536


def describe(
    judged: "Sequence[Judged]",
    environ: "Mapping[str, str]",
    token: "ShutdownToken",
    *,
    seconds: float = PATIENCE_SECS,
) -> "dict[str, Answer]":
    """What plugins say of themselves, by their paths: a description, or in a sentence why there is none.

    Each is a path and the stamp of the file when it was judged (None: any file may be run). One that has another stamp
    when it is its turn is not run, and not in the answer. Takes little longer than `seconds` for every AT_ONCE of them,
    and leaves nothing running. Main thread. Raises Shutdown.
    """
    found: dict[str, Answer] = {}
    for first in range(0, len(judged), AT_ONCE):
        found |= _describe(judged[first : first + AT_ONCE], environ, token, seconds)
    return found


def _describe(
    judged: "Sequence[Judged]", environ: "Mapping[str, str]", token: "ShutdownToken", seconds: float
) -> "dict[str, Answer]":
    over: Mailbox[_Asked | None] = Mailbox()
    until = time.monotonic() + seconds
    asked: list[_Asked] = []
    unsubscribe = token.subscribe(lambda: over.post(None))
    try:
        for path, then in judged:
            if then is None or stamp(path) == then:
                asked.append(_Asked(path, over.post, until))
                asked[-1].start(environ)
        left = len(asked)
        while left:
            left -= over.get(until + _REST_SECS + _HELD_SECS - time.monotonic()) is not None
            checkpoint()
    except EmptyError:
        pass  # the machine has other things to do than to run our threads
    finally:
        unsubscribe()
        for each in asked:
            each.kill()
    late = f"it did not describe itself within {seconds:g} seconds"
    return {each.path: each.answer or late for each in asked}


class _Asked:
    """One plugin that is asked. `over(self)` is called once, on the thread that listens, when nothing more can come.

    `until` is on the monotonic clock. `answer` is there as soon as it is given, and stays; None where there is none.
    """

    def __init__(self, path: str, over: "Callable[[_Asked], None]", until: float) -> None:
        self.path = path
        self.answer: Answer | None = None
        self._over = over
        self._until = until
        self._child: Child | None = None
        self._lines = Lines(LIMIT)
        self._errors = b""
        self._taken = 0

    def start(self, environ: "Mapping[str, str]") -> None:
        """Run it and give it the question."""
        try:
            child = self._child = children.spawn(
                [self.path],
                env=environ,
                cwd=os.sep,
                stdin=children.PIPE,
                stdout=children.PIPE,
                stderr=children.PIPE,
                session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.answer = f"it can't be started: {reason}"
            self._over(self)
            return
        assert child.stdin is not None
        try:
            os.write(child.stdin, encode(Describe()))  # far less than an empty pipe takes
        except OSError:
            pass  # it has ended, which is seen at the other pipe
        finally:
            os.close(child.stdin)
        try:
            _thread.start_new_thread(self._listen, (child,))
        except RuntimeError as error:
            self.kill()
            _close(child)
            self.answer = f"nobody can listen to it: {error}"
            self._over(self)

    def kill(self) -> None:
        """End it and all that it has started. Never blocks; any thread."""
        if self._child is not None:
            self._child.kill_group(signals.KILL)

    # --- on the thread that listens

    def _listen(self, child: "Child") -> None:
        signals.alone()
        try:
            self._hear(child)
        except MalformedError as error:
            self.answer = f"it {error}"
        except OSError as error:
            self.answer = self.answer or f"it could not be listened to: {error.strerror}"
        finally:
            self.kill()
            _close(child)
            self._over(self)

    def _hear(self, child: "Child") -> None:
        """Read what it writes, until it has ended or its time is up, also in the middle of a flood."""
        from select import poll

        assert child.stdout is not None
        assert child.stderr is not None
        poller = poll()
        for fd in (child.stdout, child.stderr):
            poller.register(fd, 1)  # POLLIN
        while True:
            for fd, _ in poller.poll(max(0.0, self._until - time.monotonic()) * 1000):
                data = os.read(fd, _CHUNK)
                if fd == child.stderr:
                    self._errors = (self._errors + data)[:_ERRORS]
                elif not data:
                    self.answer = self.answer or self._described(b"\n") or self._ended(child)
                    return
                elif self.answer is None:
                    self.answer = self._described(data)
                    if self.answer is not None:
                        self._until = min(self._until, time.monotonic() + _REST_SECS)
                if not data:
                    poller.unregister(fd)
            if time.monotonic() >= self._until:
                return

    def _described(self, data: bytes) -> "Answer | None":
        """The description in what it has written by now; what else it says before that is passed over."""
        self._taken += len(data)
        for line in self._lines.feed(data):
            message = decode(line)
            if isinstance(message, Description):
                return message
            if isinstance(message, Faulty) and message.request in ("", "describe"):
                return f"it has sent {message.message}" if message.request else message.message
        return f"it wrote more than {LIMIT:,} bytes and no description" if self._taken > LIMIT else None

    def _ended(self, child: "Child") -> str:
        child.exited.wait(_REST_SECS)
        self._read_errors(child)
        how = ""
        if child.returncode:
            code = child.returncode
            how = f" (exit status {code})" if code > 0 else f" (killed by {signals.name_of(-code)})"
        said = self._errors.decode("utf-8", "replace").strip().splitlines()
        return f"it ended without describing itself{how}" + (f": {said[-1].strip()[:200]}" if said else "")

    def _read_errors(self, child: "Child") -> None:
        """Take what is there of its stderr: what it has said last of all."""
        from select import poll

        assert child.stderr is not None
        poller = poll()
        poller.register(child.stderr, 1)  # POLLIN
        while len(self._errors) < _ERRORS and poller.poll(0) and (data := os.read(child.stderr, _CHUNK)):
            self._errors = (self._errors + data)[:_ERRORS]


def _close(child: "Child") -> None:
    for fd in (child.stdout, child.stderr):
        if fd is not None:
            os.close(fd)
