"""Where a conversation's directories are: one in the user's directory, one in the project, either may be missing."""

import os

from jp.conversation import ids
from jp.storage.errors import UnreadableFileError, reason_of

EVENTS = "events.json"
BASE_CONFIG = "base_config.json"
ARCHIVE = ".archive"
JOURNAL = "journal.jsonl"


def scan(folder: str, twice: "list[str] | None" = None) -> dict[str, str]:
    """Id and directory name of every conversation in `folder`; nothing when it does not exist.

    A second directory of the same id is not looked at; its path is added to `twice`. Raises `UnreadableFileError`.
    """
    found: dict[str, str] = {}
    for name in _names(folder):
        if conversation_id := ids.from_dirname(name):
            other = found.setdefault(conversation_id, name)
            if other != name:
                # A merge of branches can bring this about. The choice is the same one everywhere.
                found[conversation_id] = min(other, name)
                if twice is not None:
                    twice.append(f"{folder}/{max(other, name)}")
    return found


def find(folder: str | None, conversation_id: str) -> str | None:
    """The directory of one conversation in `folder`, or None. Raises `UnreadableFileError`."""
    if folder is None:
        return None
    mine = sorted(name for name in _names(folder) if name == conversation_id or name.startswith(conversation_id + "-"))
    return os.path.join(folder, mine[0]) if mine else None


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UnreadableFileError(folder, reason_of(error)) from error


class Place:
    """The two directories of a conversation as they are now; None where there is none. At least one is there."""

    __slots__ = ("archived", "durable", "projection")

    def __init__(self, durable: str | None, projection: str | None, *, archived: bool = False) -> None:
        self.durable = durable
        self.projection = projection
        self.archived = archived

    @property
    def existing(self) -> list[str]:
        """The directories that exist, the durable one first."""
        return [one for one in (self.durable, self.projection) if one is not None]


class Roots:
    """The directories in which conversations lie: the user's (None when unknown) and the project's."""

    __slots__ = ("durable", "projection")

    def __init__(self, durable: str | None, projection: str) -> None:
        self.durable = durable
        self.projection = projection

    def archive(self) -> "Roots":
        """The same for archived conversations."""
        durable = os.path.join(self.durable, ARCHIVE) if self.durable else None
        return Roots(durable, os.path.join(self.projection, ARCHIVE))

    def place(self, conversation_id: str) -> Place | None:
        """Where a conversation is, archived or not."""
        for roots, archived in ((self, False), (self.archive(), True)):
            durable = find(roots.durable, conversation_id)
            projection = find(roots.projection, conversation_id)
            if durable or projection:
                return Place(durable, projection, archived=archived)
        return None
