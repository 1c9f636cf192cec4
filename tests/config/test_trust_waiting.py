"""All that a workspace says that needs trust, also what no run reads of itself; and the store."""

import json
from pathlib import Path

import pytest

from jp.config.load import Paths, conversation_layers
from jp.config.trust import TrustStore, Withheld
from jp.config.waiting import Survey, survey
from tests.config.conftest import Write


def said(found: Survey) -> list[tuple[str, object, list[str]]]:
    return [
        (each.key, each.value, [name.rpartition("/")[2] for name in found.origins[each.digest]])
        for each in found.waiting
    ]


def test_every_file_that_a_name_finds_in_the_workspace_counts(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'editor.cmd = "a"\nconfig_load_paths = ["cfgs", "cfgs/sub", "../else", "~"]')
    write("ws/cfgs/one.toml", 'editor.cmd = "b"\nassistant.name = "x"')
    write("ws/cfgs/sub/two.yaml", 'editor: {cmd: "a"}\n')
    write("ws/cfgs/sub/three.json", '{"extends": ["../../.jp/part.toml"]}')
    write("ws/.jp/part.toml", 'conversation.attachments = ["cmd:c"]')
    write("ws/cfgs/package.json", '{"name": "is no configuration"}')
    write("ws/cfgs/readme.md", "x")
    write("else/evil.toml", 'editor.cmd = "elsewhere"')
    found = survey(paths, {})
    assert said(found) == [
        ("editor.cmd", "a", ["config.toml", "two.yaml"]),
        ("editor.cmd", "b", ["one.toml"]),
        ("conversation.attachments", "cmd:c", ["part.toml"]),
    ]
    assert found.trusted == []


def test_each_conversation_counts_by_itself(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'conversation.tools.mine = { command = "mine", run = "ask" }')
    first = conversation_layers({"editor": {"cmd": "a"}}, [{"editor": {"cmd": "b"}}])
    second = conversation_layers({"conversation": {"tools": {"mine": {"run": "unattended"}}}})
    third = conversation_layers({"conversation": {"tools": {"mine": {"run": "ask", "command": "mine"}}}})
    found = survey(paths, {}, conversations=[first, second, third])
    assert [(each.key, each.value) for each in found.waiting] == [
        ("editor.cmd", "a"),
        ("editor.cmd", "b"),
        ("conversation.tools.mine.run", "unattended"),
    ]


def test_what_is_trusted_is_told_apart(paths: Paths, write: Write, tmp_path: Path) -> None:
    store = TrustStore(str(tmp_path / "trust.json"))
    write("ws/.jp/config.toml", 'editor.cmd = "a"\nproviders.mcp.x.command = "x"')
    found = survey(paths, {}, trust=store)
    assert paths.workspace_root
    Path(store.path).write_text(store.with_trusted(paths.workspace_root, found.waiting[:1]), encoding="utf-8")
    again = survey(paths, {}, trust=store)
    assert ([each.key for each in again.trusted], [each.key for each in again.waiting]) == (
        ["editor.cmd"],
        ["providers.mcp.x"],
    )


def test_a_sources_order_and_arguments_hold(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'config_load_paths = ["cfgs"]')
    write("ws/cfgs/dev.toml", 'editor.cmd = "a"')
    assert survey(paths, {}, cfg=["editor.cmd=a"]).waiting == [], "the same is in effect already"
    assert len(survey(paths, {}, cfg=["dev"]).waiting) == 1


def held(*marks: str) -> list[Withheld]:
    return [Withheld("key", mark, "file", mark) for mark in marks]


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "trust.json"))


def test_what_was_declined_is_known_until_it_is_trusted(store: TrustStore, tmp_path: Path) -> None:
    here, path = str(tmp_path), Path(store.path)
    path.write_text(store.with_declined(here, held("a", "b")), encoding="utf-8")
    assert (store.declined(here), store.trusted(here)) == ({"a", "b"}, set())
    path.write_text(store.with_declined(here, held("c")), encoding="utf-8")
    path.write_text(store.with_trusted(here, held("a", "c")), encoding="utf-8")
    assert (store.declined(here), store.trusted(here)) == ({"b"}, {"a", "c"})


def test_a_workspace_is_forgotten_alone(store: TrustStore, tmp_path: Path) -> None:
    path = Path(store.path)
    assert store.without(str(tmp_path)) is None
    path.write_text(store.with_trusted("/other", held("o")), encoding="utf-8")
    assert store.without(str(tmp_path)) is None
    path.write_text(store.with_trusted(str(tmp_path), held("a")), encoding="utf-8")
    path.write_text(store.with_declined(str(tmp_path), held("b")), encoding="utf-8")
    text = store.without(str(tmp_path))
    assert text is not None
    assert json.loads(text) == {"version": 1, "workspaces": {"/other": ["o"]}}


@pytest.mark.parametrize(
    "text", ["[]", '{"declined": 1}', '{"declined": {"ROOT": "x"}}', '{"declined": {"ROOT": [1]}}']
)
def test_an_odd_store_has_declined_nothing(store: TrustStore, tmp_path: Path, text: str) -> None:
    Path(store.path).write_text(text.replace("ROOT", str(tmp_path)), encoding="utf-8")
    assert store.declined(str(tmp_path)) == frozenset()
