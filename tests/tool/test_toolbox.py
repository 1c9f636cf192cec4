"""Which tools a run has, and what each of them is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jp.config.load import Paths, load
from jp.config.sections.tools import Tools
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.definition import BUILTIN, LOCAL, MCP
from jp.tool.naming import shown_name
from jp.tool.toolbox import DESCRIBE, Toolbox, changes

BUILTINS = [name for name in CATALOGUE if name != DESCRIBE]


class Found(msgspec.Struct):
    """What a server says of a tool."""

    description: str = "What the server says."
    parameters: dict[str, Any] = {}


SERVED = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "Theirs."}, "limit": {"type": "integer"}},
    "required": ["query"],
}


@pytest.fixture
def tools(tmp_path: Path) -> Any:
    """The section that a configuration file makes."""

    def make(text: str = "") -> Tools:
        own = tmp_path / "jp" / "config.toml"
        own.parent.mkdir(exist_ok=True)
        own.write_text(text)
        return load(Paths(str(own.parent), None, str(tmp_path)), {}).root.conversation.tools

    return make


@pytest.fixture
def box(tools: Any) -> Any:
    """The toolbox of a configuration, with its definitions."""

    def make(text: str = "", *, find: Any = None, names: Any = None, **options: Any) -> Toolbox:
        made = Toolbox(tools(text), **options)
        made.build(names, find)
        return made

    return make


def own(name: str = "mine", **keys: str) -> str:
    lines = {"source": '"local"', "command": '"true"', **keys}
    return f"[conversation.tools.{name}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


# --- which there are


def test_where_nothing_is_configured_the_built_in_ones_are_offered_and_told_of(box):
    made = box()
    assert made.names() == [*BUILTINS, DESCRIBE]
    assert {made.origin(name) for name in made.all()} == {BUILTIN}
    assert made.problems == {}
    assert [one.name for one in made.offered()] == made.names()
    for one in made.definitions():
        assert one.summary
        assert one.parameters["type"] == "object"


def test_where_none_are_to_be_offered_only_what_is_named_is(box):
    assert box(offer=False).names() == []
    assert box("[conversation.tools.grep_files]\n", offer=False).names() == ["grep_files", DESCRIBE]


def test_one_tool_of_ones_own_takes_the_place_of_the_built_in_ones(box):
    assert box(own()).names() == ["mine"]
    assert box(own(enable="false")).names() == []
    assert box(own(source='"mcp.server.x"', command="")).names() == []
    assert box(own() + "[conversation.tools.read_file]\nrun = 'ask'\n").names() == ["mine", "read_file", DESCRIBE]


def test_settings_of_a_built_in_tool_leave_the_others_as_they_are(box):
    assert sorted(box("[conversation.tools.read_file]\nrun = 'ask'\n").names()) == sorted([*BUILTINS, DESCRIBE])


# enable of all, of the tool, whether it is on, what may change it
ENABLE = [
    ("", "", True, "any"),
    ("", "true", True, "any"),
    ("", "false", False, "any"),
    ("", '"on"', True, "any"),
    ("", '"off"', False, "any"),
    ("", '"explicit"', False, "if_named"),
    ("", '"always"', True, "never"),
    ("", '{ state = true, allow_toggle = "if_named_or_group" }', True, "if_named_or_group"),
    ("false", "", False, "any"),
    ("false", "true", True, "any"),
    ('"explicit"', "", False, "if_named"),
    ('"explicit"', "{ state = true }", True, "if_named"),
    ('"always"', "{ state = false }", False, "never"),
    ('{ allow_toggle = "never" }', "", True, "never"),
    ('{ allow_toggle = "never" }', "false", False, "any"),
]


@pytest.mark.parametrize(("everyone", "one", "state", "toggle"), ENABLE)
@pytest.mark.parametrize("name", ["mine", "read_file"])
def test_whether_a_tool_is_enabled(box, name: str, everyone: str, one: str, state: bool, toggle: str):
    text = f"[conversation.tools.'*']\nenable = {everyone}\n" if everyone else ""
    text += (
        own(enable=one) if name == "mine" else f"[conversation.tools.{name}]\n" + (f"enable = {one}\n" if one else "")
    )
    made = box(text)
    found = made.state(name)
    assert (found.state, found.allow_toggle) == (state, toggle)
    assert (name in made.enabled()) is state
    assert (name in made.names()) is state


@pytest.mark.parametrize(
    ("everyone", "on", "toggle"), [("false", False, "any"), ('{ allow_toggle = "never" }', True, "never")]
)
def test_what_holds_for_all_holds_for_the_built_in_ones(box, everyone: str, on: bool, toggle: str):
    made = box(f"[conversation.tools.'*']\nenable = {everyone}\n")
    assert made.names() == ([*BUILTINS, DESCRIBE] if on else [])
    assert {made.state(name).allow_toggle for name in BUILTINS} == {toggle}


def test_only_some_can_be_made(box):
    made = box(names=["read_file"])
    assert made.names() == ["read_file"]
    assert made.find("grep_files") is None
    made.build()
    assert made.find("grep_files") is not None


# --- describe_tools


def test_tools_are_described_where_there_is_more_to_tell(box):
    assert box(own(summary='"In short."')).names() == ["mine"]
    assert box(own(summary='"In short."', description='"At length."')).names() == ["mine", DESCRIBE]
    assert box(own(summary='"In short."', examples='"So."')).names() == ["mine", DESCRIBE]
    assert box(own(summary='"x"', description='"y"', enable="false")).names() == []


@pytest.mark.parametrize("enable", ["true", "false"])
def test_describing_can_be_turned_on_and_off(box, enable: str):
    text = f"[conversation.tools.{DESCRIBE}]\nenable = {enable}\n"
    assert (DESCRIBE in box(text).names()) is (enable == "true")
    assert (DESCRIBE in box(text, offer=False).names()) is (enable == "true")


# --- what each is


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_a_built_in_tool_is_handled_as_it_says_unless_configured_otherwise(box, name: str):
    builtin = CATALOGUE[name]
    made = box()
    found = made.find(name)
    assert (found.summary, found.description, found.examples) == (
        builtin.summary,
        builtin.description,
        builtin.examples,
    )
    assert found.parameters == builtin.parameters
    assert (found.settings.run, found.settings.format, found.settings.result) == (
        builtin.run,
        "unattended",
        "unattended",
    )
    assert {key: getattr(found.settings.style, key) for key in builtin.style} == builtin.style
    assert found.settings.style.results_file_link == builtin.style.get("results_file_link", "full")
    assert found.settings.timeout_secs == 600
    assert made.always_asks(found) is builtin.always_ask


# of all tools, of this one, what holds for a tool that runs unattended by itself
RUN = [
    ("", "", "unattended"),
    ("", "ask", "ask"),
    ("unattended", "", "unattended"),
    ("edit", "", "edit"),
    ("skip", "", "skip"),
    ("skip", "ask", "ask"),
]


@pytest.mark.parametrize(("everyone", "one", "run"), RUN)
def test_the_run_mode_of_a_built_in_tool(box, everyone: str, one: str, run: str):
    text = f"[conversation.tools.'*']\nrun = '{everyone}'\n" if everyone else ""
    text += f"[conversation.tools.read_file]\nrun = '{one}'\n" if one else ""
    assert box(text).find("read_file").settings.run == run


@pytest.mark.parametrize(
    ("everyone", "one", "format_"), [("", "", "unattended"), ("ask", "", "ask"), ("ask", "unattended", "unattended")]
)
def test_when_a_built_in_tool_is_formatted(box, everyone: str, one: str, format_: str):
    text = f"[conversation.tools.'*']\nformat = '{everyone}'\n" if everyone else ""
    text += f"[conversation.tools.write_file]\nformat = '{one}'\n" if one else ""
    assert box(text).find("write_file").settings.format == format_


def test_what_is_configured_of_a_built_in_tool_comes_before_its_own(box):
    found = box(
        "[conversation.tools.grep_files]\n"
        "summary = 'Mine.'\nexamples = 'So.'\nresult = 'ask'\ndetached = 'auto'\n"
        "style = { parameters = 'json' }\n"
    ).find("grep_files")
    assert (found.summary, found.examples) == ("Mine.", "So.")
    assert found.description == CATALOGUE["grep_files"].description
    assert (found.settings.result, found.settings.detached.run) == ("ask", "auto")
    assert (found.settings.style.parameters, found.settings.style.inline_results) == ("json", 5)


def test_only_run_command_always_asks_and_only_as_a_built_in_tool(box):
    made = box()
    assert [name for name in made.names() if made.always_asks(made.find(name))] == ["run_command"]
    made = box(own("run_command"))
    assert made.origin("run_command") == LOCAL
    assert not made.always_asks(made.find("run_command"))


def test_a_local_tool_is_what_configuration_says(box):
    made = box(
        own(description='"At length."')
        + "parameters.path = { type = 'string', required = true }\n"
        + "parameters.mode = { type = 'string', default = 'r' }\n"
    )
    found = made.find("mine")
    assert (found.origin, found.summary, found.description) == (LOCAL, "At length.", "At length.")
    assert found.settings.run == "ask"
    assert list(found.parameters["properties"]) == ["path", "mode"]
    assert made.checked(found, {"path": "x"}) == ({"path": "x", "mode": "r"}, [])
    assert made.checked(found, {})[1] == ["`path` is missing"]
    assert not made.always_asks(found)


def test_the_model_is_told_what_a_tool_is_for(box):
    made = box(own(summary='"In short."', description='"At length."') + own("bare"))
    told = {one.name: one.description for one in made.offered()}
    assert told["mine"] == "In short."
    assert told["bare"] == ""


# --- what MCP servers offer

# source, server, tool
SOURCES = [
    ("mcp.server.search", "server", "search"),
    ("mcp.server", "server", "mine"),
    ("mcp.server.", "server", "mine"),
    ("mcp.server.with.dots", "server", "with.dots"),
]


@pytest.mark.parametrize(("source", "server", "remote"), SOURCES)
def test_a_tool_of_a_server_is_found_by_its_name_there(box, source: str, server: str, remote: str):
    asked = []

    def find(*what: str) -> Found:
        asked.append(what)
        return Found(parameters=SERVED)

    made = box(own(source=f'"{source}"', command=""), find=find)
    assert asked == [(server, remote)]
    found = made.find("mine")
    assert (found.origin, found.server, found.remote) == (MCP, server, remote)
    assert (found.summary, found.description) == ("What the server says.", "")
    assert found.parameters == SERVED
    assert made.servers() == [server]
    assert made.offered()[0].description == "What the server says."


def test_what_is_configured_is_laid_over_what_the_server_says(box):
    text = own(source='"mcp.server.search"', command="", summary='"Mine."', description='"At length."')
    text += "parameters.query = { summary = 'Ours.', required = false }\n"
    text += "parameters.limit = { default = 5 }\n"
    text += "parameters.unknown = { type = 'string', required = true }\n"
    made = box(text, find=lambda *_: Found(parameters=SERVED))
    found = made.find("mine")
    assert (found.summary, found.description) == ("Mine.", "At length.")
    assert found.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Ours."},
            "limit": {"type": "integer", "default": 5},
        },
        "required": [],  # what the server does not know is not sent to it
    }
    assert made.checked(found, {}) == ({"limit": 5}, [])
    assert SERVED["required"] == ["query"]
    assert DESCRIBE in made.names()


@pytest.mark.parametrize("odd", [{}, {"properties": {"query": True}}])
def test_a_server_with_an_odd_schema_costs_nothing_else(box, odd: dict[str, Any]):
    text = own(source='"mcp.server.search"', command="") + "parameters.query = { summary = 'Ours.' }\n"
    assert box(text, find=lambda *_: Found(parameters=odd)).find("mine") is not None


DOUBLING = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(45)}
LARGE = {"properties": {f"p{n}": {"type": "string"} for n in range(3000)}}


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"type": "object", "required": None}, "is not valid"),
        ({"properties": []}, "is not valid"),
        ({"$ref": "#/$defs/d0", "$defs": {**DOUBLING, "d45": {}}}, "is too large: more than 10,000 schemas"),
        (LARGE, "is too large: more than 5,000 values"),
    ],
)
def test_a_schema_that_can_t_be_used_leaves_its_tool_out(box, odd: dict[str, Any], said: str):
    text = own(source='"mcp.server.search"', command="") + own("other", source='"mcp.server.other"', command="")
    made = box(text, find=lambda _, tool: Found(parameters=odd if tool == "search" else SERVED))
    assert made.names() == ["other"]
    assert list(made.problems) == ["mine"]
    assert made.problems["mine"].startswith("the tool mine is left out: its schema (of server/search) ")
    assert said in made.problems["mine"]


def test_all_schemas_together_are_bounded(box):
    medium = {"properties": {f"p{n}": {} for n in range(4990)}}
    text = "".join([own(f"t{n}", source='"mcp.server.x"', command="") for n in range(25)])
    made = box(text, find=lambda *_: Found(parameters=medium))
    assert len(made.names()) == 20
    assert "together are too large" in made.problems["t20"]


@pytest.mark.parametrize("name", ["a.b", "ü", "x" * 65, "a b", "a\\u001b[1mb"])
def test_a_name_that_models_do_not_take_is_a_problem(box, name: str):
    text = own(f'"{name}"') + own("fine")
    made = box(text)
    assert made.names() == ["fine"]
    assert len(made.problems) == 1
    assert "can't be offered" in next(iter(made.problems.values()))
    assert "\x1b" not in next(iter(made.problems.values()))


def test_who_is_called_like_a_built_in_tool_is_not_handled_like_one(box):
    """A workspace's `read_file` does not run unasked because JP's does, and is shown to be another."""
    text = own("read_file") + own("run_command", source='"mcp.server.sh"', command="") + own("gh", source='"mcp.s.gh"')
    made = box(text, find=lambda *_: Found(parameters=SERVED))
    read, run, same = (made.find(name) for name in ("read_file", "run_command", "gh"))
    assert (read.settings.run, run.settings.run) == ("ask", "ask")
    assert (read.settings.style.parameters, run.settings.style.parameters) == ("json", "json")
    assert read.summary != CATALOGUE["read_file"].summary
    assert made.always_asks(run) is False
    assert shown_name(read) == "read_file (local command)"
    assert shown_name(run) == "server/sh (as run_command)"
    assert shown_name(same) == "s/gh"
    built_in = box("")
    assert shown_name(built_in.find("read_file")) == "read_file"
    assert built_in.find("read_file").settings.run == "unattended"


def test_servers_are_those_of_enabled_tools_each_once(box):
    text = own("a", source='"mcp.one.a"', command="") + own("b", source='"mcp.one.b"', command="")
    text += own("c", source='"mcp.two.c"', command="") + own("d", source='"mcp.off.d"', command="", enable="false")
    made = box(text + own())
    assert made.servers() == ["one", "two"]
    assert made.servers(["c", "mine"]) == ["two"]
    assert made.problems == {}  # nobody has been asked yet


# --- what can't be offered


def test_what_can_not_be_offered_is_said(box):
    text = own("bare", command="") + own("lost", source='"mcp.server.gone"', command="")
    text += own("sourceless", source="") + own("fancy", source='"builtin"', command="")
    made = box(text, find=lambda *_: None)
    assert set(made.problems) == {"bare", "lost", "sourceless", "fancy"}
    assert "conversation.tools.bare.command" in made.problems["bare"]
    assert made.problems["lost"] == "the MCP server server has no tool gone"
    assert "conversation.tools.sourceless.source" in made.problems["sourceless"]
    assert "no built-in tool fancy" in made.problems["fancy"]
    assert made.names() == []


def test_what_is_not_enabled_is_no_problem(box):
    text = own("bare", command="", enable="false") + own("lost", source='"mcp.server.gone"', command="", enable="false")
    text += own("sourceless", source="", enable="false") + own("fancy", source='"builtin"', command="", enable="false")
    text += "[conversation.tools.styled]\nstyle = { hidden = true }\n"
    assert box(text, find=lambda *_: None).problems == {}


# --- flags

SOME = (
    own("on", enable="true")
    + own("off", enable="false")
    + own("explicit", enable='"explicit"')
    + own("always", enable='"always"')
    + own("group", enable='{ state = true, allow_toggle = "if_named_or_group" }')
)
ON, OFF = ("on", ""), ("off", "")
# directives, what is enabled then of SOME (None: not changed)
DIRECTIVES: list[tuple[list[tuple[str, str]], Mapping[str, bool | None]]] = [
    ([], {}),
    ([ON], {"on": True, "off": True}),
    ([OFF], {"on": False, "off": False, "explicit": False, "group": False}),
    ([("on", "explicit")], {"explicit": True}),
    ([("off", "on")], {"on": False}),
    ([OFF, ("on", "explicit")], {"on": False, "off": False, "explicit": True, "group": False}),
    ([("on", "explicit"), OFF], {"on": False, "off": False, "explicit": False, "group": False}),
    ([OFF, ON], {"on": True, "off": True, "explicit": False, "group": False}),
    ([ON, ("off", "on")], {"on": False, "off": True}),
    ([("on", "group"), ("off", "group")], {"group": False}),
]


@pytest.mark.parametrize(("directives", "expected"), DIRECTIVES)
def test_flags_from_left_to_right(box, directives: list[tuple[str, str]], expected: Mapping[str, bool]):
    states = changes(box(SOME), directives)
    assert {name: state for name, state in states.items() if name not in CATALOGUE} == expected


def test_to_turn_on_all_is_to_turn_on_what_there_is_and_no_tool_that_nobody_has_named(box):
    assert set(changes(box(), [ON])) == set(BUILTINS)
    assert not set(changes(box(own()), [ON])) & set(CATALOGUE)
    assert changes(box(own()), [("on", "read_file"), ("on", DESCRIBE)]) == {"read_file": True, DESCRIBE: True}
    assert set(changes(box("[conversation.tools.'*']\nenable = false\n"), [ON])) == set(BUILTINS)


def test_to_turn_off_all_is_to_describe_none_either(box):
    assert changes(box(), [OFF]) == dict.fromkeys(CATALOGUE, False)


NEVER = own("never", enable='{ state = false, allow_toggle = "never" }')


@pytest.mark.parametrize(("name", "other", "state"), [("always", "off", "on"), ("never", "on", "off")])
def test_what_can_not_be_changed_is_named_unless_it_is_so_already(box, name: str, other: str, state: str):
    made = box(SOME + NEVER)
    assert changes(made, [(state, name)]) == {}
    with pytest.raises(PermissionError, match=f"^{name}$"):
        changes(made, [("on", "explicit"), (other, name)])


@pytest.mark.parametrize("what", ["on", "off"])
def test_what_is_not_there_is_named(box, what: str):
    with pytest.raises(ValueError, match=r"^nope$"):
        changes(box(SOME), [(what, "nope")])
