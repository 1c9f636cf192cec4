"""The journal: what was shown is never lost, whatever ends the process and wherever."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from jp.conversation.events import ChatRequest, ChatResponse, ToolCallRequest, ToolCallResponse, TurnStart
from jp.conversation.stream import Stream
from jp.storage import records
from jp.storage.conversation import Conversation
from jp.storage.errors import StorageError, WriteError
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from tests.storage.conftest import T, said, tree, turn
from tests.storage.faults import CALLS, Died, fail_at

Make = Callable[..., Conversation]


def writer_for(store: Store, made: Conversation) -> TurnWriter:
    lock = store.lock(made.id, "jp query")
    return TurnWriter.begin(store.open(made.id, lock), lock)


def end(writer: TurnWriter) -> None:
    """As if the process had ended: the lock is let go of, everything else stays."""
    writer.close()
    conversation = writer._conversation
    assert conversation.lock
    conversation.lock.release()


def journal_of(made: Conversation) -> Path:
    return Path(made.place.durable or "", "journal.jsonl")


# -- the ordinary way


def test_a_turn_is_folded_into_both_copies_once(store: Store, make: Make) -> None:
    made = make()
    old = Path(made.path, "events.json").read_bytes()
    writer = writer_for(store, made)
    writer.append(TurnStart(timestamp=T))
    writer.append(ChatRequest(timestamp=T, content="q2"))
    writer.partial("reasoning", "thin")
    writer.partial("reasoning", "king")
    writer.partial("message", "")
    writer.complete_partial(ChatResponse(timestamp=T, reasoning="thinking", metadata={"signature": "s"}))
    writer.partial("message", "ans")
    assert Path(made.path, "events.json").read_bytes() == old
    assert journal_of(made).exists()
    writer.complete_partial(ChatResponse(timestamp=T, message="answer"))
    writer.fold()
    end(writer)
    assert not journal_of(made).exists()
    after = Path(made.path, "events.json").read_bytes()
    assert after.startswith(old[: Stream(old).prefix_length])
    assert tree(made.place.durable or "") == tree(made.place.projection or "")
    assert said(store, made.id) == ["q", "a", "q2", "thinking", "answer"]


def test_several_turns_by_one_writer(store: Store, make: Make) -> None:
    made = make(turns=0)
    writer = writer_for(store, made)
    for n in range(3):
        writer.append(ChatRequest(timestamp=T, content=f"q{n}"))
        assert said(store, made.id) == [f"q{i}" for i in range(n + 1)]
        writer.fold()
        assert not journal_of(made).exists()
        assert said(store, made.id) == [f"q{i}" for i in range(n + 1)]
    end(writer)
    assert len(json.loads(Path(made.path, "events.json").read_bytes())) == 3


def test_unfinished_answers_are_stored_as_they_are(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    writer.partial("reasoning", "so ")
    writer.partial("message", "half an ans")
    writer.fold()
    end(writer)
    assert said(store, made.id) == ["q", "a", "q2", "so ", "half an ans"]


@pytest.mark.parametrize("dies", [False, True])
def test_a_question_and_what_came_of_it_can_be_forgotten(store: Store, make: Make, dies: bool) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    writer.partial("message", "half")
    writer.complete_partial(ChatResponse(timestamp=T, message="half"))
    length = writer.length
    writer.append(ChatRequest(timestamp=T, content="not this"))
    writer.partial("reasoning", "hm")
    writer.complete_partial(ChatResponse(timestamp=T, reasoning="hm"))
    writer.partial("message", "nor this")
    writer.undo(length)
    if not dies:
        writer.append(ChatRequest(timestamp=T, content="but this"))
        writer.fold()
    end(writer)
    assert said(store, made.id) == ["q", "a", "q2", "half", *([] if dies else ["but this"])]


def test_a_turn_can_be_forgotten(store: Store, make: Make) -> None:
    made = make()
    before = tree(made.path)
    writer = writer_for(store, made)
    length = writer.length
    writer.append(ChatRequest(timestamp=T, content="never mind"))
    writer.partial("message", "half")
    writer.undo(length)
    assert len(writer._conversation.stream) == 3
    writer.fold()
    end(writer)
    assert tree(made.path) == before


def test_only_who_holds_the_lock_may_write(store: Store, make: Make) -> None:
    made = make()
    with pytest.raises(StorageError, match="lock"):
        TurnWriter.begin(store.open(made.id), None)
    lock = store.lock(made.id)
    lock.release()
    with pytest.raises(StorageError, match="lock"):
        TurnWriter.begin(store.open(made.id), lock)


def test_what_others_wrote_before_the_lock_was_had_is_read_again(store: Store, make: Make) -> None:
    made = make()
    early = store.open(made.id)
    assert len(early.stream) == 3
    lock = store.lock(made.id)
    turn(store.open(made.id, lock), "between")
    lock.release()
    lock = store.lock(made.id)
    writer = TurnWriter.begin(early, lock)
    writer.append(ChatRequest(timestamp=T, content="late"))
    writer.fold()
    end(writer)
    assert said(store, made.id) == ["q", "a", "between", "a", "late"]


def test_a_running_turn_is_seen_by_others_and_not_touched(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    writer.partial("message", "half")
    before = tree(made.path)
    assert said(store, made.id) == ["q", "a", "q2", "half"]
    assert tree(made.path) == before
    # Who looked at it then and writes later does not write what they saw then.
    looked = store.open(made.id)
    assert len(looked.stream) == 5
    writer.undo(3)
    end(writer)
    lock = store.lock(made.id)
    later = TurnWriter.begin(looked, lock)
    later.append(ChatRequest(timestamp=T, content="q3"))
    later.fold()
    end(later)
    assert said(store, made.id) == ["q", "a", "q3"]


def test_the_directory_may_be_renamed_during_a_turn(store: Store, make: Make) -> None:
    made = make(None)
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    writer._conversation.set_title("Named at last")
    writer.partial("message", "hal")
    writer.partial("message", "f")
    end(writer)
    found = store.open(made.id)
    assert found.title == "Named at last"
    assert said(store, made.id) == ["q", "a", "q2", "half"]
    assert not os.path.exists(made.path)


def test_writing_costs_what_the_turn_is_long(store: Store, make: Make) -> None:
    """Counted in bytes, not in time: the history is written once, at the fold."""
    made = make(turns=0)
    lock = store.lock(made.id)
    conversation = store.open(made.id, lock)
    for _ in range(50):
        conversation.stream.append(ChatRequest(timestamp=T, content="x" * 20_000))
    written: list[int] = []
    real = os.write
    writer = TurnWriter.begin(conversation, lock)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: written.append(len(data)) or real(fd, data))
        for _ in range(200):
            writer.partial("message", "a few words ")
        assert len(written) == 200
        assert sum(written) < 200 * 150
        writer.fold()
    assert sum(written) > 1_000_000
    end(writer)


# -- recovery


def test_what_a_dead_process_left_is_folded_in(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    call = ToolCallRequest(timestamp=T, id="1", name="n", arguments={"path": "ünï"})
    writer.append(call)
    writer.append(ToolCallResponse(timestamp=T, id="1", content="out\n", is_error=True))
    writer.partial("message", "half ")
    writer.partial("message", "an answer")
    end(writer)
    found = store.open(made.id)
    assert not journal_of(made).exists()
    assert found.notices == ["4 events of a turn that was cut off were recovered"]
    events = list(found.stream.events())
    assert events[4] == call
    assert isinstance(events[5], ToolCallResponse)
    assert (events[5].content, events[5].is_error) == ("out\n", True)
    assert said(store, made.id) == ["q", "a", "q2", "out\n", "half an answer"]
    assert tree(made.place.durable or "") == tree(made.place.projection or "")
    assert store.open(made.id).notices == []


def test_the_next_writer_recovers_too(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    end(writer)
    early = Conversation(store, made.id, store.place(made.id))
    lock = store.lock(made.id)
    later = TurnWriter.begin(early, lock)
    later.append(ChatRequest(timestamp=T, content="q3"))
    later.fold()
    end(later)
    assert said(store, made.id) == ["q", "a", "q2", "q3"]


def test_a_journal_of_other_events_is_set_aside_and_said(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="lost?"))
    end(writer)
    for folder in made.place.existing:
        Path(folder, "events.json").write_bytes(b'[\n  {\n    "type": "turn_start",\n    "timestamp": "t"\n  }\n]\n')
    before = journal_of(made).read_bytes()
    found = store.open(made.id)
    aside = Path(f"{journal_of(made)}.aside")
    assert aside.read_bytes() == before
    assert any(str(aside) in notice for notice in found.notices)
    assert len(found.stream) == 1
    assert store.open(made.id).notices == []


def test_when_the_project_went_on_meanwhile_both_ways_are_kept(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="mine"))
    end(writer)
    path = Path(made.place.projection or "", "events.json")
    theirs = Stream(path.read_bytes())
    theirs.append(ChatRequest(timestamp=T, content="theirs"))
    path.write_bytes(b"".join(theirs.document()))
    store.open(made.id)
    assert said(store, made.id) == ["q", "a", "mine"]
    other = next(one.id for one in store.list() if one.id != made.id)
    assert said(store, other) == ["q", "a", "theirs"]


@pytest.mark.parametrize("compact", [False, True], ids=["pretty", "compact"])
def test_a_turn_on_pulled_events_survives_the_next_pull(store: Store, make: Make, compact: bool) -> None:
    """The journal extends the durable copy, which nobody else writes, and not the project's, which a pull replaces."""
    made = make()
    path = Path(made.place.projection or "", "events.json")

    def pull(word: str) -> None:
        theirs = Stream(path.read_bytes())
        theirs.append(ChatRequest(timestamp=T, content=word))
        data = b"".join(theirs.document())
        path.write_bytes(json.dumps(json.loads(data)).encode() if compact else data)

    pull("first")
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="mine"))
    end(writer)
    pull("second")
    store.open(made.id)
    found = sorted(said(store, one) for one in store.ids())
    assert found == [["q", "a", "first", "mine"], ["q", "a", "first", "second"]]


