"""Editing a conversation's files: snapshot, editor, check, and both copies replaced or none (RFD 088).

The editor works on copies (`jp.cli.edit_scratch`). What can't be stored, was cancelled or could not be finished stays
on disk and its path is named; the conversation is as it was, byte for byte.
"""

import os

from jp.cli.conversation_check import BASE_CONFIG, EVENTS, METADATA, Fault, check
from jp.cli.edit_scratch import Scratch
from jp.cli.replace_files import replace_files
from jp.conversation import ids
from jp.errors import FAILED, JpError
from jp.storage import files
from jp.storage.errors import UnreadableFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from jp.editor.backend import EditorBackend
    from jp.storage.conversation import Conversation
    from jp.storage.store import Store

    Say = Callable[[str], object]
    AskAgain = Callable[[str], bool]

NAMES = (EVENTS, METADATA, BASE_CONFIG)


class ConversationEditError(JpError):
    """What was edited can't be stored."""

    code = "conversation_edit"


def edit_conversation(
    store: "Store",
    conversation: "Conversation",
    what: "Collection[str]",
    backend: "EditorBackend",
    ask_again: "AskAgain | None",
    say: "Say",
) -> int:
    """Have the files in `what` (of `NAMES`) edited and store them; the exit status.

    The conversation's lock is held. `ask_again` shows what is wrong and says whether to edit once more; None where
    nobody can be asked. Raises `ConversationEditError`, `EditorError` and leaves of `StorageError`.
    """
    return _Edit(store, conversation, backend, ask_again, say).run([name for name in NAMES if name in what])


class _Edit:
    def __init__(
        self,
        store: "Store",
        conversation: "Conversation",
        backend: "EditorBackend",
        ask_again: "AskAgain | None",
        say: "Say",
    ) -> None:
        self._conversation = conversation
        self._backend = backend
        self._ask_again = ask_again
        self._say = say
        self._path = os.path.join(store.workspace.ensure_user_dir(), "drafts", f"edit-{conversation.id}")
        conversation.refresh_durable()
        self._before = _Before(conversation)

    def run(self, wanted: list[str]) -> int:
        from jp.editor.backend import EditOutcome, EditRequest

        scratch, names = self._scratch(wanted)
        paths = tuple(scratch.file(name) for name in names)
        while True:
            try:
                outcome = self._backend.edit_file(EditRequest(paths, cwd=scratch.path))
            except JpError:
                self._leave(scratch)
                raise
            if outcome is EditOutcome.CANCELLED:
                self._say(f"the edit was cancelled, {self._shown} is as it was{self._put_away(scratch)}")
                return FAILED
            try:
                new = self._changes(scratch, names)
            except Fault as fault:
                if self._ask_again is None:
                    kept = self._put_away(scratch)
                    raise ConversationEditError(
                        f"{self._shown} is as it was: {fault}", hints=[kept.removeprefix("; ")] if kept else []
                    ) from fault
                if not self._ask_again(str(fault)):
                    self._say(f"{self._shown} is as it was{self._put_away(scratch)}")
                    return FAILED
                self._restore_deleted(scratch, names)
                continue
            return self._finish(scratch, new)

    @property
    def _shown(self) -> str:
        return ids.display(self._conversation.id)

    # -- the copies

    def _scratch(self, wanted: list[str]) -> tuple[Scratch, list[str]]:
        """The directory to edit in and the files in it to open: what an earlier edit left, else fresh copies."""
        current = {name: self._before.content(name) for name in wanted}
        left = Scratch.left(self._path)
        changed = left.changed() & set(NAMES) if left is not None else set()
        if left is not None and left.base and not changed:
            left.discard()
        elif left is not None and changed and all(self._is_from_now(left, name) for name in changed):
            left.put({name: data for name, data in current.items() if name not in changed})
            self._say(f"what an earlier edit has left in {left.path} is opened as it is")
            return left, [name for name in NAMES if name in changed or name in wanted]
        elif left is not None:
            aside = left.set_aside()
            self._say(f"what an earlier edit has left does not fit {self._shown} as it is now; it was moved to {aside}")
        return Scratch.make(self._path, current), wanted

    def _is_from_now(self, left: Scratch, name: str) -> bool:
        try:
            return left.copied_from(name, self._before.content(name))
        except JpError:
            return False

    def _restore_deleted(self, scratch: Scratch, names: list[str]) -> None:
        scratch.put({name: self._before.content(name) for name in names if not os.path.lexists(scratch.file(name))})

    def _put_away(self, scratch: Scratch) -> str:
        """Out of the way of the next edit; what is to be said of it."""
        if scratch.changed():
            return f"; what was edited is kept in {scratch.set_aside()}"
        scratch.discard()
        return ""

    def _leave(self, scratch: Scratch) -> None:
        """The editor failed: what it wrote is for the next edit."""
        if scratch.changed():
            self._say(f"what was edited is kept in {scratch.path}; the next edit opens it")
        else:
            scratch.discard()

    # -- storing

    def _changes(self, scratch: Scratch, names: list[str]) -> dict[str, bytes]:
        """What differs, checked; raises `Fault`."""
        new = {}
        for name in names:
            try:
                data = scratch.read(name)
            except FileNotFoundError:
                raise Fault(f"{name} was deleted or moved") from None
            except UnreadableFileError as error:
                raise Fault(error.message) from error
            if data != self._before.content(name):
                new[name] = data
        for name, data in new.items():
            check(name, data, self._before.content(name))
        return new

    def _finish(self, scratch: Scratch, new: "Mapping[str, bytes]") -> int:
        if not new:
            scratch.discard()
            self._say(f"nothing was changed in {self._shown}")
            return 0
        try:
            self._store(new)
        except JpError:
            self._say(f"what was edited is kept in {scratch.path}; the next edit opens it")
            raise
        scratch.discard()
        self._say(f"{' and '.join(new)} of {self._shown} changed")
        return 0

    def _store(self, new: "Mapping[str, bytes]") -> None:
        conversation = self._conversation
        if self._before.outdated():
            raise ConversationEditError(
                f"the files of {self._shown} were changed by something else while they were edited",
                hints=["compare both, then edit again"],
            )
        title = conversation.title if METADATA in new and METADATA not in self._before.broken else None
        contents = {os.path.join(folder, name): new[name] for folder in conversation.place.existing for name in new}
        aside = [path for path in self._before.unreadable if path in contents]
        for path, moved in zip(aside, replace_files(contents, aside), strict=True):
            self._say(f"{path} can't be read; it was set aside as {moved}")
        conversation.forget()
        if METADATA in new and conversation.title != title:
            conversation.set_title(conversation.title)  # the directories are named after it


