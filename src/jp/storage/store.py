"""The store of a workspace: listing, finding, opening, creating and removing conversations (contracts, section 5).

Listing is on the path of the fastest commands, so what needs events is imported where it is used.
"""

import os

from jp.conversation import ids
from jp.storage import files, listing, resolve
from jp.storage.errors import MissingHomeError, UnknownConversationError, WriteError
from jp.storage.layout import ARCHIVE, Place, Roots, scan
from jp.storage.listing import Problem, Summary
from jp.storage.sessions import Session, Sessions, current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from jp.storage.conversation import Conversation
    from jp.storage.lock import Holder, Lock
    from jp.storage.workspace import Workspace

    Ids = list[str]


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
            raise UnknownConversationError(ids.display(conversation_id), resolve.near(conversation_id, self.ids()))
        return found

    def sessions(self, session: Session | None = None) -> Sessions:
        """The history of a session; of the one this process is in, when none is given."""
        return Sessions(self.workspace.user_dir, session or current(self._environ))

    def resolve(self, target: str, session: Session | None = None) -> str:
        """The id of the one conversation that `target` stands for; see `jp.storage.resolve`."""
        return resolve.one(self, target, session)

    def resolve_all(self, target: str, session: Session | None = None) -> "Ids":
        """The ids that `target` stands for: one, or those of a set such as `+pinned`; raises like `resolve`."""
        return resolve.several(self, target, session)

    # -- opening

    def lock(self, conversation_id: str, command: str = "", *, session: Session | None = None) -> "Lock":
        """The lock on a conversation, to be had before it is opened for writing.

        `command` is what others are told is running. Raises `LockedError` (exit status 4), `MissingHomeError`,
        `WriteError`.
        """
        from jp.storage import lock

        holder = self.holder(command, session)
        return lock.acquire(self.lock_path(conversation_id), holder, what=ids.display(conversation_id))

    def holder(self, command: str, session: Session | None = None) -> "Holder":
        """This process, as others are told about it."""
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
            lock = try_acquire(self.lock_path(conversation.id), self.holder("recovery"))
            if lock is None:
                return  # a turn is running; its events are shown as they are
            with lock:
                recovery.settle(self, conversation)
        except (MissingHomeError, WriteError) as error:
            conversation.notices.append(f"what a turn that was cut off left is shown but not stored: {error.message}")

    # -- making and removing

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
        from jp.storage import creation
        from jp.storage.metadata import Metadata

        metadata = Metadata()
        metadata.title = title
        metadata.set_time("last_activated_at", self.clock())
        metadata.set_time("expires_at", expires_at)
        if not persist:
            return creation.in_memory(self, metadata, base_config)
        return creation.on_disk(self, metadata, base_config, local=local, command=command)

    def fork_directory(self, source: str, *, local: bool = False) -> str:
        """A copy of a conversation's directory under a new id, in both places (a `local` one in the user's alone).

        Returns the id. Raises `WriteError`.
        """
        from jp.storage import creation

        return creation.fork(self, source, local=local)

    def remove(self, conversation_id: str) -> None:
        """Removes a conversation from both places.

        Raises `UnknownConversationError`, `LockedError` while a turn writes it, `WriteError`.
        """
        from jp.storage import removal

        removal.remove(self, conversation_id)

    def archive(self, conversation_id: str) -> None:
        """Moves a conversation to the archive. Raises like `remove`."""
        from jp.storage import removal

        removal.move(self, conversation_id, archived=True)

    def unarchive(self, conversation_id: str) -> None:
        """Brings an archived conversation back. Raises like `remove`."""
        from jp.storage import removal

        removal.move(self, conversation_id, archived=False)

    def sweep(self, known: "Iterable[Summary] | None" = None) -> "Ids":
        """Removes expired conversations that are active in no session, and what dead processes left half made.

        Returns the ids of what was removed; `known` is a listing that was made anyway. Never raises for a file.
        """
        from jp.storage import removal

        return removal.sweep(self, known)


def _activity(one: Summary) -> "tuple[float, int]":
    when = one.last_activated_at
    return (when.timestamp() if when else int(one.id) / 10, int(one.id))
