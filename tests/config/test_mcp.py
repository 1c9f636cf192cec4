"""MCP servers in the configuration: programs, and since newer versions servers at a URL."""

from typing import Any

import pytest

from jp.config.errors import ConfigError
from jp.config.load import Paths, load
from jp.config.sections.providers import Checksum, McpServer

NOWHERE = Paths(None, None, "/", None)


def server(**keys: Any) -> McpServer:
    import json

    return load(NOWHERE, {}, cfg=[f"providers.mcp.x:={json.dumps(keys)}"]).root.providers.mcp["x"]


def test_a_program_is_what_it_was() -> None:
    assert server(command="serve") == McpServer("stdio", [], [], False, "serve")
    assert server(
        type="stdio",
        command="serve",
        arguments=["-v"],
        variables=["TOKEN"],
        optional=True,
        startup_timeout_secs=5,
        checksum={"value": "ab"},
    ) == McpServer("stdio", ["-v"], ["TOKEN"], True, "serve", 5, Checksum("sha256", "ab"))


def test_a_server_may_be_at_a_url() -> None:
    found = server(type="http", url="https://example.org/mcp", headers={"Authorization": "Bearer ${TOKEN}"})
    assert found.kind == "http"
    assert found.url == "https://example.org/mcp"
    assert found.headers == {"Authorization": "Bearer ${TOKEN}"}
    assert found.command is None


def test_headers_are_joined_key_by_key() -> None:
    cfg = ['providers.mcp.x:={"type": "http", "headers": {"A": "1"}}', "providers.mcp.x.headers.B=2"]
    assert load(NOWHERE, {}, cfg=cfg).root.providers.mcp["x"].headers == {"A": "1", "B": "2"}


@pytest.mark.parametrize(
    ("keys", "told"),
    [({"type": "sse"}, '"stdio", "http"'), ({"url": 1}, "a string"), ({"headers": {"A": 1}}, "a string")],
)
def test_what_it_can_t_be_is_said(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=f"providers.mcp.x.{next(iter(keys))}") as error:
        server(**keys)
    assert told in error.value.message + "".join(error.value.hints)


def test_what_is_stored_of_a_program_is_as_it_was() -> None:
    stored = load(NOWHERE, {}, cfg=["providers.mcp.x.command=serve"]).as_partial()
    assert set(stored["providers"]["mcp"]["x"]) <= {
        *("type", "command", "arguments", "variables", "checksum", "optional", "startup_timeout_secs")
    }
