"""The backend without a process."""

from pathlib import Path

import pytest

from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.errors import EditorIoError, EditorSpawnError
from jp.editor.scripted import ScriptedEditor

SAVED, CANCELLED = EditOutcome.SAVED, EditOutcome.CANCELLED


@pytest.mark.req("088-37")
def test_texts() -> None:
    editor = ScriptedEditor(
        ["new", str.upper, SAVED, CANCELLED, EditorSpawnError("ed", "gone"), EditorIoError("ed", "no text")]
    )
    assert editor.edit_text("a") == (SAVED, "new")
    assert editor.edit_text("b", ".json") == (SAVED, "B")
    assert editor.edit_text("c") == (SAVED, "c")
    assert editor.edit_text("d")[0] is CANCELLED
    for kind in (EditorSpawnError, EditorIoError, EditorSpawnError):
        with pytest.raises(kind):
            editor.edit_text("e")
    assert editor.requests == ["a", "b", "c", "d", "e", "e", "e"]


@pytest.mark.req("088-37")
def test_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"a\r\n")
    request = EditRequest((str(one), str(two)), "/nowhere")
    editor = ScriptedEditor([lambda text: text + "x", "only", CANCELLED, SAVED, EditorSpawnError("ed", "gone"), "y"])
    assert editor.edit_file(request) is SAVED
    assert (one.read_bytes(), two.read_bytes()) == (b"a\r\nx", b"x")
    assert editor.edit_file(request) is SAVED
    assert editor.edit_file(request) is CANCELLED
    assert editor.edit_file(request) is SAVED
    assert (one.read_bytes(), two.read_bytes()) == (b"only", b"x")
    with pytest.raises(EditorSpawnError):
        editor.edit_file(request)
    with pytest.raises(EditorIoError):
        editor.edit_file(EditRequest((str(tmp_path),)))
    assert editor.requests[0] is request
