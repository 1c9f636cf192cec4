"""Run a program on a terminal of its own, as a person would, and read what it writes."""

import errno
import fcntl
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How it ended: exit status, seconds from spawn to exit, CPU seconds (user and system), and how much it wrote."""

    status: int
    wall: float
    cpu: float
    size: int


def start(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, columns: int = 100) -> tuple[int, int]:
    """Start it; its process id, and the descriptor of the terminal's other side."""
    child, master = pty.fork()
    if child == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.chdir(cwd)
            os.execvpe(argv[0], list(argv), {**env, "TERM": "xterm-256color"})
        finally:
            os._exit(127)
    return child, master


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    heard: Callable[[bytes, int], None] | None = None,
    columns: int = 100,
) -> Ended:
    """Run to its end; `heard` gets each read and its time (monotonic nanoseconds). Raises RuntimeError on failure."""
    start_at = time.perf_counter()
    child, master = start(argv, env=env, cwd=cwd, columns=columns)
    size, tail = 0, b""
    try:
        while data := _read(master):
            if heard is not None:
                heard(data, time.monotonic_ns())
            size += len(data)
            tail = (tail + data)[-2000:]
    finally:
        os.close(master)
    _, status, usage = os.wait4(child, 0)
    taken = time.perf_counter() - start_at
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"{' '.join(argv)}: exit {code}\n{tail.decode(errors='replace')}")
    return Ended(code, taken, usage.ru_utime + usage.ru_stime, size)


def _read(master: int) -> bytes:
    """What is there, waiting for it; empty at the end, which Linux reports as an error."""
    select.select([master], [], [])
    try:
        return os.read(master, 65536)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


class Session:
    """A program on a terminal of its own, and all that it has written."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
        self.child, self.master = start(argv, env=env, cwd=cwd)
        self.output = b""

    def until(self, text: bytes, after: int = 0, deadline: float = 20.0) -> None:
        """Read until `text` is in the output behind `after`. Raises RuntimeError when it does not come."""
        end = time.perf_counter() + deadline
        while text not in self.output[after:]:
            if not select.select([self.master], [], [], max(0.0, end - time.perf_counter()))[0]:
                raise RuntimeError(f"{text!r} did not come; the end of the output: {self.output[-300:]!r}")
            self.output += os.read(self.master, 65536)
