"""The benchmarks that packages keep for themselves: programs of their own, whose lines become rows of the table.

Each line is a name, a number, a unit and perhaps `limit N unit`; lines of another form are passed over.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import Table

LINE = re.compile(
    r"(?P<name>\S.*?)\s{2,}(?P<value>\d[\d.,]*)(?:\s*(?P<unit>(?!limit)[^\d\s]\S*))?"
    r"(?:\s+limit (?P<limit>[\d.]+) ?(?P<rest>\S*))?.*"
)


def run(table: Table, home: Path, name: str, arguments: list[str]) -> None:
    """Run `benchmarks/NAME.py` and print its rows."""
    script = fixtures.REPOSITORY / "benchmarks" / f"{name}.py"
    env = {**os.environ, "HOME": str(home)}
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=env, cwd=fixtures.REPOSITORY, capture_output=True, text=True, check=False)
    rows = [match for line in done.stdout.splitlines() if (match := LINE.fullmatch(line.strip()))]
    table.head(f"Inside: {name}")
    for row in rows:
        unit = row["unit"] or ""
        limit = f"{row['limit']} {unit}".strip() if row["limit"] else ""
        held = float(row["value"].replace(",", "")) <= float(row["limit"]) if row["limit"] else None
        table.row(row["name"].strip(), f"{row['value']} {unit}".strip(), limit, held)
    if not rows:
        said = done.stderr.strip().splitlines()
        table.row(f"{name}.py said nothing, exit {done.returncode}", said[-1][:60] if said else "", "", False)
