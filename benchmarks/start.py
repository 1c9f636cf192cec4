"""Start-up and a whole question, as ratios to the bare interpreter of the same run."""

import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import BARE, JP, Asked, Table, times, usage, wall

LIMITS = {
    "jp --version": 2.0,
    "jp --help": 3.5,
    "jp c ls, real workspace": 6.0,
    "jp query, whole": 12.0,
    "jp query, until its request": 9.0,
}
MEMORY_MB = 60


def run(table: Table, home: Path, rounds: int) -> None:
    """Measure and print."""
    env = fixtures.environment(home)
    log = home / "requests.jsonl"
    with fixtures.instant(log) as url:
        root = fixtures.workspace(home / "project", url)
        asked = Asked([JP, "q", "-n", "hi"], env=env, cwd=str(root), log=str(log))
        commands: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: wall(BARE, env=env),
            "jp --version": lambda: wall([JP, "--version"], env=env),
            "jp --help": lambda: wall([JP, "--help"], env=env),
            "jp query, whole": asked.whole,
            "jp query, until its request": asked.leaves,
        }
        if (real := fixtures.data()) is not None:
            copy = home / "real"
            shutil.copytree(real, copy)
            commands["jp c ls, real workspace"] = lambda: wall([JP, "c", "ls"], env=env, cwd=str(copy))
        taken = times(commands, rounds)
        memory = usage([JP, "q", "-n", "hi"], env=env, cwd=str(root)).peak
    bare = taken.pop("python -c pass")
    table.head(f"Start-up: ratios to `python -c pass` ({bare.median * 1000:.1f} ms), medians of {rounds}")
    for name, limit in LIMITS.items():
        if name in taken:
            table.row(name, taken[name].ratio(bare), f"{limit:g} x", taken[name].median / bare.median <= limit)
        else:
            table.row(name, "no real workspace", f"{limit:g} x")
    table.at_most("jp query, peak memory", memory, MEMORY_MB, "MB", 1)
