"""From an invocation of a local tool to the program and its arguments: which command, and what its template knows."""

import msgspec

from jp.config.sections.tools import Command
from jp.errors import JpError
from jp.tool.definition import FORMAT
from jp.tool.template import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from jp.config.sections.tools import FileRule
    from jp.tool.definition import Definition, Invocation

AS_DATA = ("json", "function_call", "off")


class NoCommandError(JpError):
    """A tool for which no command is configured."""

    code = "tool_without_command"


def formatter(tool: "Definition") -> "str | Command | None":
    """The command that shows the arguments of a call; None where they are shown as data, or not at all."""
    how = tool.settings.style.parameters if tool.settings.style else None
    return None if how in AS_DATA else how


def key(invocation: "Invocation") -> str:
    """The configuration key of the command that an invocation runs."""
    name = "style.parameters" if invocation.action == FORMAT else "command"
    return f"conversation.tools.{invocation.tool.name}.{name}"


def argv(invocation: "Invocation", root: str, workspace_id: str, conversation_id: str) -> list[str]:
    """The argument list of a run; raises NoCommandError and TemplateError."""
    tool = invocation.tool
    command = formatter(tool) if invocation.action == FORMAT else tool.settings.command
    if command is None:
        raise NoCommandError(f"{tool.name} has no command to run ({key(invocation)})")
    context = {
        "action": invocation.action,
        "root": root,
        "workspace_id": workspace_id,
        "conversation_id": conversation_id,
        "access": _access(tool),
    }
    return render(command, invocation, context)


def _access(tool: "Definition") -> "dict[str, Any] | None":
    """What the tool may touch, in the words that tools know it by; None where nothing is said."""
    access = tool.settings.access
    return None if access is None else {"fs": [_rule(rule) for rule in access.fs]}


def _rule(rule: "FileRule") -> "dict[str, Any]":
    said = {name: value for name, value in msgspec.structs.asdict(rule).items() if value is not None}
    path = said.pop("path")
    return {"lexical_path": "" if path == "." else path.removeprefix("./").rstrip("/"), **said}
