"""Many conversations, and one very large one: listing them, and asking in it.

What one part costs inside a process is `benchmarks/storage.py`; here it is the program that is measured.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import BARE, JP, Asked, Table, times, usage, wall

LIST_SECONDS = 0.3  # beyond the interpreter's own, for 5,000
REQUEST_SECONDS = 2.0
MEMORY = 4.0  # times the file
FULL = 100  # MB: below, what the program takes without any history is not small beside the file
FROZEN_MS = 50.0
BESIDE = 1.2  # what a large neighbour may cost a listing, with room for noise


def run(table: Table, home: Path, rounds: int, conversations: int, megabytes: int) -> None:
    """Measure and print."""
    listing(table, home / "many", rounds, conversations)
    large(table, home / "large", rounds, megabytes)


def made(function: str, root: Path, env: dict[str, str], *arguments: object) -> str:
    """What a function of `benchmarks.storage` made in `root`: run by a process of its own, which may grow."""
    code = f"from benchmarks.storage import {function} as make; print(make({str(root)!r}, {env!r}, *{arguments!r}))"
    root.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=fixtures.REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def listing(table: Table, home: Path, rounds: int, count: int) -> None:
    """`jp c ls` with few and with many conversations."""
    env = fixtures.environment(home)
    roots = {number: home / f"project-{number}" for number in (10, count)}
    for number, root in roots.items():
        made("make_many", root, env, number)
    runs: dict[str, Callable[[], float]] = {
        "bare": lambda: wall(BARE, env=env),
        "few": lambda: wall([JP, "c", "ls"], env=env, cwd=str(roots[10])),
        "many": lambda: wall([JP, "c", "ls"], env=env, cwd=str(roots[count])),
    }
    taken = {name: each.fastest for name, each in times(runs, 2 * rounds).items()}
    bare = f"{taken['bare'] * 1000:.1f} ms"
    table.head(f"`jp c ls`, whole program, beyond `python -c pass` ({bare}), the fastest of {2 * rounds}")
    table.row("10 conversations", f"{taken['few'] - taken['bare']:.3f} s")
    name = f"{count:,} conversations, two copies each"
    table.at_most(name, taken["many"] - taken["bare"], LIST_SECONDS * count / 5000, "s", 3)
    used = usage([JP, "c", "ls"], env=env, cwd=str(roots[count]))
    table.row(f"{count:,} conversations, CPU seconds, start included", f"{used.cpu:.3f} s")
    table.row(f"{count:,} conversations, peak memory", f"{used.peak:.1f} MB")


def large(table: Table, home: Path, rounds: int, megabytes: int) -> None:
    """One conversation of `megabytes` beside what is the same without it."""
    env = fixtures.environment(home)
    log = home / "requests.jsonl"
    sizes = {1: "small", megabytes: "large"}
    ids = {name: made("make_large", home / name, env, size) for size, name in sizes.items()}
    file = next((home / "large" / ".jp" / "conversations").glob(f"{ids['large']}*/events.json"))
    real = file.stat().st_size / 2**20
    with fixtures.instant(log) as url:
        roots = {name: str(fixtures.workspace(home / name, url)) for name in ids}
        asked = {
            name: Asked([JP, "q", "--id", ids[name], "hi"], env=env, cwd=roots[name], log=str(log)) for name in ids
        }
        runs: dict[str, Callable[[], float]] = {
            "ls small": lambda: wall([JP, "c", "ls"], env=env, cwd=roots["small"]),
            "ls large": lambda: wall([JP, "c", "ls"], env=env, cwd=roots["large"]),
        }
        listed = times(runs, 3 * rounds)
        questions: dict[str, Callable[[], float]] = {"bare": lambda: wall(BARE, env=env)}
        for name, ask in asked.items():
            questions |= {name: ask.whole, f"{name} begins": ask.begins, f"{name} leaves": ask.leaves}
        taken = {name: each.fastest for name, each in times(questions, rounds).items()}
        used = usage(asked["large"].argv, env=env, cwd=roots["large"])
        without = usage(asked["small"].argv, env=env, cwd=roots["small"]).peak if megabytes < FULL else 0.0
        frozen = min(pause([*asked["large"].argv[1:]], env, roots["large"], home / "pause") for _ in range(3))
    table.head(
        f"One conversation of {real:.0f} MB ({_size(log)} MB of request), whole program, the fastest of {rounds}"
    )
    table.at_most(
        "`jp c ls` beside it, to the same beside one of 1 MB",
        listed["ls large"].fastest / listed["ls small"].fastest,
        BESIDE,
        "x",
    )
    for name, title in (("small", "1 MB"), ("large", f"{real:.0f} MB")):
        table.row(f"query, {title}: first byte of the request", f"{taken[f'{name} begins']:.2f} s")
        limit = REQUEST_SECONDS * max(1.0, real / 100)
        table.at_most(f"query, {title}: the whole request has left", taken[f"{name} leaves"], limit, "s")
        table.row(f"query, {title}: to its end (stored in both copies)", f"{taken[name]:.2f} s")
    table.row("CPU seconds of that query", f"{used.cpu:.2f} s")
    title = "peak memory, times the file" + (", beyond that of the small one" if without else "")
    table.at_most(title, (used.peak - without) / real, MEMORY, "x")
    table.at_most("longest pause of another thread, the best of 3 runs", frozen, FROZEN_MS, "ms", 1)
    journal(table, home, env, ids)


def pause(arguments: list[str], env: dict[str, str], root: str, file: Path) -> float:
    """The longest time for which a thread beside the program could not run, in milliseconds."""
    command = [sys.executable, "-m", "benchmarks.inside", str(file), *arguments]
    wall(command, env={**env, "PYTHONPATH": str(fixtures.REPOSITORY)}, cwd=root)
    return float(file.read_text())


def journal(table: Table, home: Path, env: dict[str, str], ids: dict[str, str]) -> None:
    """What a piece of an answer costs to write, and the fold at the end, beside a small and a large history."""
    script = str(fixtures.REPOSITORY / "benchmarks" / "storage.py")
    pieces: dict[str, list[float]] = {name: [] for name in ids}
    folds: dict[str, list[float]] = {name: [] for name in ids}
    for _ in range(3):
        for name, conversation in ids.items():
            command = [sys.executable, script, "--child", "large", str(home / name), conversation]
            done = subprocess.run(command, env=env, check=True, capture_output=True)
            answer = json.loads(done.stdout)
            pieces[name].append(answer["append"])
            folds[name].append(answer["fold"] / 1000)
    small, big = sorted(pieces["small"])[1], sorted(pieces["large"])[1]
    table.row("journal: a piece of an answer, 1 MB of history", f"{small:.0f} us")
    table.row("journal: a piece of an answer, the large history", f"{big:.0f} us")
    table.at_most("journal: the large history to the small", big / small, 1.5, "x")
    table.row("fold of a turn into both copies, 1 MB of history", f"{sorted(folds['small'])[1]:.2f} s")
    table.row("fold of a turn into both copies, the large history", f"{sorted(folds['large'])[1]:.2f} s")


def _size(log: Path) -> str:
    """The largest request that the server noted, in MB."""
    sizes = [json.loads(line)["size"] for line in log.read_text().splitlines()]
    return f"{max(sizes) / 2**20:.0f}"
