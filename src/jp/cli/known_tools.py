"""All tools that configuration and the program know of, also those that can't be used, with why."""

from typing import Any, NamedTuple

from jp.config.schema import split_key
from jp.config.sections.tools import Tool
from jp.config.trust import Withheld, waits_for_trust
from jp.errors import JpError
from jp.tool.definition import MCP, Definition
from jp.tool.toolbox import Toolbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.cli.context import Context
    from jp.config.load import Config


class Known(NamedTuple):
    """A tool. `origin` is empty where configuration does not say it; `settings` are joined with the defaults.

    `definition` is None where there is none without its MCP server, or none at all: then `problem` says why, and
    `waiting` are the values that would make it one and wait for trust.
    """

    name: str
    origin: str
    server: str
    enabled: bool
    settings: Tool
    definition: Definition | None
    problem: str
    waiting: list[Withheld]

    @property
    def allow_toggle(self) -> str:
        """Which `--tool` flags may change whether it is enabled."""
        return (self.settings.enable and self.settings.enable.allow_toggle) or "any"

    @property
    def summary(self) -> str:
        """What it does, in a sentence, as far as that is known without its MCP server."""
        return (self.definition.summary if self.definition else self.settings.summary) or ""

    @property
    def hints(self) -> list[str]:
        """What to do about the problem."""
        return [waits_for_trust(held) for held in self.waiting]


class UnusableToolError(JpError):
    """A tool is configured, but can't be run."""

    code = "unusable_tool"


def known_tools(config: "Config") -> list[Known]:
    """All of them by name; no MCP server is started."""
    tools = config.root.conversation.tools
    box = Toolbox(tools)
    box.build()
    offered = {*box.enabled(), *box.names()}  # one is offered only because of others
    box.build(box.all())
    found = []
    for name in sorted({*box.all(), *tools.named}):
        origin = box.origin(name) if name in box.all() else ""
        definition = box.find(name)
        settings = definition.settings if definition else tools.get(name)
        assert settings is not None
        server = (settings.source or "").split(".")[1] if origin == MCP else ""
        problem = box.problems.get(name, "")
        if not origin and not problem:
            problem = f"the tool {name} has no source: set conversation.tools.{name}.source"
        if origin == MCP and server not in config.root.providers.mcp:
            problem = f"the MCP server {server} is not configured (providers.mcp.{server})"
        waiting = _waiting(config, name, origin, server) if problem else []
        if waiting:
            problem = f"{waiting[0].key} waits for trust (jp workspace trust)"
        enabled = name in offered if origin else bool(settings.enable and settings.enable.state)
        found.append(Known(name, origin, server, enabled, settings, definition, problem, waiting))
    return found


def _waiting(config: "Config", name: str, origin: str, server: str) -> list[Withheld]:
    """The values without which it can't be run, and which are not in effect."""
    own = ("conversation", "tools", name)
    needed: list[tuple[str, ...]] = [("providers", "mcp", server)] if origin == MCP else [(*own, "command")]
    if not origin:
        needed.append((*own, "source"))
    return [held for held in config.withheld if split_key(held.key) in needed]


def say_notices(ctx: "Context", config: "Config") -> None:
    """Print what a user should be told about the configuration."""
    for notice in dict.fromkeys(config.notices):
        ctx.printer.note(notice)


def compact(value: Any) -> str:
    """A value of a record or a schema on one line."""
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
