"""A cloned workspace that brings tools, an MCP server and an editor: nothing of it runs before it is trusted."""

import sys
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tests.support.tools import answer, query, responses, sent
from tests.support.workspace import Ask
from tests.tool.mcp_servers.host import HERE
from tests.wire.model_server import ModelServer, text, tool_calls

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_leftovers")]

OFFER = "[y,N,?]?"
WAITS = "5 values of this workspace wait for trust: `jp workspace trust` shows them"
THEIRS = """\
editor.cmd = "touch {traces}/editor"

[providers.mcp.theirs]
type = "stdio"
command = "sh"
arguments = ["-c", "touch {traces}/mcp; exec {python} -S {server} fine"]
variables = ["TEST_MARK"]

[conversation.tools.note]
source = "local"
command = "sh -c 'touch {traces}/tool; echo noted'"
run = "unattended"

[conversation.tools.do]
source = "mcp.theirs.do"
run = "unattended"
"""
HELD = (
    "editor.cmd",
    "providers.mcp.theirs",
    "conversation.tools.note.command",
    "conversation.tools.note.run",
    "conversation.tools.do.run",
)


@pytest.fixture
def traces(workspace: Path, server: ModelServer, tmp_path: Path) -> Path:
    """What the clone's programs leave is in this directory; the model calls both of its tools."""
    folder = tmp_path / "traces"
    folder.mkdir()
    said = THEIRS.format(traces=folder, python=sys.executable, server=HERE / "raw_server.py")
    (workspace / ".jp.toml").write_text(said)
    again(server)
    return folder


def again(server: ModelServer) -> None:
    server.requests.clear()
    server.then(tool_calls(("note", {}), ("do", {})), text("All done."))


def ran(traces: Path) -> set[str]:
    return {path.name for path in traces.iterdir()}


def offered(server: ModelServer) -> list[str]:
    return [tool["function"]["name"] for tool in server.bodies()[0].get("tools", [])]


def unasked(workspace: Path, *args: str) -> str:
    """What a query shows that asks nothing."""
    with query(workspace, *args, columns=140, rows=40) as terminal:
        assert terminal.wait() == "exited 0"
        assert OFFER not in terminal.screen.contents
        return terminal.screen.contents


def offer(workspace: Path) -> Terminal:
    """A query that asks, and shows what it asks about."""
    terminal = query(workspace, "-n", columns=140, rows=40)
    terminal.until(OFFER)
    assert "Trust these 5 values" in terminal.screen
    shown = terminal.screen.contents
    assert all(f"  {key} =" in shown for key in HELD)
    assert "touch " in shown
    return terminal


def test_no_runs_nothing_and_is_not_asked_again(workspace: Path, server: ModelServer, traces: Path):
    with offer(workspace) as terminal:
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert offered(server) == []
    again(server)
    assert WAITS in unasked(workspace, "-n")
    assert offered(server) == []
    assert ran(traces) == set()
    # Nor by naming it.
    again(server)
    unasked(workspace, "-n", "-t", "note", "-t", "do")
    assert ran(traces) == set()
    # Until it changes.
    said = (workspace / ".jp.toml").read_text()
    (workspace / ".jp.toml").write_text(said.replace("echo noted", "echo other"))
    with offer(workspace) as terminal:
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"


def test_yes_makes_its_tools_work_until_it_is_taken_back(workspace: Path, server: ModelServer, traces: Path, ask: Ask):
    with offer(workspace) as terminal:
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert "Tool theirs/do is done" in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert offered(server) == ["note", "do"]
    assert sorted(responses(workspace)) == [("noted\n", False), ('{"name": "do", "arguments": {}}', False)]
    assert ran(traces) == {"tool", "mcp"}

    again(server)
    assert ask("q", "hi").stdout == "All done.\n"
    assert len([message for message in sent(server) if message["role"] == "tool"]) == 4

    assert ask("workspace", "untrust").status == "exited 0"
    for trace in traces.iterdir():
        trace.unlink()
    again(server)
    done = ask("q", "hi")
    assert done.status == "exited 0"
    assert "wait for trust: `jp workspace trust`" in done.stderr  # with what the conversation says of it
    assert offered(server) == []
    assert ran(traces) == set()
    again(server)
    offer(workspace).close()
    assert ran(traces) == set()


def test_without_a_terminal_one_line_says_so(workspace: Path, server: ModelServer, traces: Path, ask: Ask):
    done = ask("q", "hi", replies=(text("All done."),))
    assert (done.status, done.stdout) == ("exited 0", "All done.\n")
    assert done.stderr == WAITS + "\n"
    assert offered(server) == []
    assert ran(traces) == set()


@pytest.mark.req("092-9", "092-63")
def test_a_press_instead_of_an_answer_trusts_nothing(
    workspace: Path, server: ModelServer, traces: Path, hermetic: Path
):
    with offer(workspace) as terminal:
        terminal.press()
        terminal.until("Interrupted: [c,q,b,?]?")
        terminal.send(b"b")
        terminal.until(lambda screen: "Interrupted:" not in screen and OFFER in screen)
        terminal.press()
        terminal.until("Interrupted:")
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
    assert server.requests == []
    assert ran(traces) == set()
    assert not (hermetic / ".local/share/jp/trust.json").exists()


def test_a_clone_that_only_makes_its_tools_stricter_is_asked_about_nothing(workspace: Path, server: ModelServer):
    (workspace / ".jp.toml").write_text('[conversation.tools.read_file]\nrun = "ask"\n')
    server.then(text("All done."))
    assert "All done." in unasked(workspace)
    assert "read_file" in offered(server)
