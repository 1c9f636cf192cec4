"""What is said about an MCP server that has not started."""

from jp.errors import JpError
from jp.terminal.sanitize import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_LINES = 5


class McpStartError(JpError):
    """An MCP server that a tool needs is not there: nothing has been sent to a model yet.

    `metadata` holds `server`, `command` (the URL of one that is reached by HTTP), `reason` and the lines of `stderr`.
    """

    code = "mcp_start"


class RefusedError(Exception):
    """Why a server is not started: a sentence's end after its name, and what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


def not_started(name: str, command: str, reason: str, *, said: "Sequence[str]" = (), hint: str = "") -> McpStartError:
    """The error of the server `name`: `reason` follows its name ("has exited with status 1")."""
    lines = [_plain(line) for line in said]
    hints = [f"it said: {line}" for line in lines[-SHOWN_LINES:]]
    if hint:
        hints.append(hint)
    hints.append(f"see providers.mcp.{name}; with optional = true there, JP goes on without it")
    shown = f" ({_plain(command)})" if command else ""
    metadata = {"server": name, "command": command, "reason": reason, "stderr": lines}
    return McpStartError(f'the MCP server "{name}"{shown} {reason}', hints=hints, metadata=metadata)


def _plain(text: str) -> str:
    return " ".join(one_line(text).split())
