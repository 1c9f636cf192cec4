"""A file appears whole or not at all."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jp_plugins.export import files


def test_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    files.write(str(path), iter(["a", "é", "\ud800"]), replace=False)
    assert path.read_text() == "aé?"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.md"]


def test_one_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    with pytest.raises(files.Exists, match=r"a\.md is there already"):
        files.write(str(path), ["new"], replace=False)
    assert path.read_text() == "old"
    files.write(str(path), ["new"], replace=True)
    assert path.read_text() == "new"


@pytest.mark.parametrize("linking", [True, False])
def test_one_that_comes_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linking: bool) -> None:
    path = tmp_path / "a.md"
    if not linking:  # as some file systems

        def refused(*_: object) -> None:
            raise OSError(errno.EPERM, "not permitted")

        monkeypatch.setattr(os, "link", refused)

    def pieces() -> Iterator[str]:
        path.write_text("theirs")
        yield "ours"

    with pytest.raises(files.Exists):
        files.write(str(path), pieces(), replace=False)
    assert path.read_text() == "theirs"
    path.unlink()
    files.write(str(path), ["ours"], replace=False)
    assert path.read_text() == "ours"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.md"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_breaks_off_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")

    def pieces() -> Iterator[str]:
        yield "new" * 1_000_000
        raise failure

    with pytest.raises(failure):
        files.write(str(path), pieces(), replace=True)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.md"]


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to("real.md")
    files.write(str(tmp_path / "link.md"), ["a"], replace=False)
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "a"


@pytest.mark.parametrize("replace", [True, False])
def test_what_is_no_file_stays_what_it_is(tmp_path: Path, replace: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(files.NotWritten, match="no regular file"):
            files.write(str(tmp_path / name), ["a"], replace=replace)


def test_where_it_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(files.NotWritten, match=r"can't write .*missing/a.md: no such file or directory"):
        files.write(str(tmp_path / "missing" / "a.md"), ["a"], replace=False)
