"""Conversation ids: the decisecond of creation as digits, shown as `jp-c17800836875` (contracts, section 1).

Directory names carry the id first and a slug of the title after it, so that a person can find a conversation with `ls`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

PREFIX = "jp-c"
_SLUG_CHARS = 60
_SLUG_BYTES = 200


def display(conversation_id: str) -> str:
    """The form in which an id is shown to people and programs."""
    return PREFIX + conversation_id


def digits(text: str) -> str | None:
    """The digits of `text` when it is an id or the beginning of one, with or without `jp-c`; None otherwise.

    A workspace id may follow (`jp-c17800836875-otvo8`), as older versions wrote it.
    """
    body = text.strip().removeprefix(PREFIX).partition("-")[0]
    return body if body.isascii() and body.isdigit() else None


def from_dirname(name: str) -> str | None:
    """The id that a directory name begins with, or None when it is no conversation."""
    head = name.partition("-")[0]
    return head if head.isascii() and head.isdigit() else None


def from_time(moment: "datetime") -> str:
    """The id of a conversation created at `moment`."""
    return str(int(moment.timestamp() * 10))


def created_at(conversation_id: str) -> "datetime":
    """The moment of creation that an id stands for; the epoch when it is out of range."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(int(conversation_id) / 10, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)


def matching(text: str, known: "Iterable[str]") -> list[str]:
    """The ids that `text` can mean: the one it names exactly, else all that begin with it."""
    wanted = digits(text)
    if wanted is None:
        return []
    known = list(known)
    return [wanted] if wanted in known else sorted(one for one in known if one.startswith(wanted))


def dirname(conversation_id: str, title: str | None) -> str:
    """The directory name for an id and a title: `17800836875-jp-init-xdg-directory-issue`."""
    text = (title or "").strip()
    slug = "".join(c if c.isalnum() else "-" for c in text[:_SLUG_CHARS]).rstrip("-").lower()
    slug = slug.encode()[:_SLUG_BYTES].decode(errors="ignore")
    if not slug:
        return conversation_id
    name = f"{conversation_id}-{slug}"
    # A long title is cut at a word, as the directories that exist already are.
    return name[: name.rindex("-")] if len(text.encode()) > _SLUG_CHARS else name
