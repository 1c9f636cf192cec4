"""From a byte on the socket to its text on stdout: the server writes the time into the text."""

import os
import re
import select
import statistics
import subprocess
import time
from pathlib import Path

from benchmarks import fixtures, tty
from benchmarks.measure import JP, Table

PER_SECOND = 200
STAMP = re.compile(rb"\[(\d+)\]")
ASK = (JP, "q", "-n", "hi")


class Lags:
    """Takes what was read and notes the milliseconds since each stamp in it was sent."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self._rest = b""

    def heard(self, data: bytes, now: int) -> None:
        """Take one read and its time (monotonic nanoseconds)."""
        rest = self._rest + data
        end = 0
        for stamp in STAMP.finditer(rest):
            self.found.append((now - int(stamp[1])) / 1e6)
            end = stamp.end()
        self._rest = rest[end:]


def run(table: Table, home: Path, chunks: int = 1000) -> None:
    """Measure and print."""
    table.head(f"From the socket to stdout, {PER_SECOND} chunks/s, {chunks} chunks")
    for name, newline, terminal in (
        ("into a pipe", False, False),
        ("into a pipe, a line a chunk", True, False),
        ("on a terminal, pretty, default configuration", False, True),
        ("on a terminal, a line a chunk", True, True),
    ):
        script = {"kind": "drip", "per_second": PER_SECOND, "chunks": chunks, "newline": newline}
        folder = home / name.replace(" ", "-")
        lags = Lags()
        with fixtures.scripted(script) as url:
            root = fixtures.workspace(folder / "project", url)
            env = fixtures.environment(folder)
            if terminal:
                tty.run(ASK, env=env, cwd=str(root), heard=lags.heard)
            else:
                piped(root, env, lags)
        if len(lags.found) != chunks:
            raise RuntimeError(f"{name}: {len(lags.found)} stamps of {chunks} were readable")
        late = sorted(lags.found)
        table.at_most(f"{name}: median", statistics.median(late), 5, "ms")
        table.at_most(f"{name}: 99th percentile", late[int(chunks * 0.99)], 20, "ms")


def piped(root: Path, env: dict[str, str], lags: Lags) -> None:
    """Ask with stdout a pipe."""
    with subprocess.Popen(ASK, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        fd = process.stdout.fileno()
        while True:
            select.select([fd], [], [])
            data = os.read(fd, 65536)
            if not data:
                break
            lags.heard(data, time.monotonic_ns())
