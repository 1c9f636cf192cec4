"""The user's own file for a workspace's id is his only where it was set or confirmed: anybody can write an id."""

import json
from pathlib import Path

import pytest

from jp.config.load import Config, Paths, load
from jp.config.trust import TrustStore
from jp.config.waiting import survey
from tests.config.conftest import Write

PRIVATE = """
editor.cmd = "mine"
providers.llm.openai.api_key_env = "MINE"
providers.mcp.gh = { command = "gh" }
assistant.name = "harmless"
[conversation.tools]
'*'.detached = "auto"
write_file.run = "skip"
"""
HELD = ["editor.cmd", "providers.mcp.gh", "providers.llm.openai.api_key_env", "conversation.tools.*.detached"]


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "trust.json"))


def keys(config: Config) -> list[str]:
    return [each.key for each in config.withheld]


def confirm(paths: Paths, store: TrustStore) -> None:
    assert paths.workspace_root
    text = store.with_trusted(paths.workspace_root, [], confirmed_dir=paths.user_workspace_dir)
    Path(store.path).write_text(text)


def test_elsewhere_it_waits_like_the_workspaces_own(paths: Paths, write: Write, store: TrustStore) -> None:
    write("own/config.toml", PRIVATE)
    config = load(paths, {}, trust=store)
    assert sorted(keys(config)) == sorted(HELD)
    assert all(each.private for each in config.withheld)
    root = config.root
    assert (root.editor.cmd, root.providers.mcp, root.assistant.name) == (None, {}, "harmless")
    run = root.conversation.tools["write_file"].run
    assert run == "skip", "what is stricter is in effect"
    assert config.own_servers == frozenset()
    assert sorted(each.key for each in survey(paths, {}, trust=store).waiting) == sorted(HELD)


def test_confirmed_all_of_it_is_the_users(paths: Paths, write: Write, store: TrustStore) -> None:
    write("own/config.toml", PRIVATE)
    confirm(paths, store)
    assert keys(load(paths, {}, trust=store)) == []
    write("own/config.toml", PRIVATE.replace('"mine"', '"other"'))
    config = load(paths, {}, trust=store)
    assert (config.withheld, config.root.editor.cmd, config.own_servers) == ([], "other", {"gh"})


def test_that_holds_for_one_place_and_one_directory(
    paths: Paths, write: Write, store: TrustStore, tmp_path: Path
) -> None:
    write("own/config.toml", PRIVATE)
    confirm(paths, store)
    clone = write("clone/.jp/config.toml", "").parents[1]
    assert len(keys(load(paths._replace(workspace_root=str(clone), cwd=str(clone)), {}, trust=store))) == len(HELD)
    other = write("other/config.toml", PRIVATE).parent  # what another id in the same place leads to
    assert len(keys(load(paths._replace(user_workspace_dir=str(other)), {}, trust=store))) == len(HELD)
    assert paths.workspace_root
    text = store.without(paths.workspace_root)
    assert text is not None
    Path(store.path).write_text(text)
    assert len(keys(load(paths, {}, trust=store))) == len(HELD)


def test_single_values_can_be_trusted_too(paths: Paths, write: Write, store: TrustStore) -> None:
    write("own/config.toml", PRIVATE)
    first = load(paths, {}, trust=store)
    assert paths.workspace_root
    Path(store.path).write_text(store.with_trusted(paths.workspace_root, first.withheld[:1]))
    again = load(paths, {}, trust=store)
    assert len(again.withheld) == len(HELD) - 1
    write("own/config.toml", PRIVATE.replace('"mine"', '"other"'))
    assert "editor.cmd" in keys(load(paths, {}, trust=store))


def test_what_it_allows_is_no_measure_for_the_workspace(paths: Paths, write: Write, store: TrustStore) -> None:
    said = "conversation.tools.'*'.run = 'unattended'\n"
    write("own/config.toml", said)
    write("ws/.jp/config.toml", said)
    config = load(paths, {}, trust=store)
    assert config.root.conversation.tools.defaults.run == "ask"
    confirm(paths, store)
    assert keys(load(paths, {}, trust=store)) == []


def test_a_persona_of_the_users_for_that_id_is_held_as_well(paths: Paths, write: Write, store: TrustStore) -> None:
    write("user/config.toml", 'config_load_paths = ["cfgs"]')
    write("own/cfgs/dev.toml", PRIVATE)
    assert len(keys(load(paths, {}, cfg=["dev"], trust=store))) == len(HELD)
    confirm(paths, store)
    assert keys(load(paths, {}, cfg=["dev"], trust=store)) == []


def test_a_harmless_one_reads_no_store(paths: Paths, write: Write) -> None:
    write("own/config.toml", "assistant.name = 'x'\n[conversation.tools.x]\nrun = 'ask'\n")
    assert load(paths, {}, trust=TrustStore("/nowhere")).withheld == []


def test_an_odd_store_confirms_nothing(paths: Paths, write: Write, store: TrustStore) -> None:
    write("own/config.toml", PRIVATE)
    for odd in (1, [1], "x", {"x": 1}, None):
        Path(store.path).write_text(json.dumps({"private": {paths.workspace_root: odd}, "conversations": odd}))
        assert len(keys(load(paths, {}, trust=store))) == len(HELD)
