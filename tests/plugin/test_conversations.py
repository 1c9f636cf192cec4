"""The data requests of a plugin on real stores, with other processes that hold real locks."""

import base64
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from msgspec import UNSET

from jp import log
from jp.conversation.events import (
    ChatRequest,
    ChatResponse,
    InquiryRequest,
    InquiryResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
    encode_text,
)
from jp.conversation.stream import Stream
from jp.plugin import messages, pushing
from jp.plugin.conversations import PIECE, Conversations
from jp.plugin.errors import RequestError
from jp.storage.conversation import Conversation
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.conftest import Jp
from tests.storage.conftest import Clock, T, tree, turn
from tests.storage.faults import CALLS, Died, fail_at

JSON = dict[str, Any]
BASE = {"assistant": {"name": "x"}}
ASK = {"type": "chat_request", "content": "q2"}
ANSWER = {"type": "chat_response", "message": "a2"}
URLS = str.maketrans("-_", "+/")  # the alphabet of base64 that older versions used


@pytest.fixture
def environ(hermetic: Path) -> dict[str, str]:
    return {"HOME": str(hermetic), "JP_SESSION": "test"}


@pytest.fixture
def store(tmp_path: Path, environ: dict[str, str]) -> Store:
    root = tmp_path / "project"
    root.mkdir()
    return Store(Workspace.init(str(root), environ), environ, Clock())


@pytest.fixture
def made() -> list[str]:
    """The ids that a plugin's `create_conversation` was told of."""
    return []


@pytest.fixture
def plugin(store: Store, made: list[str]) -> Iterator[Conversations]:
    found = Conversations(lambda: store, "jp serve", lambda: BASE, made.append)
    yield found
    found.release()


@pytest.fixture
def logged() -> Iterator[list[JSON]]:
    lines: list[JSON] = []
    log.open_log(lambda line: lines.append(json.loads(line)), log.TRACE)
    yield lines
    log.open_log(lambda _: None, -1)


def make(store: Store, title: str | None = "A title", *, turns: int = 1, **more: Any) -> Conversation:
    conversation = store.create(title=title, base_config=BASE, **more)
    for _ in range(turns):
        turn(conversation)
    assert conversation.lock
    conversation.lock.release()
    return conversation


def listed(plugin: Conversations) -> dict[str, messages.ConversationSummary]:
    return {one.id: one for one in plugin.list(messages.ListConversations()).data}


def line(plugin: Conversations, conversation: str, **more: Any) -> bytes:
    return b"".join(plugin.read(messages.ReadEvents(conversation=conversation, **more)))


def read(plugin: Conversations, conversation: str, **more: Any) -> messages.Events:
    """The `events` message as a reader that takes no nonsense has it."""
    data = line(plugin, conversation, **more)
    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 1
    assert "id" in json.loads(data) or not more
    return msgspec.json.decode(data, type=messages.Events)


def push(plugin: Conversations, conversation: str, *sent: JSON | bytes) -> messages.Pushed:
    raws = [msgspec.Raw(each if isinstance(each, bytes) else json.dumps(each).encode()) for each in sent]
    return plugin.push(messages.PushEvents(conversation=conversation, events=raws))


def locked(plugin: Conversations, conversation: Conversation) -> str:
    plugin.lock(messages.Lock(conversation=conversation.id))
    return conversation.id


def files_of(store: Store, conversation_id: str) -> dict[str, bytes]:
    """Every file of both copies."""
    place = store.place(conversation_id)
    return {f"{folder}/{name}": data for folder in place.existing for name, data in tree(folder).items()}


def stored(store: Store, conversation_id: str) -> list[str]:
    stream = store.open(conversation_id).stream
    return [stream.type(i) for i in range(len(stream))]


HOLD = """
import fcntl, json, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.write(fd, json.dumps({"pid": os.getpid(), "command": "jp query hello"}).encode())
print("held", flush=True)
sys.stdin.read()
"""
TRY = """
import fcntl, os, sys
try:
    fcntl.flock(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("held")
else:
    print("free")
"""


