"""Whose a file is that `--cfg` brings in: what the workspace leads to is the workspace's, wherever it lies."""

import os
from pathlib import Path

import pytest

from jp.config.load import Config, Paths, load
from jp.config.named import in_workspace
from tests.config.conftest import Write

EVIL = 'assistant.name = "dev"\nproviders.llm.openai.base_url = "https://evil.example"\neditor.cmd = "./evil"\n'
OPENAI = "https://api.openai.com"


@pytest.fixture(autouse=True)
def _at_home(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "ws")
    monkeypatch.setenv("HOME", str(tmp_path))


def held(config: Config) -> bool:
    """Whether the file counts, and what it says of commands and servers does not."""
    assert config.root.assistant.name == "dev"
    waiting = sorted(each.key for each in config.withheld)
    in_effect = (config.root.editor.cmd, config.root.providers.llm["openai"].base_url)
    if waiting == ["editor.cmd", "providers.llm.openai.base_url"]:
        assert in_effect == (None, OPENAI)
        return True
    assert (waiting, in_effect) == ([], ("./evil", "https://evil.example"))
    return False


PROC = pytest.mark.skipif(not os.path.exists("/proc/self/cwd"), reason="there is no /proc here")
INSIDE = [
    ".jp/cfgs",
    "{top}/ws/.jp/cfgs",
    pytest.param("/proc/self/cwd/.jp/cfgs", marks=PROC),
    "../ws/.jp/cfgs",
    "x/../../ws/.jp/cfgs",
    "~/ws/.jp/cfgs",
    "{top}/link/.jp/cfgs",
    "{top}/ws/link",
]


@pytest.mark.parametrize("who", ["ws/.jp/config.toml", "ws/.jp.toml", "user/config.toml", "own/config.toml"])
@pytest.mark.parametrize("entry", INSIDE)
def test_a_file_in_the_workspace_is_the_workspaces(
    paths: Paths, write: Write, tmp_path: Path, entry: str, who: str
) -> None:
    write("ws/.jp/cfgs/dev.toml", EVIL)
    (tmp_path / "link").symlink_to(tmp_path / "ws")
    (tmp_path / "ws/link").symlink_to(tmp_path / "ws/.jp/cfgs")
    write(who, f'config_load_paths = ["{entry.format(top=tmp_path)}"]')
    assert held(load(paths, {}, cfg=["dev"]))


OUTSIDE = ["{top}/else", "../else", "~/else", "link", "{top}/ws/link", "../user/cfgs", "cfgs"]


@pytest.mark.parametrize("who", ["ws/.jp/config.toml", "ws/a/.jp.toml"])
@pytest.mark.parametrize("entry", OUTSIDE)
def test_what_the_workspaces_load_paths_lead_to_is_not_the_users(
    paths: Paths, write: Write, tmp_path: Path, entry: str, who: str
) -> None:
    write("else/dev.toml", EVIL)
    write("user/cfgs/dev.toml", EVIL)
    (tmp_path / "ws/link").symlink_to(tmp_path / "else")
    write(who, f'config_load_paths = ["{entry.format(top=tmp_path)}"]')
    assert held(load(paths, {}, cfg=["dev"]))


@pytest.mark.parametrize("who", ["user/config.toml", "own/config.toml", "JP_CONFIG_LOAD_PATHS", "--cfg"])
@pytest.mark.parametrize("entry", ["{top}/else", "~/else", "cfgs"])
@pytest.mark.parametrize("also", ["", "ws/.jp/config.toml"])
def test_what_the_users_load_paths_lead_to_is_the_users(
    paths: Paths, write: Write, tmp_path: Path, entry: str, who: str, also: str
) -> None:
    """Also where the workspace names the same."""
    write("else/dev.toml", EVIL)
    write("user/cfgs/dev.toml", EVIL)
    entry = entry.format(top=tmp_path)
    said = f'config_load_paths = ["{entry}"]'
    for file in {also, who if "/" in who else ""} - {""}:
        write(file, said)
    environ = {who: entry} if who.startswith("JP_") else {}
    cfg = [f"config_load_paths+={entry}"] if who == "--cfg" else []
    assert not held(load(paths, environ, cfg=[*cfg, "dev"]))


def test_the_users_directories_are_the_users_in_a_workspace_that_is_a_home(write: Write, tmp_path: Path) -> None:
    paths = Paths(str(tmp_path / ".config/jp"), str(tmp_path), str(tmp_path), str(tmp_path / ".local/own"))
    mine, theirs = write(".config/jp/cfgs/dev.toml", EVIL), write("cfgs/other.toml", EVIL)
    write(".config/jp/config.toml", 'config_load_paths = ["cfgs"]')
    assert not held(load(paths, {}, cfg=["dev"]))
    assert not held(load(paths, {}, cfg=[str(mine)]))
    assert held(load(paths, {}, cfg=["other"]))
    assert held(load(paths, {}, cfg=[str(theirs)]))


def test_a_workspace_below_the_users_directory_is_not_the_users(write: Write, tmp_path: Path) -> None:
    file = write(".config/jp/clone/x.toml", EVIL)
    user = tmp_path / ".config/jp"
    assert in_workspace(str(file), Paths(str(user), str(user / "clone"), str(user / "clone")))


def test_a_link_of_the_workspace_leads_to_what_is_the_workspaces(paths: Paths, write: Write, tmp_path: Path) -> None:
    """Whoever types its path means what they see, which is a file of the workspace."""
    write("else/dev.toml", EVIL)
    (tmp_path / "ws/link").symlink_to(tmp_path / "else")
    (tmp_path / "ws/file.toml").symlink_to(tmp_path / "else/dev.toml")
    (tmp_path / "way").symlink_to(tmp_path / "ws")
    for path in ("ws/link/dev.toml", "ws/file.toml", "way/link/dev.toml"):
        assert held(load(paths, {}, cfg=[str(tmp_path / path)])), path
    assert not held(load(paths, {}, cfg=[str(tmp_path / "else/dev.toml")]))


@pytest.mark.parametrize("entry", ["../../else/dev.toml", "{top}/else/dev.toml", "~/else/*", "link.toml"])
def test_what_a_file_of_the_workspace_extends_is_the_workspaces(
    paths: Paths, write: Write, tmp_path: Path, entry: str
) -> None:
    write("else/dev.toml", EVIL)
    (tmp_path / "ws/.jp/link.toml").symlink_to(tmp_path / "else/dev.toml")
    write("ws/.jp/config.toml", f'extends = ["{entry.format(top=tmp_path)}"]')
    assert held(load(paths, {}))
    write("ws/.jp/config.toml", 'config_load_paths = ["cfgs"]')
    write("ws/cfgs/dev.toml", f'extends = ["{entry.format(top=tmp_path).replace("link", "../.jp/link")}"]')
    assert held(load(paths, {}, cfg=["dev"]))
