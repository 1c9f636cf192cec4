"""`jp tool ls`: what there is, whether it can be used, and why not."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.trying import NAMES, add, configure, project
from tests.conftest import Jp

KEYS = ["name", "origin", "server", "enabled", "allow_toggle", "run", "result", "summary", "problem"]


@pytest.fixture
def root(tmp_path: Path, hermetic: Path) -> Path:
    configure(hermetic, say={"summary": "Say it.", "run": "unattended", "result": "ask"})
    return project(tmp_path)


def listed(jp: Jp, root: Path, *args: str) -> dict[str, dict[str, Any]]:
    done = jp("tool", "ls", "-F", "json", *args, cwd=root)
    assert (done.stderr, done.status) == ("", "exited 0")
    return {each["name"]: each for each in json.loads(done.stdout)}


def test_the_record_has_its_keys_and_the_names_are_sorted(jp: Jp, root: Path):
    found = listed(jp, root)
    assert list(found) == sorted(found)
    assert all(list(each) == KEYS for each in found.values())
    assert found["say"] == {
        "name": "say", "origin": "local", "server": None, "enabled": True, "allow_toggle": "any",
        "run": "unattended", "result": "ask", "summary": "Say it.", "problem": None,
    }  # fmt: skip
    assert found["read_file"]["origin"] == "builtin"
    assert found["read_file"]["run"] == "unattended"
    assert found["run_command"]["run"] == "ask"


def test_enabled_is_what_a_model_would_be_offered(jp: Jp, root: Path, tmp_path: Path, hermetic: Path):
    found = listed(jp, root)
    assert {name for name, each in found.items() if each["enabled"]} == set(NAMES)
    assert set(listed(jp, root, "--enabled")) == set(NAMES)
    (hermetic / ".config" / "jp" / "config.json").unlink()
    assert listed(jp, root)["read_file"]["enabled"]
    configure(hermetic, say={"enable": {"state": False, "allow_toggle": "never"}, "description": "At length."})
    found = listed(jp, root)
    assert (found["say"]["enabled"], found["say"]["allow_toggle"]) == (False, "never")


def test_in_text_it_is_a_line_a_tool(jp: Jp, root: Path):
    lines = jp("tool", "ls", cwd=root).stdout.splitlines()
    assert lines[0].split() == ["Name", "Origin", "Enabled", "Run", "Summary"]
    assert len(lines) == len(listed(jp, root)) + 1
    assert any(line.split() == ["say", "local", "yes", "unattended", "Say", "it."] for line in lines)
    assert any(line.split()[:4] == ["read_file", "builtin", "no", "unattended"] for line in lines)


def test_what_a_workspace_wants_to_run_waits_for_trust_and_is_listed_with_that(jp: Jp, root: Path):
    theirs = {"conversation": {"tools": {"theirs": {"source": "local", "command": "true", "summary": "Do it."}}}}
    (root / ".jp" / "config.json").write_text(json.dumps(theirs))
    found = listed(jp, root)["theirs"]
    assert found["problem"] == "conversation.tools.theirs.command waits for trust (jp workspace trust)"
    (line,) = [line for line in jp("tool", "ls", cwd=root).stdout.splitlines() if line.startswith("theirs")]
    assert line.split()[:3] == ["theirs", "local", "unusable"]
    assert "jp workspace trust" in line
    refused = jp("tool", "run", "theirs", cwd=root)
    assert refused.status == "exited 1"
    assert "jp workspace trust" in refused.stderr
    assert jp("workspace", "trust", "--yes", cwd=root).status == "exited 0"
    assert listed(jp, root)["theirs"]["problem"] is None
    assert jp("tool", "run", "theirs", cwd=root).status == "exited 0"


def test_what_has_no_source_or_no_server_is_listed_with_that(jp: Jp, root: Path, hermetic: Path):
    configure(hermetic, loose={"enable": True}, quiet={"run": "ask"}, far={"source": "mcp.lab.do"})
    found = listed(jp, root)
    assert "no source" in found["loose"]["problem"]
    assert "no source" in found["quiet"]["problem"]
    assert found["loose"]["origin"] is None
    assert found["far"]["problem"] == "the MCP server lab is not configured (providers.mcp.lab)"
    assert (found["far"]["origin"], found["far"]["server"]) == ("mcp", "lab")


def test_no_server_is_started(jp: Jp, root: Path, hermetic: Path):
    configure(hermetic, far={"source": "mcp.lab.do"})
    started = root / "started"
    code = f"open({str(started)!r}, 'w')"
    add(hermetic, {"providers": {"mcp": {"lab": {"command": sys.executable, "arguments": ["-c", code]}}}})
    assert listed(jp, root)["far"]["problem"] is None
    assert not started.exists()


def test_it_works_outside_a_workspace(jp: Jp, root: Path, tmp_path: Path):
    assert "say" in listed(jp, tmp_path)