class Holder:
    """Another process that holds a lock."""

    def __init__(self, path: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        command = [sys.executable, "-c", HOLD, path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def elsewhere(store: Store, conversation_id: str) -> str:
    """How another process finds a lock."""
    command = [sys.executable, "-c", TRY, store.lock_path(conversation_id)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# --- ids


@pytest.mark.req("PROTO-29")
@pytest.mark.parametrize(
    "text", ["", "jp-c", "newest", ".", "1x", "jp-c1-slug", " 1", "²", "-1", "../1", "1\n", "x" * 9999, "9" * 9999]
)
def test_what_is_no_id(plugin: Conversations, text: str) -> None:
    for ask in (
        lambda: plugin.read(messages.ReadEvents(conversation=text)),
        lambda: plugin.lock(messages.Lock(conversation=text)),
        lambda: plugin.unlock(messages.Unlock(conversation=text)),
        lambda: push(plugin, text, ASK),
    ):
        with pytest.raises(RequestError, match="no conversation id") as error:
            ask()
        assert len(error.value.message) < 200


@pytest.mark.req("PROTO-29", "PROTO-37", "PROTO-46")
def test_a_conversation_that_is_not_there(plugin: Conversations, store: Store) -> None:
    known = make(store).id
    near = known[:-1] + ("1" if known[-1] != "1" else "2")
    for text in (near, "jp-c" + near, known[:-1]):
        for ask in (
            lambda text=text: plugin.read(messages.ReadEvents(conversation=text)),
            lambda text=text: plugin.lock(messages.Lock(conversation=text)),
            lambda text=text: plugin.unlock(messages.Unlock(conversation=text)),
            lambda text=text: push(plugin, text, ASK),
        ):
            with pytest.raises(RequestError) as error:
                ask()
            assert f"no conversation {text}; did you mean jp-c{known}?" in error.value.message
    assert not os.path.exists(store.lock_path(near))


def test_both_forms_of_an_id_are_taken_and_digits_given_back(plugin: Conversations, store: Store) -> None:
    one = make(store).id
    for text in (one, f"jp-c{one}"):
        assert read(plugin, text).conversation == one
        assert plugin.lock(messages.Lock(conversation=text)).conversation == one
        assert push(plugin, text, ASK).conversation == one
        assert plugin.unlock(messages.Unlock(conversation=text)).conversation == one


@pytest.mark.req("PROTO-46")
def test_what_fails_in_the_store_is_a_refusal(tmp_path: Path) -> None:
    def nowhere() -> Store:
        return Store(Workspace.find(str(tmp_path), {}), {})

    plugin = Conversations(nowhere, "jp serve", dict)
    for ask in (
        lambda: plugin.list(messages.ListConversations()),
        lambda: plugin.read(messages.ReadEvents(conversation="1")),
        lambda: plugin.lock(messages.Lock(conversation="1")),
        lambda: plugin.unlock(messages.Unlock(conversation="1")),
        lambda: push(plugin, "1", ASK),
        lambda: plugin.create(messages.CreateConversation()),
    ):
        with pytest.raises(RequestError, match="no workspace found"):
            ask()
    plugin.release()


# --- list


@pytest.mark.req("PROTO-27")
def test_all_conversations_are_listed(plugin: Conversations, store: Store) -> None:
    assert plugin.list(messages.ListConversations()).data == []
    first, second, third = make(store, "One"), make(store, None, turns=2), make(store, "Three", turns=0, local=True)
    first.set_time("pinned_at", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    second.set_time("last_activated_at", datetime(2026, 7, 1, 12, 0, 0, 250000, UTC))
    data = plugin.list(messages.ListConversations()).data
    assert [one.id for one in data] == [one.id for one in store.list()] == [second.id, third.id, first.id]
    assert msgspec.to_builtins(data[0]) == {
        "id": second.id,
        "title": None,
        "last_activated_at": "2026-07-01T12:00:00.250000Z",
        "events_count": 6,
    }
    last = msgspec.to_builtins(data[2])
    assert last["title"] == "One"
    assert last["events_count"] == 3
    assert last["pinned_at"] == "2026-01-02T03:04:05Z"
    assert data[1].events_count == 0


@pytest.mark.req("PROTO-27")
def test_the_count_is_what_reading_gives(plugin: Conversations, store: Store, logged: list[JSON]) -> None:
    behind, ahead, gone, compact, other, twice = (make(store) for _ in range(6))
    project = {one.id: Path(one.place.projection or "", "events.json") for one in (behind, ahead, gone, compact, other)}
    short = project[behind.id].read_bytes()
    lock = store.lock(behind.id)
    turn(store.open(behind.id, lock))
    lock.release()
    project[behind.id].write_bytes(short)
    more = json.loads(project[ahead.id].read_bytes())
    project[ahead.id].write_text(json.dumps([*more, more[-1]], indent=2))
    shutil.rmtree(gone.place.projection or "")
    for folder in compact.place.existing:
        Path(folder, "events.json").write_text(json.dumps(more))
    for folder in other.place.existing:  # strange, and kept
        Path(folder, "events.json").write_bytes(b'[{}, {"x": [2, 3]}, {"a": "},\\n  {"}, {"type": "hologram"}]')
    Path(twice.place.projection or "", "events.json").write_bytes(b"")
    found = listed(plugin)
    counts = [found[one.id].events_count for one in (behind, ahead, gone, compact, other, twice)]
    assert counts == [6, 4, 3, 3, 4, 3]
    for one in (behind, ahead, gone, compact, other, twice):
        assert len(read(plugin, one.id).data) == found[one.id].events_count


@pytest.mark.req("PROTO-27", "PROTO-28")
def test_what_an_unfinished_turn_has_brought_counts(plugin: Conversations, store: Store) -> None:
    one = make(store)
    lock = store.lock(one.id)
    writer = TurnWriter.begin(store.open(one.id, lock), lock)
    writer.append(TurnStart(timestamp=T))
    writer.append(ChatRequest(timestamp=T, content="now"))
    writer.partial("message", "half an ans")
    assert listed(plugin)[one.id].events_count == 6
    found = read(plugin, one.id)
    assert found.lock == "elsewhere"
    assert found.data[-1]["message"] == "half an ans"
    writer.close()
    lock.release()


@pytest.mark.req("PROTO-27")
def test_one_that_cannot_be_read_hides_no_other(plugin: Conversations, store: Store, logged: list[JSON]) -> None:
    good, bad, missing, unreadable = make(store), make(store), make(store), make(store)
    for folder in bad.place.existing:
        Path(folder, "events.json").write_bytes(b'[{"type": ')
    for folder in missing.place.existing:
        Path(folder, "events.json").unlink()
    for folder in unreadable.place.existing:
        Path(folder, "metadata.json").write_bytes(b"{")
    for _ in range(2):
        found = listed(plugin)
        assert {one: found[one.id].events_count for one in (good, bad, missing, unreadable)} == {
            good: 3,
            bad: 0,
            missing: 0,
            unreadable: 3,
        }
        assert found[unreadable.id].title is found[unreadable.id].last_activated_at is None
    warned = [each["message"] for each in logged if each["level"] == "WARN"]
    for one in (bad, missing, unreadable):
        assert any(one.id in each for each in warned)
    assert not any(good.id in each for each in warned)
    assert store.problems == []  # or they would pile up, listing by listing
    with pytest.raises(RequestError, match="not a JSON array"):
        read(plugin, bad.id)
    with pytest.raises(RequestError, match="missing"):
        read(plugin, missing.id)
    assert read(plugin, unreadable.id).title is UNSET


@pytest.mark.req("PROTO-27")
def test_a_hundred_conversations_are_listed_at_once(plugin: Conversations, store: Store) -> None:
    event = {"timestamp": T, "type": "chat_response", "message": "An answer of ordinary length. " * 30}
    content = json.dumps([event] * 200, indent=2)
    assert 150_000 < len(content) < 250_000
    for root in (store.durable_root(), store.workspace.conversations):
        for number in range(100):
            folder = Path(root, str(17800836875 + number))
            folder.mkdir(parents=True)
            (folder / "metadata.json").write_text('{"title": "t", "last_activated_at": "2026-05-29 19:42:36.5"}')
            (folder / "events.json").write_text(content)
    taken = []
    for _ in range(5):
        begun = time.process_time()
        data = plugin.list(messages.ListConversations()).data
        taken.append(time.process_time() - begun)
        assert [one.events_count for one in data] == [200] * 100
    assert min(taken) < 0.1, taken


# --- read


def everything(store: Store) -> Conversation:
    """A conversation with an event of every kind, some of them odd."""
    conversation = store.create(title="All — “kinds”", base_config=BASE)
    writer = TurnWriter.begin(conversation, conversation.lock)
    for event in (
        TurnStart(timestamp=T),
        ChatRequest(timestamp=T, content="what?\u2028\n\x1b[2J", author="me"),
        ChatResponse(timestamp=T, reasoning="hm", metadata={"signature": "QUJD"}),
        ChatResponse(timestamp=T, message="answer"),
        ToolCallRequest(timestamp=T, id="c", name="n", arguments={"path": "a.txt", "n": 2**70, "deep": [{"x": "é"}]}),
        InquiryRequest(timestamp=T, id="c.q", source={"source": "tool", "name": "n"}, question={"text": "?"}),
        InquiryResponse(timestamp=T, id="c.q", answer="[redacted]"),
        ToolCallResponse(timestamp=T, id="c", content="out\nput ☃", is_error=True),
        ChatResponse(timestamp=T, data={"x": None}),
    ):
        writer.append(event)
    writer.fold()
    assert conversation.lock
    conversation.lock.release()
    return conversation


@pytest.mark.req("PROTO-28", "D60-87")
def test_the_events_are_read_with_their_texts(plugin: Conversations, store: Store) -> None:
    one = everything(store)
    on_disk = json.loads(Path(one.path, "events.json").read_bytes())
    assert on_disk[7]["content"] == encode_text("out\nput ☃")
    found = read(plugin, one.id)
    assert found.conversation == one.id
    assert found.title == "All — “kinds”"
    assert found.lock is UNSET
    assert [each["type"] for each in found.data] == [each["type"] for each in on_disk]
    assert [list(each) for each in found.data] == [list(each) for each in on_disk]
    assert found.data[4]["arguments"] == {"path": "a.txt", "n": 2**70, "deep": [{"x": "é"}]}
    assert found.data[7] == {
        "timestamp": T,
        "type": "tool_call_response",
        "id": "c",
        "content": "out\nput ☃",
        "is_error": True,
    }
    assert found.data[2]["metadata"] == {"signature": "QUJD"}
    assert found.data[8]["data"] == {"x": None}
    assert found.data[1]["content"] == "what?\u2028\n\x1b[2J"


def test_the_id_of_the_request_is_in_the_response(plugin: Conversations, store: Store) -> None:
    one = make(store, None, turns=0)
    for ident in ("a", 7, "", 'q"\n☃'):
        found = json.loads(line(plugin, one.id, id=ident))
        assert list(found) == ["type", "id", "conversation", "data"]
        assert found == {"type": "events", "id": ident, "conversation": one.id, "data": []}
    assert "id" not in json.loads(line(plugin, one.id, id=None))
    assert line(plugin, one.id) == b'{"type":"events","conversation":"%s","data":[]}\n' % one.id.encode()


ODD = [
    b'{"type":"hologram","timestamp":"t","x":{"y":[1, 2]},\n "z": "QUJD"}',
    b'{"type":"chat_request","content":5}',
    b'{"type":"chat_request","timestamp":"t","content":"\xff\xfe caf\xc3\xa9"}',
    b'{"type":"chat_response","message":"a pair \\ud83d\\ude00"}',
    b"[1]",
    b"null",
    b'"text"',
    b'{"type":"tool_call_response","id":"c","content":"no base64!"}',
    b'{"type":"config_delta","timestamp":"t","assistant":{"name":"old form"}}',
]


@pytest.mark.req("PROTO-28", "PROTO-17")
def test_what_is_odd_is_read_as_it_is(plugin: Conversations, store: Store) -> None:
    one = make(store, turns=0)
    content = b"[\n  " + b",\n  ".join(ODD) + b"\n]\n"
    for folder in one.place.existing:
        Path(folder, "events.json").write_bytes(content)
    found = line(plugin, one.id)
    assert found.count(b"\n") == 1
    data = msgspec.json.decode(found.decode())["data"]
    assert data[0] == {"type": "hologram", "timestamp": "t", "x": {"y": [1, 2]}, "z": "QUJD"}
    assert data[1] == {"type": "chat_request", "content": 5}
    assert data[2]["content"] == "�� café"
    assert data[3]["message"] == "a pair 😀"
    assert data[4:7] == [[1], None, "text"]
    assert data[7]["content"] == "no base64!"
    assert data[8]["delta"] == {"assistant": {"name": "old form"}}


def test_real_conversations_are_read(plugin: Conversations, store: Store, data_dir: Path) -> None:
    shutil.copytree(data_dir / "workspace" / ".jp" / "conversations", store.workspace.conversations, dirs_exist_ok=True)
    for folder in store.workspace.conversations, *Path(store.workspace.conversations).rglob("*"):
        os.chmod(folder, 0o700)
    found = listed(plugin)
    assert len(found) >= 10
    for one in found.values():
        data = read(plugin, one.id).data
        on_disk = json.loads(Path(store.place(one.id).existing[0], "events.json").read_bytes())
        assert len(data) == len(on_disk) == one.events_count > 0
        for each, raw in zip(data, on_disk, strict=True):
            assert {key: each[key] for key in ("type", "timestamp")} == {key: raw[key] for key in ("type", "timestamp")}
            if each["type"] == "tool_call_response":
                assert each["content"] == base64.b64decode(raw["content"].translate(URLS)).decode()


@pytest.mark.slow
@pytest.mark.req("PROTO-28", "PROTO-36", "PROTO-41")
def test_what_was_read_can_be_pushed(plugin: Conversations, store: Store, data_dir: Path) -> None:
    shutil.copytree(data_dir / "workspace" / ".jp" / "conversations", store.workspace.conversations, dirs_exist_ok=True)
    for folder in store.workspace.conversations, *Path(store.workspace.conversations).rglob("*"):
        os.chmod(folder, 0o700)
    for one in [one.id for one in store.list()]:
        data = read(plugin, one).data
        copy = plugin.create(messages.CreateConversation()).conversation
        assert push(plugin, copy, *data).count == len(data)
        again = read(plugin, copy).data
        if "turn_start" in {each["type"] for each in data}:
            assert again == data
        else:  # of the time before there were turns
            assert [each for each in again if each["type"] != "turn_start"] == data


@pytest.mark.req("PROTO-33", "PROTO-34")
def test_who_holds_the_lock_is_said(plugin: Conversations, store: Store) -> None:
    one = make(store)
    assert read(plugin, one.id).lock is UNSET
    os.unlink(store.lock_path(one.id))
    assert read(plugin, one.id).lock is UNSET
    assert not os.path.exists(store.lock_path(one.id))  # nothing is made by looking
    with Holder(store.lock_path(one.id)):
        assert read(plugin, one.id).lock == "elsewhere"
    assert read(plugin, one.id).lock is UNSET
    assert elsewhere(store, one.id) == "free"
    locked(plugin, one)
    assert read(plugin, one.id).lock == "here"
    assert elsewhere(store, one.id) == "held"


def test_reading_changes_nothing(plugin: Conversations, store: Store) -> None:
    one = everything(store)
    before = files_of(store, one.id)
    line(plugin, one.id)
    plugin.list(messages.ListConversations())
    assert files_of(store, one.id) == before


def test_the_pieces_are_made_on_another_thread_whatever_happens_meanwhile(plugin: Conversations, store: Store) -> None:
    one = everything(store)
    expected = line(plugin, one.id)
    pieces = plugin.read(messages.ReadEvents(conversation=one.id))
    locked(plugin, one)
    push(plugin, one.id, ASK)
    plugin.unlock(messages.Unlock(conversation=one.id))
    store.remove(one.id)
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(b"".join(pieces)))
    thread.start()
    thread.join(20)
    assert found == [expected]


SIZE = 50 << 20


def large(store: Store, events: list[bytes]) -> Conversation:
    conversation = make(store, turns=0, local=True)
    with Path(conversation.path, "events.json").open("wb") as file:
        file.write(b"[\n  ")
        for number, each in enumerate(events):
            file.write((b",\n  " if number else b"") + each)
        file.write(b"\n]\n")
    return conversation


@pytest.mark.slow
@pytest.mark.req("PROTO-28")
def test_a_large_conversation_is_streamed(plugin: Conversations, store: Store) -> None:
    text = encode_text("A line of a file that was read by a tool, é. " * 100)
    result = b'{\n    "timestamp": "%s",\n    "type": "tool_call_response",\n    "id": "c",\n' % T.encode()
    result += b'    "content": "%s",\n    "is_error": false\n  }' % text.encode()
    count = SIZE // len(result)
    one = large(store, [result] * count)
    size = Path(one.path, "events.json").stat().st_size
    tracemalloc.start()
    begun = time.monotonic()
    pieces = plugin.read(messages.ReadEvents(conversation=one.id))
    first, opened = next(pieces), time.monotonic() - begun
    lengths = [len(first)] + [len(each) for each in pieces]
    taken = time.monotonic() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 0.95 * SIZE
    assert peak < 1.5 * size, f"{peak / size:.2f} of the size"
    assert max(lengths) < PIECE + len(result) + 100
    assert min(lengths[:-1]) >= PIECE
    assert opened < 0.7 * taken, (opened, taken)
    found = read(plugin, one.id)
    assert len(found.data) == count
    assert found.data[-1]["content"].endswith("é. ")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["content", "message"])
def test_one_large_event_is_written_in_slices(plugin: Conversations, store: Store, key: str) -> None:
    text = ('\\"☃\n' + "x" * 95) * (SIZE // 5 // 100)
    if key == "content":
        event: JSON = {
            "timestamp": T,
            "type": "tool_call_response",
            "id": "c",
            key: encode_text(text),
            "is_error": True,
        }
    else:
        event = {"timestamp": T, "type": "chat_response", key: text, "metadata": {"s": encode_text("x")}}
    one = large(store, [json.dumps(event, indent=2).replace("\n", "\n  ").encode()])
    pieces = list(plugin.read(messages.ReadEvents(conversation=one.id)))
    assert max(len(each) for each in pieces) < 4 * PIECE
    found = json.loads(b"".join(pieces))["data"]
    assert list(found[0]) == list(event)
    assert found[0][key] == text
    assert found[0].get("metadata", {"s": "x"}) == {"s": "x"}


@pytest.mark.slow
def test_a_large_event_that_is_no_json_leaves_the_line_whole(plugin: Conversations, store: Store) -> None:
    """Long texts of a large conversation are not looked at before they are needed."""
    head = b'{\n    "timestamp": "t",\n    "type": "chat_response",\n    "message": "%s'
    wrong = [head % (b"x" * (9 << 20) + end) + b'"\n  }' for end in (rb"\ud83d aaaa", rb"\q", b"\t", b"\xff")]
    one = large(store, wrong)
    found = msgspec.json.decode(line(plugin, one.id).decode())["data"]
    assert [list(each) for each in found[:3]] == [["type", "unreadable"]] * 3
    assert {each["type"] for each in found} == {"chat_response"}
    assert found[3]["message"].endswith("x�")


# --- locks


@pytest.mark.req("PROTO-33", "PROTO-35")
def test_a_lock_is_seen_by_others_until_it_is_given_back(
    plugin: Conversations, store: Store, jp: Jp, environ: dict[str, str]
) -> None:
    one = make(store)
    assert plugin.lock(messages.Lock(conversation=one.id)) == messages.Locked(conversation=one.id)
    assert elsewhere(store, one.id) == "held"
    tried = jp("conversation", "rm", one.id, cwd=store.workspace.root)
    assert tried.status == "exited 4", tried
    assert f"process {os.getpid()} (jp serve)" in tried.stderr
    assert plugin.lock(messages.Lock(conversation=one.id)) == messages.Locked(conversation=one.id)  # again
    assert plugin.unlock(messages.Unlock(conversation=one.id)) == messages.Unlocked(conversation=one.id)
    assert elsewhere(store, one.id) == "free"
    tried = jp("conversation", "rm", one.id, cwd=store.workspace.root)
    assert tried.status == "exited 0", tried


@pytest.mark.req("PROTO-34")
def test_a_lock_that_another_process_holds(plugin: Conversations, store: Store) -> None:
    one = make(store)
    with Holder(store.lock_path(one.id)) as other:
        with pytest.raises(RequestError) as error:
            plugin.lock(messages.Lock(conversation=one.id))
        assert error.value.message.startswith(f"the lock is held: jp-c{one.id} is being written by")
        assert f"process {other.process.pid} (jp query hello)" in error.value.message
        with pytest.raises(RequestError, match="not held by this plugin"):
            plugin.unlock(messages.Unlock(conversation=one.id))
        with pytest.raises(RequestError, match="not held by this plugin"):
            push(plugin, one.id, ASK)
    plugin.lock(messages.Lock(conversation=one.id))


@pytest.mark.req("PROTO-35")
def test_a_lock_that_is_not_held_cannot_be_given_back(plugin: Conversations, store: Store) -> None:
    one = make(store)
    for _ in range(2):
        with pytest.raises(RequestError, match=f"^the lock of jp-c{one.id} is not held"):
            plugin.unlock(messages.Unlock(conversation=one.id))
        plugin.lock(messages.Lock(conversation=one.id))
        plugin.unlock(messages.Unlock(conversation=one.id))


@pytest.mark.req("PROTO-54")
def test_all_locks_are_given_back_at_the_end(plugin: Conversations, store: Store) -> None:
    some = [make(store).id for _ in range(3)]
    for one in some:
        plugin.lock(messages.Lock(conversation=one))
    some.append(plugin.create(messages.CreateConversation()).conversation)
    assert {elsewhere(store, one) for one in some} == {"held"}
    plugin.release()
    plugin.release()
    assert {elsewhere(store, one) for one in some} == {"free"}
    with pytest.raises(RequestError, match="not held"):
        push(plugin, some[0], ASK)


# --- push


@pytest.mark.req("PROTO-36", "PROTO-41")
def test_pushed_events_are_stored_in_order(plugin: Conversations, store: Store) -> None:
    one = locked(plugin, make(store))
    before = store.open(one).metadata.time("last_activated_at")
    old = Path(store.place(one).existing[0], "events.json").read_bytes()
    call = {"type": "tool_call_request", "id": "c", "name": "n", "arguments": {"x": "QUJD"}}
    result = {"type": "tool_call_response", "id": "c", "content": "QUJD"}
    assert push(plugin, one, ASK, call, result, ANSWER) == messages.Pushed(conversation=one, count=4)
    kinds = ["turn_start", "chat_request", "tool_call_request", "tool_call_response", "chat_response"]
    assert stored(store, one) == ["turn_start", "chat_request", "chat_response", *kinds]
    place = store.place(one)
    assert tree(place.durable or "") == tree(place.projection or "")
    data = Path(place.existing[0], "events.json").read_bytes()
    assert data.startswith(old[: Stream(old).prefix_length])
    on_disk = json.loads(data)
    assert on_disk[5]["arguments"] == {"x": encode_text("QUJD")}
    assert on_disk[6]["content"] == encode_text("QUJD")
    assert [each["type"] for each in read(plugin, one).data[3:]] == kinds
    assert read(plugin, one).data[6]["content"] == "QUJD"
    after = store.open(one).metadata.time("last_activated_at")
    assert before is not None
    assert after is not None
    assert timedelta(0) < after - before < timedelta(minutes=1)
    assert not os.path.exists(os.path.join(place.durable or "", "journal.jsonl"))
    assert listed(plugin)[one].events_count == 8
    push(plugin, one, ASK)
    push(plugin, one, ANSWER)
    assert stored(store, one)[8:] == ["turn_start", "chat_request", "chat_response"]


@pytest.mark.req("PROTO-36")
def test_what_was_pushed_is_there_for_the_next_program(plugin: Conversations, store: Store, jp: Jp) -> None:
    one = locked(plugin, make(store))
    push(plugin, one, {**ASK, "content": "from the plugin"}, ANSWER)
    plugin.unlock(messages.Unlock(conversation=one))
    shown = jp("conversation", "print", one, cwd=store.workspace.root)
    assert "from the plugin" in shown.stdout, shown


def test_nothing_is_pushed(plugin: Conversations, store: Store) -> None:
    one = locked(plugin, make(store))
    before = files_of(store, one)
    assert push(plugin, one) == messages.Pushed(conversation=one, count=0)
    assert files_of(store, one) == before


@pytest.mark.req("PROTO-37")
def test_a_push_needs_the_lock(plugin: Conversations, store: Store) -> None:
    one = make(store).id
    before = files_of(store, one)
    for _ in range(2):
        with pytest.raises(RequestError, match=f"^the lock of jp-c{one} is not held by this plugin"):
            push(plugin, one, ASK)
        plugin.lock(messages.Lock(conversation=one))
        plugin.unlock(messages.Unlock(conversation=one))
    assert files_of(store, one) == before


REFUSED = [
    {"type": "tool_call_response", "id": "c", "content": "x"},
    {"type": "inquiry_response", "id": "c", "answer": True},
    {"type": "chat_request"},
    {"type": "chat_response", "message": 5},
    {"type": "hologram"},
    b"5",
]


@pytest.mark.req("PROTO-38", "PROTO-39", "PROTO-40", "PROTO-42")
@pytest.mark.parametrize("wrong", REFUSED, ids=str)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_refused_event_refuses_the_push(
    plugin: Conversations, store: Store, wrong: JSON | bytes, place: int
) -> None:
    one = locked(plugin, make(store))
    before = files_of(store, one)
    sent: list[JSON | bytes] = [ASK, ANSWER]
    sent.insert(place, wrong)
    with pytest.raises(RequestError) as error:
        push(plugin, one, *sent)
    assert error.value.message.startswith(f"event {place + 1} of 3")
    assert isinstance(wrong, bytes) or f"`{wrong['type']}`" in error.value.message
    assert files_of(store, one) == before
    push(plugin, one, ASK, ANSWER)
    assert len(stored(store, one)) == 6


@pytest.mark.req("PROTO-38", "PROTO-39")
def test_a_response_to_what_is_stored(plugin: Conversations, store: Store) -> None:
    one = make(store, turns=0)
    call = {"type": "tool_call_request", "id": "c", "name": "n", "arguments": {}}
    question = {"text": "?", "answer_type": {"type": "secret"}}
    inquiry = {"type": "inquiry_request", "id": "c.q", "source": "user", "question": question}
    locked(plugin, one)
    push(plugin, one.id, ASK, call, inquiry)
    push(plugin, one.id, {"type": "inquiry_response", "id": "c.q", "answer": "hunter2"})
    push(plugin, one.id, {"type": "tool_call_response", "id": "c", "content": "done"})
    assert read(plugin, one.id).data[-2]["answer"] == "[redacted]"
    assert not any(b"hunter2" in data for data in files_of(store, one.id).values())
    with pytest.raises(RequestError, match="waits for a response"):
        push(plugin, one.id, {"type": "tool_call_response", "id": "c", "content": "done"})


@pytest.mark.req("PROTO-42")
@pytest.mark.parametrize("call", CALLS)
def test_a_disk_that_fails_leaves_all_or_nothing(plugin: Conversations, store: Store, call: str) -> None:
    """Whichever call of the system fails: the push is refused and all is as it was, or it is stored."""
    one = make(store)
    before = files_of(store, one.id)
    place = one.place
    refusals = 0
    for k in range(1, 40):
        locked(plugin, one)
        count = len(stored(store, one.id))
        with fail_at(call, k, error=errno.ENOSPC) as fault:
            why = ""
            try:
                push(plugin, one.id, ASK, ANSWER)
            except RequestError as error:
                why = error.message
        after = files_of(store, one.id)
        assert not [name for name in after if "journal" in name or name.endswith(".tmp")]
        if why:
            refusals += 1
            assert why.startswith("nothing is stored: ")
            assert "No space left" in why
            assert after == before
        else:
            assert len(stored(store, one.id)) == count + 3
        plugin.unlock(messages.Unlock(conversation=one.id))
        before = after
        if not fault.fired:
            break
    assert not fault.fired
    assert refusals or call in ("close", "chmod", "open")
    assert (
        Path(place.durable or "", "events.json").read_bytes()
        == Path(place.projection or "", "events.json").read_bytes()
    )


@pytest.mark.req("PROTO-42")
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_any_moment_leaves_all_or_nothing(plugin: Conversations, store: Store, call: str) -> None:
    one = make(store)
    calls, ends = [], set()
    for k in range(1, 40):
        store.problems.clear()
        locked(plugin, one)
        before = {path: data for path, data in files_of(store, one.id).items() if path.endswith("events.json")}
        count = len(stored(store, one.id))
        with fail_at(call, k, dies=True) as fault:
            try:
                push(plugin, one.id, ASK, ANSWER)
            except Died:
                pass
        plugin.release()  # as the system does
        found = len(stored(store, one.id)) - count
        assert found in (0, 3)
        after = files_of(store, one.id)
        if not found:
            assert {path: data for path, data in after.items() if path.endswith("events.json")} == before
        assert not [name for name in after if "journal" in name]
        calls.append(k)
        ends.add(found)
        if not fault.fired:
            break
    assert not fault.fired
    assert len(calls) > 1
    assert 3 in ends


def test_the_copy_of_a_project_that_cannot_be_written_is_left_behind(
    plugin: Conversations, store: Store, logged: list[JSON], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(store)
    locked(plugin, one)
    real, project = os.replace, one.place.projection or ""

    def replace(source: str, target: str) -> None:
        if target.startswith(project):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    assert push(plugin, one.id, ASK).count == 1
    assert len(stored(store, one.id)) == 5
    assert any("behind" in each["message"] for each in logged)


@pytest.mark.req("PROTO-36")
def test_what_others_changed_without_a_lock_is_not_lost(plugin: Conversations, store: Store) -> None:
    """Such as a pull, which brings the project's copy of a conversation forward."""
    one = make(store)
    locked(plugin, one)
    path = Path(one.place.projection or "", "events.json")
    more = {"timestamp": T, "type": "tool_call_request", "id": "pulled", "name": "n", "arguments": {}}
    path.write_text(json.dumps([*json.loads(path.read_bytes()), more], indent=2))
    push(plugin, one.id, {"type": "tool_call_response", "id": "pulled", "content": "x"})
    assert stored(store, one.id)[3:] == ["tool_call_request", "tool_call_response"]
    assert Path(one.path, "events.json").read_bytes() == path.read_bytes()


def test_a_change_in_the_middle_of_a_push_is_not_lost_either(
    plugin: Conversations, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make(store)
    locked(plugin, one)
    path = Path(one.place.projection or "", "events.json")
    more = {"timestamp": T, "type": "tool_call_request", "id": "pulled", "name": "n", "arguments": {}}
    seen = []

    def checked(sent: Any, existing: Any, now: str) -> Any:
        there = list(existing)
        if not seen:
            path.write_text(json.dumps([*json.loads(path.read_bytes()), more], indent=2))
        seen.append(len(there))
        return real(sent, there, now)

    real = pushing.checked
    monkeypatch.setattr(pushing, "checked", checked)
    push(plugin, one.id, ASK)
    assert seen == [3, 4]
    assert stored(store, one.id)[3:] == ["tool_call_request", "chat_request"]


@pytest.mark.req("PROTO-36")
def test_what_a_turn_that_was_cut_off_left_is_before_a_push(plugin: Conversations, store: Store) -> None:
    one = make(store)
    lock = store.lock(one.id)
    writer = TurnWriter.begin(store.open(one.id, lock), lock)
    writer.append(TurnStart(timestamp=T))
    writer.append(ToolCallRequest(timestamp=T, id="left", name="n"))
    writer.close()
    lock.release()
    locked(plugin, one)
    push(plugin, one.id, {"type": "tool_call_response", "id": "left", "content": "x"})
    assert stored(store, one.id)[3:] == ["turn_start", "tool_call_request", "tool_call_response"]


# --- create


@pytest.mark.req("PROTO-43")
def test_a_conversation_is_made(plugin: Conversations, store: Store, made: list[str]) -> None:
    one = plugin.create(messages.CreateConversation(title="From a plugin")).conversation
    assert one.isdigit()
    assert made == [one]
    found = listed(plugin)[one]
    assert (found.title, found.events_count) == ("From a plugin", 0)
    assert found.last_activated_at is not None
    assert elsewhere(store, one) == "held"
    assert read(plugin, one).lock == "here"
    opened = store.open(one)
    assert opened.base_config == BASE
    assert opened.metadata.labels == {}
    assert len(opened.place.existing) == 2
    push(plugin, one, ASK, ANSWER)
    assert stored(store, one) == ["turn_start", "chat_request", "chat_response"]


@pytest.mark.req("PROTO-43")
@pytest.mark.parametrize("title", [None, UNSET, "", " \n\t"])
def test_a_title_may_be_left_out(plugin: Conversations, store: Store, title: Any) -> None:
    one = plugin.create(messages.CreateConversation(title=title)).conversation
    assert listed(plugin)[one].title is None
    assert read(plugin, one).title is UNSET


def test_conversations_that_start_local_are_local(store: Store) -> None:
    base = {"conversation": {"start_local": True}}
    plugin = Conversations(lambda: store, "jp serve", lambda: base)
    one = plugin.create(messages.CreateConversation(title="x"))
    assert store.place(one.conversation).projection is None
    plugin.release()


def test_many_are_made_at_once(plugin: Conversations, store: Store) -> None:
    some = [plugin.create(messages.CreateConversation(title="x")).conversation for _ in range(5)]
    assert len(set(some)) == 5
    assert {elsewhere(store, one) for one in some} == {"held"}


@pytest.mark.req("PROTO-46")
def test_one_that_cannot_be_made(plugin: Conversations, store: Store, made: list[str]) -> None:
    with fail_at("mkdir", 1, error=errno.ENOSPC), pytest.raises(RequestError, match="No space left"):
        plugin.create(messages.CreateConversation(title="x"))
    assert made == []
    assert plugin.list(messages.ListConversations()).data == []


def test_what_goes_wrong_behind_it_does_not_unmake_it(store: Store, logged: list[JSON]) -> None:
    def fail(_: str) -> None:
        raise RequestError("the trust store can't be written")

    plugin = Conversations(lambda: store, "jp serve", lambda: BASE, fail)
    one = plugin.create(messages.CreateConversation())
    assert push(plugin, one.conversation, ASK).count == 1
    assert any("trust store" in each["message"] for each in logged)
    plugin.release()
