"""Whole processes, timed side by side: every round runs each command once, so that noise hits all of them alike."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

BARE = (sys.executable, "-c", "pass")
JP = os.path.join(os.path.dirname(sys.executable), "jp")


def wall(argv: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None) -> float:
    """Seconds from spawn to exit; raises RuntimeError when the command fails."""
    start = time.perf_counter()
    done = subprocess.run(argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    taken = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return taken


def medians(runs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median seconds of each, over `rounds` interleaved rounds after one that warms the caches."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            seconds = run()
            if number:
                taken[name].append(seconds)
    return {name: statistics.median(values) for name, values in taken.items()}


def peak_rss(argv: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None) -> float:
    """Peak resident memory of one run, in MiB."""
    with subprocess.Popen(
        argv, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024


class Table:
    """Rows of name, measured, limit; printed as they are known, and kept for the exit status."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def row(self, name: str, measured: str, limit: str, held: bool | None) -> None:
        verdict = {True: "held", False: "OVER", None: ""}[held]
        print(f"| {name:<58} | {measured:>16} | {limit:>16} | {verdict:<4} |", flush=True)
        if held is False:
            self.failed.append(name)

    def head(self, title: str) -> None:
        print(f"\n{title}\n\n| {'what':<58} | {'measured':>16} | {'limit':>16} |      |")
        print(f"|{'-' * 60}|{'-' * 18}|{'-' * 18}|------|", flush=True)
