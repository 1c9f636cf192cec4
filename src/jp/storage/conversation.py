"""One conversation: its two copies on disk read as one, its stream, configuration and metadata."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from jp.conversation import events, ids
from jp.conversation.stream import NotEventsError, Stream
from jp.storage import files, records
from jp.storage.copies import Relation, copy_directory, events_path, relation
from jp.storage.errors import MissingEventsError, UnreadableFileError, WriteError, reason_of
from jp.storage.layout import BASE_CONFIG, JOURNAL, Place
from jp.storage.metadata import FILE as METADATA
from jp.storage.metadata import Metadata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from jp.storage.lock import Lock
    from jp.storage.store import Store


class Conversation:
    """A conversation as it is now.

    `notices` are sentences for the user: copies that differed, a journal that was recovered, files that were set aside.
    `persisted` is False for one that leaves no trace (`--no-persist`).
    """

    def __init__(self, store: Store, conversation_id: str, place: Place, *, persisted: bool = True) -> None:
        self.id = conversation_id
        self.notices: list[str] = []
        self.persisted = persisted
        self.place = place
        self.lock: Lock | None = None
        self.broken: list[str] = []
        self.diverged = False
        self.store = store
        self._chosen: str | None = None
        self._stream: Stream | None = None
        self._seen: list[tuple[int, int, int]] = []
        self._metadata: Metadata | None = None
        self._base_config: dict[str, Any] | None = None

    def adopt(self, metadata: Metadata, base_config: dict[str, Any] | None) -> None:
        """What a conversation that is not persisted is made of."""
        self._metadata, self._base_config, self._stream = metadata, base_config, Stream()

    # -- reading

    @property
    def path(self) -> str:
        """Its directory, the durable one where there is one; empty when it is not persisted."""
        return self.place.existing[0] if self.place.existing else ""

    @property
    def local(self) -> bool:
        """Whether the project has no copy of it."""
        return self.place.projection is None

    @property
    def stream(self) -> Stream:
        """Its events, those of an unfinished turn included. Raises `UnreadableFileError`."""
        if self._stream is None:
            self._stream = self._load()
        return self._stream

    @property
    def metadata(self) -> Metadata:
        """Its metadata, of the copy that was written last. Raises `UnreadableFileError` when no copy can be read."""
        if self._metadata is None:
            self._metadata = self._read_metadata()
        return self._metadata

    @property
    def title(self) -> str | None:
        """Its title."""
        return self.metadata.title

    @property
    def base_config(self) -> dict[str, Any] | None:
        """The configuration at its creation, as a partial config; None when it says none.

        Of the first copy that can be read. Raises `UnreadableFileError` when none can.
        """
        if self._base_config is None:
            self._base_config = self._read_base_config() or self._first_delta()
        return self._base_config

    def _read_base_config(self) -> dict[str, Any] | None:
        failure: UnreadableFileError | None = None
        for folder in self.place.existing:
            path = os.path.join(folder, BASE_CONFIG)
            try:
                found = msgspec.json.decode(files.read(path), type=dict[str, Any])
            except FileNotFoundError:
                continue
            except (ValueError, RecursionError) as error:
                failure = failure or UnreadableFileError(path, str(error))
                continue
            if failure is not None:
                self.notices.append(f"{failure.message}; the other copy is used")
            return found
        if failure is not None:
            raise failure
        return None

    def config_deltas(self) -> list[dict[str, Any]]:
        """What changed of the configuration since, oldest first."""
        found = [one.delta for one in self.stream.events("config_delta") if isinstance(one, events.ConfigDelta)]
        # Without a base_config.json the first delta, at the very beginning, is the base.
        return found[1:] if not self._has_base_file() and self._first_delta() is not None else found

    def _has_base_file(self) -> bool:
        return not self.place.existing or any(
            os.path.exists(os.path.join(folder, BASE_CONFIG)) for folder in self.place.existing
        )

    def _first_delta(self) -> dict[str, Any] | None:
        if len(self.stream) and self.stream.type(0) == "config_delta":
            first = self.stream.event(0)
            return first.delta if isinstance(first, events.ConfigDelta) else None
        return None

    def changed(self) -> bool:
        """Whether somebody wrote the events since they were read."""
        return self._stream is not None and self._seen != self._stats()

    def forget(self) -> None:
        """Reads everything again when it is next needed."""
        self._stream = self._metadata = self._base_config = None
        self.broken, self.diverged = [], False
        self.place = self.store.place(self.id)

    def _stats(self) -> list[tuple[int, int, int]]:
        found = []
        for folder in self.place.existing:
            try:
                one = os.stat(events_path(folder))
                found.append((one.st_ino, one.st_size, one.st_mtime_ns))
            except OSError:
                found.append((0, 0, 0))
        return found

    def journal_path(self) -> str | None:
        """Where its journal is, if it has a durable copy."""
        return os.path.join(self.place.durable, JOURNAL) if self.place.durable else None

    def read_journal(self) -> records.Recovered | None:
        """What an unfinished turn left or is just writing; None when there is nothing."""
        path = self.journal_path()
        try:
            return records.parse(files.read(path)) if path else None
        except FileNotFoundError:
            return None

    def _load(self) -> Stream:
        # The journal first: should its turn end meanwhile, its events are in the file that is read after it.
        journal = self.read_journal()
        stream = self._resolve()
        if journal is not None and (journal.events or journal.damaged):
            self._overlay(stream, journal)
        return stream

    def _overlay(self, stream: Stream, journal: records.Recovered) -> None:
        from jp.storage.recovery import matches

        if matches(stream.data, journal.base):
            for raw in journal.events:
                stream.append_raw(raw)

    def _resolve(self, again: bool = True) -> Stream:
        """The events of the copy that counts; notes copies that are broken or diverge."""
        self._seen = self._stats()
        self.broken, self.diverged = [], False
        order = sorted(self.place.existing, key=self._size, reverse=True)
        chosen: Stream | None = None
        failure: UnreadableFileError | None = None
        for folder in order:
            path = events_path(folder)
            try:
                how = None if chosen is None else relation(chosen, path)
                self.diverged = self.diverged or how is Relation.DIVERGED
                if how in (None, Relation.AHEAD) or (how is Relation.DIVERGED and folder == self.place.durable):
                    chosen = Stream(files.read(path))
                    self._chosen = folder
            except FileNotFoundError:
                continue
            except (NotEventsError, UnreadableFileError) as error:
                self.broken.append(path)
                failure = error if isinstance(error, UnreadableFileError) else UnreadableFileError(path, error.message)
                self.notices.append(f"{failure.message}; the other copy is used")
        if chosen is not None:
            return chosen
        if failure is not None:
            del self.notices[-len(self.broken) :]
            raise failure
        if again:
            # Nothing is there: it may have been given another title just now, and another directory with that.
            self.place = self.store.place(self.id)
            return self._resolve(again=False)
        raise MissingEventsError(events_path(self.path), ids.display(self.id))

    @staticmethod
    def _size(folder: str) -> int:
        try:
            return os.stat(events_path(folder)).st_size
        except OSError:
            return -1

    def _read_metadata(self) -> Metadata:
        paths = [os.path.join(folder, METADATA) for folder in self.place.existing]
        if len(paths) == 2 and _mtime(paths[1]) > _mtime(paths[0]):
            paths.reverse()
        failure: UnreadableFileError | None = None
        for path in paths:
            try:
                return Metadata.parse(files.read(path))
            except FileNotFoundError:
                continue
            except ValueError as error:
                failure = UnreadableFileError(path, f"not JSON as it should be: {error}")
            except UnreadableFileError as error:
                failure = error
        if failure is not None:
            raise failure
        return Metadata()

    # -- writing

    def set_title(self, title: str | None) -> None:
        """Gives it a title; its directories are renamed after it. Raises `LockedError`, `WriteError`."""

        def change(metadata: Metadata) -> None:
            metadata.title = title

        with self._locked():
            self.edit_metadata(change)
            if self.persisted:
                self._rename(ids.dirname(self.id, title))

    def set_labels(self, labels: Mapping[str, Sequence[str]]) -> None:
        """Replaces its labels. Raises `WriteError`."""
        self.edit_metadata(lambda metadata: setattr(metadata, "labels", labels))

    def set_time(self, name: str, moment: datetime | None) -> None:
        """Sets `last_activated_at`, `pinned_at`, `archived_at` or `expires_at`, or removes it. Raises `WriteError`."""
        self.edit_metadata(lambda metadata: metadata.set_time(name, moment))

    def edit_metadata(self, change: Any) -> None:
        """Reads the metadata, lets `change` work on it, and writes it to every copy."""
        if not self.persisted:
            change(self.metadata)
            return
        self._metadata = None
        try:
            metadata = self.metadata
        except UnreadableFileError as error:
            aside = files.set_aside(str(error.metadata["path"]))
            self.notices.append(f"{error.message}; it was set aside as {aside}")
            metadata = self._metadata = Metadata()
        change(metadata)
        for folder in self.place.existing:
            files.write_atomic(os.path.join(folder, METADATA), metadata.encode())

    def ensure_durable(self) -> str:
        """Its directory in the user's place, made from the project's copy when missing.

        Raises `MissingHomeError`, `WriteError`.
        """
        if self.place.durable is None:
            assert self.place.projection is not None
            root = self.store.durable_root(archived=self.place.archived)
            self.place.durable = copy_directory(self.place.projection, root, os.path.basename(self.place.projection))
            if self._chosen == self.place.projection:
                self._chosen = self.place.durable
            # The copy is as old as what it copies, so the newer metadata still counts.
            self._seen = self._stats()
        return self.place.durable

    def refresh_durable(self) -> None:
        """Makes the durable copy what was read, byte for byte: a pull must not change what a journal extends.

        Raises `WriteError`.
        """
        durable = self.ensure_durable()
        if self._chosen != durable:
            self._write_copy(durable, self.stream.document())
            self._chosen = durable
            self._seen = self._stats()

    def _write_copy(self, folder: str, pieces: Sequence[bytes | memoryview]) -> None:
        path = events_path(folder)
        if path in self.broken:
            self.notices.append(f"{path} can't be read; it was set aside as {files.set_aside(path)}")
            self.broken.remove(path)
        files.write_atomic(path, pieces)

    def write_events(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Replaces `events.json` in every copy. A copy that can't be read is set aside first.

        Raises `WriteError` for the durable copy. When the project's can't be written that is a notice: everything is
        stored, and the next turn brings it up to date.
        """
        for folder in self.place.existing:
            try:
                self._write_copy(folder, pieces)
            except WriteError as error:
                if folder == self.place.durable:
                    raise
                self.notices.append(f"the project's copy is behind: {error.message}")
        self._seen = self._stats()

    def _locked(self) -> Any:
        from contextlib import nullcontext

        if not self.persisted or (self.lock is not None and self.lock.held):
            return nullcontext()
        return self.store.lock(self.id)

    def _rename(self, name: str) -> None:
        for attribute in ("durable", "projection"):
            old = getattr(self.place, attribute)
            if old is None or os.path.basename(old) == name:
                continue
            new = os.path.join(os.path.dirname(old), name)
            try:
                os.rename(old, new)
                files.sync_directory(os.path.dirname(old))
            except OSError as error:
                raise WriteError(old, reason_of(error)) from error
            setattr(self.place, attribute, new)


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1
