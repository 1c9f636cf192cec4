"""The configuration by dotted keys, for `read_config`."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jp.config.kinds import MISSING
from jp.config.load import Config, Paths, load
from jp.config.schema import join_key, root
from jp.plugin.errors import RequestError
from jp.plugin.settings import at, whole
from tests.conftest import Jp

JSON = dict[str, Any]
DEFAULTS = whole(Config(root().final(MISSING), []))


def below(tree: JSON, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in tree.items():
        yield (*path, key), value
        if isinstance(value, dict):
            yield from below(value, (*path, key))


def refused(config: JSON, path: str) -> str:
    with pytest.raises(RequestError) as error:
        at(config, path)
    assert error.value.metadata["path"] == path
    return error.value.message


@pytest.mark.req("PROTO-31")
def test_every_key_of_the_defaults_is_had_by_its_path() -> None:
    found = list(below(DEFAULTS))
    assert len(found) > 100
    for path, value in found:
        assert at(DEFAULTS, join_key(path)) == value


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
TREES = st.recursive(
    st.dictionaries(KEYS, st.integers()), lambda inner: st.dictionaries(KEYS, inner, min_size=1), max_leaves=6
)


@pytest.mark.req("PROTO-31")
@settings(max_examples=40, deadline=None)
@given(TREES)
def test_so_is_every_key_whatever_it_is_called(tree: JSON) -> None:
    for path, value in below(tree):
        assert at(tree, join_key(path)) == value


@pytest.mark.req("PROTO-31")
def test_a_key_with_a_dot_is_quoted() -> None:
    config = {"providers": {"mcp": {"a.b": {"command": "x"}}}}
    assert at(config, 'providers.mcp."a.b".command') == "x"
    assert at(config, "providers.mcp.'a.b'") == {"command": "x"}
    assert at(config, "") == config


@pytest.mark.req("PROTO-32")
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("assistant.nam", ("no key", "did you mean `assistant.name`?")),
        ("asistant.name", ("no key", "did you mean `assistant")),
        ("model.id", ("no key", "did you mean `assistant.model.id`?")),
        ("assistant.name.x", ("no key",)),
        ("a..b", ("no key",)),
        (".", ("no key",)),
        ("user.name", ("not set",)),
        ("conversation.tools.fs_read_file", ("not set",)),
        ("extends.0", ("`extends` is a list",)),
    ],
)
def test_a_key_that_is_not_there(path: str, words: tuple[str, ...]) -> None:
    message = refused(DEFAULTS, path)
    assert (path in message) != ("is a list" in message)
    for word in words:
        assert word in message


@pytest.mark.req("PROTO-32")
def test_the_nearest_of_names_that_are_free() -> None:
    config = {"conversation": {"tools": {"fs.read": {"run": "ask"}, "grep": {}}}}
    assert "did you mean `conversation.tools.grep`?" in refused(config, "conversation.tools.gerp")
    assert 'did you mean `conversation.tools."fs.read"`?' in refused(config, 'conversation.tools."fs.raed"')
    assert "not set" in refused(config, "conversation.tools.something_else")


def test_a_path_of_any_length_gives_a_short_error() -> None:
    for path in ("x" * 10_000_000, "x." * 100_000, "assistant." + "name." * 100_000):
        begun = time.process_time()
        with pytest.raises(RequestError, match="no key") as error:
            at(DEFAULTS, path)
        assert time.process_time() - begun < 1
        assert len(error.value.message) < 300


@pytest.mark.req("PROTO-30", "PROTO-20")
def test_the_whole_is_what_the_command_line_prints(jp: Jp, tmp_path: Path, hermetic: Path) -> None:
    place = tmp_path / "project"
    (place / ".jp").mkdir(parents=True)
    (place / ".jp" / ".id").write_text("abcde\n")
    (place / ".jp" / "config.toml").write_text('[assistant]\nname = "Pim"\n[style.reasoning]\ndisplay = "full"\n')
    user = hermetic / ".config" / "jp"
    user.mkdir(parents=True)
    (user / "config.toml").write_text(
        '[providers.mcp."a.b"]\ncommand = "x"\n[plugins.command.serve.options]\nn = 1.5\n'
    )
    cfg = ["assistant.model.parameters.temperature:=0.5", "editor.envs=A,B"]
    shown = jp("config", "show", "--format", "json", *(f"--cfg={each}" for each in cfg), cwd=place)
    assert shown.status == "exited 0", shown
    paths = Paths(str(user), str(place), str(place), None)
    found = whole(load(paths, {"HOME": str(hermetic)}, cfg=cfg))
    assert json.loads(json.dumps(found)) == json.loads(shown.stdout)
    assert at(found, "assistant.name") == "Pim"
    assert at(found, "assistant.model.parameters")["temperature"] == 0.5
    assert at(found, 'providers.mcp."a.b".command') == "x"
    assert at(found, "plugins.command.serve.options") == {"n": 1.5}
