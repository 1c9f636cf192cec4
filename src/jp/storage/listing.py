"""Listing conversations: one small file each, 5,000 of them in a blink.

Per conversation this makes two `stat` (which copy is newer) and one read; events are never opened, so a conversation of
100 MB costs what any other does.
"""

import errno
import json
import os

from jp.conversation.timestamps import parse_timestamp
from jp.storage.errors import UnreadableFileError
from jp.storage.files import NOFOLLOW, NONBLOCK
from jp.storage.layout import Roots, find, scan
from jp.storage.metadata import FILE, Metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_READ = 1 << 12  # nearly every file fits, and a larger buffer costs more than a second read


class Problem:
    """A file that could not be used, and why."""

    __slots__ = ("path", "reason")

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason

    def __repr__(self) -> str:
        return f"Problem({self.path!r}, {self.reason!r})"

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Summary:
    """What a listing shows of one conversation.

    `path` is its directory (the durable one, where there is one); `local` says that the project has no copy of it.
    Times are aware and in UTC.
    """

    __slots__ = ("_fields", "archived", "id", "last_activated_at", "local", "path", "title")

    def __init__(self, conversation_id: str, path: str, fields: "dict[str, object]", *, local: bool, archived: bool):
        self.id = conversation_id
        self.path = path
        self.local = local
        self.archived = archived
        title = fields.get("title")
        self.title: str | None = title if isinstance(title, str) else None
        self.last_activated_at: datetime | None = parse_timestamp(fields.get("last_activated_at"))
        self._fields = fields

    @property
    def pinned_at(self) -> "datetime | None":
        """When it was pinned."""
        return parse_timestamp(self._fields.get("pinned_at"))

    @property
    def archived_at(self) -> "datetime | None":
        """When it was archived."""
        return parse_timestamp(self._fields.get("archived_at"))

    @property
    def expires_at(self) -> "datetime | None":
        """When it may be removed."""
        return parse_timestamp(self._fields.get("expires_at"))

    @property
    def labels(self) -> dict[str, list[str]]:
        """Its labels."""
        return Metadata(self._fields).labels

    def expired(self, now: "datetime") -> bool:
        """Whether its time is over."""
        return "expires_at" in self._fields and (at := self.expires_at) is not None and at <= now


def summaries(roots: Roots, *, archived: bool, problems: list[Problem]) -> list[Summary]:
    """Every conversation below `roots`, in no order; what can't be read is added to `problems` and listed bare."""
    durable_root, projection_root = roots.durable or "", roots.projection
    twice: list[str] = []
    durable = _scanned(durable_root, twice, problems) if durable_root else {}
    projection = _scanned(projection_root, twice, problems)
    problems += [Problem(path, "a second directory of the same conversation; it is not used") for path in twice]
    found: list[Summary] = []
    for conversation_id, name in durable.items():
        path = f"{durable_root}/{name}"
        other = projection.get(conversation_id)
        fields = _newest(path, f"{projection_root}/{other}" if other else None, problems)
        if fields is None and (moved := find(durable_root, conversation_id)) not in (None, path):
            # Given another title just now.
            path = moved or path
            fields = _newest(path, find(projection_root, conversation_id), problems)
        if fields is not None:
            found.append(Summary(conversation_id, path, fields, local=other is None, archived=archived))
    for conversation_id, name in projection.items():
        if conversation_id not in durable:
            path = f"{projection_root}/{name}"
            fields = _newest(path, None, problems)
            if fields is None and (moved := find(projection_root, conversation_id)) not in (None, path):
                path = moved or path
                fields = _newest(path, None, problems)
            if fields is not None:
                found.append(Summary(conversation_id, path, fields, local=False, archived=archived))
    return found


def _scanned(folder: str, twice: list[str], problems: list[Problem]) -> dict[str, str]:
    try:
        return scan(folder, twice)
    except UnreadableFileError as error:
        problems.append(Problem(folder, str(error.metadata["reason"])))
        return {}


def _newest(first: str, second: str | None, problems: list[Problem]) -> "dict[str, object] | None":
    """The metadata of the copy that was written last; of the other one when that can't be read."""
    paths = [f"{first}/{FILE}"]
    if second is not None:
        paths.append(f"{second}/{FILE}")
        try:
            if os.stat(paths[1]).st_mtime_ns > os.stat(paths[0]).st_mtime_ns:
                paths.reverse()
        except OSError:
            pass  # reading says which one is missing
    missing = 0
    for path in paths:
        try:
            return _read(path)
        except (FileNotFoundError, NotADirectoryError):
            missing += 1
        except (OSError, ValueError, RecursionError) as error:
            problems.append(Problem(path, _reason(error)))
    if missing == len(paths) and not any(_has_events(one) for one in (first, second) if one):
        return None  # a directory that was left by something else, or is just being made or removed
    return {}


def _read(path: str) -> "dict[str, object]":
    fd = os.open(path, os.O_RDONLY | NONBLOCK | NOFOLLOW)
    try:
        data = os.read(fd, _READ)
        if len(data) == _READ:
            while more := os.read(fd, _READ):
                data += more
    finally:
        os.close(fd)
    fields = json.loads(data.decode())
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return fields


def _has_events(folder: str) -> bool:
    return os.path.exists(f"{folder}/events.json")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return "a symbolic link, not a regular file" if error.errno == errno.ELOOP else error.strerror or str(error)
    return f"not JSON as it should be: {error}"
