"""The conversations of a workspace, as a plugin gets at them (`list_conversations` … `create_conversation`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from jp import log
from jp.conversation import events, ids
from jp.conversation.timestamps import format_timestamp
from jp.errors import JpError
from jp.plugin import messages, wire
from jp.plugin.errors import RequestError
from jp.storage import files
from jp.storage.conversation import Conversation
from jp.storage.copies import events_path
from jp.storage.errors import LockedError, StorageError, UnknownConversationError, UnreadableFileError, reason_of
from jp.storage.layout import Place, scan
from jp.storage.lock import try_acquire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from jp.conversation.stream import Stream
    from jp.storage.listing import Summary
    from jp.storage.lock import Lock
    from jp.storage.store import Store

PIECE = 64 * 1024  # bytes of a response that are made at once
_LONGEST_ID = 20  # digits: what is longer is not worth a search for what is near
_LARGE = 256 * 1024  # bytes of an event, from which on it is written text by text


class Conversations:
    """The conversations of a workspace, and the locks that a plugin holds. Used on one thread.

    `store` is made at first use; `command` is what others are told is running. `base_config` gives the partial config
    that a new conversation records; `created` is called with the id of one that has been made. Every method raises
    `RequestError` for what can't be done.
    """

    def __init__(
        self,
        store: Callable[[], Store],
        command: str,
        base_config: Callable[[], dict[str, Any]],
        created: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._make_store = store
        self._command = command
        self._base_config = base_config
        self._created = created
        self._made: Store | None = None
        self._held: dict[str, Lock] = {}

    @property
    def _store(self) -> Store:
        if self._made is None:
            self._made = self._make_store()
        return self._made

    # --- reading

    def list(self, request: messages.ListConversations) -> messages.Conversations:  # noqa: ARG002
        """All conversations, those activated last first. One that can't be read is listed empty, and logged."""
        with _Refusing():
            store = self._store
            before = len(store.problems)
            found = store.list()
            for problem in store.problems[before:]:
                _warn(str(problem))
            del store.problems[before:]
            roots = store.roots
            durable, projection = _folders(roots.durable), _folders(roots.projection)
            data = []
            for one in found:
                place = Place(durable.get(one.id), projection.get(one.id))
                try:
                    data.append(_summary(one, _count(Conversation(store, one.id, place))))
                except UnknownConversationError:
                    continue  # removed since
                except StorageError as error:
                    _warn(error.message, conversation=one.id)
                    data.append(_summary(one, 0))
        return messages.Conversations(data=data)

    def read(self, request: messages.ReadEvents) -> Iterator[bytes]:
        """The `events` message, in pieces, its line end included. The iterator may be used on any thread."""
        with _Refusing():
            conversation_id = self._existing(request.conversation)
            conversation = self._store.open(conversation_id)
            title = None
            try:
                title = conversation.title
            except UnreadableFileError as error:
                conversation.notices.append(error.message)
            _warn_all(conversation)
            head = messages.Events(
                id=UNSET if request.id is None else request.id,
                conversation=conversation_id,
                title=UNSET if title is None else title,
                lock=self._lock_of(conversation_id),
                data=[],
            )
            return _joined(_written(wire.encode(head), conversation.stream))

    def _existing(self, text: str) -> str:
        """The digits of the id `text`. Raises `RequestError` where no conversation has it."""
        conversation_id = _digits(text)
        try:
            self._store.place(conversation_id)
        except UnknownConversationError as error:
            near = error.metadata["nearest"]
            hint = f"; did you mean {near}?" if near else ""
            raise RequestError(f"no conversation {_short(text)}{hint}", metadata=error.metadata) from error
        return conversation_id

    # --- locks

    def lock(self, request: messages.Lock) -> messages.Locked:
        """Takes the lock of a conversation; one that is held already stays held."""
        with _Refusing():
            conversation_id = self._existing(request.conversation)
            if not self._holds(conversation_id):
                try:
                    self._held[conversation_id] = self._store.lock(conversation_id, self._command)
                except LockedError as error:
                    raise RequestError(f"the lock is held: {error.message}", metadata=error.metadata) from error
        return messages.Locked(conversation=conversation_id)

    def unlock(self, request: messages.Unlock) -> messages.Unlocked:
        """Gives a lock back."""
        conversation_id = _digits(request.conversation)
        if not self._holds(conversation_id):
            raise self._not_held(request.conversation)
        self._held.pop(conversation_id).release()
        return messages.Unlocked(conversation=conversation_id)

    def release(self) -> None:
        """Gives all locks back."""
        while self._held:
            self._held.popitem()[1].release()

    def _holds(self, conversation_id: str) -> bool:
        return conversation_id in self._held and self._held[conversation_id].held

    def _not_held(self, text: str) -> RequestError:
        with _Refusing():
            conversation_id = self._existing(text)
        return RequestError(f"the lock of {ids.display(conversation_id)} is not held by this plugin")

    def _lock_of(self, conversation_id: str) -> Literal["elsewhere", "here"] | UnsetType:
        """Who holds a lock; found out by taking it for a moment."""
        if self._holds(conversation_id):
            return "here"
        store = self._store
        try:
            if store.workspace.user_dir is None or not os.path.exists(store.lock_path(conversation_id)):
                return UNSET  # and nothing is made by looking
            lock = try_acquire(store.lock_path(conversation_id), store.holder(self._command))
        except StorageError as error:
            _warn(error.message, conversation=conversation_id)
            return UNSET
        if lock is None:
            return "elsewhere"
        lock.release()
        return UNSET

    # --- writing

    def push(self, request: messages.PushEvents) -> messages.Pushed:
        """Adds events to a conversation whose lock is held: all of them, durably, or none (see `jp.plugin.pushing`)."""
        conversation_id = _digits(request.conversation)
        if not self._holds(conversation_id):
            raise self._not_held(request.conversation)
        sent = [bytes(each) for each in request.events]
        if sent:
            with _Refusing("nothing is stored: "):
                self._add(conversation_id, sent)
        return messages.Pushed(conversation=conversation_id, count=len(sent))

    def _add(self, conversation_id: str, sent: Sequence[bytes]) -> None:
        from jp.plugin import pushing
        from jp.storage.journal import TurnWriter

        store, lock = self._store, self._held[conversation_id]
        conversation = store.open(conversation_id, lock)
        now = store.clock()
        while True:
            stream = conversation.stream
            there = [pushing.stored(stream.raw(i), stream.type(i)) for i in range(len(stream))]
            found = pushing.checked(sent, there, format_timestamp(now))
            writer = TurnWriter.begin(conversation, lock)
            if conversation.stream is stream:
                break  # else it was read anew: somebody who takes no lock has changed it
        # Not by way of the journal: one that was cut off would be part of a push.
        for event in found:
            stream.append(event)
        try:
            writer.fold()
        except StorageError:
            _put_back(conversation, stream.data)
            raise
        try:
            conversation.set_time("last_activated_at", now)
        except StorageError as error:
            conversation.notices.append(error.message)
        _warn_all(conversation)

    def create(self, request: messages.CreateConversation) -> messages.Created:
        """A new conversation with the configuration that is in effect; its lock is held."""
        with _Refusing():
            base = self._base_config()
            settings = base.get("conversation")
            title = request.title if isinstance(request.title, str) and request.title.strip() else None
            made = self._store.create(
                title=title,
                local=isinstance(settings, dict) and settings.get("start_local") is True,
                base_config=base,
                command=self._command,
            )
            assert made.lock is not None
            self._held[made.id] = made.lock
        try:
            self._created(made.id)
        except JpError as error:  # it is there all the same
            _warn(error.message, conversation=made.id)
        return messages.Created(conversation=made.id)


