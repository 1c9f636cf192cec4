"""What a value may be: the kinds of leaves that the schema is made of.

A kind knows five things about a value, all pure: how it is read from a file (`read`, which also brings every accepted
spelling into one canonical form), how it is read from a word on the command line or in the environment (`parse`), how a
later source joins an earlier one (`merge`), what it is when all sources are in (`final`), and how it is stored with a
conversation (`write`, `diff`).
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple, TypeVar

MISSING: Final[Any] = type("Missing", (), {"__repr__": lambda _: "MISSING"})()
"""No source has said anything. As a default: the key is optional."""

LARGEST: Final = 2**32 - 1
"""The largest integer a key takes: as much as fits a timer of the system, and a field of the original."""

LARGEST_FLOAT: Final = 1.7976931348623157e308
"""The largest number a key takes; what is larger, an integer too, may be no float."""

LONGEST_NUMBER: Final = 19
"""Digits of a number in a text; every 64 bits fit, and no text is too long for `int`."""

UNSET: Final[Any] = type("Unset", (), {"__repr__": lambda _: "UNSET"})()
"""A source said null: what lower sources said is dropped, the default holds again."""


def whole(text: str) -> int | None:
    """The number that a text of plain digits is; None for any other, such as "²", of which `int` makes an error."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


class Form(NamedTuple):
    """What a value is written for: stored with a conversation (model ids resolved by `aliases`), or shown to people."""

    stored: bool
    aliases: Mapping[str, str]


SHOWN = Form(False, {})


def quoted(words: Sequence[str | bool]) -> str:
    """Words as an error lists them."""
    return ", ".join(f'"{word}"' if isinstance(word, str) else str(word).lower() for word in words)


class Mismatch(Exception):
    """A value that the schema does not take, with the path below where reading began.

    `known` is not None when the last step of `path` is itself unknown: it holds the names allowed there.
    """

    def __init__(self, found: object, allowed: str, known: Sequence[str] | None = None) -> None:
        super().__init__(allowed)
        self.found = found
        self.allowed = allowed
        self.known = known
        self.path: list[str] = []


class Kind:
    """The base of all kinds, and the kind of a leaf that takes anything a subclass does not refuse."""

    __slots__ = ("default", "doc", "own")

    allowed: str = "any value"
    leaf: bool = True  # can be set by a variable or by key=value as a whole

    def __init__(self, default: Any = MISSING, doc: str = "") -> None:
        self.default = default
        self.doc = doc
        self.own = False

    def read(self, value: object, lenient: bool = False) -> Any:  # noqa: ARG002 - part of the signature
        """The canonical form of `value`; raises `Mismatch`. `lenient` drops what is not understood inside tables."""
        return value

    def parse(self, text: str) -> Any:
        """What `text` (from `key=value` or a variable) stands for, still to be read; raises `Mismatch`."""
        return text

    def parse_item(self, text: str) -> Any:
        """What appending `text` stands for, still to be read; raises `Mismatch` where nothing can be appended."""
        raise Mismatch(text, f"{self.allowed}; only lists and texts take more")

    def merge(self, old: Any, new: Any) -> Any:  # noqa: ARG002 - part of the signature
        """`old` (a state or MISSING) with the read value `new` laid over it."""
        return new

    def final(self, state: Any) -> Any:
        """The resolved value of a state; the default where it is MISSING, None where there is none."""
        if state is MISSING:
            return None if self.default is MISSING else self.default
        return state

    def write(self, value: Any, form: Form) -> Any:  # noqa: ARG002 - part of the signature
        """A resolved value as it is stored with a conversation, or as it is shown."""
        return value

    def diff(self, old: Any, new: Any, form: Form) -> Any:
        """What, laid over `old`, gives `new` (both resolved); MISSING when nothing is needed."""
        return MISSING if old == new else None if new is None else self.write(new, form)

    def child(self, name: str) -> "Kind | None":  # noqa: ARG002 - part of the signature
        """The kind one step down, None where there is none."""
        return None


