"""MCP servers that people use, made with the SDK for JavaScript."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jp.tool.outcome import Failure, Success
from tests.support.marked import MARK
from tests.tool.mcp_servers.host import Host, stdio, wait
from tests.tool.mcp_servers.npm import installed

pytestmark = [pytest.mark.network, pytest.mark.slow]


@pytest.fixture(scope="module")
def packages() -> Path:
    return installed()


@pytest.fixture
def host(packages: Path, tmp_path: Path, no_leftovers: None) -> Iterator[Host]:
    def node(name: str) -> str:
        return str(packages / "node_modules/@modelcontextprotocol" / name / "dist/index.js")

    configs = {
        "everything": stdio(node("server-everything"), command="node", variables=[MARK]),
        "files": stdio(node("server-filesystem"), command="node", variables=[MARK]),
        "npx": stdio(
            *("--no-install", "--prefix", str(packages), "mcp-server-everything"), command="npx", variables=[MARK]
        ),
    }
    with Host(tmp_path, configs) as host:
        yield host


def said(outcome: object) -> str:
    assert isinstance(outcome, Success), outcome
    return outcome.content


def test_everything_is_understood(host: Host) -> None:
    host.ready("everything")
    assert not host.servers.errors
    found = host.servers.find("everything", "get-sum")
    assert found is not None
    assert set(found.parameters["properties"]) == {"a", "b"}
    assert said(host.call("everything", "echo", message="hé")) == "Echo: hé"
    assert said(host.call("everything", "get-sum", a=1, b=2)) == "The sum of 1 and 2 is 3."
    assert "[image image/png, 4033 bytes]" in said(host.call("everything", "get-tiny-image"))
    assert host.root.as_uri() in said(host.call("everything", "get-roots-list"))
    assert isinstance(host.call("everything", "echo", wrong=1), Failure)


def test_a_file_server_is_let_into_the_workspace_and_no_further(host: Host) -> None:
    (host.root / "notes.txt").write_text("in the workspace")
    host.ready("files")
    # It asks for the roots once it is ready, and may be called before it has them.
    wait(lambda: str(host.root) in host.call("files", "list_allowed_directories").content)
    assert said(host.call("files", "read_text_file", path=str(host.root / "notes.txt"))) == "in the workspace"
    assert isinstance(host.call("files", "read_text_file", path="/etc/passwd"), Failure)


def test_a_server_behind_npx_is_ended_with_its_wrapper(host: Host) -> None:
    host.ready("npx")
    assert not host.servers.errors
    assert said(host.call("npx", "echo", message="x")) == "Echo: x"