class _Refusing:
    """What fails inside is told to the plugin, and is no end of its run."""

    def __init__(self, above: str = "") -> None:
        self._above = above

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, JpError) and not isinstance(error, RequestError):
            raise RequestError(self._above + error.message, metadata=error.metadata) from error
        if isinstance(error, OSError):
            raise RequestError(self._above + reason_of(error)) from error


def _digits(text: str) -> str:
    """The digits of an id. Raises `RequestError` for what is none."""
    body = text.removeprefix(ids.PREFIX)
    if not (body.isascii() and body.isdigit() and len(body) < _LONGEST_ID):
        raise RequestError(f"`{_short(text)}` is no conversation id: digits, or `jp-c` and digits")
    return body


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _warn(message: str, **fields: object) -> None:
    log.log(log.WARN, "plugin", message, **fields)


def _warn_all(conversation: Conversation) -> None:
    for notice in conversation.notices:
        _warn(notice, conversation=conversation.id)


def _put_back(conversation: Conversation, data: bytes) -> None:
    """The durable copy as it was, should it have been replaced and only then something have failed."""
    path = events_path(conversation.path)
    try:
        if files.read(path) != data:
            files.write_atomic(path, data)
    except (StorageError, FileNotFoundError) as error:
        log.log(log.ERROR, "plugin", f"events that were not stored could not be taken back: {error}", path=path)