@pytest.mark.parametrize("copies", [1, 2])
def test_a_fold_that_was_cut_off_is_not_done_twice(store: Store, make: Make, copies: int) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="once"))
    conversation = writer._conversation
    real = conversation.write_events

    def cut(pieces) -> None:
        data = b"".join(pieces)
        for folder in conversation.place.existing[:copies]:
            Path(folder, "events.json").write_bytes(data)
        raise Died

    conversation.write_events = cut  # type: ignore[method-assign]
    with pytest.raises(Died):
        writer.fold()
    conversation.write_events = real  # type: ignore[method-assign]
    end(writer)
    assert journal_of(made).exists()
    assert said(store, made.id) == ["q", "a", "once"]
    assert not journal_of(made).exists()
    assert tree(made.place.durable or "") == tree(made.place.projection or "")


def test_a_journal_cut_at_any_byte_gives_what_was_whole(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    shown = ["q2", "one ☃ ", "two", " three"]
    writer.append(ChatRequest(timestamp=T, content=shown[0]))
    for text in shown[1:]:
        writer.partial("message", text)
    end(writer)
    whole = journal_of(made).read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        found = records.parse(whole[:cut])
        count = sum(1 for one in ends if one <= cut)
        assert found.damaged == 0
        assert (found.base is None) == (count == 0)
        texts = [json.loads(raw).get("content") or json.loads(raw).get("message") for raw in found.events]
        assert "".join(texts) == "".join(shown[: max(count - 1, 0)])


def test_damaged_lines_cost_themselves_alone(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    for text in ("q2", "q3", "q4"):
        writer.append(ChatRequest(timestamp=T, content=text))
    end(writer)
    lines = journal_of(made).read_bytes().split(b"\n")
    lines[2] = b"\x00" * 10
    journal_of(made).write_bytes(b"\n".join(lines))
    found = store.open(made.id)
    assert said(store, made.id) == ["q", "a", "q2", "q4"]
    assert any(".aside" in notice for notice in found.notices)
    assert Path(f"{journal_of(made)}.aside").exists()


def test_an_empty_journal_is_nothing(store: Store, make: Make) -> None:
    made = make()
    for content in (b"", b'{"journal":1,"si'):
        journal_of(made).write_bytes(content)
        assert store.open(made.id).notices == []
        assert not journal_of(made).exists()


# -- ends and faults


CHILD = """
import os, sys
sys.path[:0] = sys.argv[4:]
from jp.conversation.events import ChatRequest, ChatResponse
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from jp.storage.workspace import Workspace
root, conversation_id, turns = sys.argv[1:4]
store = Store(Workspace.find(root, os.environ), os.environ)
lock = store.lock(conversation_id, "child")
conversation = store.open(conversation_id, lock)
writer = TurnWriter.begin(conversation, lock)
def show(text):
    os.write(1, text.encode() + b"\\n")
show("begun")
for n in range(int(turns)):
    writer.append(ChatRequest(timestamp="t", content=f"q{n}"))
    show(f"q{n}")
    for i in range(20):
        writer.partial("message", f"w{n}.{i} ")
        show(f"w{n}.{i} ")
    if n % 2:
        writer.complete_partial(ChatResponse(timestamp="t", message="".join(f"w{n}.{i} " for i in range(20))))
    writer.fold()
show("end")
"""


@pytest.mark.slow
def test_killed_at_any_moment_nothing_shown_is_lost(store: Store, make: Make) -> None:
    made = make(turns=0)
    expected: list[str] = []
    for attempt in range(16):
        argv = [sys.executable, "-c", CHILD, store.workspace.root, made.id, "4", *sys.path]
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ, "JP_SESSION": "x"})
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        threading.Event().wait(0.0015 * attempt)
        child.send_signal(signal.SIGKILL)
        shown = [line for line in child.stdout.read().decode().split("\n") if line]
        child.stdout.close()
        child.wait()
        expected += [line for line in shown if line != "end"]
        found = "".join(said(store, made.id))
        # What was written and not yet shown may be there too, once for each attempt.
        at = 0
        for text in expected:
            at = found.find(text, at)
            assert at >= 0, f"{text!r} was shown and is gone"
            at += len(text)
        place = store.place(made.id)
        assert tree(place.durable or "") == tree(place.projection or "")
    assert len(expected) > 50


