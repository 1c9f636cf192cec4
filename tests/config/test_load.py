"""Loading as a whole: which source has the last word."""

from pathlib import Path

import pytest

from jp.config.load import Config, Paths, conversation_layers, load


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A user directory, a workspace, a directory two levels down in it, and the user's directory for the workspace."""
    for name in ("user", "ws/.jp", "ws/a/b", "own", "data"):
        (tmp_path / name).mkdir(parents=True)
    return Paths(str(tmp_path / "user"), str(tmp_path / "ws"), str(tmp_path / "ws/a/b"), str(tmp_path / "own"))


def resolve(paths: Paths, **environ: str) -> Config:
    return load(paths, environ)


def test_without_any_source_the_defaults_hold(paths: Paths) -> None:
    config = resolve(paths)
    assert config.root.assistant.request.max_retries == 5
    assert config.root.assistant.system_prompt == "You are a helpful assistant."
    assert config.root.providers.llm["openai"].base_url == "https://api.openai.com"
    assert config.root.editor.envs == ["JP_EDITOR", "VISUAL", "EDITOR"]
    assert config.delta is None
    assert config.layers == []


SOURCES = [
    "user/config.toml",
    "ws/.jp/config.toml",
    "ws/.jp.toml",
    "ws/a/.jp.toml",
    "ws/a/b/.jp.toml",
    "own/config.toml",
]


@pytest.mark.parametrize("count", range(1, len(SOURCES) + 1))
def test_files_of_narrower_scope_win(paths: Paths, tmp_path: Path, count: int) -> None:
    for place, name in enumerate(SOURCES[:count]):
        write(tmp_path / name, f'assistant.name = "{place}"')
    assert resolve(paths).root.assistant.name == str(count - 1)


def test_each_later_kind_of_source_wins(paths: Paths, tmp_path: Path) -> None:
    write(tmp_path / "ws/.jp/config.toml", 'assistant.name = "file"')
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