class _Before:
    """The conversation's files as they were: what each says, and which paths were looked at.

    `unreadable` are paths of copies that can't be read, `broken` the names of files that no copy of can be.
    """

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        self._contents: dict[str, bytes] = {EVENTS: conversation.stream.data}
        self.unreadable: list[str] = list(conversation.broken)
        self.broken: set[str] = set()
        for name in (METADATA, BASE_CONFIG):
            self._read(name)
        self._seen = self._stats()

    def content(self, name: str) -> bytes:
        """What the file says; raises `ConversationEditError` when the conversation has none."""
        if name not in self._contents:
            raise ConversationEditError(
                f"{ids.display(self._conversation.id)} has no {name}",
                hints=["its configuration is the first `config_delta` in events.json"] if name == BASE_CONFIG else [],
            )
        return self._contents[name]

    def outdated(self) -> bool:
        """Whether something else wrote, moved or removed one of the files since."""
        return self._stats() != self._seen

    def _read(self, name: str) -> None:
        """The copy that counts as `Conversation` sees it: the newer metadata, the durable copy's configuration."""
        paths = [os.path.join(folder, name) for folder in self._conversation.place.existing]
        if name == METADATA:
            paths.sort(key=_mtime, reverse=True)
            self._contents[name] = b"{}\n"
        bad: list[tuple[str, bytes]] = []
        good: list[tuple[str, bytes]] = []
        for path in paths:
            try:
                data = files.read(path)
            except FileNotFoundError:
                continue
            except UnreadableFileError:
                bad.append((path, b""))
                continue
            (good if _is_object(data) else bad).append((path, data))
        if not good and not bad:
            return
        self.unreadable += [path for path, _ in bad]
        if good:
            self._contents[name] = good[0][1]
            return
        # There is nothing else to begin with, and repairing it may be what the edit is for.
        self.broken.add(name)
        self._contents[name] = bad[0][1]

    def _stats(self) -> list[tuple[int, int, int]]:
        found = []
        for folder in self._conversation.place.existing:
            for name in NAMES:
                try:
                    one = os.lstat(os.path.join(folder, name))
                    found.append((one.st_ino, one.st_size, one.st_mtime_ns))
                except OSError:
                    found.append((0, 0, 0))
        return found


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1


def _is_object(data: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(data.decode()), dict)
    except (ValueError, RecursionError):
        return False
