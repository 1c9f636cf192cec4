"""`interrupt.*`, `editor.*` and `query.*`: defaults, the values each scope allows, and every way to set them."""

import json
from typing import Any

import pytest

from jp.config.errors import ConfigError, InvalidValueError, UnknownKeyError
from jp.config.load import Config, Paths, load
from jp.config.schema import split_key
from tests.config.conftest import Write


@pytest.mark.req("092-162")
def test_the_defaults(paths: Paths) -> None:
    shown = load(paths, {}).shown()["interrupt"]
    assert shown == {
        "escalation_cooldown_secs": 2,
        "streaming": {"action": "prompt", "compose_in_editor": False},
        "tool_call": {"action": "prompt", "compose_in_editor": False},
        "turn": {"action": "prompt", "compose_in_editor": False},
        "shutdown": {"show": True, "delay_secs": 1, "interval_ms": 100, "timeout_secs": 10},
    }


VALUES: list[tuple[str, Any]] = [
    ("interrupt.escalation_cooldown_secs", 0),
    ("interrupt.escalation_cooldown_secs", 5),
    *[("interrupt.streaming.action", word) for word in ("prompt", "continue", "reply", "stop", "abort")],
    *[("interrupt.tool_call.action", word) for word in ("prompt", "continue", "respond", "stop", "restart")],
    *[("interrupt.turn.action", word) for word in ("prompt", "continue", "reply", "stop")],
    *[
        (f"interrupt.{scope}.compose_in_editor", value)
        for scope in ("streaming", "tool_call", "turn")
        for value in (False, True, "always", "never")
    ],
    ("interrupt.shutdown.show", False),
    ("interrupt.shutdown.delay_secs", 0),
    ("interrupt.shutdown.interval_ms", 0),
    ("interrupt.shutdown.timeout_secs", 0),
    ("editor.inline.edit_mode", "vi"),
    ("editor.inline.edit_mode", "emacs"),
    *[("query.compose_in_editor", value) for value in (False, True, "always", "never")],
]


def from_root(config: Config, key: str) -> Any:
    value: Any = config.root
    for step in split_key(key):
        value = getattr(value, step)
    return value


@pytest.mark.req("092-164", "088-133", "088-134", "088-135")
@pytest.mark.parametrize(("key", "value"), VALUES)
def test_each_key_takes_effect_from_a_file_the_environment_and_cfg(
    paths: Paths, write: Write, key: str, value: Any
) -> None:
    word = json.dumps(value).strip('"')
    variable = f"JP_{key.upper().replace('.', '_')}"
    assert from_root(load(paths, {variable: word}), key) == value
    assert from_root(load(paths, {}, cfg=[f"{key}={word}"]), key) == value
    write("ws/.jp/config.toml", f"{key} = {json.dumps(value)}")
    found = from_root(load(paths, {}), key)
    assert found == value
    assert type(found) is type(value)


REFUSED: list[tuple[str, Any, str]] = [
    ("interrupt.turn.action", "abort", '"prompt", "continue", "reply", "stop"'),
    ("interrupt.turn.action", "respond", '"prompt", "continue", "reply", "stop"'),
    ("interrupt.turn.action", True, '"prompt", "continue", "reply", "stop"'),
    ("interrupt.streaming.action", "respond", '"prompt", "continue", "reply", "stop", "abort"'),
    ("interrupt.tool_call.action", "reply", '"prompt", "continue", "respond", "stop", "restart"'),
    ("interrupt.streaming.compose_in_editor", "sometimes", 'false, true, "always", "never"'),
    ("interrupt.tool_call.compose_in_editor", 1, 'false, true, "always", "never"'),
    ("interrupt.tool_call.compose_in_editor", "true", 'false, true, "always", "never"'),
    ("interrupt.escalation_cooldown_secs", -1, "an integer, at least 0"),
    ("interrupt.shutdown.timeout_secs", 1.5, "an integer, at least 0"),
    ("interrupt.shutdown.show", "yes", "true or false"),
    ("editor.inline.edit_mode", "nano", '"emacs", "vi"'),
    ("editor.cmd", 1, "a string or a table with program, args, shell"),
    ("editor.cmd", {"program": "code", "flags": []}, ""),
    ("editor.cmd", {"args": ["--wait"]}, "a table that has program"),
    ("editor.cmd", {"program": "code", "shell": "sh"}, "true or false"),
]


@pytest.mark.req("092-163", "088-133", "088-135", "088-136")
@pytest.mark.parametrize(("key", "value", "allowed"), REFUSED)
def test_anything_else_names_file_key_found_and_allowed(
    paths: Paths, write: Write, key: str, value: Any, allowed: str
) -> None:
    file = write("user/config.json", json.dumps(nested(key, value)))
    with pytest.raises(ConfigError) as caught:
        load(paths, {})
    assert str(file) in caught.value.message
    assert key in caught.value.message
    assert allowed in caught.value.message
    if not isinstance(caught.value, UnknownKeyError):
        assert isinstance(caught.value, InvalidValueError)
        assert caught.value.metadata["found"]


def nested(key: str, value: Any) -> Any:
    for step in reversed(key.split(".")):
        value = {step: value}
    return value


@pytest.mark.req("092-68")
@pytest.mark.parametrize(
    "key", ["interrupt.fallback.action", "interrupt.menu", "interrupt.action", "interrupt.command.action"]
)
def test_the_fallback_menu_has_no_key(paths: Paths, write: Write, key: str) -> None:
    with pytest.raises(UnknownKeyError, match="unknown key"):
        load(paths, {}, cfg=[f"{key}=continue"])
    write("user/config.json", json.dumps(nested(key, "continue")))
    with pytest.raises(UnknownKeyError, match="unknown key"):
        load(paths, {})


@pytest.mark.req("088-136")
@pytest.mark.parametrize("scope", ["editor.cmd", "conversation.tools.x.command"])
def test_an_editor_is_a_command_like_that_of_a_tool(paths: Paths, write: Write, scope: str) -> None:
    write("user/config.json", json.dumps(nested(scope, "code --wait")))
    assert load(paths, {}).get(scope) == "code --wait"
    write("user/config.json", json.dumps(nested(scope, {"program": "code", "args": ["--wait"]})))
    assert load(paths, {}).get(scope) == {"program": "code", "args": ["--wait"], "shell": False}
    write("user/config.json", json.dumps(nested(scope, {"program": "code; true", "shell": True})))
    assert load(paths, {}).get(f"{scope}.shell") is True
