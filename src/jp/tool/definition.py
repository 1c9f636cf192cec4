"""A tool as it is known to this run: where it comes from, what it takes, how it is to be handled."""

from typing import Any

import msgspec

from jp.config.sections.tools import Tool as Settings

BUILTIN, LOCAL, MCP = "builtin", "local", "mcp"


class Definition(msgspec.Struct, frozen=True):
    """One tool. `name` is what the model calls it; `parameters` is a JSON schema of type object.

    `settings` are the configured ones joined with the defaults for all tools (`Tools.get`), with none of its keys
    missing that those have. `origin` is one of BUILTIN, LOCAL and MCP; for MCP `server` is the configured server and
    `remote` the tool's name there.
    """

    name: str
    origin: str
    settings: Settings
    summary: str = ""
    description: str = ""
    examples: str = ""
    parameters: dict[str, Any] = {}
    server: str = ""
    remote: str = ""


class Invocation(msgspec.Struct, frozen=True):
    """One run of a tool: for a call of the model, or to have the arguments of one shown (`format_arguments`).

    `answers` are those to the tool's questions by their id; `secret` names the ones that must not be seen anywhere.
    """

    tool: Definition
    call_id: str
    arguments: dict[str, Any]
    answers: dict[str, Any] = {}
    secret: frozenset[str] = frozenset()
    action: str = "run"


RUN, FORMAT = "run", "format_arguments"