def _storable(number: float) -> bool:
    return -(2**63) <= number < 2**64 if isinstance(number, int) else isfinite(number)


K = TypeVar("K", bound=Kind)


def ours(kind: K) -> K:
    """`kind`, marked as not known to the conversations of older versions: stored only when it says something."""
    kind.own = True
    return kind


class Flag(Kind):
    """A boolean."""

    __slots__ = ()
    allowed = "true or false"

    def read(self, value: object, lenient: bool = False) -> bool:  # noqa: ARG002
        if isinstance(value, bool):
            return value
        raise Mismatch(value, self.allowed)

    def parse(self, text: str) -> bool:
        word = text.strip().lower()
        if word in ("true", "false"):
            return word == "true"
        raise Mismatch(text, self.allowed)


class Whole(Kind):
    """An integer between bounds."""

    __slots__ = ("allowed", "maximum", "minimum")

    def __init__(self, default: Any = MISSING, doc: str = "", *, minimum: int = 0, maximum: int | None = None) -> None:
        super().__init__(default, doc)
        self.minimum = minimum
        self.maximum = maximum
        bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        self.allowed = f"an integer, {bounds}" if minimum > -(2**31) else "an integer"

    def read(self, value: object, lenient: bool = False) -> int:  # noqa: ARG002
        if isinstance(value, bool) or not isinstance(value, int):
            raise Mismatch(value, self.allowed)
        if not self.minimum <= value <= (LARGEST if self.maximum is None else self.maximum):
            raise Mismatch(value, self.allowed if value <= LARGEST else f"{self.allowed}, at most {LARGEST}")
        return value

    def parse(self, text: str) -> int:
        try:
            return int(text.strip().replace("_", ""))
        except ValueError:
            raise Mismatch(text, self.allowed) from None


class Number(Kind):
    """A number, kept as a float."""

    __slots__ = ()
    allowed = "a number"

    def read(self, value: object, lenient: bool = False) -> float:  # noqa: ARG002
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_FLOAT:
            raise Mismatch(value, self.allowed)
        return float(value)

    def parse(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise Mismatch(text, self.allowed) from None


class Choice(Kind):
    """One of some words; `synonyms` are accepted spellings of them, booleans may be among both."""

    __slots__ = ("allowed", "synonyms", "words")

    def __init__(
        self,
        words: Sequence[str | bool],
        default: Any = MISSING,
        doc: str = "",
        *,
        synonyms: Mapping[str | bool, str | bool] | None = None,
    ) -> None:
        super().__init__(default, doc)
        self.words = tuple(words)
        self.synonyms = dict(synonyms or {})
        self.allowed = quoted(words)

    def read(self, value: object, lenient: bool = False) -> str | bool:  # noqa: ARG002
        # A tuple's `in` would take 1 for True.
        for word in self.words:
            if word == value and type(word) is type(value):
                return word
        for spelling, word in self.synonyms.items():
            if spelling == value and type(spelling) is type(value):
                return word
        raise Mismatch(value, self.allowed)

    def parse(self, text: str) -> str | bool:
        known = (*self.words, *self.synonyms)
        if text in ("true", "false") and text not in known:
            return text == "true"
        return text


class Json(Kind):
    """Any JSON value that can be stored; tables join key by key."""

    __slots__ = ()
    number = "any value; of numbers those of 64 bits"

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, dict):
            return {str(key): self.read(item, lenient) for key, item in value.items() if item is not None}
        if isinstance(value, list | tuple):
            return [self.read(item, lenient) for item in value]
        if isinstance(value, int | float) and not _storable(value):
            raise Mismatch(value, self.number)
        if value is None or isinstance(value, str | int | float | bool):
            return value
        return str(value)  # dates and times, which TOML and YAML have and JSON has not

    def merge(self, old: Any, new: Any) -> Any:
        if not (isinstance(old, dict) and isinstance(new, dict)):
            return new
        joined = dict(old)
        for key, item in new.items():
            joined[key] = self.merge(old.get(key, MISSING), item)
        return joined

    def child(self, name: str) -> Kind:  # noqa: ARG002
        return self
