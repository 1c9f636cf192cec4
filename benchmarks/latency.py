"""From a byte on the socket to its text on stdout: the server writes the time into the text."""

import os
import re
import select
import statistics
import subprocess
import time
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import JP, Table

CHUNKS = 1000
PER_SECOND = 200
STAMP = re.compile(rb"\[(\d+)\]")


def run(table: Table, home: Path) -> None:
    """Measure and print."""
    table.head(f"From the socket to stdout, {PER_SECOND} chunks/s, {CHUNKS} chunks")
    for name, newline in (("into a pipe", False), ("into a pipe, a line a chunk", True)):
        script = {"kind": "drip", "per_second": PER_SECOND, "chunks": CHUNKS, "newline": newline}
        with fixtures.server(script) as url:
            root = fixtures.workspace(home / name.replace(" ", "-"), url)
            late = sorted(lags(root, fixtures.environment(home)))
        median, p99 = statistics.median(late), late[int(len(late) * 0.99)]
        table.row(f"{name}: median", f"{median:.2f} ms", "5 ms", median <= 5)
        table.row(f"{name}: 99th percentile", f"{p99:.2f} ms", "20 ms", p99 <= 20)


def lags(root: Path, env: dict[str, str]) -> list[float]:
    """Milliseconds that each chunk took from the server's write to our read."""
    found: list[float] = []
    with subprocess.Popen(
        [JP, "q", "-n", "hi"], cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        fd = process.stdout.fileno()
        rest = b""
        while True:
            select.select([fd], [], [])
            data = os.read(fd, 65536)
            now = time.monotonic_ns()
            if not data:
                break
            rest += data
            end = 0
            for stamp in STAMP.finditer(rest):
                found.append((now - int(stamp[1])) / 1e6)
                end = stamp.end()
            rest = rest[end:]
    assert len(found) == CHUNKS, len(found)
    return found
