"""The workspace that the original wrote over half a year: read whole, continued, and nothing else in it changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

from jp.conversation import events
from jp.conversation.events import ChatRequest, ChatResponse, TurnStart, Unknown
from jp.conversation.stream import Stream
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.storage.conftest import Clock, T, tree, turn

IDS = [
    "17648402467",
    "17653152345",
    "17662304290",
    "17671120783",
    "17673969718",
    "17727484633",
    "17727496665",
    "17727523543",
    "17732257364",
    "17758406187",
    "17800836875",
]


@pytest.fixture
def copied(data_dir: Path, folder: Path, environ: dict[str, str], clock: Clock) -> Store:
    """A store over a copy of the workspace."""
    root = folder / "workspace"
    shutil.copytree(data_dir / "workspace", root)
    for at, folders, names in os.walk(root):
        for name in (*folders, *names):
            os.chmod(os.path.join(at, name), 0o755 if name in folders else 0o644)
    root.chmod(0o755)
    return Store(Workspace.find(str(root / ".jp" / "config"), environ), environ, clock)


def test_all_of_it_is_listed(copied: Store) -> None:
    found = copied.list()
    assert [one.id for one in found] == IDS[::-1]
    assert all(one.title and one.last_activated_at and not one.local for one in found)
    assert copied.problems == []
    assert not os.path.exists(copied.workspace.user_dir or "")


def test_all_of_it_is_read_and_nothing_written(copied: Store) -> None:
    before = tree(copied.workspace.root)
    for one in IDS:
        conversation = copied.open(one)
        found = list(conversation.stream.events())
        assert not any(isinstance(event, Unknown) for event in found)
        assert conversation.base_config is not None
        assert conversation.base_config["assistant"]["system_prompt"]
        deltas = [event for event in found if event.type == "config_delta"]
        has_file = os.path.exists(os.path.join(conversation.path, "base_config.json"))
        assert len(conversation.config_deltas()) == len(deltas) - (not has_file)
        assert conversation.notices == []
    assert tree(copied.workspace.root) == before
    assert not os.path.exists(copied.workspace.user_dir or "")


@pytest.mark.parametrize("conversation_id", IDS)
def test_a_turn_changes_its_events_alone(copied: Store, conversation_id: str) -> None:
    place = copied.place(conversation_id)
    projection = Path(place.projection or "")
    # What a later version might have added.
    (projection / "future.bin").write_bytes(b"\x00\xff")
    (projection / "sub").mkdir()
    (projection / "sub" / "x").write_text("x")
    metadata = json.loads((projection / "metadata.json").read_bytes())
    (projection / "metadata.json").write_text(json.dumps({**metadata, "unknown": {"a": [1]}}, indent=2) + "\n")
    data = (projection / "events.json").read_bytes()
    unknown = b'{\n    "type":   "hologram", "timestamp":"x",\n "deep": [ {"y" : 1.50} ]}'
    stream = Stream(data)
    stream.append_raw(unknown)
    (projection / "events.json").write_bytes(b"".join(stream.document()))
    before = tree(copied.workspace.root)
    lock = copied.lock(conversation_id, "jp query")
    conversation = copied.open(conversation_id, lock)
    count = len(conversation.stream)
    writer = TurnWriter.begin(conversation, lock)
    writer.append(TurnStart(timestamp=T))
    writer.append(ChatRequest(timestamp=T, content="And now?"))
    writer.partial("message", "Now ")
    writer.complete_partial(ChatResponse(timestamp=T, message="Now this.\n"))
    writer.fold()
    lock.release()
    after = tree(copied.workspace.root)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    name = os.path.relpath(projection / "events.json", copied.workspace.root)
    assert changed == {name}
    old = Stream(before[name])
    assert after[name].startswith(before[name][: old.prefix_length])
    assert after[name].endswith(before[name][old.prefix_length :])
    again = copied.open(conversation_id)
    assert len(again.stream) == count + 3
    assert [bytes(again.stream.raw(i)) for i in range(count)] == [bytes(old.raw(i)) for i in range(count)]
    assert json.loads(after[name])[:count] == json.loads(before[name])
    assert [event.type for event in again.stream.events(start=count)] == ["turn_start", "chat_request", "chat_response"]
    durable = copied.place(conversation_id).durable
    assert durable
    assert tree(durable) == {
        os.path.relpath(path, os.path.relpath(projection, copied.workspace.root)): content
        for path, content in after.items()
        if path.startswith(os.path.relpath(projection, copied.workspace.root) + os.sep)
    }


def test_what_is_written_is_what_the_original_would_write(copied: Store) -> None:
    """The layout of a document with a turn of ours, against that of the newest document of the original."""
    lock = copied.lock("17800836875")
    turn(copied.open("17800836875", lock), "q", "ä\u0007")
    lock.release()
    written = Path(copied.open("17800836875").path, "events.json").read_bytes()
    assert written == json.dumps(json.loads(written), indent=2, ensure_ascii=False).encode() + b"\n"


def test_a_change_of_the_metadata_keeps_the_rest(copied: Store) -> None:
    conversation = copied.open("17727484633")
    path = Path(conversation.path, "metadata.json")
    path.write_text('{\n  "unknown": [1, 2.50,\t{}],\n  "last_activated_at": "2026-03-05 22:07:43.369023"\n}\n')
    conversation.set_title("Ünï")
    path = Path(conversation.path, "metadata.json")
    assert path.read_text() == (
        '{\n  "title": "Ünï",\n  "unknown": [1, 2.50,\t{}],\n  "last_activated_at": "2026-03-05 22:07:43.369023"\n}\n'
    )


def test_events_are_encoded_as_they_stand_there(copied: Store) -> None:
    different = 0
    for one in IDS:
        stream = copied.open(one).stream
        for i in range(len(stream)):
            raw = bytes(stream.raw(i)).replace(b"\n  ", b"\n")
            different += events.encode(stream.event(i)) != raw
    # One config in the oldest form, and three outputs in the alphabet for URLs.
    assert different == 4
