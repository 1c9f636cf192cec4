"""What can be wrong with configuration. Every error says where, at which key, what was found and what is allowed."""

from collections.abc import Sequence

from jp.errors import JpError


class ConfigError(JpError):
    """Configuration that cannot be used as it is written."""

    code = "config"


class UnknownKeyError(ConfigError):
    """A key that is not in the schema; the nearest known one is in the hints."""


class InvalidValueError(ConfigError):
    """A known key with a value of the wrong type or not among the allowed ones."""


class UnreadableFileError(ConfigError):
    """A configuration file that cannot be opened, is no file, or is not valid UTF-8."""


class SyntaxFault(ConfigError):
    """A configuration file that is not valid TOML, JSON or YAML; the message holds the line."""


class ExtendsError(ConfigError):
    """An `extends` entry that names nothing, or files that extend each other in a circle."""


class UnknownNameError(ConfigError):
    """A `--cfg NAME` that no load path holds."""


class UnknownVariableError(ConfigError):
    """A `JP_…` environment variable that names no key."""


class AssignmentError(ConfigError):
    """A `key=value` that cannot be applied to that key."""


class ModelIdError(ConfigError):
    """A model id that names no known provider, or an alias that leads nowhere."""


def describe(value: object) -> str:
    """What was found, in the words of a configuration file."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:59]}…"'
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        keys = ", ".join(str(key) for key in list(value)[:4])
        return f"a table ({keys}{', …' if len(value) > 4 else ''})" if value else "an empty table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"a {type(value).__name__}"


def unknown_key(
    origin: str, key: str, near: str | None, allowed: Sequence[str] = (), holds: str = ""
) -> UnknownKeyError:
    """The error for `key` in `origin` (a file, a variable, a `--cfg` argument).

    `allowed` are the keys that there are where it stands; `holds` says what is there where no keys are.
    """
    hints = [f'did you mean "{near}"?'] if near else []
    if not near:
        hints = [f"allowed here: {', '.join(allowed)}"] if allowed else [holds] if holds else []
    return UnknownKeyError(
        f'{origin}: unknown key "{key}"',
        hints=hints,
        metadata={"origin": origin, "key": key, "nearest": near, "allowed": list(allowed)},
    )


def invalid_value(origin: str, key: str, found: object, allowed: str) -> InvalidValueError:
    """The error for a value of `key` that the schema does not take."""
    return InvalidValueError(
        f'{origin}: "{key}" is {describe(found)}; allowed: {allowed}',
        metadata={"origin": origin, "key": key, "found": describe(found), "allowed": allowed},
    )
