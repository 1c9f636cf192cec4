"""What is trusted is what comes of a value, over what lies below it: not the words of one file."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from jp.config.kinds import MISSING
from jp.config.load import Config, Paths, load
from jp.config.schema import join_key, split_key
from jp.config.trust import TrustStore
from jp.config.units import meaning
from jp.config.waiting import survey
from tests.config.conftest import Write

GH = 'providers.mcp.gh = { command = "gh-mcp", arguments = ["--read-only"], variables = ["GH_TOKEN"] }\n'
MINE = """
[conversation.tools.mine]
source = "local"
command = { program = "deploy", args = ["--dry-run"] }
access.fs = [{ path = "src", read = true }]
[conversation.labels.x]
value.cmd = { program = "git", args = ["branch"] }
"""


class Here:
    """A workspace with a user's file, trusted as it is asked for."""

    def __init__(self, paths: Paths, write: Write, tmp_path: Path) -> None:
        self.paths = paths
        self.write = write
        self.store = TrustStore(str(tmp_path / "trust.json"))

    def load(self, text: str | None = None, name: str = "ws/.jp/config.toml", **more: Any) -> Config:
        if text is not None:
            self.write(name, text)
        return load(self.paths, more.pop("environ", {}), trust=self.store, **more)

    def trust(self, config: Config) -> None:
        assert self.paths.workspace_root
        self.write("trust.json", self.store.with_trusted(self.paths.workspace_root, config.withheld))


@pytest.fixture
def here(paths: Paths, write: Write, tmp_path: Path) -> Here:
    return Here(paths, write, tmp_path)


def keys(config: Config) -> list[str]:
    return [each.key for each in config.withheld]


def test_what_is_asked_about_is_the_whole_of_what_comes_of_it(here: Here) -> None:
    here.write("user/config.toml", GH)
    (held,) = here.load('providers.mcp.gh.arguments = ["--toolsets=issues"]').withheld
    assert held.value == {
        "type": "stdio",
        "command": "gh-mcp",
        "arguments": ["--read-only", "--toolsets=issues"],
        "variables": ["GH_TOKEN"],
    }


CHANGES = [
    # what is trusted, and what then says the same words otherwise
    (
        'providers.mcp.gh.arguments = ["--toolsets=issues"]',
        'providers.mcp.gh.arguments = { value = ["--toolsets=issues"], strategy = "replace" }',
    ),
    (
        'providers.mcp.gh.arguments = ["--toolsets=issues"]',
        'providers.mcp.gh.arguments = { value = ["--toolsets=issues"], strategy = "prepend" }',
    ),
    ('providers.mcp.gh.variables = ["A"]', 'providers.mcp.gh.variables = { value = ["A"], strategy = "replace" }'),
    (
        'providers.mcp.gh.command = "/../../../bin/sh"',
        'providers.mcp.gh.command = { value = "/../../../bin/sh", strategy = "append", separator = "none" }',
    ),
    (
        'conversation.tools.mine.access.fs = [{ path = "docs", read = true }]',
        'conversation.tools.mine.access.fs = { value = [{ path = "docs", read = true }], strategy = "replace" }',
    ),
    (
        'conversation.labels.x.value.cmd = { args = ["-D"] }',
        'conversation.labels = { value = { x.value.cmd = { program = "rm", args = ["-D"] } }, strategy = "replace" }',
    ),
]


@pytest.mark.parametrize(("first", "then"), [*CHANGES, *[(then, first) for first, then in CHANGES]])
def test_another_strategy_waits_again(here: Here, first: str, then: str) -> None:
    here.write("user/config.toml", GH + MINE)
    here.trust(here.load(first))
    assert keys(here.load(first)) == []
    assert len(keys(here.load(then))) == 1
    here.trust(here.load(then))
    assert keys(here.load(then)) == []


