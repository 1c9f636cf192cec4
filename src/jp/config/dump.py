"""A tree as TOML text: what `jp config show` prints. Edits that keep comments are `jp.config.edit`."""

from collections.abc import Mapping
from typing import Any


def to_toml(tree: Mapping[str, Any]) -> str:
    """The TOML text of a tree of JSON values. None is left out, as TOML has no word for it."""
    lines: list[str] = []
    _table(tree, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n" if lines else ""


def _table(tree: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    below = []
    for key, value in tree.items():
        if isinstance(value, dict) or _is_tables(value):
            below.append((key, value))
        elif value is not None:
            lines.append(f"{_key(key)} = {value_text(value)}")
    for key, value in below:
        name = ".".join(_key(step) for step in (*path, key))
        if isinstance(value, list):
            for item in value:
                lines += ["", f"[[{name}]]"]
                _table(item, (*path, key), lines)
            continue
        if not value or any(not isinstance(item, dict) and not _is_tables(item) for item in value.values()):
            lines += ["", f"[{name}]"]
        _table(value, (*path, key), lines)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else _text(key)


def value_text(value: Any) -> str:
    """A JSON value as TOML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _block(value) if "\n" in value.rstrip("\n") else _text(value)
    if isinstance(value, list):
        items = [value_text(item) for item in value if item is not None]
        line = f"[{', '.join(items)}]"
        return line if len(line) <= 100 else "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    if isinstance(value, dict):
        items = [f"{_key(key)} = {value_text(item)}" for key, item in value.items() if item is not None]
        return f"{{ {', '.join(items)} }}" if items else "{}"
    if isinstance(value, float):
        return repr(value) if abs(value) < float("inf") else ("nan" if value != value else f"{value}")  # noqa: PLR0124
    return str(value)


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def _text(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char) or _safe(char) for char in text) + '"'


def _block(text: str) -> str:
    body = "".join(char if char in '\n\t"' else _ESCAPES.get(char) or _safe(char) for char in text)
    return '"""\n' + body.replace('"""', '""\\"').removesuffix('"') + ('\\"' if body.endswith('"') else "") + '"""'


def _safe(char: str) -> str:
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\u{code:04x}"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else char
