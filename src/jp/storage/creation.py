"""Making conversations: a directory in both places, there as a whole or not at all."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from jp.conversation import ids
from jp.storage import files
from jp.storage.conversation import Conversation
from jp.storage.copies import copy_directory
from jp.storage.errors import WriteError, reason_of
from jp.storage.layout import BASE_CONFIG, EVENTS, Place
from jp.storage.lock import Lock, try_acquire
from jp.storage.metadata import FILE as METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jp.storage.metadata import Metadata
    from jp.storage.store import Store


def in_memory(store: Store, metadata: Metadata, base_config: dict[str, Any] | None) -> Conversation:
    """A conversation that leaves no trace."""
    made = Conversation(store, ids.from_time(store.clock()), Place(None, None), persisted=False)
    made.adopt(metadata, base_config)
    return made


def on_disk(
    store: Store, metadata: Metadata, base_config: dict[str, Any] | None, *, local: bool, command: str
) -> Conversation:
    """A conversation whose lock is held. Raises `MissingHomeError`, `WriteError`."""
    contents = {METADATA: metadata.encode(), EVENTS: b"[]\n"}
    if base_config is not None:
        contents[BASE_CONFIG] = json.dumps(base_config, indent=2, ensure_ascii=False).encode(errors="replace")
    conversation_id, lock = _claim(store, ids.from_time(store.clock()), command)
    try:
        roots = [store.durable_root()]
        if not local:
            roots.append(store.workspace.conversations)
            files.make_directory(roots[1])
        durable, *others = make_directories(roots, ids.dirname(conversation_id, metadata.title), contents)
    except BaseException:
        lock.release()
        raise
    made = Conversation(store, conversation_id, Place(durable, others[0] if others else None))
    made.lock = lock
    return made


def fork(store: Store, source: str, *, local: bool = False) -> str:
    """A copy of a conversation's directory under a new id, in both places; returns the id. Raises `WriteError`."""
    conversation_id, lock = _claim(store, ids.from_time(store.clock()), "fork")
    with lock:
        slug = os.path.basename(source).partition("-")[2]
        name = f"{conversation_id}-{slug}" if slug else conversation_id
        made: list[str] = []
        try:
            for root in (store.durable_root(), *([] if local else [store.workspace.conversations])):
                made.append(copy_directory(source, root, name))
        except BaseException:
            _take_back(made)
            raise
    return conversation_id


def _claim(store: Store, wanted: str, command: str) -> tuple[str, Lock]:
    """An id that nobody has, and its lock, so that nobody else takes it."""
    known = {*store.ids(), *store.ids(archived=True)}
    while True:
        if wanted not in known:
            lock = try_acquire(store.lock_path(wanted), store.holder(command))
            if lock is not None:
                if store.roots.place(wanted) is None:
                    return wanted, lock
                lock.release()
        wanted = str(int(wanted) + 1)


def make_directories(roots: Sequence[str], name: str, contents: Mapping[str, bytes]) -> list[str]:
    """A directory of this name with these files in each of `roots`; their paths. Raises `WriteError`.

    Everything is written before anything is synced: the file system then does it in one go, which takes half the time.
    """
    stagings: list[str] = []
    made: list[str] = []
    root = roots[0]
    try:
        for root in roots:
            stagings.append(os.path.join(root, files.temp_name(name)))
            os.mkdir(stagings[-1])
            for file, content in contents.items():
                _write(os.path.join(stagings[-1], file), content, sync=False)
        for staging in stagings:
            for file in contents:
                _write(os.path.join(staging, file), b"", sync=True)
            files.sync_directory(staging)
        for root, staging in zip(roots, stagings, strict=True):
            os.rename(staging, os.path.join(root, name))
            made.append(os.path.join(root, name))
        for root in roots:
            files.sync_directory(root)
    except BaseException as error:
        _take_back([*stagings, *made])
        if isinstance(error, OSError):
            raise WriteError(os.path.join(root, name), reason_of(error)) from error
        raise
    return made


def _take_back(folders: Sequence[str]) -> None:
    """Have directories that were made gone again, each out of sight before it is emptied."""
    import shutil

    for folder in folders:
        root, name = os.path.split(folder)
        hidden = os.path.join(root, files.temp_name(name))
        try:
            os.rename(folder, hidden)
        except OSError:
            hidden = folder
        shutil.rmtree(hidden, ignore_errors=True)


def _write(path: str, content: bytes, *, sync: bool) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | files.BINARY, 0o666)
    try:
        files.write_all(fd, [content])
        if sync:
            files.sync(fd)
    finally:
        os.close(fd)