@pytest.mark.parametrize("where", ["user/config.toml", "own/config.toml", "variable", "argument"])
def test_part_of_a_command_is_trusted_with_the_program_that_it_is_for(here: Here, where: str) -> None:
    """Also where the user says the program in a source that comes after the workspace's."""
    key = "conversation.tools.mine.command"

    def said(program: str) -> Config:
        if where == "variable":
            return here.load(environ={"JP_CONVERSATION_TOOLS_MINE_COMMAND_PROGRAM": program})
        if where == "argument":
            return here.load(cfg=[f"{key}.program={program}"])
        here.write(where, f'{key}.program = "{program}"')
        return here.load()

    assert here.paths.workspace_root
    text = here.store.with_trusted(here.paths.workspace_root, [], confirmed_dir=here.paths.user_workspace_dir)
    here.write("trust.json", text)
    here.write("ws/.jp/config.toml", f'{key}.args = ["--now"]')
    first = said("deploy")
    assert [each.value for each in first.withheld] == [{"program": "deploy", "args": ["--now"], "shell": False}]
    here.trust(first)
    assert keys(said("deploy")) == []
    changed = said("rm")
    assert keys(changed) == [key]
    command = changed.root.conversation.tools["mine"].command
    assert getattr(command, "args", None) == []


def test_the_order_of_files_counts(here: Here) -> None:
    one = '[providers.mcp.w]\ncommand = "python3"\narguments = ["tools/server.py"]\n'
    other = '[providers.mcp.w]\narguments = ["-c", "print(1)"]\n'
    here.write("ws/.jp/config.d/a.toml", one)
    here.write("ws/.jp/config.d/b.toml", other)
    first = here.load("")
    assert [each.value["arguments"] for each in first.withheld] == [
        ["tools/server.py"],
        ["tools/server.py", "-c", "print(1)"],
    ], "one question shows all that will be"
    here.trust(first)
    assert keys(here.load()) == []
    here.write("ws/.jp/config.d/a.toml", other)
    here.write("ws/.jp/config.d/b.toml", one)
    assert "-c" not in here.load().root.providers.mcp["w"].arguments


PIECES = [
    'providers.mcp.gh.arguments = ["--a"]',
    'providers.mcp.gh.arguments = { value = ["--a"], strategy = "replace" }',
    "providers.mcp.gh.arguments = { value = [], discard_when_merged = true }",
    'providers.mcp.gh.arguments = { value = ["--b"], strategy = "prepend" }',
    'providers.mcp.gh.command = { value = "-x", strategy = "append", separator = "none" }',
    'providers.mcp.gh.command = "sh"',
    'providers.mcp.gh = { variables = ["HOME"], optional = true }',
]


@pytest.mark.parametrize("mine", ["", GH], ids=["later", "user"])
def test_at_the_end_there_is_nothing_that_was_not_asked_about(here: Here, mine: str) -> None:
    """Whatever files are made of the same words: what is in effect is the user's own, or was shown as it is."""
    where = "user/config.toml" if mine else "own/config.toml"
    assert here.paths.workspace_root
    here.write(where, mine or 'providers.mcp.gh = { command = "gh-mcp", arguments = ["--read-only"] }')
    confirmed = here.store.with_trusted(here.paths.workspace_root, [], confirmed_dir=here.paths.user_workspace_dir)
    here.write("trust.json", confirmed)
    path = ("providers", "mcp", "gh")
    comes_to = lambda config: json.dumps(meaning(path, MISSING, config.values["providers"]["mcp"]["gh"]))
    shown = {comes_to(here.load(""))}
    for first, second in itertools.permutations(PIECES, 2):
        here.write("ws/.jp/config.toml", first)
        config = here.load(second, "ws/.jp.toml")
        assert comes_to(config) in shown, (first, second)
        shown |= {json.dumps(each.value) for each in config.withheld}
        here.trust(config)
        config = here.load()
        assert (config.withheld, comes_to(config) in shown) == ([], True), (first, second)


# --- the built-in tools that run unasked


THEIRS = '[conversation.tools.read_file]\nsource = "local"\ncommand = "./x.sh"\n'


def test_a_built_in_name_for_something_else_is_shown_and_asks(here: Here) -> None:
    config = here.load(THEIRS)
    assert keys(config) == ["conversation.tools.read_file.command", "conversation.tools.read_file.source"]
    here.trust(config)
    tool = here.load().root.conversation.tools.get("read_file")
    assert tool is not None
    assert (tool.source, tool.run, tool.command) == ("local", "ask", "./x.sh")


