"""Kinds of single keys whose value has several spellings: durations, model ids, reasoning, truncation, enabling."""

from typing import Any

from jp.config.kinds import LARGEST, MISSING, Choice, Flag, Form, Kind, Mismatch, Whole, quoted, whole
from jp.config.tables import OneOf, Table

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_LONG_UNITS = {"sec": "s", "secs": "s", "second": "s", "seconds": "s", "millis": "ms", "msec": "ms", "micros": "us"}
_LONG_UNITS |= {"mins": "m", "minute": "m", "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h"}
_LONG_UNITS |= {"day": "d", "days": "d"}


def seconds(text: str) -> float | None:
    """The length that `text` ("200ms", "1m 30s", "0"; a bare number is milliseconds) stands for, or None."""
    import re

    bare = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", bare, re.ASCII):
        return float(bare) * 1e-3
    if not re.fullmatch(r"(\d+(\.\d+)?\s*[a-zµ]+\s*)+", bare, re.ASCII):
        return None
    total = 0.0
    for number, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([a-zµ]+)", bare):
        scale = _UNITS.get(_LONG_UNITS.get(unit, unit))
        if scale is None:
            return None
        total += float(number) * scale
    return total


def spell(length: float) -> str:
    """The shortest spelling of a length in seconds: `3ms`, `500us`, `1s 500ms`, `0s`."""
    micros = round(length * 1e6)
    parts = []
    for unit, size in (("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1)):
        count, micros = divmod(micros, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


class Duration(Kind):
    """A length of time, resolved to seconds; stored as text."""

    __slots__ = ()
    allowed = 'a duration such as "200ms", "1s" or "0"'

    def read(self, value: object, lenient: bool = False) -> float:  # noqa: ARG002
        length: float | None = None
        if isinstance(value, str):
            length = seconds(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            length = value * 1e-3 if 0 <= value <= LARGEST * 1000 else None
        elif isinstance(value, dict) and isinstance(value.get("secs"), int):  # as older conversations hold it
            secs, nanos = value["secs"], value.get("nanos", 0)
            if 0 <= secs <= LARGEST and isinstance(nanos, int) and 0 <= nanos < 10**9:
                length = secs + nanos * 1e-9
        if length is None or not 0 <= length <= LARGEST:
            raise Mismatch(value, self.allowed)
        return length

    def write(self, value: Any, form: Form) -> str:  # noqa: ARG002
        return spell(value)


class ModelId(Kind):
    """`provider/name`, an alias, or `{provider, name}`; resolved to the text."""

    __slots__ = ()
    allowed = '"provider/name", an alias, or { provider, name }'

    def read(self, value: object, lenient: bool = False) -> str:  # noqa: ARG002
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, dict) and set(value) == {"provider", "name"}:
            provider, name = value["provider"], value["name"]
            if isinstance(provider, str) and isinstance(name, str) and provider and name:
                return f"{provider}/{name}"
        raise Mismatch(value, self.allowed)

    def write(self, value: Any, form: Form) -> Any:
        if not form.stored:
            return value
        seen: set[str] = set()
        while value in form.aliases and value not in seen:
            seen.add(value)
            value = form.aliases[value]
        provider, slash, name = value.partition("/")
        return {"provider": provider, "name": name} if slash else value

    def diff(self, old: Any, new: Any, form: Form) -> Any:
        if old is not None and new is not None and self.write(old, form) == self.write(new, form):
            return MISSING  # an alias of the same model
        return super().diff(old, new, form)


class Truncation(Kind):
    """One of some words, or how much is shown: a number, or `{truncate = {<unit> = N}}` as conversations hold it."""

    __slots__ = ("allowed", "unit", "words")

    def __init__(self, words: tuple[str, ...], unit: str, default: Any, doc: str) -> None:
        super().__init__(default, doc)
        self.words = words
        self.unit = unit
        self.allowed = f"{quoted(words)} or a number of {unit}"

    def read(self, value: object, lenient: bool = False) -> str | int:  # noqa: ARG002
        if isinstance(value, bool) and "off" in self.words:
            return "full" if value else "off"
        if isinstance(value, dict) and set(value) == {"truncate"} and isinstance(value["truncate"], dict):
            value = value["truncate"].get(self.unit)
        if isinstance(value, str) and value in self.words:
            return value
        number = whole(value) if isinstance(value, str) else value
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return number
        raise Mismatch(value, self.allowed)

    def parse(self, text: str) -> object:
        return text == "true" if text in ("true", "false") else text

    def write(self, value: Any, form: Form) -> Any:
        return {"truncate": {self.unit: value}} if form.stored and isinstance(value, int) else value


EFFORTS = ("auto", "none", "minimal", "low", "medium", "high", "xhigh", "max")


class Effort(Kind):
    """How much a model may reason: a word, or a number of tokens."""

    __slots__ = ()
    allowed = f"{quoted(EFFORTS)} or a number of tokens"

    def read(self, value: object, lenient: bool = False) -> str | int:  # noqa: ARG002
        if isinstance(value, dict) and set(value) == {"absolute"}:
            value = value["absolute"]
        if isinstance(value, str) and value in EFFORTS:
            return value
        number = whole(value) if isinstance(value, str) else value
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return number
        raise Mismatch(value, self.allowed)


class Reasoning(OneOf):
    """`"off"`, `"auto"`, an effort, or `{effort, exclude}`."""

    __slots__ = ()

    def __init__(self, doc: str) -> None:
        table = Table(
            {
                "effort": Effort("medium", "How much the model may reason."),
                "exclude": Flag(False, "Let the model reason, but leave its reasoning out of the response."),
            }
        )
        super().__init__((Choice(("off", "auto")), table), doc=doc)

    def parse(self, text: str) -> object:
        return text == "true" if text in ("true", "false") else text

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, bool):
            value = "auto" if value else "off"
        if isinstance(value, int) or (isinstance(value, str) and value not in ("off", "auto")):
            try:
                value = {"effort": Effort().read(value)}
            except Mismatch as fault:
                raise Mismatch(value, f'"off", {fault.allowed}, or {{ effort, exclude }}') from None
        return super().read(value, lenient)


_ENABLE_WORDS: dict[object, dict[str, object]] = {
    "on": {"state": True, "allow_toggle": "any"},
    "off": {"state": False, "allow_toggle": "any"},
    "always": {"state": True, "allow_toggle": "never"},
    "explicit": {"state": False, "allow_toggle": "if_named"},
}


class Enable(Table):
    """Whether a tool is enabled and which directives may change that: a boolean, a word or `{state, allow_toggle}`."""

    __slots__ = ()
    leaf = True

    def __init__(self, doc: str) -> None:
        super().__init__(
            {
                "state": Flag(MISSING, "Whether the tool is enabled."),
                "allow_toggle": Choice(
                    ("any", "never", "if_named", "if_named_or_group"), MISSING, "Which `--tool` flags may change it."
                ),
            },
            doc,
            optional=True,
        )
        self.allowed = 'true, false, "on", "off", "explicit", "always" or { state, allow_toggle }'

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, bool):
            return dict(_ENABLE_WORDS["on" if value else "off"])
        if isinstance(value, str):
            if value not in _ENABLE_WORDS:
                raise Mismatch(value, self.allowed)
            return dict(_ENABLE_WORDS[value])
        return super().read(value, lenient)

    def parse(self, text: str) -> object:
        return text == "true" if text in ("true", "false") else text

    def write(self, value: Any, form: Form) -> Any:
        toggle = value.get("allow_toggle")
        if value == {"state": False, "allow_toggle": "if_named"}:
            return "explicit"
        if value == {"state": True, "allow_toggle": "never"}:
            return "always"
        if "state" in value and toggle == "any":
            return value["state"]
        return super().write(value, form)


LINK_STYLES = ("full", "osc8", "off")


def link_style(default: Any, doc: str) -> Choice:
    """How a path is linked: its full text, a clickable link, or not at all."""
    return Choice(LINK_STYLES, default, doc, synonyms={True: "full", False: "off"})


def colour(default: Any, doc: str) -> OneOf:
    """A terminal colour: a number of the 256 colour palette or `#rrggbb`."""
    return OneOf((Whole(minimum=0, maximum=255), _Hex()), default, doc)


class _Hex(Kind):
    __slots__ = ()
    allowed = 'a colour such as "#3c3836"'

    def read(self, value: object, lenient: bool = False) -> str:  # noqa: ARG002
        if isinstance(value, str) and len(value) == 7 and value[0] == "#":
            digits = value[1:].lower()
            if all(char in "0123456789abcdef" for char in digits):
                return value
        raise Mismatch(value, self.allowed)
