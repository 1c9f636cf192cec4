"""A workspace may make tools stricter; what loosens them, or changes what a tool of the user's is, waits for trust."""

import json
from pathlib import Path

import pytest

from jp.config.edit import set_value, typed
from jp.config.load import Config, Paths, conversation_layers, load
from jp.config.loosening import BUILTIN, UNASKED
from jp.config.own import Edit, trusted_by
from jp.config.trust import TrustStore, waits_for_trust
from jp.tool.builtin.catalogue import CATALOGUE
from tests.config.conftest import Write
from tests.config.test_trust import confirming

MINE = """
[conversation.tools.'*']
result = "ask"
detached = { run = "deny", tool = "defaults" }
[conversation.tools.mine]
source = "local"
command = "mine"
run = "ask"
parameters.path = { type = "string", enum = ["a"] }
options.safe = true
access.fs = [{ path = "src", read = true }]
questions.sure = { target = "user", exclusive = true }
[conversation.tools.off]
source = "local"
command = "off"
enable = false
[conversation.tools.never]
source = "mcp.hub.list"
run = "skip"
enable = "explicit"
[conversation.tools.loose]
command = "loose"
run = "unattended"
questions.sure = { answer = true, target = "assistant" }
detached = "auto"
result = "unattended"
[conversation.tools.write_file]
enable = true
[conversation.tools.run_command]
enable = true
[conversation.tools.read_file]
enable = true
[conversation.tools.describe_tools]
enable = true
[providers.mcp.hub]
command = "hub"
[plugins]
auto_install = false
"""


def keys(config: Config) -> list[str]:
    return [each.key.removeprefix("conversation.tools.") for each in config.withheld]


LOOSER = [
    ("'*'.run", "unattended"),
    ("write_file.run", "unattended"),
    ("run_command.run", "unattended"),
    ("mine.run", "unattended"),
    ("never.run", "ask"),
    ("never.run", "unattended"),
    ("new.run", "unattended"),
    ("'*'.format", "unattended"),
    ("mine.format", "unattended"),
    ("'*'.result", "unattended"),
    ("mine.result", "unattended"),
    ("new.result", "unattended"),
    ("'*'.detached", "auto"),
    ("'*'.detached", "defaults"),
    ("'*'.detached", {"deliver": "defaults"}),
    ("'*'.detached", {"run": "auto"}),
    ("write_file.detached", "defaults"),
    ("new.detached", {"run": "defaults"}),
    ("mine.questions.sure.answer", True),
    ("mine.questions.sure.answer", False),
    ("new.questions.sure.answer", True),
    ("write_file.questions.x.answer", True),
    ("loose.questions.sure.answer", False),
    ("mine.questions.sure.target", "assistant"),
    ("mine.questions.sure.target", {"model": {"id": "a/b"}}),
    ("new.questions.sure.target", "assistant"),
    ("mine.questions.sure.exclusive", False),
    ("mine.questions.sure.exclusive", None),
    ("new.questions.sure.exclusive", False),
    ("mine.access", {"fs": [{"path": ".", "write": True}]}),
    ("mine.access", {"fs": [{"path": "/etc", "read": True}]}),
    ("mine.access", None),
    ("new.access", {"fs": [{"path": "/etc", "read": True}]}),
    ("new.access", {"fs": [{"path": "../x"}]}),
    ("read_file.access", {"fs": [{"path": ".", "read": True, "external": True}]}),
    ("off.enable", True),
    ("off.enable", "always"),
    ("off.enable", None),
    ("never.enable", "on"),
    ("never.enable", "off"),
    ("mine.enable", "always"),
    ("write_file.enable", {"allow_toggle": "never"}),
    ("mine.options.safe", False),
    ("mine.options.more", 1),
    ("mine.options", None),
    ("write_file.options.x", 1),
    ("mine.parameters.path", {"enum": ["b"]}),
    ("mine.parameters.other", {"type": "string", "default": "rm -rf"}),
    ("mine.parameters", None),
    ("mine.source", "mcp.hub.delete"),
    ("mine.source", "builtin"),
    ("never.source", "mcp.hub.delete"),
    ("never.source", None),
    ("new.source", "mcp.hub.delete"),
    ("'*'.style.hidden", True),
    ("loose.style.hidden", True),
    ("read_file.style.hidden", True),
    ("mine.style.hidden", True),
    ("write_file.style.hidden", True),
    ("describe_tools.style.hidden", True),
    ("new.style.hidden", True),
    ("read_file.source", "local"),
    ("write_file.source", "mcp.theirs.write"),
    ("mine", None),
    ("never", None),
]


def said(key: str, value: object) -> str:
    """JSON of a workspace's file that sets one key of the tools."""
    for step in reversed([step.strip("'") for step in key.split(".")]):
        value = {step: value}
    return json.dumps({"conversation": {"tools": value}})


