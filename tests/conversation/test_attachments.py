"""Attachments: files are read or named as unreadable, everything else is said to be not in effect."""

import os
from pathlib import Path

import pytest

from jp.conversation.attachments import MOST_BYTES, Attachment, AttachmentError, Wanted, load, parse


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ("docs/a.md", Wanted("file", "docs/a.md")),
        ("/abs/a.md", Wanted("file", "/abs/a.md")),
        ("file://docs/rfd/001.md", Wanted("file", "docs/rfd/001.md")),
        ("file:docs/a%20b.md?description=An%20a", Wanted("file", "docs/a b.md", "An a")),
        ("cmd://date?arg=-u&description=Now", Wanted("cmd", "date", "Now")),
        ("https://example.org/x", Wanted("https", "example.org/x")),
        ("C:\\x", Wanted("file", "C:\\x")),
        ({"type": "file", "path": "a", "params": {"description": "d"}}, Wanted("file", "a", "d")),
        ({"type": "cmd", "path": "git", "params": {"arg": ["x"]}}, Wanted("cmd", "git")),
    ],
)
def test_entries(entry: object, wanted: Wanted) -> None:
    assert parse(entry) == wanted


def test_files_are_read_from_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("a.md", "b.md", "c.txt"):
        (tmp_path / "docs" / name).write_text(f"text of {name}")
    (tmp_path / "docs" / "[x].md").write_text("brackets")
    outside = tmp_path / "outside.txt"
    outside.write_text("o")
    root = str(tmp_path / "docs")
    found, notices = load(["a.md", "file://c.txt", "?.md", str(outside), "[x].md"], root)
    assert found == [
        Attachment("a.md", "text of a.md"),
        Attachment("c.txt", "text of c.txt"),
        Attachment("a.md", "text of a.md"),
        Attachment("b.md", "text of b.md"),
        Attachment(str(outside), "o"),
        Attachment("[x].md", "brackets"),
    ]
    assert notices == []


def test_a_configured_table_is_read(tmp_path: Path) -> None:
    from tests.conversation.support import config

    (tmp_path / "a.md").write_text("x")
    cfg = config({"conversation": {"attachments": [{"type": "file", "path": "a.md"}, "a.md"]}})
    found, _ = load(cfg.conversation.attachments, str(tmp_path))
    assert [one.content for one in found] == ["x", "x"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing.md", "No such file"), ("folder", "directory"), ("binary", "not text"), ("*.none", "matches no file")],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    with pytest.raises(AttachmentError) as error:
        load([name], str(tmp_path))
    assert name in error.value.message
    assert reason in error.value.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(AttachmentError, match="Permission denied"):
        load(["secret"], str(tmp_path))


def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    root, secret = tmp_path / "ws", tmp_path / "secret.md"
    (root / "docs").mkdir(parents=True)
    secret.write_text("secret")
    (root / "docs/a.md").write_text("a")
    (root / "docs/link.md").symlink_to(secret)
    (root / "inner.md").symlink_to(root / "docs/a.md")
    (root / "up").symlink_to(tmp_path)
    for entry in (
        "docs/link.md",
        "docs/*.md",
        "**/link.md",
        "up/secret.md",
        "file:up/secret.md",
        f"{root}/docs/link.md",
    ):
        found, notices = load([entry], str(root))
        assert "secret" not in [one.content for one in found], entry
        assert ["out of the workspace" in notice for notice in notices] == [True], entry
    found, notices = load(["inner.md", str(secret), "../secret.md"], str(root))
    assert ([one.content for one in found], notices) == (["a", "secret", "secret"], [])


def test_a_workspace_behind_a_link_is_one(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/a.md").write_text("a")
    (tmp_path / "way").symlink_to(tmp_path / "ws")
    for entry in ("a.md", str(tmp_path / "way/a.md"), str(tmp_path / "ws/a.md")):
        found, notices = load([entry], str(tmp_path / "way"))
        assert ([one.content for one in found], notices) == (["a"], []), entry


@pytest.mark.parametrize("name", ["..notes.md", "...", "..a/b.md", ".hidden"])
def test_a_name_that_begins_with_dots_is_in_the_workspace(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("x")
    assert load([name], str(tmp_path)) == ([Attachment(name, "x")], [])
    assert load([f"./{name}"], str(tmp_path)) == ([Attachment(name, "x")], [])


def test_a_workspace_whose_path_looks_like_a_glob(tmp_path: Path) -> None:
    root = tmp_path / "[a]*"
    root.mkdir()
    (root / "x.md").write_text("x")
    assert load(["*.md"], str(root)) == ([Attachment("x.md", "x")], [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(AttachmentError, match="fifo: it is not a regular file"):
        load(["fifo"], str(tmp_path))
    with pytest.raises(AttachmentError, match="/dev/zero: it is not a regular file"):
        load(["/dev/zero"], str(tmp_path))


def test_attachments_are_so_large_together_and_not_larger(tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.write_bytes(b"x" * (MOST_BYTES // 2))
    assert len(load(["half", "half"], str(tmp_path))[0]) == 2
    (tmp_path / "more").write_bytes(b"x")
    with pytest.raises(AttachmentError, match="more: the attachments would be larger than 16 MiB together"):
        load(["half", "half", "more"], str(tmp_path))
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(AttachmentError, match="huge: the attachments would be larger than 16 MiB"):
        load(["huge"], str(tmp_path))


def test_a_pattern_that_matches_too_much_is_named(tmp_path: Path) -> None:
    from jp.config import globs

    for number in range(globs.MOST_MATCHES + 1):
        (tmp_path / str(number)).touch()
    with pytest.raises(AttachmentError, match=r"the attachment \*\* matches more than 4,096 files"):
        load(["**"], str(tmp_path))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "~\0"])
def test_what_is_no_path_is_named(tmp_path: Path, name: str) -> None:
    for entry in (name, f"{tmp_path}/{name}", f"*{name}"):
        with pytest.raises(AttachmentError):
            load([entry], str(tmp_path))


def test_the_rest_is_not_in_effect_and_said(tmp_path: Path) -> None:
    found, notices = load(["cmd://date", "https://example.org", {"type": "mcp", "path": "x"}], str(tmp_path))
    assert found == []
    assert [("cmd:date" in notices[0], "'https'" in notices[1], "'mcp'" in notices[2])] == [(True, True, True)]
