"""The configuration as a plugin reads it: plain JSON values, by dotted keys (`read_config`)."""

from collections.abc import Sequence
from typing import Any

from jp.config.errors import UnknownKeyError
from jp.config.load import Config
from jp.config.schema import find, join_key, split_key
from jp.errors import nearest
from jp.plugin.errors import RequestError

LONGEST = 200  # characters of a path: what is longer is not worth a search for what is near


def whole(config: Config) -> dict[str, Any]:
    """The configuration resolved from all sources, as `jp config show --format json` prints it: no nulls in tables."""
    return config.shown()


def at(config: dict[str, Any], path: str) -> Any:
    """What stands at the dotted key `path` of `config`: a value, or a table with all below it; "" is the whole.

    A step that holds a dot is quoted; there are no steps into lists. Raises `RequestError`, naming the nearest key.
    """
    value: Any = config
    steps = split_key(path)
    for place, step in enumerate(steps):
        if not isinstance(value, dict) or step not in value:
            raise _missing(path, steps[:place], step, value)
        value = value[step]
    return value


def _missing(path: str, above: Sequence[str], step: str, found: Any) -> RequestError:
    """The error for `path`, of which `step` is not in `found`, which stands at `above`."""
    if isinstance(found, list):
        return _error(path, f"`{join_key(above)}` is a list, which is to be had as a whole")
    if len(path) > LONGEST:
        return _error(path[:LONGEST], f"`{path[:LONGEST]}…` is no key of the configuration")
    try:
        find(path, "read_config")
    except UnknownKeyError as error:
        return _error(path, f"`{path}` is no key of the configuration", error.metadata["nearest"])
    near = nearest(step, list(found)) if isinstance(found, dict) else None
    return _error(path, f"`{path}` is not set", join_key((*above, near)) if near else None)


def _error(path: str, message: str, near: object = None) -> RequestError:
    hint = f"; did you mean `{near}`?" if near else ""
    return RequestError(message + hint, metadata={"path": path, "nearest": near})
