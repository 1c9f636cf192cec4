"""MCP servers in a query: their tools are offered, approved and called; and servers that are slow, or die."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.marked import MARK, marked, still_marked
from tests.support.tools import answer, configure, query, responses, sent
from tests.support.workspace import Ask, events, messages
from tests.tool.mcp_servers.host import HERE
from tests.tool.mcp_servers.npm import installed
from tests.wire.model_server import ModelServer, text, tool_call, tool_calls

FALLBACK = "Interrupted: [c,q,?]?"
MENU = "Interrupted: [c,r,s,t,?]?"
STARTING = "Starting MCP servers…"
NOW = ("-c", "style.mcp_startup.delay_secs=0")


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """A server is told to end, and then made to."""
    yield
    assert not still_marked(10)


def mcp(
    name: str, *arguments: str, command: str = sys.executable, tools: tuple[str, ...] = ("add",), **more: Any
) -> None:
    """A server in the user's configuration, and tools of it, which must be approved."""
    keys = {"type": "stdio", "command": command, "arguments": [*arguments], "variables": [MARK, "NOTES"], **more}
    configure(**{f"providers.mcp.{name}.{key}": value for key, value in keys.items()})
    for tool in tools:
        configure(**{f"conversation.tools.{tool}.source": f"mcp.{name}.{tool}"})


def python(name: str = "python", **more: Any) -> None:
    mcp(name, str(HERE / "python_server.py"), **more)


def raw(mode: str, tool: str = "do", **more: Any) -> None:
    mcp(mode, "-S", str(HERE / "raw_server.py"), mode, tools=(), **more)
    configure(**{f"conversation.tools.{tool}.source": f"mcp.{mode}.do"})


def gated(folder: Path) -> Path:
    """A server that does not start before the file that is returned is there."""
    go = folder / "go"
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done; exec {sys.executable} -S {HERE / 'raw_server.py'} fine"
    mcp("slow", "-c", wait, command="sh", tools=("do",))
    return go


def offered(server: ModelServer, number: int = -1) -> list[str]:
    return [tool["function"]["name"] for tool in server.bodies()[number].get("tools", [])]


@pytest.mark.slow
@pytest.mark.req("092-160")
def test_a_tool_is_offered_approved_and_called(server: ModelServer, workspace: Path):
    python(tools=("add", "mixed"))
    server.then(tool_calls(("add", {"a": 2, "b": 3}), ("mixed", {})), text("It is five."))
    with query(workspace, columns=100) as terminal:
        terminal.until("Run python/add [y,Y,n,N,p,r,e,?]?")
        assert "Calling tool python/add" in terminal.screen
        assert marked()
        answer(terminal, b"y")
        terminal.until("Run python/mixed")
        answer(terminal, b"n")
        assert terminal.wait() == "exited 0"
        assert "Tool python/add is done" in terminal.screen
        assert terminal.screen.text.rstrip().endswith("It is five.")
        assert terminal.modes() == terminal.modes_before
    assert offered(server, 0) == ["add", "mixed"]
    schema = server.bodies()[0]["tools"][0]["function"]
    assert schema["description"] == "Add two numbers."
    assert set(schema["parameters"]["properties"]) == {"a", "b"}
    assert responses(workspace)[1] == ("5", False)
    assert "intentionally rejected" in responses(workspace)[0][0]


@pytest.mark.network
@pytest.mark.slow
def test_a_server_from_npm(server: ModelServer, workspace: Path):
    script = installed() / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    mcp("everything", str(script), command="node", tools=("echo", "get-sum"))
    server.then(tool_calls(("echo", {"message": "hé"}), ("get-sum", {"a": 1, "b": 2})), text("Three."))
    with query(workspace) as terminal:
        for tool in ("echo", "get-sum"):
            terminal.until(f"Run everything/{tool} [")
            answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert "The sum of 1 and 2 is 3." in terminal.screen
    assert sorted(responses(workspace)) == [("Echo: hé", False), ("The sum of 1 and 2 is 3.", False)]


# --- servers that are not there


@pytest.mark.slow
def test_an_optional_server_that_fails_is_a_notice_and_its_tools_are_left_out(
    server: ModelServer, workspace: Path, ask: Ask
):
    raw("dies", optional=True)
    raw("fine", tool="more")
    done = ask("q", "hi")
    assert done.status == "exited 0"
    assert done.stdout == "Hello from the test model.\n"
    assert '"dies"' in done.stderr
    assert "no key is set" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert offered(server) == ["more"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "said"), [("dies", "no key is set"), ("refuses", "not today"), ("none", "no-such-program")]
)
def test_a_server_that_is_needed_and_fails_ends_it_before_anything_is_sent(
    server: ModelServer, workspace: Path, mode: str, said: str
):
    if mode == "none":
        mcp(mode, command="no-such-program", tools=("do",))
    else:
        raw(mode)
    with query(workspace) as terminal:
        assert terminal.wait() == "exited 1"
        assert f'jp: the MCP server "{mode}"' in terminal.screen
        assert said in terminal.screen.contents
        assert "optional = true" in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert server.requests == []
    assert not list(workspace.glob(".jp/conversations/*"))


def test_a_server_of_tools_that_are_off_is_not_started(server: ModelServer, workspace: Path, ask: Ask):
    raw("dies")
    assert ask("q", "hi", "-T").status == "exited 0"
    assert ask("q", "hi", "-n", "-U").status == "exited 0"
    assert offered(server) == []