@pytest.mark.parametrize(("key", "value"), LOOSER)
def test_what_loosens_waits(paths: Paths, write: Write, tmp_path: Path, key: str, value: object) -> None:
    write("user/config.toml", MINE)
    before = load(paths, {}).shown()
    write("ws/.jp/config.json", said(key, value))
    environ = {"XDG_DATA_HOME": str(tmp_path / "data")}
    config = load(paths, environ)
    waiting = config.withheld
    assert waiting, "in effect"
    assert all(each.key.replace("*", "'*'").startswith(f"conversation.tools.{key}") for each in waiting)
    assert all(waits_for_trust(each).isprintable() for each in waiting)
    after = config.shown()
    after["conversation"]["tools"] = {  # an empty table of it may be there
        name: tool for name, tool in after["conversation"]["tools"].items() if name in before["conversation"]["tools"]
    }
    assert _full(after) == _full(before)
    # Trusted, it is in effect, and for good.
    store = TrustStore.of(environ)
    assert paths.workspace_root
    write("data/jp/trust.json", store.with_trusted(paths.workspace_root, waiting))
    trusted = load(paths, environ)
    assert trusted.withheld == []
    assert trusted.shown() != before


def _full(tree: object) -> object:
    """A tree without its empty tables, and without what a question's table says by default."""
    if not isinstance(tree, dict):
        return tree
    found = {key: _full(item) for key, item in tree.items()}
    if found.get("questions"):
        found["questions"] = {key: item for key, item in found["questions"].items() if item != {"target": "user"}}
    return {key: item for key, item in found.items() if item not in ({}, None)}


STRICTER = [
    ("'*'.run", "ask"),
    ("'*'.run", "skip"),
    ("'*'.run", "edit"),
    ("write_file.run", "ask"),
    ("read_file.run", "unattended"),
    ("read_file.run", "ask"),
    ("loose.run", "ask"),
    ("loose.run", "unattended"),
    ("new.run", "skip"),
    ("'*'.result", "edit"),
    ("loose.result", "ask"),
    ("mine.format", "ask"),
    ("loose.format", "unattended"),
    ("'*'.detached", "deny"),
    ("loose.detached", "deny"),
    ("loose.detached", "auto"),
    ("mine.questions.sure.target", "user"),
    ("mine.questions.sure.exclusive", True),
    ("loose.questions.sure.target", "user"),
    ("loose.questions.sure.answer", True),
    ("loose.questions.sure", None),
    ("new.questions.sure.exclusive", True),
    ("new.access", {"fs": [{"path": "src", "read": True}]}),
    ("mine.access", {"fs": [{"path": "src", "read": True}]}),
    ("mine.enable", False),
    ("mine.enable", True),
    ("new.enable", True),
    ("new.enable", "explicit"),
    ("off.enable", "explicit"),
    ("never.enable", {"allow_toggle": "never"}),
    ("mine.options.safe", True),
    ("new.options.x", 1),
    ("new.parameters.x", {"type": "string"}),
    ("new.source", "local"),
    ("new.source", "mcp.theirs.list"),
    ("mine.source", "local"),
    ("write_file.source", "builtin"),
    ("mine.style.hidden", False),
    ("mine.style.inline_results", "off"),
    ("mine.summary", "Say nothing"),
    ("mine.cancellation_response", "x"),
    ("new", None),
]


@pytest.mark.parametrize(("key", "value"), STRICTER)
def test_what_loosens_nothing_is_in_effect(paths: Paths, write: Write, key: str, value: object) -> None:
    write("user/config.toml", MINE if key != "loose.questions.sure" else MINE.replace("answer = true, ", ""))
    write("ws/.jp/config.json", said(key, value))
    waiting = keys(load(paths, {}))
    assert waiting == (["loose.questions.sure"] if key == "loose.questions.sure" else [])


@pytest.mark.parametrize("where", ["own/config.toml", "variable"])
def test_what_the_user_says_in_a_later_source_counts_too(paths: Paths, write: Write, where: str) -> None:
    """A file of the user's for this workspace comes after the workspace's own."""
    write("ws/.jp/config.toml", '[conversation.tools.mine]\noptions.x = 1\nrun = "unattended"\n')
    if where == "variable":
        write("user/config.toml", 'conversation.tools.mine.command = "mine"\n')
        config = load(paths, {"JP_CONVERSATION_TOOLS_MINE_COMMAND": "mine"})
    else:
        write(where, 'conversation.tools.mine.command = "mine"\n')
        config = load(paths, {}, trust=confirming(paths, write))
    assert keys(config) == ["mine.run", "mine.options.x"] or sorted(keys(config)) == ["mine.options.x", "mine.run"]


@pytest.mark.parametrize("mine", ["edit", "skip"])
def test_the_ordinary_way_is_looser_for_tools_that_run_unasked(paths: Paths, write: Write, mine: str) -> None:
    """With `ask` for all tools the built-in ones that only read run unasked."""
    write("user/config.toml", f"conversation.tools.'*'.run = '{mine}'")
    write("ws/.jp/config.toml", "conversation.tools.'*'.run = 'ask'")
    assert keys(load(paths, {})) == ["*.run"]


def test_the_built_in_tools_are_known_here() -> None:
    assert set(CATALOGUE) == BUILTIN
    assert {name for name, tool in CATALOGUE.items() if tool.run == "unattended"} == UNASKED


