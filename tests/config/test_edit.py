"""Setting a key in a file: what else is in it stays as it is."""

import json
from pathlib import Path

import pytest

from jp.config.edit import set_value
from jp.config.errors import AssignmentError, ConfigError, SyntaxFault

TEXT = """\
# my configuration
extends = ["a.toml"]   # first

[assistant] # who
name = "Bob"  # the builder

[conversation]
attachments = [
    "file://a", # keep
    # and a note
    "file://b",
]

[providers.llm]
anthropic.beta_headers = ["x"]

[conversation.tools.'*']
run = "ask"

[editor]
cmd = { program = "code", args = ["--wait"] }
"""

EDITS = [
    ("assistant.name", "=Eve", 'name = "Bob"  # the builder', 'name = "Eve"  # the builder'),
    ("assistant.name", ':"Eve"', 'name = "Bob"  # the builder', 'name = "Eve"  # the builder'),
    ("providers.llm.anthropic.beta_headers", ':["y", "z"]', '["x"]', '["y", "z"]'),
    ("providers.llm.anthropic.beta_headers", "+y", '["x"]', '["x", "y"]'),
    ("assistant.name", "\\:Eve", 'name = "Bob"  # the builder', 'name = ":Eve"  # the builder'),
    ("assistant.name", "Eve", 'name = "Bob"  # the builder', 'name = "Eve"  # the builder'),
    ("conversation.tools.*.run", "=edit", 'run = "ask"', 'run = "edit"'),
    ("providers.llm.anthropic.beta_headers", "=y,z", '["x"]', '["y", "z"]'),
    ("providers.llm.anthropic.beta_headers", "+=y", '["x"]', '["x", "y"]'),
    ("conversation.attachments", "+=file://c", '    "file://b",\n', '    "file://b",\n    "file://c",\n'),
    ("conversation.attachments", "+=file://b", "", ""),
    ("editor.cmd.shell", "=true", '["--wait"] }', '["--wait"], shell = true}'),
    ("editor.cmd", "=vim", '{ program = "code", args = ["--wait"] }', '"vim"'),
]


@pytest.mark.parametrize(("key", "expression", "before", "after"), EDITS)
def test_only_the_value_changes(key: str, expression: str, before: str, after: str) -> None:
    assert set_value("config.toml", TEXT, key, expression) == TEXT.replace(before, after, 1)


ADDED = [
    ("style.code.color", "=false", "[style.code]\ncolor = false\n"),
    ("assistant.model.id", "=openai/x", 'id = "openai/x"'),
    ("interrupt.turn.action", "=stop", '[interrupt.turn]\naction = "stop"'),
    ("editor.envs", "=A,B", 'envs = ["A", "B"]'),
    ("editor.envs", "+=A", 'envs = ["A"]'),
    ("conversation.tools.x.enable", "=explicit", '[conversation.tools.x]\nenable = "explicit"'),
    ('conversation.tools."a.b".run', "=edit", '[conversation.tools."a.b"]\nrun = "edit"'),
    ("providers.llm.aliases.fast", "=openai/x", 'fast = "openai/x"'),
    ("assistant.system_prompt", "+=Be brief.", 'system_prompt = {value = "Be brief.", strategy = "append"}'),
    ("assistant.system_prompt", ':="a\\nb"', "system_prompt = "),
]


@pytest.mark.parametrize(("key", "expression", "line"), ADDED)
@pytest.mark.parametrize("text", ["", "# only a comment\n", TEXT])
def test_what_is_not_there_is_added_and_the_rest_stays(text: str, key: str, expression: str, line: str) -> None:
    new = set_value("config.toml", text, key, expression)
    assert line in new
    kept = iter(new.splitlines())
    assert all(old in kept for old in text.splitlines() if old)


REFUSED = [
    ("assistant.nmae", "=x", "unknown key"),
    ("style.code.color", "=yes", "true or false"),
    ("assistant.model", "=x", ":="),
    ("assistant.name", ":=null", "TOML has no null"),
    ("assistant.instructions.0.title", "=x", "one item of a list"),
]


