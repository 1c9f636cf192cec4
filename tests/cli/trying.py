"""Tools to try: scripts that the user's own configuration names, in a workspace without a model."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TOOL = '''\
"""A tool that does what its name says; started as `tool.py JSON`, with what the template knows of the call."""
import json, os, sys, time

tool = json.loads(sys.argv[1])
name, given, answers = tool["name"], tool["arguments"], tool["answers"]


def reply(**outcome):
    print(json.dumps(outcome))
    sys.exit()


def ask(id, kind, **more):
    if id not in answers:
        answer_type = {"type": kind, **({"options": more.pop("options")} if "options" in more else {})}
        reply(type="needs_input", question={"id": id, "text": f"What of {id}?", "answer_type": answer_type, **more})


if name == "say":
    sys.stdout.write(given["text"])
elif name == "give":
    print(json.dumps(given, sort_keys=True))
elif name == "fail":
    reply(type="error", message="no such thing", trace=["the disk", "the cable"], transient=True)
elif name == "crash":
    print("half of it")
    sys.exit("out of luck")
elif name == "asks":
    ask("sure", "boolean", default=False)
    ask("which", "select", options=["red", "blue"], default="blue")
    ask("why", "text", default="none")
    print(json.dumps(answers, sort_keys=True))
elif name == "secret":
    ask("key", "secret")
    print("the key is", answers["key"], "of length", len(answers["key"]))
elif name == "slow":
    if os.fork() == 0:
        time.sleep(600)
    open(given["there"], "w").close()
    while not os.path.exists(given["until"]):
        time.sleep(0.01)
    print("slow and done")
'''

PARAMETERS: dict[str, dict[str, Any]] = {
    "say": {"text": {"type": "string", "required": True}},
    "give": {
        "text": {"type": "string"},
        "count": {"type": "integer", "default": 3},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "paths": {"type": "array", "items": {"type": "string"}},
        "either": {"type": ["integer", "null"]},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"old": {"type": "string", "required": True, "summary": "Old."}}},
        },
    },
    "slow": {"there": {"type": "string"}, "until": {"type": "string"}},
}
NAMES = ("say", "give", "fail", "crash", "asks", "secret", "slow")


def configure(home: Path, **more: Mapping[str, Any]) -> None:
    """Write the tools to the user's own configuration; `more` are keys by the name of a tool."""
    script = home / "tool.py"
    script.write_text(TOOL)
    command = {"program": sys.executable, "args": ["-S", str(script), "{{tool|tojson}}"]}
    tools = {
        name: {"source": "local", "command": command, "parameters": PARAMETERS.get(name, {}), **more.get(name, {})}
        for name in NAMES
    }
    others = {name: keys for name, keys in more.items() if name not in NAMES}
    folder = home / ".config" / "jp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"conversation": {"tools": {**tools, **others}}}))


def server(name: str, script: Path, *arguments: str) -> dict[str, Any]:
    """An MCP server as configuration."""
    return {"providers": {"mcp": {name: {"command": sys.executable, "arguments": [str(script), *arguments]}}}}


def add(home: Path, more: Mapping[str, Any]) -> None:
    """Add top-level keys to the user's own configuration."""
    path = home / ".config" / "jp" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def project(tmp_path: Path) -> Path:
    """A workspace."""
    root = tmp_path / "project"
    (root / ".jp").mkdir(parents=True)
    (root / ".jp" / ".id").write_text("# test\nabcde\n")
    return root
