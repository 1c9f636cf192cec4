"""Loading as a whole: which source has the last word."""

import pytest

from jp.config.errors import ConfigError
from jp.config.load import Paths, conversation_layers, load
from tests.config.conftest import Write


def test_without_any_source_the_defaults_hold(paths: Paths) -> None:
    config = load(paths, {})
    assert config.root.assistant.request.max_retries == 5
    assert config.root.assistant.system_prompt == "You are a helpful assistant."
    assert config.root.providers.llm["openai"].base_url == "https://api.openai.com"
    assert config.root.editor.envs == ["JP_EDITOR", "VISUAL", "EDITOR"]
    assert config.delta is None
    assert config.layers == []


def test_no_workspace_and_no_user_directory_is_no_error() -> None:
    assert load(Paths(None, None, "/", None), {}).root.inherit is True


SOURCES = [
    "user/config.toml",
    "ws/.jp/config.toml",
    "ws/.jp.toml",
    "ws/a/.jp.toml",
    "ws/a/b/.jp.toml",
    "own/config.toml",
]


@pytest.mark.parametrize("count", range(1, len(SOURCES) + 1))
def test_files_of_narrower_scope_win(paths: Paths, write: Write, count: int) -> None:
    for place, name in enumerate(SOURCES[:count]):
        write(name, f'assistant.name = "{place}"')
    assert load(paths, {}).root.assistant.name == str(count - 1)


def test_only_the_workspace_root_is_read_when_the_working_directory_is_elsewhere(paths: Paths, write: Write) -> None:
    write("ws/.jp.toml", 'assistant.name = "root"')
    write("ws/a/.jp.toml", 'assistant.name = "below"')
    assert load(paths._replace(cwd="/"), {}).root.assistant.name == "root"


def test_each_later_kind_of_source_wins(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'assistant.name = "file"')
    environ = {"JP_ASSISTANT_NAME": "environment"}
    recorded = conversation_layers({"assistant": {"name": "conversation"}}, [{"assistant": {"name": "changed"}}])
    cfg = ["assistant.name=argument"]
    flags = {"assistant.name": "flag"}
    assert load(paths, {}).root.assistant.name == "file"
    assert load(paths, environ).root.assistant.name == "environment"
    assert load(paths, environ, conversation=recorded[:1]).root.assistant.name == "conversation"
    assert load(paths, environ, conversation=recorded).root.assistant.name == "changed"
    assert load(paths, environ, conversation=recorded, cfg=cfg).root.assistant.name == "argument"
    assert load(paths, environ, conversation=recorded, cfg=cfg, flags=flags).root.assistant.name == "flag"


def test_cfg_arguments_count_in_their_order(paths: Paths) -> None:
    config = load(paths, {}, cfg=["assistant.name=one", "assistant.name=two", "editor.envs+=X", "editor.envs+=Y"])
    assert config.root.assistant.name == "two"
    assert config.root.editor.envs == ["JP_EDITOR", "VISUAL", "EDITOR", "X", "Y"]


def test_null_takes_back_what_lower_sources_said(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'assistant.name = "me"\nassistant.system_prompt = "mine"')
    write("ws/.jp/config.json", '{"assistant": {"name": null, "system_prompt": null}}')
    config = load(paths, {})
    assert config.root.assistant.name is None
    assert config.root.assistant.system_prompt == "You are a helpful assistant."


def test_explain_names_every_source_in_order(paths: Paths, write: Write) -> None:
    user = write("user/config.toml", 'interrupt.turn.action = "stop"')
    file = write("ws/.jp/config.toml", 'interrupt.turn.action = "reply"')
    config = load(paths, {"JP_INTERRUPT_TURN_ACTION": "continue"}, cfg=["interrupt.turn.action=stop"])
    assert config.explain("interrupt.turn.action") == [
        ("default", None, "prompt"),
        ("file", str(user), "stop"),
        ("file", str(file), "reply"),
        ("environment variable JP_INTERRUPT_TURN_ACTION", None, "continue"),
        ("--cfg interrupt.turn.action=stop", None, "stop"),
    ]
    assert config.get("interrupt.turn.action") == "stop"
    assert config.get("interrupt.turn") == {"action": "stop", "compose_in_editor": False}


def test_get_shows_values_as_they_are_written(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'style.typewriter.text_delay = "1500ms"\nconversation.tools."a.b".run = "edit"')
    config = load(paths, {})
    assert config.get("style.typewriter.text_delay") == "1s 500ms"
    assert config.root.style.typewriter.text_delay == 1.5
    assert config.get('conversation.tools."a.b".run') == "edit"
    assert config.get("assistant.name") is None


@pytest.mark.parametrize("key", ["assistant.modle.id", "", "assistant.name.first", "conversation.tools.x.y.z"])
def test_asking_for_an_unknown_key_is_an_error(paths: Paths, key: str) -> None:
    for ask in (load(paths, {}).get, load(paths, {}).explain):
        with pytest.raises(ConfigError, match="unknown key"):
            ask(key)


def test_a_server_of_ones_own_is_a_provider_by_its_base_url(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'providers.llm.lab.base_url = "http://lab:8000"\nassistant.model.id = "lab/some/model"')
    config = load(paths, {})
    assert config.root.providers.llm["lab"].kind == "openai-compatible"
    assert config.model_id() == ("lab", "some/model")
    assert "lab" in config.providers


