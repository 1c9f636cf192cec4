"""What is approved is kept in the file that the original writes, with all that it does not know."""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jp.plugin.approvals import Approval, Approvals, NoApprovalsError
from jp.storage.errors import UnreadableFileError
from tests.plugin.scripts import approvals as file

SHA = "ab" * 32
ENTRY = {"path": "/bin/jp-a", "sha256": SHA, "approved_at": "2026-01-02T03:04:05.678901Z"}


def write(found: Any) -> None:
    file().parent.mkdir(parents=True, exist_ok=True)
    file().write_text(found if isinstance(found, str) else json.dumps(found))


def content() -> Any:
    return json.loads(file().read_text())


@pytest.fixture
def known() -> Approvals:
    return Approvals.of(os.environ)


@pytest.mark.req("PROTO-12")
def test_an_approval_is_the_path_and_the_hash(known: Approvals):
    before = datetime.now(UTC)
    known.approve("a", "/bin/jp-a", SHA)
    entry = content()["approved"]["a"]
    assert set(entry) == {"path", "sha256", "approved_at"}
    assert (entry["path"], entry["sha256"]) == ("/bin/jp-a", SHA)
    assert entry["approved_at"].endswith("Z")
    assert before <= datetime.fromisoformat(entry["approved_at"]) <= datetime.now(UTC)
    assert known.get("a") == Approval("/bin/jp-a", SHA, entry["approved_at"])
    assert known.get("b") is None


def test_what_the_original_wrote_is_read(known: Approvals):
    write({"approved": {"a": {**ENTRY, "installed": True, "manifest": {"command": ["a"]}}, "b": ENTRY}})
    assert known.all() == {
        "a": Approval("/bin/jp-a", SHA, ENTRY["approved_at"], installed=True),
        "b": Approval("/bin/jp-a", SHA, ENTRY["approved_at"]),
    }
    write({"approved": {"a": {**ENTRY, "sha256": SHA.upper()}}})
    assert known.all()["a"].sha256 == SHA


def test_what_is_not_known_stays(known: Approvals):
    others = {"z": {**ENTRY, "more": {"x": [1]}}, "odd": 3}
    write({"version": 7, "approved": {**others, "a": {**ENTRY, "manifest": {}, "installed": True, "source": "/s"}}})
    known.approve("a", "/bin/jp-a", "cd" * 32)
    found = content()
    assert found["version"] == 7
    assert {name: found["approved"][name] for name in others} == others
    entry = found["approved"]["a"]
    assert entry.pop("approved_at") != ENTRY["approved_at"]
    assert entry == {
        "path": "/bin/jp-a", "sha256": "cd" * 32, "manifest": {}, "installed": True, "source": "/s",
    }  # fmt: skip
    was = known.forget("a")
    assert was is not None
    assert was._replace(approved_at="") == Approval("/bin/jp-a", "cd" * 32, installed=True, source="/s")
    assert content() == {"version": 7, "approved": others}


def test_another_file_of_the_name_was_not_installed(known: Approvals):
    write({"approved": {"a": {**ENTRY, "installed": True, "source": "/s"}}})
    known.approve("a", "/other/jp-a", SHA)
    assert known.all()["a"] == Approval("/other/jp-a", SHA, known.all()["a"].approved_at)
    known.approve("a", "/other/jp-a", SHA, source="/from")
    assert content()["approved"]["a"]["installed"] is True
    assert known.all()["a"].source == "/from"


@pytest.mark.parametrize(
    "entry",
    [None, 3, [], {}, {"path": "/x"}, {**ENTRY, "sha256": 3}, {**ENTRY, "path": None}, {**ENTRY, "path": "bin/jp-a"}],
)
def test_what_is_no_approval_approves_nothing(known: Approvals, entry: Any):
    write({"approved": {"a": entry, "b": ENTRY}})
    assert set(known.all()) == {"b"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"approved": []}', "[" * 100_000, "\ud800", '{"approved": {}'])
def test_what_can_not_be_understood_approves_nothing_and_is_not_written_over(known: Approvals, text: str):
    write("")
    data = text.encode("utf-8", "surrogatepass")
    file().write_bytes(data)
    assert known.all() == {}
    for change in (lambda: known.approve("a", "/bin/jp-a", SHA), lambda: known.forget("a")):
        with pytest.raises(UnreadableFileError, match=r"plugin-approvals\.json"):
            change()
    assert file().read_bytes() == data


def test_taking_back_what_is_not_there_changes_nothing(known: Approvals):
    assert known.forget("a") is None
    assert not file().exists()
    write({"approved": {"b": ENTRY}})
    before = file().read_bytes()
    assert known.forget("a") is None
    assert file().read_bytes() == before


def test_without_a_place_nothing_is_approved():
    known = Approvals.of({})
    assert known.all() == {}
    with pytest.raises(NoApprovalsError):
        known.approve("a", "/bin/jp-a", SHA)


def test_of_many_who_approve_at_once_nobody_is_lost(known: Approvals):
    names = [f"p{number}" for number in range(12)]
    threads = [threading.Thread(target=known.approve, args=(name, f"/bin/jp-{name}", SHA)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(known.all()) == set(names)


def test_a_path_that_is_no_text_is_kept(known: Approvals, tmp_path: Path):
    path = os.fsdecode(os.fsencode(str(tmp_path)) + b"/\xff/jp-a")
    known.approve("a", path, SHA)
    assert known.all()["a"].path == path
