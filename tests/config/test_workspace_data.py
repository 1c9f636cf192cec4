"""A real workspace, its personas and conversations, and what the original stored with conversations."""

import json
from pathlib import Path
from typing import Any

import pytest

from jp.config.load import Config, Paths, conversation_layers, load
from jp.config.trust import TrustStore

NOWHERE = Paths(None, None, "/", None)


@pytest.fixture(scope="module")
def workspace(data_dir: Path) -> Paths:
    root = str(data_dir / "workspace")
    return Paths(None, root, root, None)


@pytest.fixture(scope="module")
def trusting(workspace: Paths, tmp_path_factory: pytest.TempPathFactory) -> TrustStore:
    """A store that trusts everything the workspace says, its conversations included."""
    store = TrustStore(str(tmp_path_factory.mktemp("trust") / "trust.json"))
    assert workspace.workspace_root
    for layers in [[], *(recorded(path) for path in conversations(workspace))]:
        held = load(workspace, {}, conversation=layers, trust=store).withheld
        Path(store.path).write_text(store.with_trusted(workspace.workspace_root, held))
    return store


def conversations(workspace: Paths) -> list[Path]:
    found = sorted(Path(f"{workspace.workspace_root}/.jp/conversations").glob("*/events.json"))
    assert len(found) == 11
    return found


def recorded(events: Path) -> Any:
    """The layers of a stored conversation, in each of the three forms it has had."""
    base = events.with_name("base_config.json")
    deltas = [event.get("delta", event) for event in json.loads(events.read_text()) if event["type"] == "config_delta"]
    return conversation_layers(json.loads(base.read_text()) if base.exists() else None, deltas)


def test_the_workspace_loads_whole(workspace: Paths) -> None:
    config = load(workspace, {})
    assert len([layer for layer in config.layers if layer.path]) == 66
    assert str(config.model_id()) == "anthropic/claude-sonnet-5"
    assert str(config.model_id("opus")) == "anthropic/claude-opus-5"
    assert len(config.root.conversation.tools.named) == 63
    assert config.root.style.code.copy_link == "osc8"
    assert config.root.style.typewriter.max_latency == 0.2
    assert config.root.assistant.system_prompt is not None
    assert config.root.assistant.system_prompt.startswith("You are Jean-Pierre")
    assert config.notices == []
    title = config.root.conversation.title.generate.model
    assert title is not None
    assert title.id == "haiku"


def test_its_commands_wait_for_trust(workspace: Paths, trusting: TrustStore) -> None:
    config = load(workspace, {})
    assert len(config.withheld) == 111
    assert config.root.conversation.tools["fs_read_file"].command is None
    assert config.root.providers.mcp == {}
    trusted = load(workspace, {}, trust=trusting)
    assert trusted.withheld == []
    assert trusted.root.conversation.tools["fs_read_file"].command == "just serve-tools {{context}} {{tool}}"
    assert trusted.root.providers.mcp["bookworm"].command == "just"


PERSONAS = {
    "architect": "anthropic/claude-opus-5",
    "committer": "anthropic/claude-sonnet-5",
    "default": "anthropic/claude-sonnet-5",
    "dev": "anthropic/claude-opus-5",
    "po": "anthropic/claude-sonnet-5",
    "pr-reviewer": "openai/gpt-5.6-sol",
    "pr-triager": "anthropic/claude-opus-5",
    "review-triager": "anthropic/claude-sonnet-5",
    "rfd-implementor": "anthropic/claude-opus-5",
    "rfd-reviewer": "openai/gpt-5.6-sol",
    "rfd-triager": "anthropic/claude-opus-5",
    "stager": "anthropic/claude-sonnet-5",
    "writer": "anthropic/claude-opus-5",
}


@pytest.mark.parametrize("name", PERSONAS)
def test_every_persona_loads_and_is_recorded_once(workspace: Paths, name: str) -> None:
    base = load(workspace, {}).as_partial()
    config = load(workspace, {}, conversation=conversation_layers(base), cfg=[name])
    assert str(config.model_id()) == PERSONAS[name]
    prompt = config.root.assistant.system_prompt
    assert prompt is not None
    assert prompt.startswith("You are Jean-Pierre"), "personas add to the prompt of the workspace"
    if config.delta:
        again = load(workspace, {}, conversation=conversation_layers(base, [config.delta]), cfg=[name])
        assert again.delta is None
        assert again.shown() == config.shown()


def test_every_file_of_the_configuration_can_be_named(workspace: Paths) -> None:
    base = Path(f"{workspace.workspace_root}/.jp/config")
    names = [str(path.relative_to(base).with_suffix("")) for path in sorted(base.glob("**/*.toml"))]
    assert len(names) > 30
    config = load(workspace, {}, cfg=names)
    assert config.delta


def test_every_conversation_resolves_without_a_word(workspace: Paths, trusting: TrustStore) -> None:
    for events in conversations(workspace):
        config = load(workspace, {}, conversation=recorded(events), trust=trusting)
        assert config.withheld == [], events
        assert config.notices == [], events
        assert config.root.assistant.model.id, events
        assert config.delta is None


def unchanged(original: Any, ours: Any, path: str = "") -> list[str]:
    """The keys at which `ours` says something else than `original`; keys that only we have are none."""
    if isinstance(original, dict) and isinstance(ours, dict):
        return [each for key in original for each in unchanged(original[key], ours.get(key), f"{path}.{key}")]
    return [] if original == ours else [path]


SPELLED_OTHERWISE = [".inherit", ".config_load_paths", ".extends", ".conversation.attachments"]
"""Keys that steer loading are those of now; attachments were stored as a plain list once, durations as numbers."""


def test_a_stored_base_is_written_again_as_it_was(workspace: Paths, trusting: TrustStore) -> None:
    found = 0
    for events in conversations(workspace):
        base = events.with_name("base_config.json")
        if not base.exists():
            continue
        found += 1
        original = json.loads(base.read_text())
        store = trusting
        root = Paths(None, workspace.workspace_root, "/", None)
        config = _bare(root, conversation_layers(original), store)
        other = unchanged(original, config.as_partial())
        other = [key for key in other if not key.startswith(".providers.")]  # servers are those of today
        assert set(other) <= {*SPELLED_OTHERWISE, ".style.typewriter.text_delay", ".style.typewriter.code_delay"}
    assert found == 2


def _bare(paths: Paths, layers: Any, store: TrustStore) -> Config:
    """A conversation's configuration alone: nothing of the workspace below it, but its trust."""
    config = load(Paths(None, None, "/", None), {}, conversation=layers)
    trusted = store.trusted(paths.workspace_root or "")
    assert {each.digest for each in config.withheld} <= trusted
    empty = Path(store.path).parent / "empty"
    (empty / ".jp").mkdir(parents=True, exist_ok=True)
    here = TrustStore(str(empty / "trust.json"))
    Path(here.path).write_text(here.with_trusted(str(empty), config.withheld))
    return load(Paths(None, str(empty), str(empty), None), {}, conversation=layers, trust=here)


def test_the_base_of_every_recording_is_written_byte_for_byte(data_dir: Path) -> None:
    """The recordings hold a base with every default of the original, in the order in which it stores them."""
    found = 0
    for path in sorted((data_dir / "provider-recordings").glob("*/*conversation_stream.snap")):
        original = json.loads(path.read_text().split("---\n", 2)[2])["base_config"]
        config = load(NOWHERE, {}, conversation=conversation_layers(original))
        ours = config.as_partial()
        assert ours["inherit"] is True
        assert json.dumps({**ours, "inherit": False}) == json.dumps(original), path
        found += 1
    assert found == 28
