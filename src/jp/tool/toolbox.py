"""Which tools this run has: configuration, the built-in ones and what MCP servers offer, made into definitions.

Where no tool of another origin is configured, the built-in ones are offered; as soon as configuration names tools of
its own, only what it names is (contracts, section 9: existing workspaces work unchanged).
"""

from typing import Any

from jp.config.sections.tools import EnableState, Tool, Tools, ToolStyle
from jp.llm.provider import Tool as Offered
from jp.terminal.sanitize import one_line
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.definition import BUILTIN, LOCAL, MCP, Definition
from jp.tool.naming import LONGEST, can_be_offered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol

    from jp.tool.builtin.catalogue import Builtin

    class Found(Protocol):
        """What an MCP server says of a tool."""

        @property
        def description(self) -> str:
            """In words."""

        @property
        def parameters(self) -> dict[str, Any]:
            """Its JSON schema."""

    Find = Callable[[str, str], Found | None]

DESCRIBE = "describe_tools"
MOST_IN_SCHEMAS = 100_000  # values in all schemas of servers
_ORDINARY_RUN = "ask"  # what `'*'.run` is where nobody says anything


class Toolbox:
    """The tools by name. `offer` is whether the built-in ones are offered where none are configured.

    What is known of MCP tools is asked of `find(server, tool)`, once the servers are there: see `build`.
    """

    def __init__(self, tools: Tools, *, offer: bool = True) -> None:
        self._tools = tools
        self._definitions: dict[str, Definition] = {}
        self._settings: dict[str, tuple[str, Tool]] = {}  # enabled or not, with their origin
        self.problems: dict[str, str] = {}  # why an enabled tool is not offered
        self._room = MOST_IN_SCHEMAS
        own = {name: tool for name, tool in tools.named.items() if _origin(name, tool) in (LOCAL, MCP)}
        for name, tool in tools.named.items():
            self._add(name, tool)
        for name, builtin in CATALOGUE.items():
            if name not in self._settings:
                self._add(name, Tool(enable=self._default(builtin, offer=offer, own=bool(own))))

    def _default(self, builtin: "Builtin", *, offer: bool, own: bool) -> EnableState:
        enabled = self._tools.defaults.enable
        wanted = enabled is None or enabled.state is not False
        if own or builtin.name == DESCRIBE:
            return EnableState(False, "if_named")  # to turn on all tools is not to ask for this one
        return EnableState(offer and wanted)

    def _add(self, name: str, tool: Tool) -> None:
        origin = _origin(name, tool)
        if origin == BUILTIN:
            tool = _with_builtin(tool, CATALOGUE[name], self._tools)
        joined = Tools(self._tools.defaults, {name: tool}).get(name)
        assert joined is not None
        if origin:
            self._settings[name] = (origin, joined)
        elif joined.enable is None or not joined.enable.state:
            return
        elif tool.source:
            self.problems[name] = f"there is no built-in tool {name} (conversation.tools.{name}.source)"
        elif tool.enable or tool.command:
            self.problems[name] = f'the tool {name} has no source: set conversation.tools.{name}.source to "local", …'

    # --- what there is

    def all(self) -> "list[str]":
        """Every tool that is known, enabled or not."""
        return list(self._settings)

    def state(self, name: str) -> EnableState:
        """Whether a tool is enabled, and what may change that."""
        enable = self._settings[name][1].enable
        return enable or EnableState(True, "any")

    def enabled(self) -> "list[str]":
        """The tools that are."""
        return [name for name in self._settings if self.state(name).state is not False]

    def origin(self, name: str) -> str:
        """Where a tool comes from."""
        return self._settings[name][0]

    def servers(self, names: "Iterable[str] | None" = None) -> "list[str]":
        """The MCP servers that `names` (the enabled tools) come from."""
        wanted = self.enabled() if names is None else names
        found = [_server(self._settings[name][1].source) for name in wanted if self._settings[name][0] == MCP]
        return list(dict.fromkeys(found))

    # --- definitions

    def build(self, names: "Iterable[str] | None" = None, find: "Find | None" = None) -> None:
        """Make the definitions of `names`; of the enabled tools without. What can't be one is among `problems`."""
        self._definitions = {}
        self._room = MOST_IN_SCHEMAS
        for name in self.enabled() if names is None else names:
            definition = self._define(name, *self._settings[name], find)
            if definition is not None:
                self._definitions[name] = definition
        if names is None and self._tells_more() and DESCRIBE not in self._tools.named:
            definition = self._define(DESCRIBE, *self._settings[DESCRIBE], find)
            assert definition is not None
            self._definitions[DESCRIBE] = definition

    def _tells_more(self) -> bool:
        return any(tool.description or tool.examples for tool in self._definitions.values())

    def _define(self, name: str, origin: str, settings: Tool, find: "Find | None") -> Definition | None:
        if origin == BUILTIN:
            builtin = CATALOGUE[name]
            return Definition(
                name,
                origin,
                settings,
                settings.summary or builtin.summary,
                settings.description or builtin.description,
                settings.examples or builtin.examples,
                builtin.parameters,
            )
        if not can_be_offered(name):
            self.problems[name] = (
                f"the tool {one_line(name)} can't be offered: models take names of at most {LONGEST} letters, digits, "
                "_ and -"
            )
            return None
        if origin == LOCAL:
            if settings.command is None:
                self.problems[name] = f"the tool {name} has no command (conversation.tools.{name}.command)"
                return None
            from jp.tool.schema import parameters_schema

            return Definition(
                name,
                origin,
                settings,
                settings.summary or "",
                settings.description or "",
                settings.examples or "",
                parameters_schema(settings.parameters),
            )
        return self._define_remote(name, settings, find)

    def _define_remote(self, name: str, settings: Tool, find: "Find | None") -> Definition | None:
        from jp.tool.schema import overlaid, unusable
        from jp.tool.schema_limits import SIZE, values

        server, remote = _server(settings.source), _remote(settings.source, name)
        found = find(server, remote) if find is not None else None
        if found is None:
            if find is not None:
                self.problems[name] = f"the MCP server {server} has no tool {remote}"
            return None
        parameters = overlaid(found.parameters, settings.parameters)
        size = values(parameters, SIZE)
        if self._room < size <= SIZE:
            self.problems[name] = f"the tool {name} is left out: the schemas of all tools together are too large"
            return None
        self._room -= min(size, SIZE)
        if problem := unusable(parameters):
            self.problems[name] = f"the tool {name} is left out: its schema (of {server}/{one_line(remote)}) {problem}"
            return None
        return Definition(
            name,
            MCP,
            settings,
            settings.summary or found.description,
            settings.description or "",
            settings.examples or "",
            parameters,
            server,
            remote,
        )

    # --- for a turn

    def find(self, name: str) -> Definition | None:
        """A tool that is offered."""
        return self._definitions.get(name)

    def names(self) -> "list[str]":
        """The tools that are offered."""
        return list(self._definitions)

    def definitions(self) -> "list[Definition]":
        """The tools that are offered, with everything about them."""
        return list(self._definitions.values())

    def checked(self, tool: Definition, arguments: "dict[str, Any]") -> "tuple[dict[str, Any], list[str]]":
        """The arguments with defaults filled in, and what is wrong with them."""
        from jp.tool.schema import checked

        return checked(tool.parameters, arguments)

    def always_asks(self, tool: Definition) -> bool:
        """Whether every call needs an approval of its own."""
        return tool.origin == BUILTIN and CATALOGUE[tool.name].always_ask

    def offered(self) -> "list[Offered]":
        """The tools as a model is told of them."""
        return [
            Offered(tool.name, tool.summary or tool.description, tool.parameters) for tool in self._definitions.values()
        ]