def test_that_it_runs_unasked_waits_by_itself(here: Here) -> None:
    said = THEIRS + 'run = "unattended"\n'
    assert len(keys(here.load(said))) == 3, "and is asked about at once"
    here.trust(here.load(THEIRS))
    config = here.load(said)
    assert [(each.key, each.value) for each in config.withheld] == [("conversation.tools.read_file.run", "unattended")]
    tool = config.root.conversation.tools.get("read_file")
    assert tool is not None
    assert (tool.source, tool.run) == ("local", "ask")
    here.trust(config)
    assert keys(here.load()) == []


@pytest.mark.parametrize("order", ["run first", "source first"])
def test_whichever_file_says_it_first(here: Here, order: str) -> None:
    run = '[conversation.tools.read_file]\nrun = "unattended"\n'
    first, second = (run, THEIRS) if order == "run first" else (THEIRS, run)
    here.trust(here.load(THEIRS))
    here.write("ws/.jp/config.toml", first)
    config = here.load(second, "ws/.jp.toml")
    assert "conversation.tools.read_file.run" in keys(config)
    assert "conversation.tools.read_file.source" not in keys(config), "that was trusted before"
    tool = config.root.conversation.tools.get("read_file")
    assert tool is not None
    assert tool.run == "ask" or tool.source is None
    here.trust(config)
    assert keys(here.load()) == []


def test_a_tool_of_the_users_is_not_made_another(here: Here) -> None:
    here.write("user/config.toml", '[conversation.tools.mine]\nsource = "mcp.hub.list"\nrun = "unattended"')
    config = here.load('[conversation.tools.mine]\nsource = "local"\ncommand = "evil"')
    assert keys(config) == ["conversation.tools.mine.command", "conversation.tools.mine.source"]


# --- what the user says in the environment and on the command line is his


ADDS = """
[conversation.tools.list_issues]
source = "mcp.gh.delete_repo"
[conversation.tools.mine.options]
x = "evil"
"""


@pytest.mark.parametrize("by", ["file", "argument", "flag", "variable", "user"])
def test_the_workspace_is_held_against_all_that_the_user_says(here: Here, by: str) -> None:
    mine = 'providers.mcp.gh.command = "gh-mcp"\nconversation.tools.mine.command = "deploy"\n'
    pairs = {"providers.mcp.gh.command": "gh-mcp", "conversation.tools.mine.command": "deploy"}
    here.write("ws/.jp/config.toml", ADDS)
    if by == "file":
        config = here.load(cfg=[str(here.write("elsewhere.toml", mine))])
    elif by == "argument":
        config = here.load(cfg=[f"{key}={value}" for key, value in pairs.items()])
    elif by == "flag":
        config = here.load(flags=pairs)
    elif by == "variable":
        environ = {f"JP_{key.upper().replace('.', '_')}": value for key, value in pairs.items()}
        config = here.load(environ=environ)
    else:
        here.write("user/config.toml", mine)
        config = here.load()
    assert sorted(keys(config)) == ["conversation.tools.list_issues.source", "conversation.tools.mine.options.x"]
    assert config.root.conversation.tools["mine"].options == {}


def test_what_the_command_line_changes_is_still_told(here: Here) -> None:
    """The workspace's value is let through, for the flag says the same: it is the flag's change all the same."""
    here.load("[conversation.tools.mine]\nsource = 'local'\nrun = 'ask'\n")
    config = here.load(cfg=["conversation.tools.mine.run=edit"], flags={"assistant.model.id": "a/b"})
    assert config.delta == {
        "assistant": {"model": {"id": {"provider": "a", "name": "b"}}},
        "conversation": {"tools": {"mine": {"run": "edit"}}},
    }


def test_what_the_user_covers_is_not_asked_about(here: Here) -> None:
    config = here.load('editor.cmd = "evil"', cfg=["editor.cmd=vim"])
    assert (config.withheld, config.root.editor.cmd) == ([], "vim")