# --- while they start


@pytest.mark.slow
@pytest.mark.req("092-9", "092-63", "104-156")
def test_a_press_during_a_slow_start_has_the_fallback_menu(server: ModelServer, workspace: Path, tmp_path: Path):
    go = gated(tmp_path)
    server.then(tool_call("do", {"a": 2}), text("It is done."))
    with query(workspace, *NOW) as terminal:
        terminal.until(lambda screen: STARTING in screen and "slow" in screen)
        for _ in range(2):
            terminal.press()
            terminal.until(FALLBACK)
            assert STARTING not in terminal.screen
            terminal.send(b"c")
            terminal.until(lambda screen: FALLBACK not in screen and STARTING in screen)
        assert server.requests == []
        go.touch()
        terminal.until("Run slow/do [")
        assert STARTING not in terminal.screen
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert STARTING not in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    ((content, failed),) = responses(workspace)
    assert json.loads(content)["arguments"] == {"a": 2}
    assert not failed


@pytest.mark.slow
@pytest.mark.req("092-63", "092-11")
@pytest.mark.parametrize("how", ["q", "press"])
def test_a_slow_start_can_be_ended(server: ModelServer, workspace: Path, tmp_path: Path, how: str):
    gated(tmp_path)
    with query(workspace, *NOW) as terminal:
        terminal.until(STARTING)
        terminal.press()
        terminal.until(FALLBACK)
        terminal.send(b"q" if how == "q" else b"\x03")
        assert terminal.wait() == "killed SIGINT"
        assert "gracefully shutting down…" in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert server.requests == []


@pytest.mark.slow
@pytest.mark.req("104-156")
def test_the_status_of_the_start_is_on_stderr_and_can_be_turned_off(
    server: ModelServer, workspace: Path, tmp_path: Path
):
    go = gated(tmp_path)
    with (tmp_path / "out").open("w") as out, query(workspace, *NOW, "--no-interactive", stdout=out) as terminal:
        terminal.until(STARTING)
        go.touch()
        assert terminal.wait() == "exited 0"
        assert STARTING not in terminal.screen
    assert (tmp_path / "out").read_text() == "Hello from the test model.\n"
    with query(workspace, *NOW, "-c", "style.mcp_startup.show=false", "-n") as terminal:
        assert terminal.wait() == "exited 0"
        assert STARTING.encode() not in terminal.output


# --- in the middle of a call


@pytest.mark.slow
def test_a_server_that_dies_in_a_call_is_a_failure_that_the_model_hears_of(server: ModelServer, workspace: Path):
    raw("leaves")
    server.then(tool_call("do", {}), tool_call("do", {}), text("It is gone."))
    with query(workspace, *unattended("do")) as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.count("Tool leaves/do failed") == 2
        assert terminal.screen.text.rstrip().endswith("It is gone.")
    found = responses(workspace)
    assert [failed for _, failed in found] == [True, True]
    assert all("leaves" in content for content, _ in found)
    assert [message["content"] for message in sent(server) if message["role"] == "tool"] == [said for said, _ in found]


@pytest.fixture
def called(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A server that takes calls and never answers; the file in which it notes them."""
    notes = tmp_path / "notes"
    notes.touch()
    monkeypatch.setenv("NOTES", str(notes))
    raw("slow")
    return notes


@pytest.mark.slow
@pytest.mark.req("092-56", "092-57", "092-60", "092-61")
def test_a_press_while_it_is_called_has_the_tool_menu(server: ModelServer, workspace: Path, called: Path):
    server.then(tool_call("do", {}), text("Unreachable."))
    with query(workspace, *unattended("do")) as terminal:
        for times, key in ((1, b"c"), (1, b"t"), (2, b"s")):
            terminal.until(lambda _, times=times: called.read_text().count('"called"') == times)
            terminal.press()
            terminal.until(MENU)
            terminal.send(key)
            terminal.until(lambda screen: MENU not in screen)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before
    assert called.read_text().count("notifications/cancelled") >= 1  # the server is told, too
    ((content, failed),) = responses(workspace)
    assert "intentionally rejected" in content
    assert not failed
    assert messages(workspace) == []
    assert sum(event["type"] == "tool_call_request" for event in events(workspace)) == 1
    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.req("092-11", "092-31")
def test_two_presses_while_it_is_called_end_the_server_too(server: ModelServer, workspace: Path, called: Path):
    server.then(tool_call("do", {}), text("Unreachable."))
    with query(workspace, *unattended("do")) as terminal:
        terminal.until(lambda _: '"called"' in called.read_text())
        terminal.press()
        terminal.until(MENU)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
    assert len(responses(workspace)) == 1


@pytest.mark.slow
def test_a_server_has_no_terminal_and_its_log_is_not_on_the_screen(server: ModelServer, workspace: Path):
    python(tools=("log", "environment"))
    server.then(tool_calls(("log", {"text": "\x1b[2Jit is"}), ("environment", {})), text("All done."))
    with query(workspace, *unattended("log", "environment")) as terminal:
        assert terminal.wait() == "exited 0"
        assert "stderr: " not in terminal.screen.contents
        assert "protocol: " not in terminal.screen.contents
        assert b"\x1b[2J" not in terminal.output
    names = next(content for content, _ in responses(workspace) if "PATH" in content).split()
    assert "JP_SESSION" not in names


def unattended(*tools: str) -> list[str]:
    return [word for tool in tools for word in ("-c", f"conversation.tools.{tool}.run=unattended")]
