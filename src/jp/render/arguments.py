"""The arguments of a tool call as text: JSON over lines, or what looks like a call in a program. Pure."""

import re

from jp.terminal.sanitize import one_line
from jp.terminal.width import ELLIPSIS, display_width, truncate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_STRINGS = (60, 30, 15)  # characters of a value, as long as the line is too long
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_TOO_DEEP = '"(nested too deeply to be shown)"'


def pretty(arguments: object) -> str:
    """JSON, indented."""
    from json import dumps

    try:
        return dumps(arguments, ensure_ascii=False, indent=2, default=str)
    except RecursionError:
        return compact(arguments)


def compact(value: object) -> str:
    """JSON on one line."""
    from json import dumps

    try:
        return dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return _TOO_DEEP


def in_parentheses(arguments: "Mapping[str, Any]") -> str:
    """`(path: "a", line: 3)`, with every argument in full."""
    return _listed(arguments, None)


def in_parentheses_within(arguments: "Mapping[str, Any]", columns: int) -> str:
    """The same in at most `columns` columns: long values are cut, then the line."""
    for longest in (columns, *_STRINGS):
        line = one_line(_listed(arguments, longest))
        if display_width(line) <= columns:
            return line
    return truncate(line, columns)


def _listed(arguments: "Mapping[str, Any]", longest: int | None) -> str:
    return f"({', '.join([f'{_key(key)}: {_value(value, longest)}' for key, value in arguments.items()])})"


def _key(key: object) -> str:
    """A key that is no plain name could look like more than one argument."""
    text = str(key)
    return text if _NAME.fullmatch(text) else compact(text)


def _value(value: object, longest: int | None) -> str:
    if longest is None:
        return compact(value)
    if isinstance(value, str):
        return compact(value if len(value) <= longest else value[:longest] + ELLIPSIS)
    text = compact(value)
    return text if len(text) <= longest else text[:longest] + ELLIPSIS
