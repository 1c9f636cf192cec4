"""Workspaces: found from anywhere below, with one directory for the user, whatever it is called."""

import os
from pathlib import Path

import pytest

from jp.storage.errors import MissingHomeError, NoWorkspaceError, UnreadableFileError
from jp.storage.workspace import Workspace


def test_found_from_below_the_nearest_one(folder: Path, environ: dict[str, str]) -> None:
    outer = Workspace.init(str(folder), environ)
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "x").mkdir()
    inner = Workspace.init(str(folder / "a" / "b"), environ)
    assert Workspace.find(str(folder / "a" / "b" / "c"), environ).root == inner.root
    assert Workspace.find(str(folder / "a"), environ).root == outer.root
    assert Workspace.find(str(folder / "x"), environ).id == outer.id != inner.id


def test_none_is_an_error_that_names_the_way_on(folder: Path, environ: dict[str, str]) -> None:
    (folder / ".jp").touch()  # a file is none
    with pytest.raises(NoWorkspaceError) as error:
        Workspace.find(str(folder), environ)
    assert str(folder) in error.value.message
    assert any("jp init" in hint for hint in error.value.hints)


def test_init_keeps_what_is_there(folder: Path, environ: dict[str, str]) -> None:
    first = Workspace.init(str(folder), environ)
    content = (folder / ".jp" / ".id").read_bytes()
    assert content.endswith(f"\n{first.id}\n".encode())
    (folder / ".jp" / "config.toml").write_text("x = 1")
    again = Workspace.init(str(folder), environ)
    assert again.id == first.id
    assert (folder / ".jp" / ".id").read_bytes() == content
    assert (folder / ".jp" / "config.toml").read_text() == "x = 1"


def test_the_id_of_the_original_is_read(data_dir: Path, environ: dict[str, str]) -> None:
    assert Workspace.find(str(data_dir / "workspace" / ".jp" / "config"), environ).id == "otvo8"


@pytest.mark.parametrize("content", ["", "abc", "ABCDE", "abcdef", "ab/de", "\x00\x00"])
def test_a_damaged_id_is_named_and_kept(folder: Path, environ: dict[str, str], content: str) -> None:
    workspace = Workspace.init(str(folder), environ)
    path = folder / ".jp" / ".id"
    path.write_text(content)
    with pytest.raises(UnreadableFileError, match=str(path)):
        _ = Workspace.find(workspace.root, environ).id
    with pytest.raises(UnreadableFileError):
        Workspace.init(str(folder), environ)
    assert path.read_text() == content


def test_without_an_id_there_is_no_directory_until_one_is_needed(folder: Path, environ: dict[str, str]) -> None:
    (folder / ".jp").mkdir()
    workspace = Workspace.find(str(folder), environ)
    assert workspace.id is None
    assert workspace.user_dir is None
    assert os.listdir(folder / ".jp") == []
    made = workspace.ensure_user_dir()
    assert made.endswith(f"folder-{workspace.id}")
    assert os.stat(made).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["{id}", "my-project-{id}", "other-name-{id}"])
def test_the_users_directory_is_found_by_the_end_of_its_name(folder: Path, environ: dict[str, str], name: str) -> None:
    workspace = Workspace.init(str(folder), environ)
    parent = Path(environ["HOME"], ".local/share/jp/workspace")
    wanted = parent / name.format(id=workspace.id)
    wanted.mkdir(parents=True)
    (parent / "zzz-other").mkdir()
    (parent / f"x{workspace.id}").mkdir()
    assert workspace.user_dir == str(wanted)


def test_of_two_the_one_with_conversations_is_meant(folder: Path, environ: dict[str, str]) -> None:
    workspace = Workspace.init(str(folder), environ)
    parent = Path(environ["HOME"], ".local/share/jp/workspace")
    (parent / f"a-{workspace.id}").mkdir(parents=True)
    (parent / f"b-{workspace.id}" / "conversations").mkdir(parents=True)
    assert workspace.user_dir == str(parent / f"b-{workspace.id}")


def test_without_a_home_it_is_said_what_to_set(folder: Path) -> None:
    workspace = Workspace.init(str(folder), {})
    assert workspace.user_dir is None
    with pytest.raises(MissingHomeError, match="HOME"):
        workspace.ensure_user_dir()
