"""What a tool is called: by a model, and before a person, who is to see whose tool it is."""

import re

from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.definition import LOCAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.definition import Definition

LONGEST = 64
_TAKEN = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}", re.ASCII)


def can_be_offered(name: str) -> bool:
    """Whether every model takes it for a name of a tool."""
    return _TAKEN.fullmatch(name) is not None


def shown_name(tool: "Definition") -> str:
    """A tool's name for a person: with its server and its name there, and never like a built-in one that it is not."""
    if tool.server:
        if tool.remote in ("", tool.name):
            return f"{tool.server}/{tool.name}"
        return f"{tool.server}/{tool.remote} (as {tool.name})"
    if tool.origin == LOCAL and tool.name in CATALOGUE:
        return f"{tool.name} (local command)"
    return tool.name