# --- a listing


def _folders(root: str | None) -> dict[str, str]:
    """The directories of the conversations in `root`, by id."""
    try:
        return {each: os.path.join(root, name) for each, name in scan(root).items()} if root else {}
    except UnreadableFileError:
        return {}  # the listing has said so


def _summary(one: Summary, count: int) -> messages.ConversationSummary:
    pinned = _moment(one.pinned_at)
    return messages.ConversationSummary(
        id=one.id,
        title=one.title,
        last_activated_at=_moment(one.last_activated_at),
        events_count=count,
        pinned_at=UNSET if pinned is None else pinned,
    )


def _moment(when: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if when is None else when.isoformat().replace("+00:00", "Z")


_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


def _count(conversation: Conversation) -> int:
    """How many events a conversation has, those of an unfinished turn included. Raises `StorageError`.

    Where its copies are of one size and no journal is there, as nearly always, one of them is split and no event is
    looked at. Everything else is for the conversation to find out.
    """
    journal = conversation.journal_path()
    paths = [events_path(folder) for folder in conversation.place.existing]
    try:
        if len({os.stat(path).st_size for path in paths}) == 1 and not (journal and os.path.exists(journal)):
            return len(_split(files.read(paths[0])))
    except (OSError, ValueError, RecursionError, UnreadableFileError):
        pass
    return len(conversation.stream)


# --- an `events` message


def _written(message: bytes, stream: Stream) -> Iterator[bytes]:
    """The `message`, which has no events, with those of `stream` in it. Never raises."""
    end = b"]}\n"
    yield message.removesuffix(end)
    for place in range(len(stream)):
        if place:
            yield b","
        yield from _event(stream, place)
    yield end


def _event(stream: Stream, place: int) -> Iterator[bytes]:
    try:
        event = stream.event(place)
        if isinstance(event, events.Unknown):
            yield _as_it_is(stream, place)
        elif len(stream.raw(place)) < _LARGE:
            yield msgspec.json.encode(events.to_dict(event))
        else:
            yield from _large(events.to_dict(event))
    except (ValueError, OverflowError, RecursionError) as error:  # none of them once something is written
        _warn("an event can't be encoded", place=place, reason=str(error))
        yield _as_it_is(stream, place)


def _large(fields: dict[str, Any]) -> Iterator[bytes]:
    """An event, its texts slice by slice: one of 50 MB is not held twice, and the interpreter not for long."""
    encoded = {key: b"" if isinstance(value, str) else msgspec.json.encode(value) for key, value in fields.items()}
    before = b"{"
    for key, value in encoded.items():
        yield before + msgspec.json.encode(key) + b":"
        before = b","
        if value:
            yield value
            continue
        text = fields[key]
        yield b'"'
        for at in range(0, len(text), PIECE):
            yield msgspec.json.encode(text[at : at + PIECE])[1:-1]
        yield b'"'
    yield b"}"


def _as_it_is(stream: Stream, place: int) -> bytes:
    """The JSON of an event on one line, in valid UTF-8; of a huge one, no text of which was looked at, maybe a note."""
    # A string holds no raw line end, so every one of them is between two tokens.
    raw = bytes(stream.raw(place)).translate(None, b"\r\n").decode("utf-8", "replace").encode()
    try:
        return bytes(msgspec.json.decode(raw, type=msgspec.Raw))
    except (ValueError, RecursionError) as error:
        return msgspec.json.encode({"type": stream.type(place), "unreadable": str(error)})


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces as larger ones: each costs a message."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