@pytest.mark.parametrize(("key", "expression", "says"), REFUSED)
def test_what_the_schema_refuses_is_not_written(key: str, expression: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        set_value("config.toml", TEXT, key, expression)


def test_a_broken_file_is_not_edited() -> None:
    with pytest.raises(SyntaxFault, match=r"config\.toml:1"):
        set_value("config.toml", "a = = 1", "assistant.name", "=x")


def test_an_unknown_key_elsewhere_in_the_file_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"config\.toml: unknown key"):
        set_value("config.toml", "nothing = 1", "assistant.name", "=x")


def test_json_files_are_edited_too() -> None:
    new = set_value("config.json", '{"assistant": {"name": "Bob"}, "user": {"name": "me"}}', "assistant.name", "=Eve")
    assert json.loads(new) == {"assistant": {"name": "Eve"}, "user": {"name": "me"}}
    assert new.endswith("}\n")


def test_yaml_files_are_left_to_the_user() -> None:
    with pytest.raises(AssignmentError, match="YAML files are not edited"):
        set_value("config.yaml", "assistant: {name: x}", "assistant.name", "=y")


def test_a_table_of_a_list_is_added_as_its_neighbours_are() -> None:
    text = '[[assistant.instructions]]\ntitle = "a" # first\n\n[editor]\nenvs = []\n'
    new = set_value("config.toml", text, "assistant.instructions", "+=b")
    assert '[[assistant.instructions]]\ntitle = "a" # first' in new
    assert '[[assistant.instructions]]\ntitle = "b"' in new
    assert "[editor]" in new


def test_comments_between_tables_are_not_lost_silently() -> None:
    text = '[[conversation.attachments]]\ntype = "file"\npath = "a"\n# about the next\n[editor]\nenvs = []\n'
    with pytest.raises(AssignmentError, match="cannot be set without changing something else"):
        set_value("config.toml", text, "conversation.attachments", "+=file://b")


def test_below_a_dotted_key_a_table_stays_on_its_line() -> None:
    text = "[conversation]\ntitle.generate.auto = false\ntools.'*' = { run = \"ask\" }\nstart_local = true\n"
    new = set_value("config.toml", text, "conversation.tools.x.run", "=edit")
    assert new == text.replace("start_local", 'tools.x = {run = "edit"}\nstart_local')


def test_every_persona_of_a_real_workspace_can_be_edited(data_dir: Path) -> None:
    """Whatever the layout: the edit says what was asked, and every other line stays."""
    edits = [("assistant.name", "=Eve"), ("conversation.tools.*.run", "=edit"), ("conversation.tools.a_b.run", "=edit")]
    edits += [("assistant.instructions", "+=q"), ("style.typewriter.text_delay", "=1ms"), ("inherit", "=true")]
    edits += [("providers.llm.anthropic.beta_headers", "+=q"), ("conversation.title.generate.auto", "=false")]
    for path in sorted((data_dir / "workspace/.jp/config/personas").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        for key, expression in edits:
            new = set_value(str(path), text, key, expression)
            kept = set(new.splitlines())
            lost = [line for line in text.splitlines() if line not in kept]
            assert len(lost) <= 1, f"{path} {key}: {lost}"


@pytest.mark.parametrize("key", ["foo", "assistant.nmae"])
def test_an_error_names_what_was_typed(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        set_value("config.toml", "", key, "bar")
    assert caught.value.message.startswith(f"jp config set {key}: ")


@pytest.mark.parametrize("value", ["\udcff", "=a\udcffb", "+\udcff", ':"\\ud800"'])
def test_what_is_no_utf_8_is_refused(value: str) -> None:
    with pytest.raises(AssignmentError, match=r"jp config set assistant\.name: .*(UTF-8|surrogates)"):
        set_value("config.toml", "", "assistant.name", value)
