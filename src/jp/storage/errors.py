"""What can go wrong with the store. Each message names the file; nothing here prints."""

from jp.errors import LOCKED, JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class StorageError(JpError):
    """Something about the files of a workspace."""

    code = "storage"


class NoWorkspaceError(StorageError):
    """No directory from here up holds a `.jp`."""

    code = "no_workspace"

    def __init__(self, cwd: str) -> None:
        super().__init__(
            f"no workspace found in {cwd} or any directory above it",
            hints=["Run `jp init` in the root of your project to make it one, or name one with `--workspace DIR`."],
            metadata={"cwd": cwd},
        )


class MissingHomeError(StorageError):
    """Neither `XDG_DATA_HOME` nor `HOME` says where conversations are kept."""

    code = "missing_home"

    def __init__(self) -> None:
        super().__init__(
            "there is no place to keep conversations: neither XDG_DATA_HOME nor HOME is set",
            hints=["Set HOME, or XDG_DATA_HOME to a directory that you can write to."],
        )


class UnknownConversationError(StorageError):
    """No conversation has this id."""

    code = "unknown_conversation"

    def __init__(self, text: str, near: str | None = None) -> None:
        super().__init__(
            f"no conversation {text}",
            hints=[*([f"Did you mean {near}?"] if near else []), "`jp conversation ls` lists all."],
            metadata={"id": text, "nearest": near},
        )


class AmbiguousIdError(StorageError):
    """The beginning of an id that several conversations share."""

    code = "ambiguous_id"

    def __init__(self, text: str, found: "Sequence[str]") -> None:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        super().__init__(
            f"{text} is the beginning of {len(found)} conversation ids: {shown}",
            hints=["Give more digits."],
            metadata={"id": text, "candidates": list(found)},
        )


class NoActiveConversationError(StorageError):
    """No conversation is active in this session, and nobody can be asked which to take."""

    code = "no_active_conversation"

    def __init__(self) -> None:
        super().__init__(
            "no conversation is active in this session",
            hints=[
                "Start one with `--new`, or name one with `--id`.",
                "Set `conversation.default_id` to decide it for good: last_activated, last_created, previous, an id.",
            ],
        )


class UnreadableFileError(StorageError):
    """A file that cannot be read or understood; it is left as it is."""

    code = "unreadable_file"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"can't read {path}: {reason}",
            hints=["The file was left as it is. Repair it, or restore it from a copy."],
            metadata={"path": path, "reason": reason},
        )


class MissingEventsError(UnreadableFileError):
    """A conversation without its `events.json`: its words are gone from here, which an empty one must not hide."""

    def __init__(self, path: str, conversation_id: str) -> None:
        super().__init__(path, "the conversation's events are missing")
        self.hints = (
            "Restore the file from a backup or from version control.",
            f"`jp conversation rm {conversation_id}` removes what is left of the conversation.",
        )


class WriteError(StorageError):
    """A file could not be written. `kept`: there was one before, and it is as it was."""

    code = "write_failed"

    def __init__(self, path: str, reason: str, *, kept: bool = False) -> None:
        super().__init__(
            f"can't write {path}: {reason}",
            hints=["What the file held before is unchanged."] if kept else [],
            metadata={"path": path, "reason": reason},
        )


class LockedError(StorageError):
    """Another process is writing the conversation."""

    code = "locked"
    status = LOCKED


def reason_of(error: OSError) -> str:
    """What the system said, without the number and the path."""
    return error.strerror or str(error)
