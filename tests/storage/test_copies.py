"""Two copies: the longer one wins, whatever its layout; those that diverge are both kept."""

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jp.conversation.stream import Stream
from jp.storage import copies
from jp.storage.conversation import Conversation
from jp.storage.copies import Relation, relation
from jp.storage.errors import UnreadableFileError, WriteError
from jp.storage.store import Store
from tests.storage.conftest import said, tree, turn
from tests.storage.faults import fail_at

Make = Callable[..., Conversation]
A, B, C = ({"type": "chat_request", "timestamp": "t", "content": text * 40} for text in "abc")

LAYOUTS = {
    "pretty": lambda value: json.dumps(value, indent=2).encode() + b"\n",
    "older": lambda value: json.dumps(value, indent=2).encode(),
    "compact": lambda value: json.dumps(value).encode(),
}


@pytest.mark.parametrize("piece", [7, 4 << 20])
@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, LAYOUTS)), ids="-".join)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([A, B], [A, B], Relation.SAME),
        ([A, B], [A], Relation.BEHIND),
        ([A, B], [], Relation.BEHIND),
        ([A], [A, B], Relation.AHEAD),
        ([], [A, B], Relation.AHEAD),
        ([A, B], [A, C], Relation.DIVERGED),
        ([A, B], [C], Relation.DIVERGED),
        ([], [], Relation.SAME),
    ],
)
def test_relations(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: list,
    second: list,
    expected: Relation,
    layouts: tuple[str, str],
    piece: int,
) -> None:
    monkeypatch.setattr(copies, "_PIECE", piece)
    path = folder / "events.json"
    path.write_bytes(LAYOUTS[layouts[1]](second))
    assert relation(Stream(LAYOUTS[layouts[0]](first)), str(path)) is expected


def test_the_same_layout_is_compared_without_being_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "by_events", lambda *_: pytest.fail("parsed"))
    path = folder / "events.json"
    for layout in LAYOUTS.values():
        path.write_bytes(layout([A, B]))
        assert relation(Stream(layout([A, B])), str(path)) is Relation.SAME
        assert relation(Stream(layout([A, B, C])), str(path)) is Relation.BEHIND


def parts(made: Conversation) -> tuple[Path, Path]:
    durable, projection = made.place.durable, made.place.projection
    assert durable
    assert projection
    return Path(durable, "events.json"), Path(projection, "events.json")


def pulled(store: Store, made: Conversation, question: str) -> bytes:
    """The events as they would come from another machine: one turn more than here."""
    durable, projection = parts(made)
    kept = durable.read_bytes(), projection.read_bytes()
    lock = store.lock(made.id)
    turn(store.open(made.id, lock), question)
    lock.release()
    more = durable.read_bytes()
    durable.write_bytes(kept[0])
    projection.write_bytes(kept[1])
    return more


@pytest.mark.parametrize("which", [0, 1])
def test_the_longer_copy_wins_and_the_next_turn_writes_both(store: Store, make: Make, which: int) -> None:
    made = make()
    more = pulled(store, made, "from elsewhere")
    parts(made)[which].write_bytes(more)
    assert said(store, made.id) == ["q", "a", "from elsewhere", "a"]
    lock = store.lock(made.id)
    found = store.open(made.id, lock)
    assert found.notices == []
    turn(found, "next")
    lock.release()
    assert parts(made)[0].read_bytes() == parts(made)[1].read_bytes()
    assert parts(made)[0].read_bytes().startswith(more[: Stream(more).prefix_length])
    assert said(store, made.id) == ["q", "a", "from elsewhere", "a", "next", "a"]


@pytest.mark.parametrize("k", [1, 2])
def test_a_fork_is_in_both_places_or_in_none(store: Store, make: Make, k: int) -> None:
    made = make("A title")
    user_dir = store.workspace.ensure_user_dir()
    places = (user_dir, store.workspace.conversations)
    before = [tree(one) for one in places]
    with fail_at("rename", k) as fault, pytest.raises(WriteError):
        store.fork_directory(made.path)
    assert fault.fired
    store.sweep()
    for place, files in zip(places, before, strict=True):
        now = tree(place)
        assert {name for name in now if "locks" not in name} == {name for name in files if "locks" not in name}
    assert [one.id for one in store.list()] == [made.id]
    assert len(tree(store.place(store.fork_directory(made.path)).durable or "")) == 3


def test_copies_that_diverged_become_two(store: Store, make: Make) -> None:
    made = make("A title")
    here, there = pulled(store, made, "here"), pulled(store, made, "there")
    durable, projection = parts(made)
    durable.write_bytes(here)
    projection.write_bytes(there)
    Path(projection.parent, "notes.txt").write_text("kept")
    found = store.open(made.id)
    assert len(found.notices) == 1
    assert [one.id for one in store.list()] != [made.id]
    assert said(store, made.id) == ["q", "a", "here", "a"]
    other = next(one.id for one in store.list() if one.id != made.id)
    assert f"jp-c{other}" in found.notices[0]
    assert said(store, other) == ["q", "a", "there", "a"]
    assert durable.read_bytes() == projection.read_bytes() == here
    fork = store.place(other)
    assert fork.durable
    assert fork.projection
    assert tree(fork.durable) == tree(fork.projection)
    assert tree(fork.durable)["notes.txt"] == b"kept"
    assert tree(fork.durable)["events.json"] == there
    assert os.path.basename(fork.durable) == f"{other}-a-title"
    assert store.open(made.id).notices == []
    assert len(store.list()) == 2


