"""Taking conversations away: removing, archiving, and sweeping up what has expired or was left half made."""

import os
import shutil

from jp.conversation import ids
from jp.storage import files
from jp.storage.errors import StorageError, WriteError, reason_of
from jp.storage.layout import Place
from jp.storage.listing import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from jp.storage.listing import Summary
    from jp.storage.store import Store

_ABANDONED = 3600.0  # seconds after which a temp without a lock belongs to nobody


def remove(store: "Store", conversation_id: str) -> None:
    """Removes a conversation from both places.

    Raises `UnknownConversationError`, `LockedError` while a turn writes it, `WriteError`.
    """
    with store.lock(conversation_id, "remove"):
        _remove(store.place(conversation_id))


def _remove(place: Place) -> None:
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


def move(store: "Store", conversation_id: str, *, archived: bool) -> None:
    """Moves a conversation to the archive, or brings it back. Raises like `remove`."""
    with store.lock(conversation_id, "archive") as lock:
        conversation = store.open(conversation_id, lock)
        if conversation.place.archived is archived:
            return
        conversation.set_time("archived_at", store.clock() if archived else None)
        target = store.roots.archive() if archived else store.roots
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


def sweep(store: "Store", known: "Iterable[Summary] | None" = None) -> list[str]:
    """Removes expired conversations that are active in no session, and what dead processes left half made.

    Returns the ids of what was removed; `known` is a listing that was made anyway. Never raises for a file.
    """
    for folder in (store.roots.durable, store.roots.projection, store.sessions().folder):
        if folder:
            files.sweep(folder, older_than=_ABANDONED)
    now = store.clock()
    expired = [one.id for one in (store.list() if known is None else known) if one.expired(now)]
    if not expired:
        return []
    active = store.sessions().actives()
    gone = []
    for conversation_id in expired:
        if conversation_id in active:
            continue
        try:
            remove(store, conversation_id)
        except StorageError as error:
            store.problems.append(Problem(ids.display(conversation_id), error.message))
        else:
            gone.append(conversation_id)
    return gone
