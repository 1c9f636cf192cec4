"""`jp conversation edit`: what is valid is in both copies, what is not leaves every byte as it was."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jp.cli.commands import conversation_edit as command
from jp.cli.conversation_check import Fault, check
from jp.cli.conversation_edit import ConversationEditError, edit_conversation
from jp.cli.edit_scratch import Scratch
from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.errors import EditorEndedError, EditorSpawnError
from jp.editor.scripted import ScriptedEditor
from jp.storage.conversation import Conversation
from jp.storage.errors import LockedError, StorageError
from jp.storage.journal import TurnWriter
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from tests.conftest import program
from tests.storage.conftest import T, clock, environ, make, turn
from tests.storage.faults import fail_at
from tests.support.terminal import Terminal
from tests.support.workspace import Ask

__all__ = ["clock", "environ", "make"]

Make = Callable[..., Conversation]
EVENTS, METADATA, CONFIG = "events.json", "metadata.json", "base_config.json"


class Case:
    """One conversation, and editing it."""

    def __init__(self, store: Store, conversation: Conversation) -> None:
        self.store = store
        self.id = conversation.id
        self.said: list[str] = []
        self.asked: list[str] = []
        self.answers: list[bool] | None = None
        self.backend = ScriptedEditor()

    def edit(self, *steps: Any, what: tuple[str, ...] = (EVENTS,)) -> int:
        self.backend = ScriptedEditor(steps)
        with self.store.lock(self.id) as lock:
            conversation = self.store.open(self.id, lock)
            ask = self._ask if self.answers is not None else None
            return edit_conversation(self.store, conversation, what, self.backend, ask, self.said.append)

    def _ask(self, problem: str) -> bool:
        assert self.answers is not None
        self.asked.append(problem)
        return self.answers.pop(0)

    def files(self) -> dict[str, bytes]:
        """Every file of both copies, by its path."""
        return {
            os.path.join(folder, name): Path(folder, name).read_bytes()
            for folder in self.store.place(self.id).existing
            for name in sorted(os.listdir(folder))
        }

    def copies(self, name: str) -> list[bytes]:
        return [Path(folder, name).read_bytes() for folder in self.store.place(self.id).existing]

    def left(self) -> list[str]:
        """What is in the directory of the drafts."""
        folder = os.path.join(self.store.workspace.ensure_user_dir(), "drafts")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    @property
    def scratch(self) -> Path:
        return Path(self.store.workspace.ensure_user_dir(), "drafts", f"edit-{self.id}")


@pytest.fixture
def store(tmp_path: Path, environ: dict[str, str], clock: Any) -> Store:
    root = tmp_path / "store"
    root.mkdir()
    return Store(Workspace.init(str(root), environ), environ, clock)


@pytest.fixture
def project(workspace: Path) -> Path:
    """The workspace of the whole program."""
    return workspace


@pytest.fixture
def case(store: Store, make: Make) -> Case:
    return Case(store, make())


def replaced(old: str, new: str) -> Callable[[str], str]:
    def step(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return step


# --- stored


@pytest.mark.req("088-121")
def test_a_valid_change_is_in_both_copies(case: Case):
    assert case.edit(replaced('"q"', '"another question"')) == 0
    durable, projection = case.copies(EVENTS)
    assert durable == projection
    assert json.loads(durable)[1]["content"] == "another question"
    assert case.said == [f"events.json of jp-c{case.id} changed"]
    assert case.left() == []
    opened = case.store.open(case.id)
    assert not opened.diverged
    assert opened.stream.event(1).content == "another question"


def test_the_editor_gets_the_real_names_in_a_private_directory(case: Case):
    case.edit(EditOutcome.SAVED, what=(CONFIG, EVENTS, METADATA))
    request = case.backend.requests[0]
    assert isinstance(request, EditRequest)
    assert [os.path.basename(path) for path in request.paths] == [EVENTS, METADATA, CONFIG]
    assert request.cwd == os.path.dirname(request.paths[0]) == str(case.scratch)


def test_unchanged_files_are_not_written(case: Case):
    before = case.files()
    stats = [os.stat(path).st_ino for path in before]
    assert case.edit(EditOutcome.SAVED) == 0
    assert [os.stat(path).st_ino for path in before] == stats
    assert case.said == [f"nothing was changed in jp-c{case.id}"]
    assert case.left() == []


@pytest.mark.req("088-121")
def test_the_bytes_are_stored_as_they_were_written(case: Case):
    text = (
        '[ {"type":"from_the_future","n":1.50,"deep":{"a":[1,2]}},\r\n'
        f'{{"timestamp": "{T}", "type": "chat_request", "content": "caf\\u00e9", "new_field": 1e3}} ]'
    )
    assert case.edit(text) == 0
    assert case.copies(EVENTS) == [text.encode()] * 2
    assert [event.type for event in case.store.open(case.id).stream.events()] == ["from_the_future", "chat_request"]


def test_a_local_conversation_has_one_copy(store: Store, make: Make):
    case = Case(store, make(local=True))
    assert case.edit(replaced('"q"', '"r"')) == 0
    assert len(case.copies(EVENTS)) == 1
    assert b'"r"' in case.copies(EVENTS)[0]


def test_a_conversation_of_the_project_alone_gets_a_copy_of_the_users(case: Case):
    durable = case.store.place(case.id).durable
    assert durable is not None
    shutil.rmtree(durable)
    assert case.edit(replaced('"q"', '"r"')) == 0
    assert [b'"r"' in data for data in case.copies(EVENTS)] == [True, True]


def test_a_new_title_names_the_directories(case: Case):
    assert case.edit(replaced("A title", "Quite another"), what=(METADATA,)) == 0
    place = case.store.place(case.id)
    assert [os.path.basename(one) for one in place.existing] == [f"{case.id}-quite-another"] * 2
    assert [json.loads(data)["title"] for data in case.copies(METADATA)] == ["Quite another"] * 2
    assert (
        case.edit(
            lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "title"}), what=(METADATA,)
        )
        == 0
    )
    assert [os.path.basename(one) for one in case.store.place(case.id).existing] == [case.id] * 2
    assert case.store.open(case.id).title is None


def test_unknown_fields_of_the_metadata_stay(case: Case):
    assert case.edit(replaced("{", '{"odd": [1, 2.50],'), what=(METADATA,)) == 0
    assert case.edit(replaced("A title", "B"), what=(METADATA,)) == 0
    assert [b'"odd": [1, 2.50]' in data for data in case.copies(METADATA)] == [True, True]


def test_several_files_are_stored_together(case: Case):
    assert case.edit(lambda text: text.replace('"q"', '"r"').replace('"x"', '"y"'), what=(EVENTS, CONFIG)) == 0
    assert b'"r"' in case.copies(EVENTS)[1]
    assert [json.loads(data) for data in case.copies(CONFIG)] == [{"assistant": {"name": "y"}}] * 2
    assert case.store.open(case.id).base_config == {"assistant": {"name": "y"}}


def test_what_a_turn_that_was_cut_off_left_is_edited_too(case: Case):
    with case.store.lock(case.id) as lock:
        conversation = case.store.open(case.id, lock)
        writer = TurnWriter.begin(conversation, lock)
        writer.partial("message", "half an answer")
        writer.close()
    assert case.edit(replaced("half an answer", "whole")) == 0
    assert [b'"whole"' in data for data in case.copies(EVENTS)] == [True, True]
    assert not any(name.startswith("journal") for path in case.files() for name in [os.path.basename(path)])


# --- not stored

BROKEN = [
    (EVENTS, "[{", "events.json, line 1, column 3: not a JSON array of events"),
    (EVENTS, '{"a": 1}', "events.json: not a JSON array of events"),
    (EVENTS, "[\n1]", "events.json, line 2, event 1: is a number, not an object"),
    (EVENTS, '[{"timestamp": "x"}]', 'event 1: has no "type"'),
    (EVENTS, '[{"type": 5}]', 'event 1: has no "type"'),
    (EVENTS, '[{"type": "turn_start"}]', '"turn_start" has no valid "timestamp"'),
    (EVENTS, f'[{{"timestamp": "{T}", "type": "chat_request"}}]', "missing required field `content`"),
    (EVENTS, f'[{{"timestamp": "{T}", "type": "chat_response", "message": 5}}]', "$.message"),
    (EVENTS, "", "events.json, line 1, column 1"),
    (METADATA, "[]", "metadata.json: is an empty list, not an object"),
    (METADATA, '{"title": 5}', 'metadata.json: "title" is 5; allowed: a text'),
    (METADATA, '{"pinned_at": "soon"}', 'metadata.json: "pinned_at" is "soon"; allowed: a time'),
    (METADATA, '{"labels": {"a": 1}}', 'metadata.json: "labels" is a table'),
    (METADATA, '{\n"title": "x",\n}', "metadata.json, line 3, column 1: not valid JSON"),
    (CONFIG, '{"assistant": {"nme": "x"}}', 'base_config.json: unknown key "assistant.nme"; did you mean'),
    (CONFIG, '{"assistant": {"name": 5}}', 'base_config.json: "assistant.name" is 5; allowed: a string'),
    (CONFIG, "null", "base_config.json: is null, not an object"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
@pytest.mark.req("088-122")
def test_an_invalid_change_is_said_and_nothing_is_touched(case: Case, name: str, text: str, message: str):
    before = case.files()
    with pytest.raises(ConversationEditError) as caught:
        case.edit(text, what=(name,))
    assert caught.value.status == 1
    assert message in caught.value.message
    assert case.files() == before
    (aside,) = case.left()
    assert aside in caught.value.hints[0]
    assert (case.scratch.parent / aside / name).read_text() == text


@pytest.mark.req("088-122")
def test_one_invalid_file_keeps_the_valid_ones_back(case: Case):
    before = case.files()
    with pytest.raises(ConversationEditError, match=r"events\.json"):
        case.edit(lambda text: text.replace("A title", "B").replace('"q"', "5"), what=(EVENTS, METADATA))
    assert case.files() == before


@pytest.mark.req("088-122")
def test_who_can_be_asked_may_edit_again_or_revert(case: Case):
    case.answers = [True, True]
    assert case.edit(replaced('"q"', '"q'), replaced('"q', "777777"), replaced("777777", '"r"')) == 0
    assert len(case.asked) == 2
    assert "events.json, line" in case.asked[0]
    assert [b'"r"' in data for data in case.copies(EVENTS)] == [True, True]
    case.answers = [False]
    before = case.files()
    assert case.edit("nothing") == 1
    assert case.files() == before
    assert f"jp-c{case.id} is as it was; what was edited is kept in {case.scratch}.aside" in case.said


@pytest.mark.req("088-123")
def test_a_cancelled_edit_changes_nothing(case: Case):
    before = case.files()
    assert case.edit(EditOutcome.CANCELLED) == 1
    assert case.files() == before
    assert case.said == [f"the edit was cancelled, jp-c{case.id} is as it was"]
    assert case.left() == []


class Writes:
    """An editor that writes and then cancels, fails, or does something odd to the files."""

    def __init__(self, do: Callable[[str], object], end: EditOutcome | Exception) -> None:
        self._do = do
        self._end = end

    def edit_text(self, content: str, suffix: str = ".md") -> tuple[EditOutcome, str]:
        raise NotImplementedError

    def edit_file(self, request: EditRequest) -> EditOutcome:
        for path in request.paths:
            self._do(path)
        if isinstance(self._end, Exception):
            raise self._end
        return self._end


def with_editor(case: Case, editor: Writes, what: tuple[str, ...] = (EVENTS,)) -> int:
    with case.store.lock(case.id) as lock:
        conversation = case.store.open(case.id, lock)
        ask = case._ask if case.answers is not None else None
        return edit_conversation(case.store, conversation, what, editor, ask, case.said.append)


@pytest.mark.req("088-123")
def test_what_was_written_before_the_cancel_is_kept_and_named(case: Case):
    before = case.files()
    assert with_editor(case, Writes(lambda path: Path(path).write_text("[]"), EditOutcome.CANCELLED)) == 1
    assert case.files() == before
    assert f"kept in {case.scratch}.aside" in case.said[0]
    assert (case.scratch.parent / f"{case.scratch.name}.aside" / EVENTS).read_text() == "[]"
    assert case.edit(EditOutcome.SAVED) == 0, "the next edit begins with the conversation"


def test_an_editor_that_does_not_start_leaves_nothing_behind(case: Case):
    before = case.files()
    with pytest.raises(EditorSpawnError):
        case.edit(EditorSpawnError("vim", "no such program"))
    assert case.files() == before
    assert case.left() == []


def test_what_an_editor_wrote_before_it_failed_is_opened_next_time(case: Case):
    text = case.copies(EVENTS)[0].decode().replace('"q"', '"written before the end"')
    with pytest.raises(EditorEndedError):
        with_editor(case, Writes(lambda path: Path(path).write_text(text), EditorEndedError("vim", "the run ends")))
    assert str(case.scratch) in case.said[-1]
    assert case.edit(replaced("before the end", "and stored")) == 0
    assert f"{case.scratch} is opened as it is" in case.said[-2]
    assert [b'"written and stored"' in data for data in case.copies(EVENTS)] == [True, True]
    assert case.left() == []


def test_a_file_that_was_deleted_is_a_fault_and_is_back_for_the_next_try(case: Case):
    case.answers = [True, False]
    before = case.files()
    seen: list[bool] = []

    def delete(path: str) -> None:
        seen.append(os.path.exists(path))
        os.unlink(path)

    assert with_editor(case, Writes(delete, EditOutcome.SAVED)) == 1
    assert case.asked == ["events.json was deleted or moved"] * 2
    assert seen == [True, True]
    assert case.files() == before


def test_text_that_is_no_utf8_is_a_fault(case: Case):
    def write(path: str) -> None:
        Path(path).write_bytes(b'[{"type": "odd", "text": "\xff"}]')

    with pytest.raises(ConversationEditError, match="not valid UTF-8"):
        with_editor(case, Writes(write, EditOutcome.SAVED))


def test_somebody_elses_change_meanwhile_is_not_undone(case: Case):
    projection = case.store.place(case.id).projection
    assert projection is not None

    def pull(path: str) -> None:
        Path(path).write_text("[]")
        file = Path(projection, EVENTS)
        file.write_text(file.read_text() + "\n")

    with pytest.raises(ConversationEditError, match="changed by something else"):
        with_editor(case, Writes(pull, EditOutcome.SAVED))
    assert all(b'"q"' in data for data in case.copies(EVENTS))
    assert (case.scratch / EVENTS).read_text() == "[]"
    assert str(case.scratch) in case.said[-1]


def test_a_full_disk_or_a_failing_rename_leaves_every_byte(case: Case):
    before = case.files()
    change = json.dumps([{"type": "odd", "n": n} for n in range(3)])
    with case.store.lock(case.id) as lock:
        conversation = case.store.open(case.id, lock)
        for call, error in (
            ("fsync", errno.ENOSPC),
            ("replace", errno.EIO),
            ("write", errno.ENOSPC),
            ("open", errno.EIO),
        ):
            for k in range(1, 12):

                def fails(path: str) -> None:
                    Path(path).write_text(change)
                    enter(fail_at(call, k, error=error))  # noqa: B023

                entered: list[Any] = []

                def enter(context: Any) -> None:
                    entered.append((context, context.__enter__()))  # noqa: B023

                try:
                    edit_conversation(
                        case.store, conversation, (EVENTS,), Writes(fails, EditOutcome.SAVED), None, case.said.append
                    )
                except (StorageError, ConversationEditError):
                    pass
                finally:
                    for context, _ in entered:
                        context.__exit__(None, None, None)
                if entered[0][1].fired:
                    assert len({data for path, data in case.files().items() if path.endswith(EVENTS)}) == 1, (call, k)
                    assert case.files().keys() == before.keys()
                for path, data in before.items():
                    Path(path).write_bytes(data)
                shutil.rmtree(case.scratch, ignore_errors=True)
                conversation.forget()


def test_the_lock_is_held_while_it_is_edited(case: Case):
    def locked(path: str) -> None:
        with pytest.raises(LockedError):
            case.store.lock(case.id)

    assert with_editor(case, Writes(locked, EditOutcome.SAVED)) == 0


# --- what an earlier run left


def left(case: Case, **changes: str) -> None:
    """What a process that was killed in the editor leaves."""
    content = {name: case.copies(name)[0] for name in (EVENTS, METADATA)}
    made = Scratch.make(str(case.scratch), content)
    for name, text in changes.items():
        Path(made.file(f"{name}.json")).write_text(text)


def test_a_killed_edit_is_opened_as_it_is(case: Case):
    left(case, events="[ half")
    seen: dict[str, str] = {}

    def look(path: str) -> None:
        seen[os.path.basename(path)] = Path(path).read_text()
        Path(path).write_text("[]")

    assert with_editor(case, Writes(look, EditOutcome.SAVED), (EVENTS,)) == 0
    assert seen == {EVENTS: "[ half"}
    assert str(case.scratch) in case.said[0]
    assert case.copies(EVENTS) == [b"[]"] * 2


def test_a_killed_edit_of_another_file_is_opened_beside_the_one_asked_for(case: Case):
    left(case, events="[]")
    case.edit(EditOutcome.CANCELLED, what=(METADATA,))
    request = case.backend.requests[0]
    assert isinstance(request, EditRequest)
    assert [os.path.basename(path) for path in request.paths] == [EVENTS, METADATA]


def test_an_unchanged_scratch_is_made_anew(case: Case):
    left(case)
    with case.store.lock(case.id) as lock:
        turn_of = case.store.open(case.id, lock)
        turn_of.lock = lock
        turn(turn_of, "a later question")
    case.edit(replaced("a later question", "seen"))
    assert [b'"seen"' in data for data in case.copies(EVENTS)] == [True, True]
    assert case.left() == []


def test_a_killed_edit_does_not_undo_what_was_said_since(case: Case):
    left(case, events="[]")
    with case.store.lock(case.id) as lock:
        conversation = case.store.open(case.id, lock)
        turn(conversation, "a later question")
    assert case.edit(replaced("a later question", "seen")) == 0
    assert [b'"seen"' in data for data in case.copies(EVENTS)] == [True, True]
    assert f"moved to {case.scratch}.aside" in case.said[0]
    assert Path(f"{case.scratch}.aside", EVENTS).read_text() == "[]"


@pytest.mark.parametrize("record", ["", "[]", "{", '{"events.json": 5}'])
def test_a_scratch_whose_record_is_broken_is_set_aside(case: Case, record: str):
    left(case, events="[]")
    (case.scratch / ".copied-from.json").write_text(record)
    assert case.edit(replaced('"q"', '"r"')) == 0
    assert Path(f"{case.scratch}.aside", EVENTS).read_text() == "[]"


# --- copies that can't be read


def test_a_broken_copy_is_set_aside_not_overwritten(case: Case):
    projection = case.store.place(case.id).projection
    assert projection is not None
    Path(projection, EVENTS).write_text("[ broken")
    Path(projection, METADATA).write_text("{ broken")
    os.utime(Path(projection, METADATA), (0, 0))
    assert case.edit(lambda text: text.replace('"q"', '"r"').replace("A title", "B"), what=(EVENTS, METADATA)) == 0
    assert [b'"r"' in data for data in case.copies(EVENTS)] == [True, True]
    now = case.store.place(case.id).projection
    assert now is not None
    assert Path(now, f"{EVENTS}.aside").read_text() == "[ broken"
    assert Path(now, f"{METADATA}.aside").read_text() == "{ broken"


def test_metadata_that_no_copy_of_can_be_read_is_repaired(case: Case):
    for folder in case.store.place(case.id).existing:
        Path(folder, METADATA).write_text('{"title": "A title"')
    assert case.edit(lambda text: text + "}", what=(METADATA,)) == 0
    assert case.copies(METADATA)[0].startswith(b'{"title": "A title"}') or b"A title" in case.copies(METADATA)[0]
    assert case.store.open(case.id).title == "A title"


def test_an_old_conversation_says_where_its_configuration_is(case: Case):
    for folder in case.store.place(case.id).existing:
        os.unlink(Path(folder, CONFIG))
    with pytest.raises(ConversationEditError, match=r"has no base_config.json"):
        case.edit(EditOutcome.SAVED, what=(CONFIG,))
    assert case.left() == []


# --- what was there before is no fault


def test_oddities_that_were_there_stay():
    odd = b'[{"type":"chat_request"},{"timestamp":"x","type":"turn_start"},5]'
    check(EVENTS, odd.replace(b"]", b', {"type":"new"}]'), odd)
    with pytest.raises(Fault):
        check(EVENTS, odd, b"[]")
    check(METADATA, b'{"title": 5, "pinned_at": null}', b'{"title": 5}')
    check(CONFIG, b'{"gone": {"a": 1}, "assistant": {"name": "n"}}', b'{"gone": {"a": 1}}')
    with pytest.raises(Fault, match="gone"):
        check(CONFIG, b'{"gone": {"a": 2}}', b'{"gone": {"a": 1}}')


def test_the_files_of_real_conversations_are_valid(data_dir: Path):
    folders = sorted((data_dir / "workspace" / ".jp" / "conversations").iterdir())
    assert folders
    seen = 0
    for folder in folders:
        for name in (EVENTS, METADATA, CONFIG):
            file = folder / name
            if file.is_file() and file.stat().st_size < 2_000_000:
                data = file.read_bytes()
                check(name, data + b"\n", data)
                seen += 1
    assert seen > 5


# --- the command


def editor(folder: Path, body: str) -> dict[str, str]:
    """An environment whose editor is a shell script; the files are its arguments."""
    script = folder / "editor.sh"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return {"EDITOR": f"{script} --wait", "JP_SESSION": "test"}


def project_copies(name: str, project: Path) -> list[bytes]:
    user = Path(os.environ["XDG_DATA_HOME"]) / "jp" / "workspace"
    found = sorted((project / ".jp" / "conversations").glob(f"*/{name}")) + sorted(
        user.glob(f"*/conversations/*/{name}")
    )
    return [file.read_bytes() for file in found]


@pytest.mark.req("088-121")
def test_the_configured_command_edits_a_conversation_on_a_terminal(ask: Ask, project: Path, tmp_path: Path):
    ask("q", "-n", "--title", "First", "a question")
    body = """echo "$@" >"$0.args"; sed -i 's/a question/another one/; s/First/Second/' $2 $3"""
    with Terminal(
        [*program(), "c", "edit", "--events", "--metadata"], cwd=project, env=editor(tmp_path, body)
    ) as terminal:
        assert terminal.wait() == "exited 0"
        assert "events.json and metadata.json of jp-c" in terminal.screen.contents
    given = (tmp_path / "editor.sh.args").read_text().split()
    assert [given[0], *map(os.path.basename, given[1:])] == ["--wait", EVENTS, METADATA]
    assert [b"another one" in data for data in project_copies(EVENTS, project)] == [True, True]
    assert [json.loads(data)["title"] for data in project_copies(METADATA, project)] == ["Second"] * 2
    assert "Second" in ask("c", "ls").stdout


@pytest.mark.req("088-123")
def test_a_cancelled_edit_fails_and_changes_nothing(ask: Ask, project: Path, tmp_path: Path):
    ask("q", "-n", "a question")
    before = project_copies(EVENTS, project)
    with Terminal([*program(), "c", "edit"], cwd=project, env=editor(tmp_path, "exit 3"), columns=200) as terminal:
        assert terminal.wait() == "exited 1"
        assert "the edit was cancelled, jp-c" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    assert project_copies(EVENTS, project) == before


@pytest.mark.req("088-122")
@pytest.mark.parametrize("key", ["r", "e"])
def test_an_invalid_edit_is_shown_and_the_person_decides(ask: Ask, project: Path, tmp_path: Path, key: str):
    ask("q", "-n", "a question")
    before = project_copies(EVENTS, project)
    body = """if test -e $0.again; then echo '[]' >$2; else echo '[{' >$2; fi; touch $0.again"""
    with Terminal([*program(), "c", "edit"], cwd=project, env=editor(tmp_path, body), columns=200) as terminal:
        terminal.until("events.json, line 2, column 1")
        terminal.until("It can't be stored like this. [e,r")
        terminal.pump(0.4)  # a key is taken once the terminal was silent
        terminal.send(key.encode())
        assert terminal.wait() == ("exited 1" if key == "r" else "exited 0")
        assert terminal.modes() == terminal.modes_before
        if key == "r":
            assert "what was edited is kept in" in terminal.screen.contents
    assert project_copies(EVENTS, project) == (before if key == "r" else [b"[]\n"] * 2)


def test_without_a_terminal_no_editor_starts(ask: Ask, project: Path, tmp_path: Path):
    ask("q", "-n", "a question")
    before = project_copies(EVENTS, project)
    done = ask("c", "edit", env=editor(tmp_path, "touch $0.ran"))
    assert done.status == "exited 1"
    assert "the edited files" in done.stderr
    assert not (tmp_path / "editor.sh.ran").exists()
    assert project_copies(EVENTS, project) == before


@pytest.mark.req("088-124")
def test_without_an_editor_the_error_says_how_to_have_one(ask: Ask, project: Path):
    ask("q", "-n", "a question")
    before = project_copies(EVENTS, project)
    done = ask("c", "edit", env={"EDITOR": None})
    assert done.status == "exited 1"
    assert "no editor is configured: nothing usable in editor.cmd, JP_EDITOR, VISUAL, EDITOR" in done.stderr
    assert project_copies(EVENTS, project) == before


@pytest.mark.req("088-124", "088-142")
def test_an_editor_that_cannot_run_is_an_error_and_changes_nothing(ask: Ask, project: Path):
    ask("q", "-n", "a question")
    before = project_copies(EVENTS, project)
    env: dict[str, str | None] = {"JP_EDITOR": "/no/such/editor", "JP_SESSION": "test"}
    with Terminal([*program(), "-F", "json", "c", "edit"], cwd=project, env=env, stdout=-1, stderr=-1) as terminal:
        assert terminal.wait() == "exited 1"
        record = json.loads(terminal.piped[2])
        assert terminal.piped[1] == b""
    assert record["code"] == "editor_spawn"
    assert "/no/such/editor" in record["message"]
    assert project_copies(EVENTS, project) == before


def test_help_says_what_is_edited_by_default(ask: Ask):
    done = ask("conversation", "edit", "--help")
    assert done.status == "exited 0"
    assert "default: the events" in done.stdout
    assert command.EPILOG.splitlines()[0] in done.stdout
