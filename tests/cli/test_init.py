"""`jp init` in a directory that has settings already, in whichever language."""

import json
from pathlib import Path

import pytest

from tests.conftest import Jp


def settings(root: Path, name: str, text: str) -> Path:
    (root / ".jp").mkdir()
    path = root / ".jp" / name
    path.write_text(text)
    return path


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".jp").iterdir() if path.name.startswith("config"))


@pytest.mark.parametrize(("name", "text"), [("config.json", '{"style": {}}'), ("config.yaml", "style: {}\n")])
def test_init_makes_no_second_file_of_settings(jp: Jp, tmp_path: Path, name: str, text: str) -> None:
    path = settings(tmp_path, name, text)
    done = jp("init", cwd=tmp_path)
    assert done.status == "exited 0"
    assert (names(tmp_path), path.read_text()) == ([name], text)
    assert (tmp_path / ".jp/.id").exists()


def test_init_sets_the_model_in_the_file_that_is_read(jp: Jp, tmp_path: Path) -> None:
    path = settings(tmp_path, "config.json", '{"style": {"code": {"color": false}}}')
    assert jp("init", "-m", "ollama/qwen3", cwd=tmp_path).status == "exited 0"
    assert names(tmp_path) == ["config.json"]
    assert json.loads(path.read_text()) == {
        "style": {"code": {"color": False}},
        "assistant": {"model": {"id": "ollama/qwen3"}},
    }
    assert json.loads(jp("config", "show", "assistant.model.id", "-F", "json", cwd=tmp_path).stdout) == "ollama/qwen3"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [("config.yaml", "style: {}\n", "YAML files are not edited"), ("config.toml", "x =", "not valid TOML")],
)
def test_init_that_cannot_set_the_model_makes_nothing(jp: Jp, tmp_path: Path, name: str, text: str, says: str) -> None:
    path = settings(tmp_path, name, text)
    done = jp("init", "-m", "ollama/qwen3", cwd=tmp_path)
    assert done.status == "exited 1"
    assert says in done.stderr
    assert [each.name for each in (tmp_path / ".jp").iterdir()] == [name]
    assert path.read_text() == text
