"""The store: list, find, create, archive, remove; nothing that is there is passed over in silence."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from jp.errors import UsageError
from jp.storage.conversation import Conversation
from jp.storage.errors import (
    AmbiguousIdError,
    LockedError,
    MissingHomeError,
    NoActiveConversationError,
    UnknownConversationError,
    WriteError,
)
from jp.storage.files import is_temp
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.storage.conftest import Clock, said, tree, turn
from tests.storage.faults import Died, fail_at

Make = Callable[..., Conversation]


def test_a_new_one_is_in_both_places_and_as_the_original_makes_it(store: Store, make: Make) -> None:
    made = make("My Title", turns=0)
    assert made.place.durable is not None
    assert made.place.projection is not None
    assert os.path.basename(made.path) == f"{made.id}-my-title"
    assert tree(made.place.durable) == tree(made.place.projection)
    contents = tree(made.path)
    assert sorted(contents) == ["base_config.json", "events.json", "metadata.json"]
    assert contents["events.json"] == b"[]\n"
    assert contents["metadata.json"] == (
        b'{\n  "title": "My Title",\n  "last_activated_at": "2026-06-01 12:00:01.25"\n}\n'
    )
    assert json.loads(contents["base_config.json"]) == {"assistant": {"name": "x"}}
    again = store.open(made.id)
    assert again.base_config == {"assistant": {"name": "x"}}
    assert (again.title, again.local, len(again.stream), again.notices) == ("My Title", False, 0, [])


def test_a_local_one_stays_out_of_the_project(store: Store, make: Make) -> None:
    made = make(local=True)
    assert made.local
    assert not os.path.exists(store.workspace.conversations)
    assert [(one.id, one.local) for one in store.list()] == [(made.id, True)]
    assert store.open(made.id).local


def test_one_that_is_not_persisted_leaves_no_trace(store: Store, workspace: Workspace) -> None:
    before = tree(workspace.root)
    made = store.create(title="secret", base_config={"a": 1}, persist=False)
    turn(made)
    made.set_title("other")
    assert [event.type for event in made.stream.events()] == ["turn_start", "chat_request", "chat_response"]
    assert (made.title, made.base_config, made.path, made.config_deltas()) == ("other", {"a": 1}, "", [])
    assert tree(workspace.root) == before
    assert not os.path.exists(workspace.user_dir or "")


def test_an_existing_one_can_be_gone_on_with_without_a_trace(store: Store, make: Make) -> None:
    made = make()
    before = (tree(made.path), tree(store.workspace.root))
    found = store.open(made.id, persist=False)
    turn(found, "secret")
    found.set_title("other")
    assert len(found.stream) == 6
    assert (tree(made.path), tree(store.workspace.root)) == before


def test_two_made_at_the_same_moment_are_two(store: Store) -> None:
    moment = store.clock()
    store.clock = lambda: moment
    made = [store.create() for _ in range(3)]
    assert len({one.id for one in made}) == 3
    assert int(made[1].id) == int(made[0].id) + 1


@pytest.mark.parametrize("dies", [False, True], ids=["error", "dies"])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename", "mkdir"])
def test_a_fault_while_one_is_made_leaves_it_whole_or_not_there(store: Store, call: str, dies: bool) -> None:
    reached = 0
    for k in range(1, 40):
        before = store.ids()
        made = None
        with fail_at(call, k, dies=dies) as fault:
            try:
                made = store.create(title="x", base_config={"a": 1})
            except (WriteError, Died):
                pass
        if made is not None:
            assert made.lock
            made.lock.release()
        if not fault.fired:
            break
        reached += 1
        again = Store(store.workspace, {}, store.clock)
        new = [one for one in again.list() if one.id not in before]
        assert len(new) <= 1
        assert made is None or [one.id for one in new] == [made.id]
        for one in new:
            assert one.title == "x"
            assert again.open(one.id).base_config == {"a": 1}
        if not dies:
            folders = [
                folder for folder in (store.roots.durable, store.roots.projection) if os.path.isdir(folder or "")
            ]
            assert not [name for folder in folders for name in os.listdir(folder) if is_temp(name)]
        assert again.problems == []
    assert reached, f"{call} is never called"


CREATE = """
import os, sys
sys.path[:0] = sys.argv[2:]
from jp.storage.store import Store
from jp.storage.workspace import Workspace
store = Store(Workspace.find(sys.argv[1], os.environ), os.environ)
for _ in range(8):
    made = store.create(title="x")
    made.lock.release()
    print(made.id)
