"""Start-up and a whole question, as ratios to the bare interpreter of the same run."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import BARE, JP, Table, medians, peak_rss, wall

LIMITS = {
    "jp --version": 2.0,
    "jp --help": 3.5,
    "jp c ls, real workspace": 6.0,
    "jp query, whole": 12.0,
    "jp query, until its request": 9.0,
}


def run(table: Table, home: Path, rounds: int) -> None:
    """Measure and print."""
    env = fixtures.environment(home)
    log = home / "requests.jsonl"
    with fixtures.server({"kind": "text", "text": "Hello from the instant server."}, log=log) as url:
        root = fixtures.workspace(home / "project", url)
        commands: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: wall(BARE, env=env),
            "jp --version": lambda: wall([JP, "--version"], env=env),
            "jp --help": lambda: wall([JP, "--help"], env=env),
            "jp query, whole": lambda: wall([JP, "q", "-n", "hi"], env=env, cwd=str(root)),
            "jp query, until its request": lambda: until_request([JP, "q", "-n", "hi"], env, root, log),
        }
        if (real := fixtures.data()) is not None:
            copy = home / "real"
            shutil.copytree(real, copy)
            commands["jp c ls, real workspace"] = lambda: wall([JP, "c", "ls"], env=env, cwd=str(copy))
        taken = medians(commands, rounds)
        memory = peak_rss([JP, "q", "-n", "hi"], env=env, cwd=str(root))
    bare = taken.pop("python -c pass")
    table.head(f"Start-up: ratios to `python -c pass` ({bare * 1000:.1f} ms), medians of {rounds}")
    for name, limit in LIMITS.items():
        if name in taken:
            ratio = taken[name] / bare
            table.row(name, f"{ratio:.2f} x", f"{limit:.1f} x", ratio <= limit)
    table.row("jp query, peak memory", f"{memory:.1f} MB", "60 MB", memory <= 60)


def until_request(argv: list[str], env: dict[str, str], root: Path, log: Path) -> float:
    """Seconds from spawn until the server has accepted the request's connection and read it."""
    before = log.stat().st_size if log.exists() else 0
    began = time.monotonic_ns()
    wall(argv, env=env, cwd=str(root))
    with log.open("rb") as lines:
        lines.seek(before)
        record = json.loads(lines.readline())
    return float(record["at_ns"] - began) / 1e9
