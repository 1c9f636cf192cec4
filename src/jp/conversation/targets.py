"""The words that stand for a conversation wherever an id is taken (contracts, section 5). Parsing only: no files."""

from enum import Enum

from jp.conversation import ids
from jp.errors import UsageError, nearest


class Kind(Enum):
    """What a target means; one that names a set is used where several conversations are taken."""

    ID = "id"
    ACTIVE = "active"
    SESSION = "session"
    NEWEST = "newest"
    RECENT = "recent"
    PINNED = "pinned"
    ARCHIVED = "archived"
    PICKER = "picker"
    STDIN = "stdin"
    ALL_LIVE = "+live"
    ALL_SESSION = "+session"
    ALL_PINNED = "+pinned"
    ALL_ARCHIVED = "+archived"

    @property
    def several(self) -> bool:
        """Whether the target can stand for more than one conversation."""
        return self in (Kind.STDIN, Kind.ALL_LIVE, Kind.ALL_SESSION, Kind.ALL_PINNED, Kind.ALL_ARCHIVED)


class Target:
    """A parsed target: its kind, and the digits of an id or the filter text of a picker.

    `within` is what a picker is limited to (PINNED, SESSION, ARCHIVED), or None.
    """

    __slots__ = ("kind", "text", "within")

    def __init__(self, kind: Kind, text: str = "", within: Kind | None = None) -> None:
        self.kind = kind
        self.text = text
        self.within = within

    def __repr__(self) -> str:
        return f"Target({self.kind.name}, {self.text!r}, {self.within and self.within.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and (self.kind, self.text, self.within) == (
            other.kind,
            other.text,
            other.within,
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.text, self.within))


_WORDS = {
    ".": Kind.ACTIVE,
    "active": Kind.ACTIVE,
    "session": Kind.SESSION,
    "s": Kind.SESSION,
    "newest": Kind.NEWEST,
    "n": Kind.NEWEST,
    "recent": Kind.RECENT,
    "r": Kind.RECENT,
    "pinned": Kind.PINNED,
    "p": Kind.PINNED,
    "archived": Kind.ARCHIVED,
    "a": Kind.ARCHIVED,
    "-": Kind.STDIN,
}
_SETS = {
    "live": Kind.ALL_LIVE,
    "session": Kind.ALL_SESSION,
    "pinned": Kind.ALL_PINNED,
    "archived": Kind.ALL_ARCHIVED,
}
_PICKERS = {"": None, "p": Kind.PINNED, "s": Kind.SESSION, "a": Kind.ARCHIVED}
WORDS = tuple(word for word in _WORDS if len(word) > 1) + tuple(f"+{word}" for word in _SETS)


def parse(text: str) -> Target:
    """What `text` stands for. Raises `UsageError`, naming the nearest word, when it can be neither word nor id."""
    if kind := _WORDS.get(text):
        return Target(kind)
    if text.startswith("?"):
        rest = text[1:]
        return Target(Kind.PICKER, within=_PICKERS[rest]) if rest in _PICKERS else Target(Kind.PICKER, rest)
    if text.startswith("+"):
        for word, kind in _SETS.items():
            if text[1:] in (word, word[0]):
                return Target(kind)
    elif wanted := ids.digits(text):
        return Target(Kind.ID, wanted)
    near = nearest(text, WORDS)
    raise UsageError(
        f"{text!r} is no conversation id and no target",
        hints=[
            *([f"Did you mean {near!r}?"] if near else []),
            f"Use an id such as jp-c17800836875, or one of {', '.join(WORDS)}.",
        ],
        metadata={"target": text},
    )
