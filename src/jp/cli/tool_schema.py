"""A tool's parameters, which are a JSON schema, for a person: what each takes, in words. Pure.

A schema may be a server's: only what is plain to see in it is shown, and nothing in it can fail this.
"""

import json
from typing import Any

DEPTH = 8  # levels that are shown
MOST_ROWS = 500  # of one schema
_MOST = 12  # values of an enumeration, and choices, that are looked at
_CHOICES = 3  # levels of choices within choices

_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} long",
    "maxLength": "at most {} long",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "pattern": "matching {}",
    "format": "format {}",
}


def rows(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """The parameters of a schema of an object, names indented by how deep they are, and what each takes."""
    found: list[tuple[str, str]] = []
    _add_rows(found, schema, schema, 0)
    return found


def _add_rows(found: list[tuple[str, str]], schema: dict[str, Any], root: dict[str, Any], depth: int) -> None:
    properties = schema.get("properties")
    needed = schema.get("required")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if len(found) >= MOST_ROWS:
            return
        field = resolved(inner, root)
        required = isinstance(needed, list) and name in needed
        found.append(("  " * depth + str(name), described(field, root, required=required)))
        below = _object_in(field, root)
        if below is not None and depth + 1 < DEPTH:
            _add_rows(found, below, root, depth + 1)


def described(schema: dict[str, Any], root: dict[str, Any], *, required: bool) -> str:
    """What a parameter takes: its type, whether it must be given, its default and limits, what it is for."""
    parts = [kind_in_words(schema, root)]
    parts += [words.format(_shown(schema[key])) for key, words in _LIMITS.items() if key in schema]
    parts += ["required"] if required else []
    parts += [f"default {_shown(schema['default'])}"] if "default" in schema else []
    about = schema.get("description") or schema.get("title")
    return ", ".join(parts) + (f". {' '.join(about.split())}" if isinstance(about, str) and about.strip() else "")


def kind_in_words(schema: dict[str, Any], root: dict[str, Any], depth: int = 0) -> str:
    """`string`, `list of integer`, `"a" | "b"`, `integer or null`; `anything` where the schema does not say."""
    if depth > _CHOICES:
        return "anything"
    if isinstance(schema.get("enum"), list):
        values = [_shown(value) for value in schema["enum"][:_MOST]]
        return " | ".join([*values, *(["…"] if len(schema["enum"]) > _MOST else [])]) or "anything"
    if "const" in schema:
        return _shown(schema["const"])
    kinds = _named(schema)
    words = []
    for kind in kinds:
        items = schema.get("items")
        if kind == "array" and isinstance(items, dict):
            words.append(f"list of {kind_in_words(resolved(items, root), root, depth + 1)}")
        else:
            words.append("list" if kind == "array" else kind)
    words += [kind_in_words(each, root, depth + 1) for each in _choices(schema, root)] if not kinds else []
    return " or ".join(dict.fromkeys(words)) or "anything"


def kinds(schema: object, root: dict[str, Any], depth: int = 0) -> set[str]:
    """The JSON types that a value may have; empty where the schema does not say."""
    field = resolved(schema, root)
    found = set(_named(field))
    if found or depth > _CHOICES:
        return found
    values = field["enum"] if isinstance(field.get("enum"), list) else [field["const"]] if "const" in field else []
    found = {_kind_of(value) for value in values}
    for each in _choices(field, root):
        found |= kinds(each, root, depth + 1)
    return found


def resolved(schema: object, root: dict[str, Any]) -> dict[str, Any]:
    """The schema, or what it refers to within `root`; an empty one where that can't be told."""
    for _ in range(DEPTH):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target: object = root
        for step in reference.removeprefix("#").strip("/").split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **beside} if isinstance(target, dict) else beside
    return {}


def _named(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [str(each) for each in kind] if isinstance(kind, list) else [kind] if isinstance(kind, str) else []


def _choices(schema: dict[str, Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas of which a value meets one."""
    found = [each for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list) for each in schema[key]]
    return [resolved(each, root) for each in found[:_MOST]]


def _object_in(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the object that a parameter is, or has items of, or may be."""
    for each in (schema, resolved(schema.get("items"), root), *_choices(schema, root)):
        if isinstance(each.get("properties"), dict):
            return each
        items = resolved(each.get("items"), root)
        if isinstance(items.get("properties"), dict):
            return items
    return None


def _kind_of(value: object) -> str:
    for kind, python in (("boolean", bool), ("integer", int), ("number", float), ("string", str), ("array", list)):
        if isinstance(value, python):
            return kind
    return "null" if value is None else "object"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