def _origin(name: str, tool: Tool) -> str:
    """Where a configured tool comes from; empty where that is not said."""
    source = tool.source or ""
    if not source:
        return BUILTIN if name in CATALOGUE else ""
    kind = source.partition(".")[0]
    return "" if kind == BUILTIN and name not in CATALOGUE else kind


def _server(source: str | None) -> str:
    return (source or "").split(".")[1]


def _remote(source: str | None, name: str) -> str:
    parts = (source or "").split(".", 2)
    return parts[2] if len(parts) > 2 and parts[2] else name


def _with_builtin(tool: Tool, builtin: "Builtin", tools: Tools) -> Tool:
    """A built-in tool's own defaults, below what is configured for it."""
    import msgspec

    said = tools.defaults.run
    own = tool.style or ToolStyle()
    gaps = {key: value for key, value in builtin.style.items() if getattr(own, key) is None}
    return msgspec.structs.replace(
        tool,
        run=tool.run or (builtin.run if said == _ORDINARY_RUN else said),
        format=tool.format or tools.defaults.format or "unattended",
        style=msgspec.structs.replace(own, **gaps),
    )


def changes(box: Toolbox, directives: "Iterable[tuple[str, str]]") -> "Mapping[str, bool]":
    """What `--tool` and `--no-tools` make of the tools, from left to right: which are enabled then, of those changed.

    A directive is ("on" or "off", name); an empty name is all of them. Raises ValueError with the name of a tool that
    is not there, PermissionError with that of one that stays as it is configured.
    """
    states: dict[str, bool] = {}
    known = box.all()
    for what, name in directives:
        wanted = what == "on"
        if name and name not in known:
            raise ValueError(name)
        for each in [name] if name else known:
            state = box.state(each)
            toggle = state.allow_toggle or "any"
            if toggle == "never" and (state.state is not False) is wanted:
                continue  # it is so already
            if toggle == "never" or (not name and wanted and toggle != "any"):
                if name:
                    raise PermissionError(name)
                continue
            states[each] = wanted
    return states
