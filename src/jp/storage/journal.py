"""Writing a turn: every event and every piece of an answer goes to a journal before it is shown.

What does not work: rewriting `events.json` as the answer grows (the cost follows the history, not the turn), appending
to it in place (readers see half a document, and a kill leaves one), and a journal in memory or on another thread (a
kill loses what was on the screen). So: an append-only file beside the durable copy, one `write` a record, not synced
(a kill of the process does not lose what the kernel has; a power cut may lose the turn, never the history). At the end
of a turn `events.json` is rewritten once per copy, durably, and the journal goes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jp.conversation.timestamps import format_timestamp
from jp.storage import files, recovery
from jp.storage.errors import StorageError, WriteError, reason_of
from jp.storage.records import VERSION, Mark, Partials, event_line, kind_of, line

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from jp.conversation.events import Event, Unknown
    from jp.storage.conversation import Conversation
    from jp.storage.lock import Lock


class TurnWriter:
    """The one writer of a conversation while a turn runs; it appends to the conversation's stream as well.

    An error of the disk is raised as `WriteError` by the call that met it, but what was appended stays in memory, and a
    later `fold` writes all of it.
    """

    def __init__(self, conversation: Conversation, clock: Callable[[], datetime]) -> None:
        self._conversation = conversation
        self._clock = clock
        self._fd = -1
        self._length = 0
        self._first = len(conversation.stream)
        self._base: Mark | None = None
        self._pending = b""
        self._partials = Partials()

    @classmethod
    def begin(cls, conversation: Conversation, lock: Lock | None) -> TurnWriter:
        """A writer for a conversation whose lock is held (None only when it is not persisted).

        Brings the conversation up to date first: read its stream after this, not before. Raises `MissingHomeError`,
        `WriteError`, `UnreadableFileError`.
        """
        store = conversation.store
        if conversation.persisted:
            if lock is None or not lock.held:
                raise StorageError("a turn is written only by who holds the conversation's lock")
            if conversation.lock is not lock or conversation.changed():
                # What was read without the lock may be another turn's half.
                conversation.forget()
            conversation.lock = lock
            _ = conversation.stream
            if recovery.needed(conversation):
                recovery.settle(store, conversation)
            for folder in conversation.place.existing:
                files.sweep(folder)
            conversation.refresh_durable()
        return cls(conversation, store.clock)

    def append(self, event: Event | Unknown) -> None:
        """Records a complete event. Raises `WriteError`."""
        raw = self._conversation.stream.append(event)
        self._write(event_line("event", _one_line(raw)))

    def partial(self, kind: str, text: str) -> None:
        """Records a piece of an answer (`message`, `reasoning`, `data`) before it is shown. Raises `WriteError`."""
        if not text:
            return
        now = format_timestamp(self._clock())
        self._partials.add(kind, text, now)
        self._write(line({"partial": kind, "text": text, "timestamp": now}))

    def complete_partial(self, event: Event | Unknown) -> None:
        """Records the event that the pieces of its kind became. Raises `WriteError`."""
        raw = self._conversation.stream.append(event)
        self._partials.drop(kind_of(event))
        self._write(event_line("complete", _one_line(raw)))

    @property
    def length(self) -> int:
        """How many events the conversation has."""
        return len(self._conversation.stream)

    def undo(self, length: int) -> None:
        """Forget what was recorded beyond `length` events, unfinished answers too; not beyond the last fold.

        Raises `WriteError`.
        """
        self._partials.take()
        self._conversation.stream.truncate(length)
        if length > self._first:
            self._write(line({"undo": length - self._first}))
        else:
            self._close(remove=True)

    def fold(self) -> None:
        """Writes everything into `events.json` of every copy and removes the journal; a next turn may follow.

        Unfinished answers are stored as they are. Raises `WriteError`; the journal stays then, and nothing is lost.
        """
        stream = self._conversation.stream
        for event in self._partials.take():
            raw = stream.append(event)
            self._write(event_line("complete", _one_line(raw)))
        if self._conversation.persisted and len(stream) > self._first:
            pieces = stream.document()
            result = recovery.mark(pieces)
            if self._fd >= 0:
                # With this a copy that was written is known as such, should the process end before the next one is.
                self._write(line({"fold": {"size": result.size, "sha256": result.sha256}}))
            self._conversation.write_events(pieces)
            self._base = result
        self._close(remove=True)
        self._first = len(stream)

    def close(self) -> None:
        """Lets go of the journal and leaves it as it is; the next opening recovers it."""
        self._close(remove=False)

    # -- the file

    def _path(self) -> str:
        path = self._conversation.journal_path()
        assert path is not None
        return path

    def _write(self, data: bytes) -> None:
        if not self._conversation.persisted:
            return
        # A record that could not be written waits for the next one, so that the journal has no hole.
        self._pending += data
        try:
            if self._fd < 0:
                self._open()
            self._append(self._pending)
        except OSError as error:
            raise WriteError(self._path(), reason_of(error)) from error
        self._pending = b""

    def _open(self) -> None:
        conversation = self._conversation
        base = self._base or recovery.mark([conversation.stream.data])
        fields = {
            "journal": VERSION,
            "conversation": conversation.id,
            "size": base.size,
            "sha256": base.sha256,
            "pid": os.getpid(),
            "started": format_timestamp(self._clock()),
        }
        self._pending = line(fields) + self._pending
        self._fd = os.open(
            self._path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | files.BINARY | files.NOFOLLOW, 0o600
        )
        self._length = 0

    def _append(self, data: bytes) -> None:
        written = os.write(self._fd, data)
        if written < len(data):
            # A full disk takes half a line; what remains is tried once more, and half a line is not left behind.
            try:
                files.write_all(self._fd, [data[written:]])
            except OSError:
                os.ftruncate(self._fd, self._length)
                raise
        self._length += len(data)

    def _close(self, *, remove: bool) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                os.close(fd)
            except OSError:
                pass  # what matters was written before, by calls that raised if they could not
            if remove:
                files.discard(self._path())
        self._pending = b""


def _one_line(raw: bytes) -> bytes:
    import msgspec

    return msgspec.json.format(raw, indent=-1)