def test_a_misspelled_provider_is_an_error_with_the_nearest(paths: Paths, write: Write) -> None:
    file = write("user/config.toml", 'providers.llm.openia.api_key_env = "X"')
    with pytest.raises(ConfigError) as caught:
        load(paths, {})
    assert str(file) in caught.value.message
    assert caught.value.hints == ('did you mean "providers.llm.openai"?',)


def test_aliases_lead_to_models(paths: Paths, write: Write) -> None:
    write(
        "user/config.toml", '[providers.llm.aliases]\nfast = "quick"\nquick = { provider = "openai", name = "gpt-5" }'
    )
    assert load(paths, {}, flags={"assistant.model.id": "fast"}).model_id() == ("openai", "gpt-5")


def test_tools_fill_their_gaps_from_the_defaults_for_all(paths: Paths, write: Write) -> None:
    write(
        "user/config.toml",
        """
        [conversation.tools.'*']
        run = "unattended"
        detached.run = "auto"
        style.hidden = true
        timeout_secs = 20
        [conversation.tools.one]
        source = "builtin"
        enable = "explicit"
        description = "does one thing"
        detached.tool = "defaults"
        style.inline_results = "off"
        """,
    )
    tools = load(paths, {}).root.conversation.tools
    tool = tools.get("one")
    assert tool is not None
    assert tools.get("two") is None
    assert (tool.run, tool.format, tool.result, tool.summary) == (
        "unattended",
        "unattended",
        "unattended",
        "does one thing",
    )
    assert tool.enable is not None
    assert (tool.enable.state, tool.enable.allow_toggle) == (False, "if_named")
    assert tool.style is not None
    assert (tool.style.hidden, tool.style.inline_results, tool.style.parameters) == (True, "off", "json")
    assert tool.detached is not None
    assert not isinstance(tool.detached, str)
    assert (tool.detached.run, tool.detached.deliver, tool.detached.tool) == ("auto", "deny", "defaults")
    assert tool.timeout_secs == 20


def test_the_time_limit_of_tools(paths: Paths, write: Write) -> None:
    write("user/config.toml", "[conversation.tools.one]\ncommand = 'x'\n[conversation.tools.two]\ntimeout_secs = 0")
    tools = load(paths, {}).root.conversation.tools
    limits = [tool.timeout_secs for tool in map(tools.get, ("one", "two")) if tool]
    assert limits == [600, 0]
    assert tools.defaults.timeout_secs == 600


def test_a_table_may_be_completed_by_another_source(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'editor.cmd.program = "code"')
    config = load(paths, {"JP_EDITOR_CMD_SHELL": "true"}, cfg=['editor.cmd.args:=["-w"]'])
    assert config.get("editor.cmd") == {"program": "code", "args": ["-w"], "shell": True}


def test_a_table_that_nobody_completes_is_an_error_of_who_said_it_last(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'editor.cmd.args = ["-w"]')
    assert load(paths, {}, cfg=["editor.cmd.program=code"]).delta == {
        "editor": {"cmd": {"program": "code", "args": ["-w"], "shell": False}}
    }
    with pytest.raises(ConfigError) as caught:
        load(paths, {}, cfg=["editor.cmd.shell=true"])
    assert caught.value.message == (
        '--cfg editor.cmd.shell=true: "editor.cmd" is a table (args, shell); allowed: a table that has program'
    )


def test_of_a_conversation_an_incomplete_table_is_passed_over(paths: Paths) -> None:
    recorded = conversation_layers(
        {
            "conversation": {
                "tools": {"x": {"source": "local", "access": {"fs": [{"read": True}, {"path": "a"}]}}},
                "title": {"generate": {"model": {"id": "a/b"}}},
                "attachments": [{"type": "file"}],
            },
            "plugins": {"command": {"p": {"checksum": {"algorithm": "sha1"}}}},
        }
    )
    config = load(paths, {}, conversation=recorded)
    assert config.root.conversation.attachments == []
    assert config.get("conversation.tools.x.access.fs") == [{"path": "a"}]
    assert config.get("conversation.title.generate.model.id") == "a/b"


@pytest.mark.parametrize(
    ("key", "origin"),
    [
        ("assistant.model.parameters.temprature", "-p temprature"),
        ("assistant.model.parameters.temperature", "-p temperature"),
        ("assistant.model.id", "-m"),
        ("assistant.nmae", "assistant.nmae"),
    ],
)
def test_an_error_names_the_flag_as_it_was_typed(paths: Paths, key: str, origin: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(paths, {}, flags={key: ["no", "such"]})
    assert caught.value.message.startswith(f"{origin}: ")


def test_a_source_that_is_no_utf_8_is_an_error(paths: Paths) -> None:
    with pytest.raises(ConfigError, match=r"environment variable JP_ASSISTANT_NAME: .*UTF-8"):
        load(paths, {"JP_ASSISTANT_NAME": "\udcff"})
    with pytest.raises(ConfigError, match=r"--cfg .*UTF-8"):
        load(paths, {}, cfg=["assistant.name=\udcff"])
    with pytest.raises(ConfigError, match=r"-m: .*UTF-8"):
        load(paths, {}, flags={"assistant.model.id": "\udcff"})
