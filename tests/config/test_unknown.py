"""What an unknown key is answered with: the key that was meant, or what is allowed where it stands."""

import pytest

from jp.config.errors import UnknownKeyError
from jp.config.load import Paths, load
from jp.config.schema import find, keys, nearest_key, split_key


def refused(key: str) -> UnknownKeyError:
    with pytest.raises(UnknownKeyError) as caught:
        find(key, "here")
    return caught.value


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("style.code.colr", "style.code.color"),
        ("assistant.modle.id", "assistant.model.id"),
        ("assistant.modle.x", "assistant.model"),
        ("model.id", "assistant.model.id"),
        ("style.xyz.color", "style.code.color"),
        ("assistant.model.temperature", "assistant.model.parameters.temperature"),
        ("providers.llm.openai.api_key", "providers.llm.openai.api_key_env"),
    ],
)
def test_the_key_that_was_meant(key: str, meant: str) -> None:
    assert refused(key).hints == (f'did you mean "{meant}"?',)


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        ("style.code.xyz", "allowed here: color, line_numbers, file_link, copy_link"),
        ("interrupt.streaming.foo.bar", "allowed here: action, compose_in_editor"),
        ("style.code.color.x", '"style.code.color" holds no keys: it is true or false'),
        ("editor.envs.x", '"editor.envs" holds no keys: it is a list of strings'),
    ],
)
def test_what_is_allowed_where_nothing_is_near(key: str, allowed: str) -> None:
    error = refused(key)
    assert error.hints == (allowed,)
    assert error.metadata["nearest"] is None


def test_no_key_above_is_ever_suggested() -> None:
    for key in keys():
        for below in ("xyz", "id", "xyz.id"):
            path = split_key(f"{key.replace('<name>', 'x')}.{below}")
            found = nearest_key(path)
            above = [path[:length] for length in range(len(path) + 1)]
            assert found is None or split_key(found.replace("<name>", "x")) not in above, (path, found)


def test_an_argument_with_an_unknown_key_lists_what_is_allowed(paths: Paths) -> None:
    with pytest.raises(UnknownKeyError) as caught:
        load(paths, {}, cfg=["style.code.xyz=1"])
    assert caught.value.message == '--cfg style.code.xyz=1: unknown key "style.code.xyz"'
    assert caught.value.hints == ("allowed here: color, line_numbers, file_link, copy_link",)


def test_a_word_of_the_merge_form_is_listed(paths: Paths) -> None:
    with pytest.raises(UnknownKeyError) as caught:
        load(paths, {}, cfg=['assistant.system_prompt:={"value": "x", "xyz": 1}'])
    assert caught.value.hints == ("allowed here: value, strategy, separator, dedup, discard_when_merged",)
