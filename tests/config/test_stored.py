"""What a conversation carries: read leniently, laid over today's configuration, and what is recorded with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.config.load import Paths, conversation_layers, load
from tests.config.conftest import Write

NOWHERE = Paths(None, None, "/", None)

MODEL = {"assistant": {"model": {"id": {"provider": "anthropic", "name": "claude-opus-5"}}}}


def test_the_base_and_its_changes_count_in_order() -> None:
    layers = conversation_layers(MODEL, [{"assistant": {"model": {"id": "google/gemini"}}}, {"user": {"name": "me"}}])
    config = load(NOWHERE, {}, conversation=layers)
    assert str(config.model_id()) == "google/gemini"
    assert config.root.user.name == "me"
    assert [layer.name for layer in config.layers] == [
        "the conversation's configuration",
        "change 1 of the conversation's configuration",
        "change 2 of the conversation's configuration",
    ]


def test_without_a_base_the_first_change_is_it() -> None:
    whole = {"assistant": {"instructions": [{"title": "a", "items": ["x"]}]}}
    change = {"assistant": {"instructions": [{"title": "b"}]}}
    config = load(NOWHERE, {}, conversation=conversation_layers(None, [whole, change]))
    assert [each.title for each in config.root.assistant.instructions] == ["a", "b"]


def test_no_configuration_at_all_is_none() -> None:
    assert conversation_layers(None, []) == []


UNREADABLE: list[Any] = [
    {"nothing": 1},
    {"assistant": 1},
    {"assistant": {"nothing": 1, "name": 1, "model": {"id": {"provider": "x"}, "parameters": {"reasoning": "huge"}}}},
    {"assistant": {"system_prompt": {"value": 1}, "instructions": [1, {"title": 2}, {"title": "ok"}]}},
    {"conversation": {"tools": {"x": {"source": "mcp", "run": "never", "parameters": {"p": {"type": 1}}}, "y": 1}}},
    {"conversation": {"attachments": "x", "labels": {"value": 1, "strategy": "x"}}},
    {"interrupt": {"turn": {"action": "abort"}}, "style": {"typewriter": {"text_delay": {"nanos": 1}}}},
    {"providers": {"llm": {"unheard_of": {"api_key_env": "X"}, "aliases": {"a": 1}}, "mcp": {"x": 1}}},
    {"type": "config_delta", "timestamp": "2025-12-04 09:28:23.202081", "mcp": {"servers": {}}},
    {"inherit": 1, "extends": 1, "config_load_paths": 1, "template": None, "editor": None},
]


@pytest.mark.parametrize("stored", UNREADABLE)
def test_what_is_not_understood_is_passed_over(stored: Any) -> None:
    as_base = load(NOWHERE, {}, conversation=conversation_layers({**stored, "user": {"name": "me"}}))
    as_change = load(NOWHERE, {}, conversation=conversation_layers(MODEL, [{**stored, "user": {"name": "me"}}]))
    assert as_base.root.user.name == as_change.root.user.name == "me"
    assert as_base.notices == []


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["value", "strategy", "id", "x", "*"]), inner)
    ),
    max_leaves=6,
)
paths_of_schema = st.sampled_from(
    ["assistant", "conversation", "style", "interrupt", "editor", "providers", "plugins", "template", "user", "query"]
)
second = st.sampled_from(
    ["model", "tools", "llm", "mcp", "labels", "attachments", "instructions", "command", "request", "cmd"]
)


@given(st.dictionaries(paths_of_schema, json_values | st.dictionaries(second, json_values, max_size=3), max_size=3))
def test_no_stored_configuration_is_an_error(stored: dict[str, Any]) -> None:
    load(NOWHERE, {}, conversation=conversation_layers(stored, [stored]))


def test_a_conversation_goes_on_as_it_was(paths: Paths, write: Write) -> None:
    """What it is made of holds as recorded, defaults too; its lists are whole."""
    recorded = load(NOWHERE, {}, cfg=["assistant.model.id=a/b"]).as_partial()
    recorded["assistant"]["model"]["id"] = "openai/x"
    write(
        "user/config.toml",
        """
        [assistant]
        system_prompt = "new"
        instructions = [{ title = "new" }]
        model.id = "openai/new"
        [conversation]
        attachments = ["file://new"]
        """,
    )
    root = load(paths, {}, conversation=conversation_layers(recorded)).root
    assert root.assistant.system_prompt == "You are a helpful assistant."
    assert root.assistant.instructions == []
    assert root.conversation.attachments == []
    assert root.assistant.model.id == "openai/x"


def test_what_has_nothing_to_do_with_it_is_as_it_is_now(paths: Paths, write: Write) -> None:
    write(
        "then.toml",
        'style.reasoning.display = "timer"\nproviders.llm.aliases = { old = "openai/a", both = "openai/a" }',
    )
    recorded = load(NOWHERE, {}, cfg=[f"{paths.user_dir}/../then.toml"]).as_partial()
    write(
        "user/config.toml",
        """
        config_load_paths = ["now"]
        style.reasoning.display = "hidden"
        style.code.color = false
        providers.llm.llamacpp.base_url = "http://127.0.0.1:9999"
        providers.llm.aliases.both = "openai/b"
        interrupt.escalation_cooldown_secs = 9
        """,
    )
    config = load(paths, {}, conversation=conversation_layers(recorded))
    assert config.root.style.code.color is False
    assert config.root.providers.llm["llamacpp"].base_url == "http://127.0.0.1:9999"
    assert config.root.interrupt.escalation_cooldown_secs == 9
    assert config.root.config_load_paths == ["now"]
    assert config.aliases == {"old": "openai/a", "both": "openai/b"}
    assert config.root.style.reasoning.display == "timer", "it differed from the default when it was recorded"


RECORDED = {
    "llm": {
        "lab": {"base_url": "http://127.0.0.1:1", "api_key_env": "OLD"},
        "llamacpp": {"base_url": "http://127.0.0.1:2"},
        "aliases": {"old": "openai/a", "both": "openai/a"},
    },
    "mcp": {"gone": {"command": "serve"}},
}


@pytest.mark.parametrize("place", ["base", "first change", "later change"])
def test_servers_are_where_they_are_today(paths: Paths, write: Write, place: str) -> None:
    write("user/config.toml", 'providers.llm.lab.base_url = "http://127.0.0.1:9"\nproviders.llm.aliases.both = "x/b"')
    stored = {"providers": RECORDED, "user": {"name": "me"}}
    layers = {
        "base": conversation_layers(stored),
        "first change": conversation_layers(None, [stored]),
        "later change": conversation_layers(MODEL, [stored]),
    }[place]
    config = load(paths, {}, conversation=layers)
    now = load(paths, {})
    assert config.root.user.name == "me"
    assert config.root.providers.mcp == {}
    assert config.root.providers.llm.named == now.root.providers.llm.named
    assert config.aliases == {"old": "openai/a", "both": "openai/a" if place == "later change" else "x/b"}
    for key in ("providers.llm.lab.base_url", "providers.llm.llamacpp.base_url", "providers.llm.aliases.both"):
        assert config.explain(key)[-1][-1] == config.get(key), "what explains a value agrees with it"
    assert config.explain("providers.llm.aliases.old")[-1][-1] == "openai/a"


def test_what_does_not_count_is_not_told_of(paths: Paths, write: Write) -> None:
    recorded = load(NOWHERE, {}, cfg=["assistant.model.id=openai/x"]).as_partial()
    write("user/config.toml", 'style.code.color = false\nconfig_load_paths = ["now"]')
    config = load(paths, {}, conversation=conversation_layers({**recorded, "config_load_paths": ["then"], "no": 1}))
    for key in ("style.code.color", "config_load_paths", "providers.llm.openai.base_url"):
        assert config.explain(key)[-1][-1] == config.get(key)
    assert config.explain("assistant.model.id")[-1][0] == "the conversation's configuration"


# --- what is recorded ---------------------------------------------------------------------------------------------


def test_nothing_is_recorded_when_nothing_changed() -> None:
    layers = conversation_layers(MODEL)
    assert load(NOWHERE, {}, conversation=layers).delta is None
    assert load(NOWHERE, {}, conversation=layers, cfg=["assistant.model.id=anthropic/claude-opus-5"]).delta is None
    assert load(NOWHERE, {}, conversation=layers, flags={"assistant.model.id": "anthropic/claude-opus-5"}).delta is None


def test_what_arguments_and_flags_change_is_recorded_alone() -> None:
    layers = conversation_layers({**MODEL, "conversation": {"attachments": ["file://a"]}})
    config = load(
        NOWHERE,
        {"JP_USER_NAME": "me"},
        conversation=layers,
        cfg=["conversation.attachments+=file://b", "style.typewriter.text_delay=1s", "assistant.system_prompt=x"],
        flags={"assistant.model.id": "openai/y"},
    )
    assert config.delta == {
        "assistant": {"system_prompt": "x", "model": {"id": {"provider": "openai", "name": "y"}}},
        "conversation": {"attachments": ["file://b"]},
        "style": {"typewriter": {"text_delay": "1s"}},
    }


def test_where_servers_are_is_not_recorded_as_a_change() -> None:
    cfg = ["providers.llm.lab.base_url=http://127.0.0.1:1", 'providers.mcp.x:={"command": "a"}']
    assert load(NOWHERE, {}, conversation=conversation_layers(MODEL), cfg=cfg).delta is None
    alias = load(NOWHERE, {}, conversation=conversation_layers(MODEL), cfg=[*cfg, "providers.llm.aliases.x=a/b"]).delta
    assert alias is not None
    assert list(alias["providers"]) == ["llm"]
    assert list(alias["providers"]["llm"]) == ["aliases"]


def test_a_persona_given_twice_is_recorded_once(paths: Paths, write: Write) -> None:
    file = write("dev.toml", 'assistant.instructions = [{ title = "a" }]\nassistant.system_prompt = { value = "b" }')
    first = load(paths, {}, conversation=conversation_layers(MODEL), cfg=[str(file)])
    assert first.delta is not None
    again = load(paths, {}, conversation=conversation_layers(MODEL, [first.delta]), cfg=[str(file)])
    assert again.delta is None
    assert again.root == first.root


def test_what_is_taken_back_is_recorded_as_null() -> None:
    layers = conversation_layers({"assistant": {"name": "x", "model": {"parameters": {"temperature": 0.5}}}})
    config = load(NOWHERE, {}, conversation=layers, cfg=["assistant.model.parameters.temperature:=null"])
    assert config.delta == {"assistant": {"model": {"parameters": {"temperature": None}}}}
    again = load(NOWHERE, {}, conversation=[*layers, *conversation_layers({}, [config.delta])])
    assert again.root == config.root


ARGUMENTS = [
    "assistant.name=x",
    "assistant.system_prompt+=more",
    "assistant.model.parameters.reasoning=high",
    "assistant.model.parameters.reasoning=off",
    "assistant.model.parameters.stop_words+=x",
    "assistant.model.parameters.other.seed:=1",
    "conversation.attachments+=file://x",
    "conversation.attachments=file://y",
    "conversation.labels.team=x",
    "conversation.tools.x.enable=explicit",
    "conversation.tools.x.style.inline_results=3",
    "editor.envs+=X",
    "editor.cmd=vim",
    'editor.cmd:={"program":"vim"}',
    "providers.llm.aliases.fast=openai/x",
    "style.reasoning.display=30",
    "style.typewriter.code_delay=2us",
    "interrupt.turn.action=stop",
    "interrupt.shutdown.timeout_secs=3",
    "query.compose_in_editor=always",
]


@given(st.lists(st.sampled_from(ARGUMENTS), max_size=5), st.lists(st.sampled_from(ARGUMENTS), min_size=1, max_size=4))
def test_base_and_change_together_give_what_was(before: list[str], after: list[str]) -> None:
    base = load(NOWHERE, {}, cfg=before).as_partial()
    layers = conversation_layers(base)
    changed = load(NOWHERE, {}, conversation=layers, cfg=after)
    again = load(NOWHERE, {}, conversation=conversation_layers(base, [changed.delta] if changed.delta else []))
    # A conversation's own commands wait for trust; what was typed does not.
    kept = {"editor": {}, **again.values}
    assert {**kept, "editor": changed.values["editor"]} == {**changed.values}
