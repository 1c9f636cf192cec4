"""Plugins in shell that leave a trace when anything of them is run."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

BASIC = {"name": "a plugin", "version": "1.0", "description": "Does it"}

TEMPLATE = """\
#!/bin/sh
read line
printf '%s\\n' "$line" >> {trace}
case $line in
*'"type":"describe"'*) {describe}; exit ;;
esac
{body}
printf '%s\\n' '{{"type":"exit","code":0}}'
"""
# Prints the arguments that it was given, as JSON.
ECHO = (
    r"""printf '%s\n' "$line" | sed 's/.*"args":\(\[[^]]*\]\).*/\1/;s/"/\\"/g;s/.*/{"type":"print","text":"&\\n"}/'"""
)


def describe(**fields: Any) -> str:
    """A line of a script that describes it."""
    return f"printf '%s\\n' {shlex.quote(json.dumps({'type': 'describe', **BASIC, **fields}))}"


def script(path: Path, text: str) -> Path:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def plugin(path: Path, body: str = ECHO, *, answer: str = "", **fields: Any) -> Path:
    """A plugin whose command is `body`; `fields` are of its description, `answer` what it does in place of it.

    Each line that it is started with is one of the file beside it (`traces`).
    """
    text = TEMPLATE.format(trace=shlex.quote(f"{path}.trace"), describe=answer or describe(**fields), body=body)
    return script(path, text)


def traces(path: Path) -> list[str]:
    """The types of the first messages that the plugin was started with, in order."""
    trace = Path(f"{path}.trace")
    return [json.loads(line)["type"] for line in trace.read_text().splitlines()] if trace.exists() else []


def install_directory() -> Path:
    """Where `jp plugin install` puts plugins."""
    return Path(os.environ["XDG_DATA_HOME"]) / "jp" / "plugins" / "command"


def approvals() -> Path:
    """The file of what is approved."""
    return Path(os.environ["XDG_DATA_HOME"]) / "jp" / "plugin-approvals.json"


def approve(name: str, path: Path, **more: Any) -> None:
    """Write that the file as it is now is approved."""
    import hashlib

    file = approvals()
    known = json.loads(file.read_text()) if file.exists() else {"approved": {}}
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    known["approved"][name] = {"path": str(path), "sha256": sha256, "approved_at": "2026-01-02T03:04:05Z", **more}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(known))
