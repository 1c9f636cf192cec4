"""Which of a conversation's two copies counts (decisions, "Which copy").

If one copy's events are the beginning of the other's, the longer one wins; if they diverge both are kept. The shorter
file is compared piece by piece while it is read, so a second copy of 100 MB costs its reading and no memory.
"""

from __future__ import annotations

import os
import shutil
from enum import Enum

import msgspec

from jp.conversation.stream import Stream
from jp.storage import files
from jp.storage.errors import WriteError, reason_of
from jp.storage.layout import EVENTS, JOURNAL

_SPACE = b" \t\r\n"
_PIECE = 4 << 20
_TAIL = 64


class Relation(Enum):
    """How the second copy stands to the first."""

    SAME = "same"
    BEHIND = "behind"
    AHEAD = "ahead"
    DIVERGED = "diverged"


def relation(first: Stream, second_path: str) -> Relation:
    """How the `events.json` at `second_path` stands to `first`.

    Raises `FileNotFoundError`, `UnreadableFileError`, and `NotEventsError` when it has to be parsed and is no array of
    events.
    """
    found = _by_bytes(first, second_path)
    return found if found is not None else by_events(first, Stream(files.read(second_path)))


def _by_bytes(first: Stream, second_path: str) -> Relation | None:
    """The answer where the bytes alone give it: the second is equal, or cut off behind one of the first's events."""
    data = first.data
    size = os.stat(second_path).st_size
    if size > len(data) + _TAIL:
        return None
    at = 0
    tail = b""
    for piece in files.chunks(second_path, _PIECE):
        if tail or at + len(piece) >= size - _TAIL:
            tail += piece
        elif data.startswith(piece, at):
            at += len(piece)
        else:
            return None
    if len(data) == at + len(tail) and data.endswith(tail):
        return Relation.SAME
    body = tail.rstrip(_SPACE)[:-1].rstrip(_SPACE)
    if not body.endswith(b"}") or not data.startswith(body, at):
        return None
    rest = data[at + len(body) : at + len(body) + _TAIL].lstrip(_SPACE)
    return {b",": Relation.BEHIND, b"]": Relation.SAME}.get(rest[:1])


def by_events(first: Stream, second: Stream) -> Relation:
    """The answer by what the events say, however they are laid out."""
    for i in range(min(len(first), len(second))):
        one, other = first.raw(i), second.raw(i)
        if one != other and _value(one) != _value(other):
            return Relation.DIVERGED
    if len(first) == len(second):
        return Relation.SAME
    return Relation.BEHIND if len(second) < len(first) else Relation.AHEAD


def _value(raw: bytes | memoryview) -> object:
    """What an event says; its bytes where it is nested too deeply to be compared otherwise."""
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        return bytes(raw)


def events_path(folder: str) -> str:
    """The path of the events in a conversation's directory."""
    return os.path.join(folder, EVENTS)


def copy_directory(source: str, root: str, name: str) -> str:
    """A copy of a conversation's directory, there as a whole or not at all. Raises `WriteError`."""
    files.make_directory(root, 0o700)
    target = os.path.join(root, name)
    staging = os.path.join(root, files.temp_name(name))
    try:
        shutil.copytree(source, staging, symlinks=True, ignore=lambda _, names: [n for n in names if skipped(n)])
        # A copy of a read-only directory must still be one that can be written to.
        os.chmod(staging, 0o700)
        for folder, _, names in os.walk(staging):
            for one in names:
                _sync(os.path.join(folder, one))
            files.sync_directory(folder)
        os.rename(staging, target)
        files.sync_directory(root)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(staging, ignore_errors=True)
        reason = reason_of(error)
        raise WriteError(target, reason) from error
    return target


def skipped(name: str) -> bool:
    """Whether a file belongs to one copy alone: temps of dead writers, and the journal."""
    return files.is_temp(name) or name == JOURNAL


def _sync(path: str) -> None:
    if os.path.islink(path) or not os.path.isfile(path):
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        files.sync(fd)
    finally:
        os.close(fd)
