"""Attachments: files are read or named as unreadable, everything else is said to be not in effect."""

import os
from pathlib import Path

import pytest

from jp.conversation.attachments import Attachment, AttachmentError, Wanted, load, parse


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


def test_the_rest_is_not_in_effect_and_said(tmp_path: Path) -> None:
    found, notices = load(["cmd://date", "https://example.org", {"type": "mcp", "path": "x"}], str(tmp_path))
    assert found == []
    assert [("cmd:date" in notices[0], "'https'" in notices[1], "'mcp'" in notices[2])] == [(True, True, True)]
