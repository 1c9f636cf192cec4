"""Whole processes, timed side by side: every round runs each command once, so that noise hits all of them alike."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

BARE = (sys.executable, "-c", "pass")
JP = os.path.join(os.path.dirname(sys.executable), "jp")

# Run by an interpreter of its own: what the kernel reports as a process's peak includes what its parent had in memory
# before it started it, and this benchmark is larger than some of what it measures.
_PEAK = """
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, file=sys.stderr)
"""


def wall(argv: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None) -> float:
    """Seconds from spawn to exit; raises RuntimeError when the command fails."""
    start = time.perf_counter()
    done = subprocess.run(argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    taken = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return taken


@dataclass(frozen=True)
class Times:
    """What a command took: the median seconds, the least (noise only ever adds), and the median CPU seconds."""

    median: float
    fastest: float
    cpu: float

    def ratio(self, other: "Times") -> str:
        """The ratio of the medians, and that of the CPU time where the command is one of its own."""
        cpu = f", CPU {self.cpu / other.cpu:.1f} x" if self.cpu else ""
        return f"{self.median / other.median:.2f} x{cpu}"


def times(runs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Times]:
    """The times of each, over `rounds` interleaved rounds after one that warms the caches."""
    walls: dict[str, list[float]] = {name: [] for name in runs}
    cpus: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            before = _children_cpu()
            seconds = run()
            if number:
                walls[name].append(seconds)
                cpus[name].append(_children_cpu() - before)
    median = statistics.median
    return {name: Times(median(walls[name]), min(walls[name]), median(cpus[name])) for name in runs}


def _children_cpu() -> float:
    """CPU seconds of all children waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Usage:
    """What one run took: peak resident memory in MiB (of several processes the largest), CPU seconds of all."""

    peak: float
    cpu: float


def usage(argv: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None) -> Usage:
    """Run it once for what it uses. Raises RuntimeError when it fails."""
    command = [sys.executable, "-I", "-S", "-c", _PEAK, *argv]
    done = subprocess.run(command, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = done.stderr.decode(errors="replace")
    kilobytes, status, cpu = said.splitlines()[-1].split()
    if status != "0":
        raise RuntimeError(f"{' '.join(argv)}: exit {status}\n{said}")
    return Usage(int(kilobytes) / (1024 if sys.platform == "linux" else 1024**2), float(cpu))


@dataclass(frozen=True)
class Row:
    """One line of the table; `held` is None where there is no limit."""

    name: str
    measured: str
    limit: str
    held: bool | None

    @property
    def verdict(self) -> str:
        return {True: "held", False: "OVER", None: ""}[self.held]


class Table:
    """Rows of name, measured, limit; printed as they are known, and kept for the file and the exit status."""

    def __init__(self) -> None:
        self.sections: list[tuple[str, list[Row]]] = []

    @property
    def failed(self) -> list[str]:
        """The names of the rows that are over their limit."""
        return [row.name for _, rows in self.sections for row in rows if row.held is False]

    def head(self, title: str) -> None:
        """Begin a section."""
        self.sections.append((title, []))
        print(f"\n{title}\n\n| {'what':<58} | {'measured':>21} | {'limit':>16} |      |")
        print(f"|{'-' * 60}|{'-' * 23}|{'-' * 18}|------|", flush=True)

    def row(self, name: str, measured: str, limit: str = "", held: bool | None = None) -> None:
        """One row, as it is known."""
        row = Row(name, measured, limit, held)
        self.sections[-1][1].append(row)
        print(f"| {name:<58} | {measured:>21} | {limit:>16} | {row.verdict:<4} |", flush=True)

    def at_most(self, name: str, value: float, limit: float, unit: str, digits: int = 2) -> None:
        """A row whose value has to be at most `limit`, in the same unit."""
        self.row(name, f"{value:.{digits}f} {unit}", f"{limit:g} {unit}", value <= limit)

    def markdown(self) -> str:
        """The whole as a markdown document's sections."""
        parts = []
        for title, rows in self.sections:
            parts += [f"### {title}", "", "| what | measured | limit | |", "| --- | ---: | ---: | --- |"]
            parts += [f"| {row.name} | {row.measured} | {row.limit} | {row.verdict} |" for row in rows]
            parts.append("")
        return "\n".join(parts)


def last_request(log: str, before: int) -> dict[str, int]:
    """The first request that a server of ours noted in `log` behind byte `before`."""
    with open(log, "rb") as lines:
        lines.seek(before)
        record: dict[str, int] = json.loads(lines.readline())
    return record


class Asked:
    """Runs a command that asks the server with this log, and times it up to its request as well as whole.

    The whole and the part come from the same processes: call `whole` in a round, then read `until`.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, log: str) -> None:
        self.argv, self.env, self.cwd, self.log = argv, env, cwd, log
        self._begins = 0.0
        self._leaves = 0.0

    def whole(self) -> float:
        """Seconds from spawn to exit."""
        before = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        began = time.monotonic_ns()
        taken = wall(self.argv, env=self.env, cwd=self.cwd)
        request = last_request(self.log, before)
        self._begins = (request["first_ns"] - began) / 1e9
        self._leaves = (request["at_ns"] - began) / 1e9
        return taken

    def begins(self) -> float:
        """Seconds from spawn until the server had the first bytes of the request, in the last run."""
        return self._begins

    def leaves(self) -> float:
        """Seconds from spawn until the server had the whole request, in the last run."""
        return self._leaves
