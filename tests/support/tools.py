"""Local tools for tests of the whole program: shell scripts, configured where the user's own settings are."""

import base64
import contextlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import program
from tests.support.terminal import Screen, Terminal
from tests.support.workspace import events
from tests.wire.model_server import ModelServer

Make = Callable[..., Path]


def toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(each) for each in value) + "]"
    return json.dumps(value)


def configure(**keys: Any) -> None:
    """Add to the user's own configuration; a key with dots is a path."""
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "jp" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for key, value in keys.items():
            file.write(f"{key} = {toml(value)}\n")


@pytest.fixture
def tool(tmp_path: Path) -> Make:
    """`tool(name, script, **settings)` makes a tool of a shell script, which is given the call as JSON in $1 and the
    context in $2. Returns the directory that its scripts can leave things in, $DIR to them.
    """
    folder = tmp_path / "tools"
    folder.mkdir()

    def make(name: str, script: str = 'echo "done"', **settings: Any) -> Path:
        path = folder / f"{name}.sh"
        path.write_text(f"#!/bin/sh\nDIR={shlex.quote(str(folder))}\n{script}\n")
        path.chmod(0o755)
        command = {"program": str(path), "args": ["{{tool}}", "{{context}}"]}
        keys = {"source": "local", "command": command, "summary": f"The tool {name}.", "run": "unattended"} | settings
        for key, value in keys.items():
            configure(**{f"conversation.tools.{name}.{key}": value})
        return folder

    return make


def outcome(reply: dict[str, Any]) -> str:
    """A line of a script that prints an outcome."""
    return f"printf '%s' {shlex.quote(json.dumps(reply))}"


def asks(**question: Any) -> str:
    """A line of a script that asks, unless it has been answered: then the answers are its result."""
    needs = outcome({"type": "needs_input", "question": question})
    return f"""case $1 in *'"answers":{{}}'*|*'"answers": {{}}'*) {needs};; *) printf 'answered %s' "$1";; esac"""


GUARD = 0.35  # seconds of silence that a permission wants, and some more


def query(workspace: Path, *args: str, **options: Any) -> Terminal:
    """`jp query` on a terminal."""
    return Terminal([*program(), "q", *args, "hi"], cwd=workspace, env={"JP_SESSION": "test"}, **options)


def answer(terminal: Terminal, key: bytes, done: Callable[[Screen], object] | None = None) -> None:
    """A key after a silence that is long enough, also on a machine that is busy with something else."""
    end = b"\x1b[?2004l"  # a prompt has left the terminal
    for _ in range(20):
        terminal.pump(GUARD)
        ended = terminal.output.count(end)
        terminal.send(key)
        with contextlib.suppress(AssertionError):
            terminal.until(done or (lambda _, ended=ended: terminal.output.count(end) > ended), deadline=2)
            return


def ran(path: Path) -> list[Any]:
    """The arguments of every run."""
    return [json.loads(line)["arguments"] for line in path.read_text().splitlines()] if path.exists() else []


def responses(workspace: Path) -> list[tuple[str, bool]]:
    """What the model got of each call, and whether it was a failure."""
    found = [event for event in events(workspace) if event["type"] == "tool_call_response"]
    return [(base64.b64decode(event["content"]).decode(), event["is_error"]) for event in found]


def sent(server: ModelServer, number: int = -1) -> list[dict[str, Any]]:
    """The messages of a request."""
    found: list[dict[str, Any]] = json.loads(server.requests[number].body)["messages"]
    return found


def editing(terminal: Terminal, message: str) -> None:
    """Wait until an inline editor that opens unasked takes keys: what comes too soon is not meant for it.

    A key is left in its buffer, `~`.
    """
    terminal.until(message)
    terminal.send(b"\r")
    for _ in range(20):
        terminal.pump(GUARD)
        terminal.send(b"~")
        with contextlib.suppress(AssertionError):
            terminal.until(lambda screen: "~" in screen, deadline=2)
            return
