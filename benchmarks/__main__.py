"""All benchmarks: `make bench`, or `python -m benchmarks [--quick] [--peers] [--markdown FILE] [NAME …]`.

Exit status 1 when a limit is not held. `docs/benchmarks.md` says what each one is.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import answer, editing, history, ladder, latency, own, peers, plugins, render, size, start, tools
from benchmarks.measure import Table


def names(options: argparse.Namespace) -> dict[str, Callable[[Table, Path], None]]:
    """Each benchmark, with how much of it is done."""
    quick: bool = options.quick
    rounds: int = options.rounds or (7 if quick else 25)
    few = 3 if quick else 7
    conversations, megabytes = (1000, 20) if quick else (5000, 100)
    storage = ["--conversations", str(conversations), "--megabytes", str(megabytes)]
    return {
        "start": lambda table, home: start.run(table, home, rounds),
        "latency": lambda table, home: latency.run(table, home, 400 if quick else 1000),
        "ladder": lambda table, home: ladder.run(table, home, 5 if quick else 20),
        "tools": lambda table, home: tools.run(table, home, few, 2 if quick else 5),
        "plugins": lambda table, home: plugins.run(table, home, few, 50),
        "editing": lambda table, home: editing.run(table, home, rounds),
        "peers": lambda table, home: peers.run(table, home, few, set_up=options.peers),
        "answer": lambda table, home: answer.run(table, home, 1 if quick else 3, 400_000 if quick else 1_000_000),
        "render": lambda table, home: render.run(table, home, 100_000 if quick else 1_000_000),
        "history": lambda table, home: history.run(table, home, few, conversations, megabytes),
        "storage": lambda table, home: own.run(table, home, "storage", storage),
        "size": size.run,
    }


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones (all)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller data, limits in proportion")
    parser.add_argument("--rounds", type=int, help="rounds of the start-up table")
    parser.add_argument("--peers", action="store_true", help="install llm and Codex CLI where they are not yet")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    known = names(options)
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no benchmark called {unknown[0]}; there are {', '.join(known)}")
    table = Table()
    began = machine()
    print(began)
    try:
        with tempfile.TemporaryDirectory(prefix="jp-bench-") as folder:
            for name in options.names or known:
                home = Path(folder) / name
                home.mkdir()
                known[name](table, home)
    finally:
        if options.markdown:
            text = f"{began}; at the end {load()}.\n\n{table.markdown()}"
            Path(options.markdown).write_text(text, encoding="utf-8")
    if table.failed:
        print("\nover the limit: " + "; ".join(table.failed))
    return bool(table.failed)


def machine() -> str:
    """Where and when this was measured."""
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    cores = os.cpu_count()
    return f"{when}, Python {platform.python_version()}, {platform.system()}, {cores} cores, {load()}"


def load() -> str:
    """How busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
