"""Whatever number, or what looks like one, a source says: it is taken, or refused in words."""

import json
from collections.abc import Callable

import msgspec
import pytest

from jp.config.errors import ConfigError, InvalidValueError, SyntaxFault, describe
from jp.config.kinds import LARGEST, whole
from jp.config.load import Config, Layer, Paths, load
from tests.config.conftest import Write

KEYS = [
    "assistant.model.parameters.temperature",
    "assistant.model.parameters.max_tokens",
    "assistant.model.parameters.reasoning",
    "assistant.model.parameters.reasoning.effort",
    "assistant.model.parameters.other.x",
    "assistant.request.max_retries",
    "conversation.tools.x.style.inline_results",
    "conversation.compaction.rules.0.keep_first",
    "interrupt.escalation_cooldown_secs",
    "style.code.color",
    "style.typewriter.text_delay",
    "style.reasoning.display",
    "template.values.x",
]
HUGE = [10**400, -(10**400), 2**64, -(2**63) - 1, 2**33, 16**5000]
ODD = [
    "²",
    "٣",
    "٣s",
    "9" * 400,
    "9" * 5000,
    "9" * 5000 + "h",
    "1e999",
    "-1",
    "",
    " 5 ",
    "1_0",
    "inf",
    "nan",
    "+5",
    "0x5",
]


def tree(key: str, value: object) -> dict[str, object]:
    steps, tip = key.split("."), value
    for step in reversed(steps):
        tip = [tip] if step == "0" else {step: tip}
    assert isinstance(tip, dict)
    return tip


def refusal(attempt: Callable[[], object]) -> str | None:
    """The words of the error with which something is refused; None where it is not. Any other exception passes."""
    try:
        attempt()
    except ConfigError as error:
        return error.message
    return None


def written(config: Config) -> None:
    """All that is done with a configuration can be done with this one."""
    json.dumps([config.as_partial(), config.shown()], allow_nan=False)
    msgspec.json.encode(config.as_partial())


VALUES = [*HUGE, float("inf"), float("nan"), 1e308, {"secs": 10**400}, {"secs": 1, "nanos": 10**400}]
RAW = ["1e999", "NaN", "9" * 400, "9" * 5000]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", VALUES, ids=describe)
def test_a_number_of_a_file_is_taken_or_refused(paths: Paths, key: str, value: object) -> None:
    layer = Layer("conversation", "x", tree(key, value))
    message = refusal(layer.read)
    if message is None:
        written(load(paths, {}, conversation=[layer]))
    else:
        assert "allowed: " in message or "unknown key" in message
        assert len(message) < 1000


@pytest.mark.parametrize("key", [key for key in KEYS if ".0." not in key])
@pytest.mark.parametrize("sign", ["", ":"])
def test_a_number_of_an_argument_or_a_variable_is_taken_or_refused(paths: Paths, key: str, sign: str) -> None:
    variable = f"JP_{key.upper().replace('.', '_')}"
    for text in RAW if sign else ODD:
        refusal(lambda text=text: written(load(paths, {}, cfg=[f"{key}{sign}={text}"])))
        refusal(lambda text=text: written(load(paths, {variable: f"{sign}{text}"})))


@pytest.mark.parametrize("name", ["config.toml", "config.json", "config.yaml"])
@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "0x" + "f" * 5000], ids=len)
def test_a_number_of_many_digits_in_a_file(paths: Paths, write: Write, name: str, digits: str) -> None:
    between, quote = ("=", "") if name.endswith("toml") else (": ", '"')
    text = f"{quote}template{quote}{between}{{{quote}values{quote}{between}{{{quote}x{quote}{between}{digits}}}}}"
    write(f"ws/.jp/{name}", f"{{{text}}}" if name.endswith("json") else text)
    with pytest.raises((SyntaxFault, InvalidValueError)) as caught:
        load(paths, {})
    assert str(paths.workspace_root) in caught.value.message


def test_a_step_that_looks_like_a_number_is_no_place_in_a_list(paths: Paths) -> None:
    config = load(paths, {}, cfg=["assistant.instructions+=x"])
    for step in ("²", "٣", "9" * 5000):
        for ask in (config.get, config.explain):
            with pytest.raises(ConfigError):
                ask(f"config_load_paths.{step}")


def test_the_largest_numbers() -> None:
    assert whole("0") == 0
    assert whole("007") == 7
    assert whole(str(LARGEST)) == LARGEST
    assert [whole(text) for text in ("²", "٣", "", "-1", "+1", " 1", "1_0", "9" * 20)] == [None] * 8
    assert describe(2**128) == "an integer of 129 bits"
    assert describe(2**64) == str(2**64)
