"""Command plugins for tests: scripts in Python that speak the protocol line by line, and where to put them."""

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.terminal import Terminal
from tests.support.tools import configure

HEAD = f"""#!{sys.executable} -S
import json, os, signal, sys, time
out = sys.stdout.buffer
def send(**message):
    out.write(json.dumps(message).encode() + b"\\n"); out.flush()
def raw(data):
    out.write(data); out.flush()
def read():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else None
def note(value):
    with open(os.environ["NOTES"], "a") as file:
        file.write(json.dumps(value) + "\\n")
def ask(**message):
    send(**message); return read()
def finish(code=0):
    send(type="exit", code=code); sys.exit(0)
init = read()
if init["type"] == "describe":
    send(type="describe", name="it", version="1", description="A plugin of a test"); sys.exit(0)
"""


def write(path: Path, body: str) -> Path:
    """A plugin with this body; `init` has been read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + textwrap.dedent(body))
    path.chmod(0o755)
    return path


class Notes:
    """What a plugin has left by `note(value)`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def now(self) -> list[Any]:
        """All so far."""
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def of(self, count: int, within: float = 20.0) -> list[Any]:
        """All, once there are so many."""
        until = time.monotonic() + within
        while len(self.now) < count and time.monotonic() < until:
            time.sleep(0.005)
        assert len(self.now) >= count, self.now
        return self.now


Make = Callable[..., Notes]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """`plugin(body)` makes `jp it`, which may run; returns its notes."""
    notes = tmp_path / "notes"
    monkeypatch.setenv("NOTES", str(notes))

    def make(body: str, name: str = "it", run: str = "unattended") -> Notes:
        write(Path(os.environ["XDG_DATA_HOME"]) / "jp/plugins/command" / f"jp-{name}", body)
        configure(**{f"plugins.command.{name}.run": run})
        return Notes(notes)

    return make


def run(workspace: Path, *args: str, **options: Any) -> Terminal:
    """`jp it` on a terminal."""
    return Terminal([*program(), *args, "it"], cwd=workspace, env={"JP_SESSION": "test"}, **options)
