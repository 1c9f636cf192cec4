"""The store of a workspace: listing, finding, opening, creating and removing conversations (contracts, section 5).

Listing is on the path of the fastest commands, so what needs events is imported where it is used.
"""

import os

from jp.conversation import ids, targets
from jp.conversation.targets import Kind
from jp.errors import UsageError, nearest
from jp.storage import files, listing
from jp.storage.errors import (
    AmbiguousIdError,
    MissingHomeError,
    NoActiveConversationError,
    UnknownConversationError,
    WriteError,
    reason_of,
)
from jp.storage.layout import ARCHIVE, Place, Roots, scan
from jp.storage.listing import Problem, Summary
from jp.storage.sessions import Session, Sessions, current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from jp.storage.conversation import Conversation
    from jp.storage.lock import Lock
    from jp.storage.workspace import Workspace

    Ids = list[str]


_ABANDONED = 3600.0


def utc_now() -> "datetime":
    """The time, aware, in UTC."""
    from datetime import UTC, datetime

    return datetime.now(UTC)


class Store:
    """The conversations of one workspace. `problems` collects files that could not be used."""

    def __init__(
        self, workspace: "Workspace", environ: "Mapping[str, str]", clock: "Callable[[], datetime]" = utc_now
    ) -> None:
        self.workspace = workspace
        self.clock = clock
        self.problems: list[Problem] = []
        self._environ = environ

    @property
    def roots(self) -> Roots:
        """Where conversations lie."""
        user_dir = self.workspace.user_dir
        return Roots(os.path.join(user_dir, "conversations") if user_dir else None, self.workspace.conversations)

    def durable_root(self, *, archived: bool = False) -> str:
        """The user's directory of conversations, made when missing. Raises `MissingHomeError`, `WriteError`."""
        root = os.path.join(self.workspace.ensure_user_dir(), "conversations")
        root = os.path.join(root, ARCHIVE) if archived else root
        files.make_directory(root, 0o700)
        return root

    # -- finding

    def list(self, *, archived: bool = False) -> list[Summary]:
        """All conversations (all archived ones), those activated last first.

        One whose metadata can't be read is listed bare, and named in `problems`.
        """
        roots = self.roots.archive() if archived else self.roots
        found = listing.summaries(roots, archived=archived, problems=self.problems)
        found.sort(key=_activity, reverse=True)
        return found

    def ids(self, *, archived: bool = False) -> "Ids":
        """The ids of all conversations (all archived ones), oldest first. Opens no file."""
        roots = self.roots.archive() if archived else self.roots
        known = {*scan(roots.projection), *(scan(roots.durable) if roots.durable else ())}
        return sorted(known, key=int)

    def place(self, conversation_id: str) -> Place:
        """Where a conversation is. Raises `UnknownConversationError`."""
        found = self.roots.place(conversation_id)
        if found is None:
            raise UnknownConversationError(ids.display(conversation_id), self._nearest(conversation_id))
        return found

    def sessions(self, session: Session | None = None) -> Sessions:
        """The history of a session; of the one this process is in, when none is given."""
        return Sessions(self.workspace.user_dir, session or current(self._environ))

    def resolve(self, target: str, session: Session | None = None) -> str:
        """The id of the one conversation that `target` stands for (contracts, section 5).

        Raises `UnknownConversationError`, `AmbiguousIdError`, `NoActiveConversationError`, and `UsageError` for what is
        no target, asks (`?`), or stands for several.
        """
        wanted = targets.parse(target)
        if wanted.kind is Kind.ID:
            return self._by_prefix(wanted.text)
        if wanted.kind is Kind.PICKER or wanted.kind.several:
            raise UsageError(f"{target!r} does not stand for one conversation", metadata={"target": target})
        found = self._by_word(wanted.kind, self.sessions(session))
        if found is None:
            if wanted.kind is Kind.ACTIVE:
                raise NoActiveConversationError
            raise UnknownConversationError(f"is meant by {target!r} here")
        return found

    def resolve_all(self, target: str, session: Session | None = None) -> "Ids":
        """The ids that `target` stands for: one, or those of a set such as `+pinned`. Raises like `resolve`."""
        kind = targets.parse(target).kind
        if kind is Kind.ALL_LIVE:
            return self.ids()
        if kind is Kind.ALL_ARCHIVED:
            return self.ids(archived=True)
        if kind is Kind.ALL_PINNED:
            return [one.id for one in self.list() if one.pinned_at]
        if kind is Kind.ALL_SESSION:
            known = set(self.ids())
            return [entry.id for entry in self.sessions(session).history() if entry.id in known]
        return [self.resolve(target, session)]

    def _by_prefix(self, text: str) -> str:
        known = self.ids()
        found = ids.matching(text, known) or ids.matching(text, self.ids(archived=True))
        if not found:
            raise UnknownConversationError(ids.display(text), self._nearest(text, known))
        if len(found) > 1:
            raise AmbiguousIdError(text, [ids.display(one) for one in found])
        return found[0]

    def _by_word(self, kind: Kind, sessions: Sessions) -> str | None:
        if kind is Kind.NEWEST:
            return max(self.ids(), key=int, default=None)
        if kind is Kind.RECENT:
            return next((one.id for one in self.list()), None)
        if kind is Kind.PINNED:
            pinned = [(one.pinned_at, one.id) for one in self.list() if one.pinned_at]
            return max(pinned)[1] if pinned else None
        if kind is Kind.ARCHIVED:
            return next((one.id for one in self.list(archived=True)), None)
        known = set(self.ids())
        history = [entry.id for entry in sessions.history()]
        if kind is Kind.SESSION:
            history = history[1:]
        return next((one for one in history[:1] if one in known), None) or (
            next((one for one in history if one in known), None) if kind is Kind.SESSION else None
        )

    def _nearest(self, text: str, known: "Iterable[str] | None" = None) -> str | None:
        found = nearest(text, list(known if known is not None else self.ids()))
        return ids.display(found) if found else None

    # -- opening

    def lock(self, conversation_id: str, command: str = "", *, session: Session | None = None) -> "Lock":
        """The lock on a conversation, to be had before it is opened for writing.

        `command` is what others are told is running. Raises `LockedError` (exit status 4), `MissingHomeError`,
        `WriteError`.
        """
        from jp.storage import lock

        holder = self._holder(command, session)
        return lock.acquire(self.lock_path(conversation_id), holder, what=ids.display(conversation_id))

    def _holder(self, command: str, session: Session | None) -> "Any":
        from jp.storage.lock import Holder

        where = session or current(self._environ)
        return Holder.this_process(command, where.key if where else "")

    def lock_path(self, conversation_id: str) -> str:
        """The file whose lock guards a conversation; it is never removed. Raises `MissingHomeError`."""
        user_dir = self.workspace.user_dir or self.workspace.ensure_user_dir()
        return os.path.join(user_dir, "locks", f"{conversation_id}.lock")

    def open(self, conversation_id: str, lock: "Lock | None" = None, *, persist: bool = True) -> "Conversation":
        """A conversation, everything a dead process left in order where that is possible.

        With `lock` (from `lock()`) it can be written; with `persist=False` nothing that is done to it is stored.
        Raises `UnknownConversationError`, `UnreadableFileError`.
        """
        from jp.storage import recovery
        from jp.storage.conversation import Conversation

        found = Conversation(self, conversation_id, self.place(conversation_id))
        found.lock = lock
        _ = found.stream
        if recovery.needed(found):
            self._settle(found)
        found.persisted = persist
        return found

    def _settle(self, conversation: "Conversation") -> None:
        from jp.storage import recovery
        from jp.storage.lock import try_acquire

        if conversation.lock is not None:
            recovery.settle(self, conversation)
            return
        try:
            lock = try_acquire(self.lock_path(conversation.id), self._holder("recovery", None))
            if lock is None:
                return  # a turn is running; its events are shown as they are
            with lock:
                recovery.settle(self, conversation)
        except (MissingHomeError, WriteError) as error:
            conversation.notices.append(f"what a turn that was cut off left is shown but not stored: {error.message}")

    # -- making

    def create(
        self,
        *,
        title: str | None = None,
        local: bool = False,
        base_config: "dict[str, Any] | None" = None,
        expires_at: "datetime | None" = None,
        persist: bool = True,
        command: str = "",
    ) -> "Conversation":
        """A new, empty conversation; it is on disk, and its lock is held by `conversation.lock`.

        With `persist=False` it is in memory only. Raises `MissingHomeError`, `WriteError`.
        """
        from jp.storage.conversation import Conversation
        from jp.storage.metadata import Metadata

        now = self.clock()
        metadata = Metadata()
        metadata.title = title
        metadata.set_time("last_activated_at", now)
        metadata.set_time("expires_at", expires_at)
        if not persist:
            made = Conversation(self, ids.from_time(now), Place(None, None), persisted=False)
            made.adopt(metadata, base_config)
            return made
        contents = _contents(metadata, base_config)
        conversation_id, lock = self._claim(ids.from_time(now), command)
        try:
            name = ids.dirname(conversation_id, title)
            place = Place(_make(self.durable_root(), name, contents), None)
            if not local:
                files.make_directory(self.workspace.conversations)
                place.projection = _make(self.workspace.conversations, name, contents)
        except BaseException:
            lock.release()
            raise
        made = Conversation(self, conversation_id, place)
        made.lock = lock
        return made

    def _claim(self, wanted: str, command: str) -> "tuple[str, Lock]":
        """An id that nobody has, and its lock, so that nobody else takes it."""
        from jp.storage.lock import try_acquire

        known = {*self.ids(), *self.ids(archived=True)}
        while True:
            if wanted not in known:
                lock = try_acquire(self.lock_path(wanted), self._holder(command, None))
                if lock is not None:
                    if self.roots.place(wanted) is None:
                        return wanted, lock
                    lock.release()
            wanted = str(int(wanted) + 1)

    def fork_directory(self, source: str) -> str:
        """A copy of a conversation's directory under a new id, in both places; returns the id. Raises `WriteError`."""
        from jp.storage.conversation import copy_directory

        conversation_id, lock = self._claim(ids.from_time(self.clock()), "fork")
        with lock:
            slug = os.path.basename(source).partition("-")[2]
            name = f"{conversation_id}-{slug}" if slug else conversation_id
            copy_directory(source, self.durable_root(), name)
            copy_directory(source, self.workspace.conversations, name)
        return conversation_id

    # -- removing

    def remove(self, conversation_id: str) -> None:
        """Removes a conversation from both places.

        Raises `UnknownConversationError`, `LockedError` while a turn writes it, `WriteError`.
        """
        with self.lock(conversation_id, "remove"):
            self._remove(self.place(conversation_id))

    def _remove(self, place: Place) -> None:
        import shutil

        for folder in reversed(place.existing):
            parent, name = os.path.split(folder)
            # Out of sight at once, so that a reader sees it whole or not at all.
            hidden = os.path.join(parent, files.temp_name(name))
            try:
                os.rename(folder, hidden)
                files.sync_directory(parent)
            except OSError as error:
                raise WriteError(folder, reason_of(error)) from error
            shutil.rmtree(hidden, ignore_errors=True)

    def archive(self, conversation_id: str) -> None:
        """Moves a conversation to the archive. Raises like `remove`."""
        self._move(conversation_id, archived=True)

    def unarchive(self, conversation_id: str) -> None:
        """Brings an archived conversation back. Raises like `remove`."""
        self._move(conversation_id, archived=False)

    def _move(self, conversation_id: str, *, archived: bool) -> None:
        with self.lock(conversation_id, "archive") as lock:
            conversation = self.open(conversation_id, lock)
            if conversation.place.archived is archived:
                return
            conversation.set_time("archived_at", self.clock() if archived else None)
            target = self.roots.archive() if archived else self.roots
            for old, root in (
                (conversation.place.durable, target.durable),
                (conversation.place.projection, target.projection),
            ):
                if old is None or root is None:
                    continue
                files.make_directory(root)
                try:
                    os.rename(old, os.path.join(root, os.path.basename(old)))
                    files.sync_directory(root)
                    files.sync_directory(os.path.dirname(old))
                except OSError as error:
                    raise WriteError(old, reason_of(error)) from error

    def sweep(self, known: "Iterable[Summary] | None" = None) -> "Ids":
        """Removes expired conversations that are active in no session, and what dead processes left half made.

        Returns the ids of what was removed; `known` is a listing that was made anyway. Never raises for a file.
        """
        from jp.storage.errors import StorageError

        for folder in (self.roots.durable, self.roots.projection, self.sessions().folder):
            if folder:
                files.sweep(folder, older_than=_ABANDONED)
        now = self.clock()
        expired = [one.id for one in (self.list() if known is None else known) if one.expired(now)]
        if not expired:
            return []
        active = self.sessions().actives()
        gone = []
        for conversation_id in expired:
            if conversation_id in active:
                continue
            try:
                self.remove(conversation_id)
            except StorageError as error:
                self.problems.append(Problem(ids.display(conversation_id), error.message))
            else:
                gone.append(conversation_id)
        return gone


def _activity(one: Summary) -> "tuple[float, int]":
    when = one.last_activated_at
    return (when.timestamp() if when else int(one.id) / 10, int(one.id))


def _contents(metadata: "Any", base_config: "dict[str, Any] | None") -> dict[str, bytes]:
    import json

    contents = {"metadata.json": metadata.encode(), "events.json": b"[]\n"}
    if base_config is not None:
        contents["base_config.json"] = json.dumps(base_config, indent=2, ensure_ascii=False).encode(errors="replace")
    return contents


def _make(root: str, name: str, contents: "Mapping[str, bytes]") -> str:
    """A directory with these files, there as a whole or not at all."""
    target = os.path.join(root, name)
    staging = os.path.join(root, files.temp_name(name))
    try:
        os.mkdir(staging)
        for file, content in contents.items():
            files.write_atomic(os.path.join(staging, file), content)
        os.rename(staging, target)
        files.sync_directory(root)
    except OSError as error:
        raise WriteError(target, reason_of(error)) from error
    return target