def test_diverged_copies_are_not_touched_while_a_turn_runs(store: Store, make: Make) -> None:
    made = make()
    here, there = pulled(store, made, "here"), pulled(store, made, "there")
    durable, projection = parts(made)
    durable.write_bytes(here)
    projection.write_bytes(there)
    with store.lock(made.id, "jp query"):
        assert len(store.open(made.id).stream) == 6
    assert (durable.read_bytes(), projection.read_bytes()) == (here, there)
    assert len(store.list()) == 1


@pytest.mark.parametrize("content", [b"", b"[{", b"{}", b"\x00\x00"])
def test_a_damaged_copy_is_set_aside_when_the_other_is_whole(store: Store, make: Make, content: bytes) -> None:
    made = make()
    durable, projection = parts(made)
    durable.write_bytes(content)
    found = store.open(made.id)
    assert len(found.stream) == 3
    assert any(str(durable) in notice for notice in found.notices)
    assert durable.read_bytes() == content
    lock = store.lock(made.id)
    writing = store.open(made.id, lock)
    turn(writing, "next")
    lock.release()
    assert Path(f"{durable}.aside").read_bytes() == content
    assert any(f"{durable}.aside" in notice for notice in writing.notices)
    assert durable.read_bytes() == projection.read_bytes()
    assert said(store, made.id) == ["q", "a", "next", "a"]


def test_when_no_copy_is_whole_nothing_is_written(store: Store, make: Make) -> None:
    made = make()
    for path in parts(made):
        path.write_bytes(b"[{")
    with pytest.raises(UnreadableFileError) as error:
        store.open(made.id)
    assert error.value.metadata["path"] in {str(path) for path in parts(made)}
    lock = store.lock(made.id)
    with pytest.raises(UnreadableFileError):
        store.open(made.id, lock)
    lock.release()
    assert [path.read_bytes() for path in parts(made)] == [b"[{", b"[{"]
    assert [one.id for one in store.list()] == [made.id]


def test_a_clone_gets_a_durable_copy_with_its_first_turn(store: Store, make: Make) -> None:
    made = make()
    Path(made.place.projection or "", "extra").write_bytes(b"\x00")
    shutil.rmtree(store.workspace.user_dir or "")
    found = store.open(made.id)
    assert found.place.durable is None
    assert not found.local
    assert not os.path.exists(store.workspace.user_dir or "")
    lock = store.lock(made.id)
    turn(store.open(made.id, lock), "next")
    lock.release()
    place = store.place(made.id)
    assert place.durable
    assert place.projection
    assert tree(place.durable) == tree(place.projection)
    assert tree(place.durable)["extra"] == b"\x00"


def test_another_worktree_sees_the_conversation(store: Store, make: Make, folder: Path) -> None:
    made = make()
    shutil.copytree(Path(store.workspace.root, ".jp"), folder / ".jp", ignore=shutil.ignore_patterns("conversations"))
    other = Store(type(store.workspace).find(str(folder), {"HOME": os.environ["HOME"]}), {}, store.clock)
    assert said(other, made.id) == ["q", "a"]
    assert other.open(made.id).local


@pytest.mark.parametrize("which", [0, 1])
def test_events_that_are_missing_in_one_place_are_read_from_the_other(store: Store, make: Make, which: int) -> None:
    made = make()
    missing = parts(made)[which]
    missing.unlink()
    assert said(store, made.id) == ["q", "a"]
    with store.lock(made.id) as lock:
        turn(store.open(made.id, lock), "more")
    assert said(store, made.id) == ["q", "a", "more", "a"]
    assert missing.exists()


@pytest.mark.parametrize("local", [False, True])
def test_events_that_are_missing_everywhere_are_reported_and_nothing_is_written(
    store: Store, make: Make, local: bool
) -> None:
    made = make(local=local)
    folders = made.place.existing
    for folder in folders:
        os.unlink(os.path.join(folder, "events.json"))
    before = [tree(folder) for folder in folders]
    with store.lock(made.id) as lock:
        for held in (None, lock):
            with pytest.raises(UnreadableFileError, match="events are missing") as error:
                store.open(made.id, held)
            assert os.path.join(made.path, "events.json") in error.value.message
            assert f"jp conversation rm jp-c{made.id}" in error.value.hints[1]
    assert [tree(folder) for folder in folders] == before
    assert [one.id for one in store.list()] == [made.id]
    store.remove(made.id)
    assert store.list() == []


def test_a_new_one_that_was_only_just_made_is_empty(store: Store) -> None:
    made = store.create()
    assert made.lock is not None
    made.lock.release()
    assert len(store.open(made.id).stream) == 0
