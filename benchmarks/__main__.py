"""All benchmarks: `make bench`, or `python -m benchmarks [--rounds N] [NAME …]`. Exit status 1 when a limit is not held."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import latency, start
from benchmarks.measure import Table

NAMES = ("start", "latency")


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (all)")
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    names = options.names or NAMES
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            home = Path(folder) / name
            home.mkdir()
            if name == "start":
                start.run(table, home, options.rounds)
            elif name == "latency":
                latency.run(table, home)
            else:
                parser.error(f"no benchmark called {name}")
    if table.failed:
        print("\nover the limit: " + ", ".join(table.failed))
    return bool(table.failed)


sys.exit(main())