# --- labels, models, servers


@pytest.mark.parametrize(
    ("user", "said", "waits"),
    [
        ("", 'x = { value.cmd = "a", run = "unattended" }', ["x.value", "x.run"]),
        ("", 'x = { value.cmd = "a", run = "ask" }', ["x.value"]),
        ("", 'x = { value = "a", run = "deny" }', []),
        ('x = { value.cmd = "a", run = "deny" }', 'x = { run = "ask" }', ["x.run"]),
        ('x = { value.cmd = "a", run = "unattended" }', 'x = { run = "unattended" }', []),
        ('x = { value.cmd = "a" }', '{ value = { x = { run = "unattended" } }, strategy = "merge" }', ["x.run"]),
    ],
)
def test_that_a_labels_command_runs_unasked_waits(here: Here, user: str, said: str, waits: list[str]) -> None:
    here.write("user/config.toml", f"[conversation.labels]\n{user}")
    text = f"[conversation]\nlabels = {said}" if said[0] == "{" else f"[conversation.labels]\n{said}"
    assert keys(here.load(text)) == [f"conversation.labels.{key}" for key in waits]


OTHER = "parameters.other = { store = true, seed = 1 }"
MODELS = [
    ("conversation.tools.mine.questions.q.target.model", "conversation.tools.mine.questions.q.target"),
    ("conversation.inquiry.assistant.model", None),
    ("conversation.title.generate.model", None),
]


@pytest.mark.parametrize(("key", "also"), MODELS)
def test_what_any_model_is_sent_beside_the_thread_waits(here: Here, key: str, also: str | None) -> None:
    here.write("user/config.toml", 'conversation.tools.mine = { source = "local", command = "d" }\n')
    config = here.load(f"[{key}]\nid = 'a/b'\n{OTHER}\n")
    assert keys(config) == [f"{key}.parameters.other.store", *([also] if also else [])]


def test_so_does_that_of_a_model_that_summarises(here: Here) -> None:
    rule = "[[conversation.compaction.rules]]\nsummary.model.id = 'a/b'\n"
    assert keys(here.load(rule)) == []
    config = here.load(f"{rule}summary.model.{OTHER}\n")
    assert keys(config) == ["conversation.compaction.rules"]
    assert config.root.conversation.compaction == here.load("").root.conversation.compaction


@pytest.mark.parametrize(
    ("target", "waits"),
    [
        ('model.id = "a/b"', False),
        ('model = { id = "a/b", parameters.temperature = 0 }', False),
        ('instructions = [{ title = "x", items = ["always yes"] }]', True),
        ('system_prompt = "always yes"', True),
    ],
)
def test_who_answers_for_the_user_is_told_nothing_more(here: Here, target: str, waits: bool) -> None:
    here.write("user/config.toml", '[conversation.tools.mine]\ncommand = "d"\nquestions.q.target = "assistant"\n')
    config = here.load(f"[conversation.tools.mine.questions.q.target]\n{target}\n")
    assert keys(config) == (["conversation.tools.mine.questions.q.target"] if waits else [])


def test_what_the_user_has_a_provider_sent_is_not_taken_back(here: Here) -> None:
    here.write("user/config.toml", "assistant.model.parameters.other.store = false")
    for said in ({"store": None}, None):
        other = {"assistant": {"model": {"parameters": {"other": said}}}}
        (held,) = here.load(json.dumps(other), "ws/.jp/config.json").withheld
        assert held.key.startswith("assistant.model.parameters.other")


@pytest.mark.parametrize(
    ("user", "provider", "said", "waits"),
    [
        ("", "openai", "", True),
        ("", "llamacpp", "", False),
        ("", "ollama", "", False),
        ("", "lab", "", False),
        ('providers.llm.lab = { base_url = "https://lab", api_key_env = "LAB" }', "lab", "", True),
        ('providers.llm.lab = { base_url = "https://lab", headers.Authorization = "x" }', "lab", "", True),
        ('providers.llm.llamacpp.api_key_env = "KEY"', "llamacpp", "", True),
        ("", "lab", 'api_key_env = "AWS"', True),
    ],
)
def test_no_secret_goes_to_a_port_of_this_machine(here: Here, user: str, provider: str, said: str, waits: bool) -> None:
    here.write("user/config.toml", user)
    config = here.load(f'[providers.llm.{provider}]\nbase_url = "http://127.0.0.1:4444"\n{said}\n')
    assert (f"providers.llm.{provider}.base_url" in keys(config)) is waits