def test_a_workspace_switches_its_own_tools_on_and_off(paths: Paths, write: Write) -> None:
    """As personas do: what it has made stricter itself, it may take back as far as the user's word goes."""
    write(
        "ws/.jp/config.toml",
        'config_load_paths = ["cfgs"]\n[conversation.tools.theirs]\nenable = "explicit"\nrun = "skip"\nresult = "edit"',
    )
    write("ws/cfgs/dev.toml", '[conversation.tools.theirs]\nenable = true\nrun = "ask"\nresult = "unattended"')
    config = load(paths, {}, cfg=["dev"])
    assert config.withheld == []
    tool = config.root.conversation.tools.get("theirs")
    assert tool is not None
    assert (tool.run, tool.result) == ("ask", "unattended")
    write("ws/cfgs/dev.toml", '[conversation.tools.theirs]\nrun = "unattended"')
    assert keys(load(paths, {}, cfg=["dev"])) == ["theirs.run"]


@pytest.mark.parametrize(
    ("user", "key", "value", "waits"),
    [
        ("", ("style", "tool_call", "show"), False, True),
        ("style.tool_call.show = false", ("style", "tool_call", "show"), False, False),
        ("style.tool_call.show = false", ("style", "tool_call", "show"), True, False),
        ("", ("plugins", "auto_install"), True, False),
        ("plugins.auto_install = false", ("plugins", "auto_install"), True, True),
        ("plugins.auto_install = false", ("plugins", "auto_install"), None, True),
        ("", ("plugins", "auto_install"), False, False),
    ],
)
def test_what_is_shown_and_installed(
    paths: Paths, write: Write, user: str, key: tuple[str, ...], value: object, waits: bool
) -> None:
    write("user/config.toml", user)
    for step in reversed(key):
        value = {step: value}
    write("ws/.jp/config.json", json.dumps(value))
    assert [each.key for each in load(paths, {}).withheld] == ([".".join(key)] if waits else [])


@pytest.mark.parametrize("said", [{"conversation": None}, {"conversation": {"tools": None}}])
def test_the_tools_of_the_user_are_not_taken_back_as_a_whole(paths: Paths, write: Write, said: object) -> None:
    write("ws/.jp/config.json", json.dumps(said))
    assert load(paths, {}).withheld == []
    write("user/config.toml", MINE)
    config = load(paths, {})
    assert [each.value for each in config.withheld] == [None]
    assert "mine" in config.root.conversation.tools


def test_an_allowance_for_one_run_is_none_for_the_workspaces_files(paths: Paths, write: Write, tmp_path: Path) -> None:
    """What a conversation has recorded of it holds there; a file that says the same waits."""
    store = TrustStore(str(tmp_path / "trust.json"))
    once = load(paths, {}, cfg=["conversation.tools.*.run=unattended"], trust=store)
    assert paths.workspace_root
    text = store.with_recorded(paths.workspace_root, once.commands())
    assert text is not None
    Path(store.path).write_text(text, encoding="utf-8")
    continued = load(paths, {}, conversation=conversation_layers(once.as_partial()), trust=store)
    assert (continued.withheld, continued.root.conversation.tools.defaults.run) == ([], "unattended")
    write("ws/.jp/config.toml", "conversation.tools.'*'.run = 'unattended'")
    assert keys(load(paths, {}, trust=store)) == ["*.run"]


def test_what_the_users_tools_were_when_a_conversation_was_recorded_stays_so(
    paths: Paths, write: Write, tmp_path: Path
) -> None:
    store = TrustStore(str(tmp_path / "trust.json"))
    file = write("elsewhere/mine.toml", MINE)
    created = load(paths, {}, cfg=[str(file)], trust=store)
    recorded = conversation_layers(created.as_partial())
    assert load(paths, {}, conversation=recorded, trust=store).withheld
    assert paths.workspace_root
    text = store.with_recorded(paths.workspace_root, created.commands())
    assert text is not None
    Path(store.path).write_text(text, encoding="utf-8")
    continued = load(paths, {}, conversation=recorded, trust=store)
    assert continued.withheld == []
    assert continued.root.conversation == created.root.conversation
    write("user/config.toml", MINE.replace("options.safe = true", "options.safe = false"))
    assert load(paths, {}, conversation=recorded, trust=store).withheld == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("conversation.tools.*.run", "unattended"),
        ("conversation.tools.mine.options.safe", ":false"),
        ("conversation.tools.mine.questions.sure.answer", ":true"),
        ("conversation.tools.never.run", "unattended"),
    ],
)
def test_what_is_typed_by_the_user_is_the_users(paths: Paths, write: Write, key: str, value: str) -> None:
    write("user/config.toml", MINE)
    after = set_value("config.toml", "", key, value)
    own, waiting = trusted_by(Edit("config.toml", "", after, key, typed(key, value)), frozenset())
    write("ws/.jp/config.toml", after)
    held = load(paths, {}).withheld
    assert {each.digest for each in held} <= {each.digest for each in own}
    assert (len(held), waiting) == (1, [])
