"""What the end of a process left behind, put in order under the conversation's lock.

A journal extends the `events.json` whose size and SHA-256 its first line names. A copy that is still that file gets the
events; a copy that is already the folded result (the process ended between two copies) stays; when no copy is either,
somebody else wrote meanwhile, and the journal is set aside, not applied. After that, copies that diverge become two
conversations.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jp.conversation import ids
from jp.conversation.stream import NotEventsError, Stream
from jp.storage import files
from jp.storage.copies import events_path
from jp.storage.errors import UnreadableFileError, WriteError
from jp.storage.records import Mark, Recovered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jp.storage.conversation import Conversation
    from jp.storage.store import Store


def mark(pieces: Sequence[bytes | memoryview]) -> Mark:
    """Size and SHA-256 of a document in pieces. The interpreter is not held meanwhile."""
    from hashlib import sha256

    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return Mark(sum(len(piece) for piece in pieces), digest.hexdigest())


def matches(data: bytes, wanted: Mark | None) -> bool:
    """Whether `data` is the file that `wanted` describes."""
    return wanted is not None and len(data) == wanted.size and mark([data]) == wanted


def needed(conversation: Conversation) -> bool:
    """Whether there is something to put in order."""
    path = conversation.journal_path()
    return (path is not None and os.path.exists(path)) or conversation.diverged


def settle(store: Store, conversation: Conversation) -> None:
    """Folds in what a dead process left, and parts copies that diverge.

    Only under the conversation's lock. Raises `WriteError` and `UnreadableFileError`; nothing is lost then.
    """
    for folder in conversation.place.existing:
        files.sweep(folder)
    _fold_journal(conversation)
    conversation.forget()
    _ = conversation.stream
    if conversation.diverged:
        _part(store, conversation)


def _fold_journal(conversation: Conversation) -> None:
    journal = conversation.read_journal()
    path = conversation.journal_path()
    if journal is None or path is None:
        return
    applied = [_apply(conversation, folder, journal) for folder in conversation.place.existing]
    if any(applied) and not journal.damaged:
        files.discard(path)
        files.sync_directory(os.path.dirname(path))
        if journal.events:
            conversation.notices.append(f"{len(journal.events)} events of a turn that was cut off were recovered")
    elif journal.events or journal.damaged:
        why = "has damaged lines" if any(applied) else "does not belong to the events as they are now"
        conversation.notices.append(f"{path} {why}; it was set aside as {files.set_aside(path)}")
    else:
        files.discard(path)


def _apply(conversation: Conversation, folder: str, journal: Recovered) -> bool:
    """Brings one copy up to date; whether it holds what the journal holds now."""
    target = events_path(folder)
    try:
        data = files.read(target)
    except FileNotFoundError:
        data = b"[]"
    except UnreadableFileError:
        return False
    if matches(data, journal.folded):
        return True
    if not matches(data, journal.base):
        return False
    if not journal.events:
        return True
    try:
        stream = Stream(data)
        for raw in journal.events:
            stream.append_raw(raw)
        files.write_atomic(target, stream.document())
    except NotEventsError:
        return False
    except WriteError as error:
        if folder == conversation.place.durable:
            raise
        conversation.notices.append(f"the project's copy is behind: {error.message}")
        return False
    return True


def _part(store: Store, conversation: Conversation) -> None:
    """The durable copy keeps the id; the project's becomes a conversation of its own."""
    place = conversation.place
    if place.projection is None or place.durable is None:
        return
    made = store.fork_directory(place.projection)
    files.write_atomic(events_path(place.projection), conversation.stream.document())
    conversation.diverged = False
    conversation.notices.append(
        f"the two copies of {ids.display(conversation.id)} had gone different ways; "
        f"the project's copy was kept as {ids.display(made)}"
    )
