"""What an installation weighs: the wheel, the files with dependencies, how many dependencies."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks import fixtures
from benchmarks.measure import Table

DISTRIBUTION = "jean-pierre"


def run(table: Table, home: Path) -> None:
    """Measure and print."""
    table.head("Size")
    try:
        built = wheel(home)
        table.row("wheel", f"{built.stat().st_size / 1024:.0f} KB")
    except (OSError, subprocess.SubprocessError, StopIteration) as error:
        table.row(f"wheel: not built here ({type(error).__name__})", "")
    own = folder(fixtures.REPOSITORY / "src" / "jp", ".py")
    names = dependencies(DISTRIBUTION)
    others = sum(installed(name) for name in names)
    table.row("own source", f"{own / 1024:.0f} KB")
    table.row(f"dependencies: {', '.join(names)}", str(len(names)))
    table.row("installed, with dependencies, without byte code", f"{(own + others) / 2**20:.1f} MB")


def wheel(home: Path) -> Path:
    """The wheel, built as an installer would (the build tool comes from the package registry)."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(home), str(fixtures.REPOSITORY)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(home.glob("*.whl"))


def dependencies(name: str) -> list[str]:
    """Every distribution that installing `name` brings along, extras left out, in the running environment."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for line in importlib.metadata.requires(todo.pop()) or []:
            match = re.match(r"[A-Za-z0-9._-]+", line)
            assert match is not None, line
            other = match[0].lower()
            if ";" not in line and other not in found:
                found.add(other)
                todo.append(other)
    return sorted(found)


def installed(name: str) -> int:
    """Bytes of a distribution's files, byte code left out."""
    files = importlib.metadata.files(name) or []
    return sum(os.path.getsize(str(file.locate())) for file in files if file.suffix != ".pyc")


def folder(path: Path, suffix: str = "") -> int:
    """Bytes of all files below `path` whose names end like this, byte code left out."""
    total = 0
    for where, _, names in os.walk(path):
        for name in names:
            file = os.path.join(where, name)
            if name.endswith(suffix) and not name.endswith(".pyc") and not os.path.islink(file):
                total += os.path.getsize(file)
    return total
