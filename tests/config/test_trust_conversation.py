"""What a conversation was allowed when it recorded it holds in that conversation, and nowhere else."""

from pathlib import Path

import pytest

from jp.config.load import Config, Paths, conversation_layers, load
from jp.config.trust import TrustStore
from tests.config.conftest import Write

MINE = '[conversation.tools.dep]\nsource = "local"\ncommand = "deploy"\n[conversation.tools.off]\nenable = false\n'
ALLOWED = {
    "conversation.tools.dep.run": "unattended",
    "conversation.tools.*.detached": "auto",
    "conversation.tools.off.enable": True,
}
ONE, OTHER = "17000000001", "17000000002"


@pytest.fixture
def store(paths: Paths, write: Write, tmp_path: Path) -> TrustStore:
    """A store that knows what was allowed on the command line when a conversation was begun."""
    write("user/config.toml", MINE)
    store = TrustStore(str(tmp_path / "trust.json"))
    text = store.with_recorded(str(paths.workspace_root), allowed(paths, store).commands(), ONE)
    assert text is not None
    Path(store.path).write_text(text)
    return store


def allowed(paths: Paths, store: TrustStore) -> Config:
    return load(paths, {}, flags=ALLOWED, trust=store)


def continued(paths: Paths, store: TrustStore, conversation_id: str, *, begun: bool = False) -> Config:
    made = allowed(paths, store)
    base, deltas = (load(paths, {}).as_partial(), [made.delta or {}]) if begun else (made.as_partial(), [])
    return load(paths, {}, conversation=conversation_layers(base, deltas, conversation_id), trust=store)


@pytest.mark.parametrize("begun", [False, True])
def test_it_holds_in_the_next_turn(paths: Paths, store: TrustStore, begun: bool) -> None:
    config = continued(paths, store, ONE, begun=begun)
    assert config.withheld == []
    tools = config.root.conversation.tools
    off = tools["off"].enable
    assert off is not None
    assert (tools["dep"].run, tools.defaults.detached, off.state) == ("unattended", "auto", True)


@pytest.mark.parametrize("conversation_id", [OTHER, ""])
def test_in_another_conversation_it_waits(paths: Paths, store: TrustStore, conversation_id: str) -> None:
    config = continued(paths, store, conversation_id)
    assert sorted(each.key for each in config.withheld) == sorted(ALLOWED)
    assert config.root.conversation.tools["dep"].run is None


def test_in_another_workspace_it_waits(paths: Paths, write: Write, store: TrustStore) -> None:
    clone = str(write("clone/.jp/config.toml", "").parents[1])
    config = continued(paths._replace(workspace_root=clone, cwd=clone), store, ONE)
    assert sorted(each.key for each in config.withheld) == sorted(ALLOWED)


def test_a_fork_is_allowed_the_same(paths: Paths, store: TrustStore) -> None:
    root = str(paths.workspace_root)
    assert store.with_fork(root, OTHER, "3") is None
    text = store.with_fork(root, ONE, OTHER)
    assert text is not None
    Path(store.path).write_text(text)
    assert continued(paths, store, OTHER).withheld == []
    assert continued(paths, store, ONE).withheld == []


def test_it_is_remembered_once_and_forgotten_with_the_rest(paths: Paths, store: TrustStore) -> None:
    root = str(paths.workspace_root)
    assert store.with_recorded(root, allowed(paths, store).commands(), ONE) is None
    assert (store.trusted(root), store.count(root) >= len(ALLOWED)) == (frozenset(), True)
    text = store.without(root)
    assert text is not None
    Path(store.path).write_text(text)
    assert sorted(each.key for each in continued(paths, store, ONE).withheld) == sorted(ALLOWED)