SUICIDE = """
import os, signal
calls, at = os.environ["KILL_CALL"], int(os.environ["KILL_AT"])
count = 0
def wrap(name, real):
    def wrapped(*args, **more):
        global count
        count += 1
        if count == at:
            if name == "write" and len(args[1]) > 1:
                real(args[0], bytes(args[1])[: len(args[1]) // 2])  # the kernel had taken half of it
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)
    return wrapped
for name in calls.split():
    setattr(os, name, wrap(name, getattr(os, name)))
show_fd = os.dup(1)
shown = os.fdopen(show_fd, "wb", buffering=0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("calls", ["write", "replace rename unlink fsync"], ids=["write", "others"])
def test_killed_at_every_call_nothing_shown_is_lost(store: Store, make: Make, calls: str) -> None:
    source = CHILD.replace("def show(text):\n    os.write(1, text", SUICIDE + "def show(text):\n    shown.write(text")
    source = source.replace("range(20)", "range(3)")
    for at in range(1, 60):
        made = make(turns=0)
        argv = [sys.executable, "-c", source, store.workspace.root, made.id, "2", *sys.path]
        environ = {**os.environ, "JP_SESSION": "x", "KILL_CALL": calls, "KILL_AT": str(at)}
        done = subprocess.run(argv, stdout=subprocess.PIPE, env=environ, check=False)
        shown = done.stdout.decode().split("\n")[:-1]
        expected = [line for line in shown if line not in ("begun", "end")]
        found = "".join(said(store, made.id))
        assert "".join(expected) in found
        assert json.loads(Path(made.path, "events.json").read_bytes()) is not None
        place = store.place(made.id)
        assert tree(place.durable or "") == tree(place.projection or "")
        assert not journal_of(made).exists()
        if done.returncode == 0:
            assert expected[-1] == "w1.2 "
            break
        assert done.returncode == -signal.SIGKILL
    else:
        pytest.fail("it never got to its end")
    assert at > 5


@pytest.mark.parametrize("dies", [False, True], ids=["error", "dies"])
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_at_any_call_of_a_turn_loses_nothing(store: Store, make: Make, call: str, dies: bool) -> None:
    reached = 0
    for k in range(1, 60):
        made = make(turns=1)
        lock = store.lock(made.id, "jp query")
        writer = TurnWriter.begin(store.open(made.id, lock), lock)
        kept: list[str] = []
        with fail_at(call, k, dies=dies) as fault:
            try:
                for text in ("one", "two", "three"):
                    # What could not be written is still in memory, and the next call or the fold writes it.
                    try:
                        writer.append(ChatRequest(timestamp=T, content=text))
                    except WriteError:
                        pass
                    kept.append(text)
                writer.fold()
            except (WriteError, Died):
                pass
        if not fault.fired:
            break
        reached += 1
        if not dies and journal_of(made).exists():
            writer.fold()
        end(writer)
        found = said(Store(store.workspace, {"JP_SESSION": "x"}), made.id)
        assert found[:2] == ["q", "a"]
        assert found[2 : 2 + len(kept)] == kept
        assert len(found) <= 2 + 3
        store.remove(made.id)
    assert reached, f"{call} is never called"


def test_a_full_disk_is_said_once_and_everything_is_kept(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="one"))
    with fail_at("write", 1, error=errno.ENOSPC), pytest.raises(WriteError, match="No space left") as error:
        writer.append(ChatRequest(timestamp=T, content="two"))
    assert "journal.jsonl" in error.value.message
    writer.append(ChatRequest(timestamp=T, content="three"))
    end(writer)
    assert said(store, made.id) == ["q", "a", "one", "two", "three"]


def test_half_a_line_on_a_full_disk_is_taken_back(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="one"))
    real = os.write
    state = {"n": 0}

    def short(fd: int, data: bytes) -> int:
        state["n"] += 1
        if state["n"] == 1:
            return real(fd, data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", short)
        with pytest.raises(WriteError):
            writer.append(ChatRequest(timestamp=T, content="two"))
    writer.append(ChatRequest(timestamp=T, content="three"))
    end(writer)
    assert records.parse(journal_of(made).read_bytes()).damaged == 0
    assert said(store, made.id) == ["q", "a", "one", "two", "three"]


def fill(writer: TurnWriter) -> int:
    """Writes until the disk is full; how many events were written."""
    for written in range(1000):
        try:
            writer.append(ChatRequest(timestamp=T, content=f"q{written} " + "x" * 1000))
        except WriteError:
            return written
    raise AssertionError("the disk is never full")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_disk_that_fills_up_during_a_turn(store: Store, make: Make, folder: Path) -> None:
    from tests.storage.test_files import small_disk

    made = make()
    durable = Path(made.place.durable or "")
    kept = tree(durable)
    with small_disk(folder / "disk") as disk:
        for name, content in kept.items():
            (disk / name).write_bytes(content)
        shutil.rmtree(durable)
        durable.symlink_to(disk)
        writer = writer_for(store, made)
        written = fill(writer)
        assert written > 5
        with pytest.raises(WriteError, match="No space left"):
            writer.fold()
        assert (disk / "events.json").read_bytes() == kept["events.json"]
        end(writer)
        found = said(store, made.id)
        assert [text.split()[0] for text in found[2:]] == [f"q{n}" for n in range(written)]
        durable.unlink()
        durable.mkdir()


def read_only(path: Path) -> Callable[[], None]:
    """Makes a directory read-only, for root as well; returns what undoes it."""
    if os.geteuid() != 0:
        path.chmod(0o500)
        return lambda: path.chmod(0o700)
    done = subprocess.run(["mount", "--bind", str(path), str(path)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("nothing can be mounted here")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(path)], check=True)
    return lambda: subprocess.run(["umount", str(path)], check=True) and None


def test_a_project_that_cannot_be_written_is_a_notice(store: Store, make: Make) -> None:
    made = make()
    undo = read_only(Path(store.workspace.root))
    try:
        lock = store.lock(made.id)
        conversation = store.open(made.id, lock)
        turn(conversation, "q2")
        lock.release()
        assert any("the project's copy is behind" in notice for notice in conversation.notices)
        assert said(store, made.id) == ["q", "a", "q2", "a"]
    finally:
        undo()
    lock = store.lock(made.id)
    turn(store.open(made.id, lock), "q3")
    lock.release()
    assert tree(made.place.durable or "") == tree(made.place.projection or "")


def test_a_home_that_cannot_be_written_is_said_and_the_journal_shown(store: Store, make: Make) -> None:
    made = make()
    writer = writer_for(store, made)
    writer.append(ChatRequest(timestamp=T, content="q2"))
    end(writer)
    undo = read_only(Path(store.workspace.user_dir or ""))
    try:
        found = store.open(made.id)
        assert len(found.stream) == 4
        assert any("not stored" in notice for notice in found.notices)
        with pytest.raises(WriteError):
            store.create()
    finally:
        undo()
    assert said(store, made.id) == ["q", "a", "q2"]
    assert not journal_of(made).exists()


@pytest.mark.slow
def test_readers_always_see_a_whole_conversation(store: Store, make: Make) -> None:
    made = make("Title 0", turns=0)
    argv = [sys.executable, "-c", CHILD, store.workspace.root, made.id, "25", *sys.path]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, env={**os.environ, "JP_SESSION": "x"})
    assert child.stdout is not None
    last = 0
    looked = 0
    reader = threading.Thread(target=child.stdout.read, daemon=True)
    reader.start()
    while child.poll() is None:
        found = said(store, made.id)
        listed = store.list()
        assert [one.title for one in listed] == ["Title 0"]
        questions = [text for text in found if text.startswith("q")]
        assert questions == [f"q{n}" for n in range(len(questions))]
        assert len(questions) >= last
        last = len(questions)
        looked += 1
    assert child.returncode == 0
    reader.join()
    child.stdout.close()
    assert looked > 3
    assert len([text for text in said(store, made.id) if text.startswith("q")]) == 25
    assert store.problems == []


def test_readers_while_the_title_changes(store: Store, make: Make) -> None:
    made = make("Title 0")
    stop = threading.Event()
    failures: list[BaseException] = []

    def rename() -> None:
        other = Store(store.workspace, {}, store.clock)
        try:
            n = 0
            while not stop.is_set():
                n += 1
                other.open(made.id).set_title(f"Title {n}")
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=rename)
    thread.start()
    for _ in range(150):
        assert said(store, made.id) == ["q", "a"]
    stop.set()
    thread.join()
    assert failures == []
