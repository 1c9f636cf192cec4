"""Which program is started as an MCP server, with what environment, and what is said when it can't be."""

import hashlib
import sys
from pathlib import Path

import pytest

from jp.config.sections.providers import Checksum, McpServer
from jp.tool.mcp.errors import RefusedError
from jp.tool.mcp.launch import environment, resolve, verify
from jp.tool.outcome import Success
from tests.tool.mcp_servers.host import Host, http, python, raw, stdio

ENVIRON = {
    "PATH": "/bin",
    "HOME": "/h",
    "LC_ALL": "C",
    "XDG_DATA_HOME": "/d",
    "OPENAI_API_KEY": "secret",
    "TOKEN": "t",
    "JP_EDITOR": "vi",
    "TERM": "x",
}


def test_a_server_gets_a_few_variables_and_those_that_are_named() -> None:
    assert set(environment(ENVIRON, [], [])) == {"PATH", "HOME", "LC_ALL", "XDG_DATA_HOME", "TERM"}
    assert environment(ENVIRON, ["TOKEN", "UNSET"], [])["TOKEN"] == "t"
    assert "UNSET" not in environment(ENVIRON, ["TOKEN", "UNSET"], [])


def test_what_is_hidden_is_given_only_by_name() -> None:
    assert "HOME" not in environment(ENVIRON, [], ["HOME", "TOKEN"])
    assert environment(ENVIRON, ["TOKEN"], ["HOME", "TOKEN"])["TOKEN"] == "t"


def test_a_command_is_a_name_or_a_path_from_the_root(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "serve"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    with pytest.raises(RefusedError, match="not executable"):
        resolve("bin/serve", "", str(tmp_path))
    program.chmod(0o755)
    assert resolve("bin/serve", "", str(tmp_path)) == str(program)
    assert resolve("serve", str(program.parent), "/") == str(program)
    with pytest.raises(RefusedError, match="was not found"):
        resolve("serve", "/nowhere", str(tmp_path))
    with pytest.raises(RefusedError, match="no such file"):
        resolve("./serve", str(program.parent), str(tmp_path))


@pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
def test_a_checksum_is_of_the_programs_content(tmp_path: Path, algorithm: str) -> None:
    program = tmp_path / "serve"
    program.write_bytes(b"x" * 1000)
    right = hashlib.new(algorithm, b"x" * 1000).hexdigest()
    verify(str(program), Checksum(algorithm, right.upper() + "\n"))
    with pytest.raises(RefusedError, match=f"the {algorithm} of") as refused:
        verify(str(program), Checksum(algorithm, "0" * len(right)))
    assert right in refused.value.hint


UNSTARTABLE = [
    (McpServer("stdio", [], [], False), "has no command", "set providers.mcp.s.command"),
    (McpServer("http", [], [], False), "has no url", "set providers.mcp.s.url"),
    (stdio(command="there-is-no-such-program"), "its command was not found", "is it installed"),
    (stdio(command="/nowhere/x"), "there is no such file", "see providers.mcp.s"),
    (stdio("a\0b"), "has not started", "see providers.mcp.s"),
    (stdio(checksum=Checksum("sha256", "00")), "is not the one that is configured", "set it as checksum.value"),
    (raw("dies"), "has exited with status 3", "it said: no key is set"),
    (raw("silent", secs=1), "has not answered within 1 seconds", "startup_timeout_secs"),
    (raw("flood", secs=1), "has not answered within 1 seconds", "startup_timeout_secs"),
    (raw("refuses"), "has refused: not today", "see providers.mcp.s"),
    (raw("unknown"), "Unsupported protocol version", "see providers.mcp.s"),
    (raw("notools"), "validation error", "see providers.mcp.s"),
    (stdio("-c", "print('hello')"), "has exited with status 0", "see providers.mcp.s"),
    (http("http://127.0.0.1:1/mcp"), "can't be spoken to", "see providers.mcp.s"),
    (http("nonsense"), "can't be spoken to", "see providers.mcp.s"),
]


@pytest.mark.parametrize(("config", "reason", "hint"), UNSTARTABLE, ids=[case[1] + case[2] for case in UNSTARTABLE])
def test_a_server_that_does_not_start_is_an_error_that_says_why(
    tmp_path: Path, config: McpServer, reason: str, hint: str
) -> None:
    with Host(tmp_path, {"s": config}).ready("s") as host:
        (error,) = host.servers.errors
        assert not host.servers.notices
        assert error.code == "mcp_start"
        assert error.message.startswith('the MCP server "s"')
        assert reason in error.message
        assert (config.command or config.url or "") in error.message
        assert any(hint in each for each in error.hints)
        assert any("providers.mcp.s" in each for each in error.hints)
        assert "\x1b" not in "".join(error.hints)
        assert [event.state for event in host.events] == ["failed"]
        assert host.servers.find("s", "do") is None


def test_an_optional_server_that_does_not_start_is_a_notice(tmp_path: Path) -> None:
    configs = {"bad": raw("dies", optional=True), "good": raw("plain")}
    with Host(tmp_path, configs).ready("bad", "good") as host:
        assert host.servers.errors == ()
        (notice,) = host.servers.notices
        assert "status 3" in notice.message
        assert [tool.server for tool in host.servers.tools()] == ["good"]


def test_a_server_that_is_not_configured_is_an_error(tmp_path: Path) -> None:
    with Host(tmp_path, {"good": raw("plain")}).ready("other") as host:
        (error,) = host.servers.errors
        assert "is not configured" in error.message
        assert "configured servers: good" in error.hints
        assert host.servers._thread is None


def test_a_server_runs_in_the_root_with_its_own_environment(tmp_path: Path) -> None:
    environ = {"PATH": "/bin:/usr/bin", "HOME": str(tmp_path), "OPENAI_API_KEY": "secret", "MINE": "1"}
    right = hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest()
    config = python(variables=["MINE"], checksum=Checksum("sha256", right))
    with Host(tmp_path, {"py": config}, environ).ready("py") as host:
        outcome = host.call("py", "environment")
        assert isinstance(outcome, Success)
        assert set(outcome.content.split()) - {"LC_CTYPE"} == {"PATH", "HOME", "MINE", "JP_WORKSPACE_ROOT"}


def test_no_token_of_a_url_is_shown(tmp_path: Path) -> None:
    config = http("http://me:secret@127.0.0.1:1/mcp?key=secret#secret")
    with Host(tmp_path, {"s": config}).ready("s") as host:
        (error,) = host.servers.errors
        assert "(http://127.0.0.1:1/mcp)" in error.message
        assert "secret" not in f"{error.message} {error.hints} {error.metadata}"