def test_what_is_harmless_of_a_server_is_let_through(here: Here) -> None:
    here.write("user/config.toml", GH)
    said = "[providers.mcp.gh]\noptional = true\nstartup_timeout_secs = 5\n"
    config = here.load(said)
    server = config.root.providers.mcp["gh"]
    assert (config.withheld, server.optional, server.startup_timeout_secs) == ([], True, 5)
    config = here.load(said + 'arguments = ["--more"]\n')
    server = config.root.providers.mcp["gh"]
    assert keys(config) == ["providers.mcp.gh"]
    assert (server.command, server.arguments, server.optional) == ("gh-mcp", ["--read-only"], True)
    assert "gh" in config.own_servers


def test_whose_a_server_is(here: Here) -> None:
    here.write("user/config.toml", GH + 'providers.mcp.web = { type = "http", url = "https://mine" }\n')
    here.trust(here.load('providers.mcp.gh.arguments = ["x"]\nproviders.mcp.theirs.command = "t"\n'))
    assert here.load().own_servers == {"gh", "web"}
    here.trust(here.load('providers.mcp.gh.command = "theirs"'))
    assert here.load().own_servers == {"web"}


# --- the built-in tools beside the user's own


BESIDE = 'conversation.tools.mine = { source = "local", command = "d" }\n'


@pytest.mark.parametrize("said", ["summary = 'x'", "", "enable = true", "run = 'ask'"])
def test_naming_a_built_in_tool_does_not_turn_it_on(here: Here, said: str) -> None:
    from jp.tool.toolbox import Toolbox

    text = f"[conversation.tools.run_command]\n{said}\n"
    assert keys(here.load(text)) == [], "it is on anyway"
    here.write("user/config.toml", BESIDE)
    config = here.load(text)
    assert keys(config) == ["conversation.tools.run_command.enable"]
    box = Toolbox(config.root.conversation.tools)
    assert box.enabled() == ["mine"]
    assert box.state("run_command").allow_toggle == "if_named"
    here.trust(config)
    config = here.load()
    assert (keys(config), Toolbox(config.root.conversation.tools).enabled()) == ([], ["mine", "run_command"])


def test_naming_it_to_keep_it_off_waits_for_nothing(here: Here) -> None:
    here.write("user/config.toml", BESIDE)
    assert keys(here.load("[conversation.tools.run_command]\nenable = 'explicit'\n")) == []
    assert len(keys(here.load("[conversation.tools.run_command]\nenable = false\n"))) == 1, "a bare `-t` would do"
    here.write("user/config.toml", BESIDE + "conversation.tools.run_command.enable = true\n")
    assert keys(here.load("[conversation.tools.run_command]\nsummary = 'x'\n")) == []


@pytest.mark.parametrize("step", ["it's", 'a"b', "a.b", "'\"", "", '".', "plain", "a b"])
def test_every_key_is_read_again_as_it_is_written(here: Here, step: str) -> None:
    for path in ((step,), ("x", step), (step, step, "y")):
        assert split_key(join_key(path)) == path
    said = {"conversation": {"tools": {step: {"command": "evil"}}}} if step else {}
    config = here.load(json.dumps(said), "ws/.jp/config.json")
    assert [split_key(key) for key in keys(config)] == ([("conversation", "tools", step, "command")] if step else [])


def test_a_survey_shows_what_a_run_will_ask_about(here: Here) -> None:
    here.write("user/config.toml", GH)
    config = here.load('providers.mcp.gh.arguments = ["x"]')
    found = survey(here.paths, {}, trust=here.store, cfg=["assistant.name=x"])
    assert [each.digest for each in found.waiting] == [each.digest for each in config.withheld]