"""


def test_processes_that_make_some_together_never_share_one(store: Store) -> None:
    argv = [sys.executable, "-c", CREATE, store.workspace.root, *sys.path]
    children = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    made = [line for child in children for line in child.communicate(timeout=60)[0].split()]
    assert len(made) == len(set(made)) == 24
    assert store.ids() == sorted(made, key=int)


def test_listed_by_activity_with_what_a_listing_needs(store: Store, make: Make, clock: Clock) -> None:
    first, second, third = make("one"), make("two"), make(None)
    first.set_time("last_activated_at", clock() + timedelta(hours=1))
    first.set_time("pinned_at", clock())
    second.set_labels({"branch": ["main", "main"], "empty": [], "bare": [""], "both": ["", "x"]})
    found = store.list()
    assert [one.id for one in found] == [first.id, third.id, second.id]
    assert [one.title for one in found] == ["one", None, "two"]
    assert [bool(one.pinned_at) for one in found] == [True, False, False]
    assert found[2].labels == {"bare": [""], "both": ["x"], "branch": ["main"]}
    assert found[0].path == first.place.durable
    assert not any(one.archived or one.expires_at or one.archived_at for one in found)
    assert store.problems == []


def test_the_newer_metadata_counts(store: Store, make: Make) -> None:
    made = make("old")
    assert made.place.projection
    path = os.path.join(made.place.projection, "metadata.json")
    fields = json.loads(Path(path).read_bytes())
    Path(path).write_text(json.dumps({**fields, "title": "pulled", "mood": 1}))
    os.utime(path, ns=(2**62, 2**62))
    assert store.list()[0].title == "pulled"
    found = store.open(made.id)
    assert found.title == "pulled"
    found.set_labels({"a": ["b"]})
    for folder in found.place.existing:
        assert json.loads(Path(folder, "metadata.json").read_bytes()) == {
            **fields,
            "title": "pulled",
            "mood": 1,
            "labels": {"a": ["b"]},
        }


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000], ids=lambda one: one[:4])
def test_unreadable_metadata_is_reported_and_kept(store: Store, make: Make, content: bytes) -> None:
    made = make("good")
    paths = [Path(folder, "metadata.json") for folder in made.place.existing]
    paths[0].write_bytes(content)
    os.utime(paths[0], ns=(1, 1))
    assert [one.title for one in store.list()] == ["good"]
    assert store.problems == []
    os.utime(paths[0], ns=(2**62, 2**62))
    assert [one.title for one in store.list()] == ["good"]
    assert [problem.path for problem in store.problems] == [str(paths[0])]
    store.problems.clear()
    paths[1].write_bytes(content)
    assert [(one.id, one.title) for one in store.list()] == [(made.id, None)]
    assert {problem.path for problem in store.problems} == {str(path) for path in paths}
    assert str(store.problems[0]).startswith(store.problems[0].path)
    assert [path.read_bytes() for path in paths] == [content, content]


def test_a_change_sets_unreadable_metadata_aside(store: Store, make: Make) -> None:
    made = make(local=True)
    path = Path(made.path, "metadata.json")
    path.write_bytes(b"{half")
    found = store.open(made.id)
    found.set_labels({"a": ["b"]})
    assert Path(f"{path}.aside").read_bytes() == b"{half"
    assert any(f"{path}.aside" in notice for notice in found.notices)
    assert store.open(made.id).metadata.labels == {"a": ["b"]}


def test_directories_that_are_no_conversations_are_left_alone(store: Store, make: Make) -> None:
    made = make()
    assert store.roots.durable
    for name in ("notes", "123-empty", ".archive", ".178-x.9-1-abcdef.tmp"):
        os.makedirs(os.path.join(store.roots.durable, name), exist_ok=True)
    Path(store.roots.durable, "metadata.json").write_text("{}")
    Path(store.roots.durable, "999").write_text("a file")
    assert [one.id for one in store.list()] == [made.id]
    assert store.problems == []


def test_one_without_metadata_is_listed(store: Store, make: Make) -> None:
    made = make(local=True)
    os.unlink(os.path.join(made.path, "metadata.json"))
    assert [(one.id, one.title, one.last_activated_at) for one in store.list()] == [(made.id, None, None)]
    assert store.open(made.id).title is None


def test_a_second_directory_of_one_id_is_reported(store: Store, make: Make) -> None:
    made = make("b title")
    assert store.roots.durable
    other = os.path.join(store.roots.durable, f"{made.id}-a-title")
    os.mkdir(other)
    Path(other, "metadata.json").write_text('{"title": "a title"}')
    Path(other, "events.json").write_text("[]")
    assert len(store.list()) == 1
    assert [problem.path for problem in store.problems] == [made.place.durable]


def test_titles_name_the_directories(store: Store, make: Make) -> None:
    made = make(None)
    assert os.path.basename(made.path) == made.id
    Path(made.path, "extra.txt").write_text("kept")
    found = store.open(made.id)
    found.set_title("A New Title!")
    for folder in store.place(made.id).existing:
        assert os.path.basename(folder) == f"{made.id}-a-new-title"
    assert Path(store.place(made.id).durable or "", "extra.txt").read_text() == "kept"
    assert store.list()[0].title == "A New Title!"
    assert found.path == store.open(made.id).path
    found.set_title(None)
    assert os.path.basename(found.path) == made.id


def test_a_title_waits_for_the_turn_of_others(store: Store, make: Make) -> None:
    made = make("old")
    held = store.lock(made.id, "jp query")
    with pytest.raises(LockedError, match="jp query"):
        store.open(made.id).set_title("new")
    mine = store.open(made.id, held)
    mine.set_title("new")
    held.release()
    assert store.open(made.id).title == "new"


def test_resolving(store: Store, make: Make, clock: Clock) -> None:
    with pytest.raises(NoActiveConversationError):
        store.resolve(".")
    with pytest.raises(UnknownConversationError):
        store.resolve("newest")
    ids = [make(f"t{n}").id for n in range(4)]
    sessions = store.sessions()
    for one in (ids[0], ids[2], ids[1]):
        sessions.activate(one, clock())
    store.open(ids[3]).set_time("pinned_at", clock())
    store.open(ids[0]).set_time("last_activated_at", clock() + timedelta(days=1))
    gone = make("archived").id
    store.archive(gone)
    expected = {
        ids[0]: ["recent", "r", ids[0], f"jp-c{ids[0]}"],
        ids[1]: [".", "active"],
        ids[2]: ["session", "s"],
        ids[3]: ["newest", "n", "pinned", "p"],
        gone: ["archived", "a", gone],
    }
    for one, targets in expected.items():
        for target in targets:
            assert store.resolve(target) == one, target
    assert store.resolve_all("+live") == ids
    assert store.resolve_all("+s") == [ids[1], ids[2], ids[0]]
    assert store.resolve_all("+pinned") == [ids[3]]
    assert store.resolve_all("+archived") == [gone]
    assert store.resolve_all("n") == [ids[3]]
    with pytest.raises(AmbiguousIdError) as ambiguous:
        store.resolve(ids[0][:3])
    assert "beginning of 4" in ambiguous.value.message
    with pytest.raises(UnknownConversationError) as unknown:
        store.resolve(ids[0][:-1] + ("0" if ids[0][-1] != "0" else "1") + "5")
    assert any("jp-c" in hint for hint in unknown.value.hints)
    for target in ("?", "-", "+live"):
        with pytest.raises(UsageError):
            store.resolve(target)


def test_a_session_passes_over_what_was_removed(store: Store, make: Make, clock: Clock) -> None:
    ids = [make().id for _ in range(3)]
    for one in ids:
        store.sessions().activate(one, clock())
    store.remove(ids[1])
    assert store.resolve("s") == ids[0]
    store.remove(ids[2])
    with pytest.raises(NoActiveConversationError) as error:
        store.resolve(".")
    assert any("--new" in hint and "--id" in hint for hint in error.value.hints)


def test_removed_from_both_places(store: Store, make: Make) -> None:
    made, other = make(), make()
    store.remove(made.id)
    assert [one.id for one in store.list()] == [other.id]
    assert not any(os.path.exists(folder) for folder in made.place.existing)
    assert store.roots.durable
    assert os.listdir(store.roots.durable) == [os.path.basename(other.path)]
    with pytest.raises(UnknownConversationError):
        store.remove(made.id)


def test_not_removed_while_a_turn_writes_it(store: Store, make: Make) -> None:
    made = make()
    with store.lock(made.id, "jp query"), pytest.raises(LockedError):
        store.remove(made.id)
    assert os.path.exists(made.path)


def test_archived_and_brought_back(store: Store, make: Make) -> None:
    made, other = make("x"), make("y")
    store.archive(made.id)
    store.archive(made.id)
    assert [one.id for one in store.list()] == [other.id]
    archived = store.list(archived=True)
    assert [(one.id, one.archived, bool(one.archived_at)) for one in archived] == [(made.id, True, True)]
    assert said(store, made.id) == ["q", "a"]
    assert (store.ids(), store.ids(archived=True)) == ([other.id], [made.id])
    store.unarchive(made.id)
    assert {one.id for one in store.list()} == {made.id, other.id}
    assert store.list(archived=True) == []
    assert store.open(made.id).metadata.time("archived_at") is None


def test_expired_ones_go_unless_they_are_active(store: Store, make: Make, clock: Clock) -> None:
    soon = clock() + timedelta(minutes=1)
    gone, active, held, kept = (make(expires_at=soon) for _ in range(4))
    forever = make()
    kept.set_time("expires_at", clock() + timedelta(days=1))
    store.sessions().activate(active.id, clock())
    assert store.sweep() == []
    clock.now += timedelta(hours=1)
    with store.lock(held.id, "jp query"):
        assert store.sweep() == [gone.id]
    assert {one.id for one in store.list()} == {active.id, held.id, kept.id, forever.id}
    assert any(held.id in problem.path for problem in store.problems)
    assert store.sweep(store.list()) == [held.id]


def test_without_a_home_the_project_can_be_read_but_nothing_written(store: Store, make: Make) -> None:
    made = make()
    homeless = Store(Workspace.find(store.workspace.root, {}), {}, store.clock)
    assert [one.id for one in homeless.list()] == [made.id]
    assert said(homeless, made.id) == ["q", "a"]
    with pytest.raises(MissingHomeError):
        homeless.create()
    with pytest.raises(MissingHomeError):
        homeless.lock(made.id)
    assert homeless.sweep() == []


LIGHT = """
import sys
sys.path[:0] = sys.argv[2:]
from jp.storage.store import Store
from jp.storage.workspace import Workspace
import os
before = set(sys.modules)
Store(Workspace.find(sys.argv[1], os.environ), os.environ).list()
heavy = "msgspec typing dataclasses pathlib logging subprocess asyncio tempfile shutil inspect".split()
print(sorted(set(heavy) & set(sys.modules)))
"""


def test_listing_imports_nothing_heavy(store: Store, make: Make) -> None:
    make()
    argv = [sys.executable, "-S", "-c", LIGHT, store.workspace.root, *sys.path]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
