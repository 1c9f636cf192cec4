"""A program without a terminal: in a session of its own, on pipes."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from tests.support.status import of_returncode

DEADLINE = 30.0


class Process:
    """Runs `argv` with no controlling terminal; collects what it writes, and waits for conditions, never for time."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen(
            list(argv), env={**os.environ, **(env or {})}, cwd=cwd, start_new_session=True, **options
        )
        self.pid = self.process.pid
        self.out = b""
        self.err = b""
        self._open = {f.fileno(): name for f, name in ((self.process.stdout, "out"), (self.process.stderr, "err")) if f}

    def pump(self, seconds: float) -> None:
        """Take what comes within `seconds`, returning at the first piece."""
        ready, _, _ = select.select(list(self._open), [], [], seconds)
        for fd in ready:
            data = os.read(fd, 65536)
            if not data:
                del self._open[fd]
            setattr(self, self._open.get(fd, "out"), getattr(self, self._open.get(fd, "out")) + data)

    def until(self, condition: "Callable[[Process], object] | bytes", deadline: float = DEADLINE) -> "Process":
        """Wait until `condition(self)` holds, or the bytes are in what was written to stdout."""
        met = condition if callable(condition) else lambda p: condition in p.out
        end = time.monotonic() + deadline
        while not met(self):
            if time.monotonic() > end or (not self._open and self.process.poll() is not None and not met(self)):
                raise AssertionError(f"not within {deadline} s ({self.process.poll()=}):\n{self.out!r}\n{self.err!r}")
            self.pump(0.02)
        return self

    def kill(self, sig: int = signal.SIGINT) -> None:
        """Send a signal to the program alone."""
        self.process.send_signal(sig)

    def wait(self, deadline: float = DEADLINE) -> str:
        """Wait for the end, taking all output; how it ended, in words."""
        end = time.monotonic() + deadline
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"still running after {deadline} s:\n{self.out!r}\n{self.err!r}")
            self.pump(0.01)
        while self._open and select.select(list(self._open), [], [], 0)[0]:
            self.pump(0)
        return of_returncode(self.process.returncode)

    def close(self) -> None:
        """Kill the program and its group, and close the pipes."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
