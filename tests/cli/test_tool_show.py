"""`jp tool show`: everything that is known about a tool, from configuration and from its MCP server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.trying import add, configure, project, server
from tests.conftest import Jp

SERVERS = Path(__file__).parents[1] / "tool" / "mcp_servers"
KEYS = [
    "name", "origin", "server", "remote", "enabled", "allow_toggle", "summary", "description", "examples", "parameters",
    "command", "run", "format", "result", "always_asks", "timeout_secs", "cancellation_response", "questions",
    "options", "access", "detached", "style", "sources", "problem",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, hermetic: Path) -> Path:
    configure(
        hermetic,
        give={
            "summary": "Give it back.",
            "description": "All of it.\n\nAnd more.",
            "examples": '{"count": 1}',
            "questions": {"sure": {"target": "user", "answer": True}},
            "options": {"depth": 2},
            "access": {"fs": [{"path": "src", "read": True, "write": False}]},
            "detached": {"run": "auto"},
        },
    )
    return project(tmp_path)


def shown(jp: Jp, root: Path, name: str) -> dict[str, Any]:
    done = jp("tool", "show", name, "-F", "json", cwd=root)
    assert (done.stderr, done.status) == ("", "exited 0")
    record: dict[str, Any] = json.loads(done.stdout)
    assert list(record) == KEYS
    return record


def test_the_record_has_the_schema_as_the_model_gets_it(jp: Jp, root: Path, hermetic: Path):
    record = shown(jp, root, "give")
    assert record["parameters"]["type"] == "object"
    assert record["parameters"]["additionalProperties"] is False
    assert record["parameters"]["properties"]["count"] == {"type": "integer", "default": 3}
    assert record["parameters"]["properties"]["edits"]["items"]["required"] == ["old"]
    assert record["detached"] == {"run": "auto", "deliver": "deny", "tool": "deny"}
    assert record["sources"] == [str(hermetic / ".config" / "jp" / "config.json")]
    assert record["command"]["args"][-1] == "{{tool|tojson}}"
    builtin = shown(jp, root, "run_command")
    assert (builtin["always_asks"], builtin["sources"], builtin["command"]) == (True, [], None)


def test_in_text_it_is_all_there_with_what_is_nested_indented(jp: Jp, root: Path):
    text = jp("tool", "show", "give", cwd=root).stdout
    for line in (
        "summary     Give it back.",
        "access      src: read, no write",
        "detached    run auto, deliver deny, tool deny",
        "  count   integer, default 3",
        '  colour  "red" | "blue"',
        "  edits   list of object",
        "    old   string, required. Old.",
        "  sure  is answered with true",
        "  depth  2",
        "  And more.",
        '  {"count": 1}',
    ):
        assert f"\n{line}\n" in text


def test_on_a_narrow_terminal_nothing_is_cut(jp: Jp, root: Path):
    wide = jp("tool", "show", "modify_file", cwd=root).stdout
    narrow = jp("tool", "show", "modify_file", cwd=root, env={"COLUMNS": "60"}).stdout
    assert narrow.split() == wide.split()
    assert len(narrow.splitlines()) > len(wide.splitlines())


def test_an_unknown_name_is_told_with_the_nearest(jp: Jp, root: Path):
    done = jp("tool", "show", "giev", "-F", "json", cwd=root)
    assert done.status == "exited 2"
    error = json.loads(done.stderr)
    assert (error["code"], error["metadata"]["nearest"]) == ("unknown_tool", "give")


def test_of_an_mcp_tool_the_server_is_asked_and_ended(jp: Jp, root: Path, hermetic: Path, no_leftovers):
    configure(hermetic, plus={"source": "mcp.lab.add"})
    add(hermetic, server("lab", SERVERS / "python_server.py"))
    record = shown(jp, root, "plus")
    assert (record["origin"], record["server"], record["remote"]) == ("mcp", "lab", "add")
    assert record["summary"] == "Add two numbers."
    assert set(record["parameters"]["properties"]) == {"a", "b"}


def test_a_tool_that_its_server_does_not_have_is_an_error(jp: Jp, root: Path, hermetic: Path, no_leftovers):
    configure(hermetic, undo={"source": "mcp.lab.undo"})
    add(hermetic, server("lab", SERVERS / "raw_server.py", "plain"))
    done = jp("tool", "show", "undo", "-F", "json", cwd=root)
    assert (done.stdout, done.status) == ("", "exited 1")
    error = json.loads(done.stderr)
    assert (error["code"], error["metadata"]["offered"]) == ("unusable_tool", ["do"])
    assert error["message"] == "the MCP server lab has no tool undo"


@pytest.mark.parametrize("optional", [False, True])
def test_a_server_that_does_not_start_is_an_error(jp: Jp, root: Path, hermetic: Path, optional: bool, no_leftovers):
    configure(hermetic, plus={"source": "mcp.lab.add"})
    lab = {"command": "false", "optional": optional}
    add(hermetic, {"providers": {"mcp": {"lab": lab}}})
    done = jp("tool", "show", "plus", "-F", "json", cwd=root)
    assert done.status == "exited 1"
    assert done.stdout == ""
    assert json.loads(done.stderr)["code"] == "mcp_start"


def test_what_waits_for_trust_is_shown_as_far_as_it_is_known(jp: Jp, root: Path):
    theirs = {"conversation": {"tools": {"theirs": {"source": "local", "command": "true", "summary": "Do it."}}}}
    (root / ".jp" / "config.json").write_text(json.dumps(theirs))
    done = jp("tool", "show", "theirs", cwd=root)
    assert done.status == "exited 0"
    assert "summary     Do it." in done.stdout
    assert "problem     conversation.tools.theirs.command waits for trust" in done.stdout
    assert "jp workspace trust" in done.stderr
