"""Setting a key in a TOML file without touching what else is in it: comments, order and spacing stay."""

import os
from typing import Any

from jp.config.assignment import from_argument, prefix
from jp.config.containers import Items
from jp.config.errors import AssignmentError, SyntaxFault
from jp.config.layers import Layer
from jp.config.read import parse
from jp.config.schema import find, join_key


def set_value(path: str, text: str, key: str, expression: str) -> str:
    """The new text of the file at `path`, whose text is `text`, with `key` set.

    `expression` is what follows the key in `--cfg` (`=value`, `:=json`, `+=item`), or a value as in a variable (text,
    `:json`, `+item`). The result is read and checked before it is returned; writing it is the caller's. Raises leaves
    of `ConfigError`.
    """
    layer = typed(key, expression)
    steps, kind = find(key, layer.name)
    value: Any = layer.partial
    for step in steps:
        value = value[step]
    if value is None:
        raise AssignmentError(f"{path}: TOML has no null; remove {key} by hand", metadata={"path": path, "key": key})
    if isinstance(kind, Items) and isinstance(value, dict) and value.get("strategy") == "replace":
        value = value["value"]  # `=` replaces on the command line; in a file that is what the plain list is
    elif _is_append(value) and isinstance(kind, Items) and kind.joining.plain == "append":
        value = value if _at(parse(path, text), steps) is not None else value["value"]
    new = _set(path, text, steps, value)
    Layer("file", path, parse(path, new)).read()
    return new


def typed(key: str, expression: str) -> Layer:
    """What `jp config set KEY EXPRESSION` says, as a layer; raises leaves of `ConfigError` in its name."""
    origin = f"jp config set {key}"
    find(key, origin)
    if expression.startswith(("=", ":=", "+=", ":+=", "+:=")):
        return from_argument(f"{key}{expression}", origin)
    raw, append, word = prefix(expression)
    return from_argument(f"{key}{':' if raw else ''}{'+' if append else ''}={word}", origin)


def _set(path: str, text: str, steps: tuple[str, ...], value: Any) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json":
        import json

        tree = parse(path, text)
        _put(tree, steps, _joined(tree, steps, value))
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    if suffix in (".yaml", ".yml"):
        raise AssignmentError(
            f"{path}: YAML files are not edited, their comments would be lost",
            hints=[f"set {join_key(steps)} in it by hand, or use a TOML file"],
            metadata={"path": path, "key": join_key(steps)},
        )
    import tomlkit

    tree = parse(path, text)  # names a syntax error before the editing library does
    joined = _joined(tree, steps, value)
    _put(tree, steps, joined)
    for inline in (False, True):  # below `a.b = 1` a table has no header of its own: there it is written on one line
        document = tomlkit.parse(text)
        try:
            _put_toml(document, steps, joined, inline=inline)
            new = tomlkit.dumps(document)
            if parse(path, new) == tree:
                return new
        except (ValueError, SyntaxFault):  # what the library cannot do, it may also do wrong: hence the comparison
            continue
    raise AssignmentError(
        f"{path}: {join_key(steps)} cannot be set without changing something else",
        hints=["set it by hand"],
        metadata={"path": path, "key": join_key(steps)},
    )


def _joined(tree: dict[str, Any], steps: tuple[str, ...], value: Any) -> Any:
    """What an appended value makes of a plain list or text that the file has already."""
    if not _is_append(value):
        return value
    there = _at(tree, steps)
    added = value["value"]
    if isinstance(there, list) and isinstance(added, list):
        return [*there, *(item for item in added if item not in there)]
    if isinstance(there, dict) and isinstance(there.get("value"), list) and isinstance(added, list):
        return {**there, "value": [*there["value"], *(item for item in added if item not in there["value"])]}
    if isinstance(there, str) and isinstance(added, str):
        return f"{there}\n\n{added}"
    return value


def _is_append(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"value", "strategy"} and value["strategy"] == "append"


def _at(tree: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def _put(tree: dict[str, Any], steps: tuple[str, ...], value: Any) -> None:
    for step in steps[:-1]:
        below = tree.get(step)
        if not isinstance(below, dict):
            below = tree[step] = {}
        tree = below
    tree[steps[-1]] = value


def _put_toml(document: Any, steps: tuple[str, ...], value: Any, *, inline: bool) -> None:
    import tomlkit

    table: Any = document
    for place, step in enumerate(steps[:-1]):
        if not isinstance(table.get(step), dict):
            table.pop(step, None)
            header = tomlkit.table(is_super_table=place < len(steps) - 2)
            table[step] = tomlkit.inline_table() if inline else header
        table = table[step]
    there = table.get(steps[-1])
    added = value[len(there) :] if isinstance(there, list) and isinstance(value, list) else None
    headed = isinstance(there, tomlkit.items.AoT)
    if added is not None and value[: len(there)] == there and not headed:
        for item in added:  # one by one, so that comments and layout of the list stay
            there.append(_inline(item))
    elif added and value[: len(there)] == there and all(isinstance(item, dict) for item in added):
        for item in added:
            there.append(_headed(item))
    elif headed and any(line.lstrip().startswith("#") for line in there.as_string().splitlines()):
        raise ValueError("comments between its tables would be lost")
    else:
        table[steps[-1]] = _inline(value)


def _headed(value: Any) -> Any:
    """A table as one with a header of its own, as its neighbours in `[[…]]` are; a text has none."""
    import tomlkit

    table = tomlkit.table()
    table.update({key: _inline(item) for key, item in value.items()})
    return table


def _inline(value: Any) -> Any:
    """A table as one on its line: a header of its own would end the table it stands in."""
    import tomlkit

    if isinstance(value, list):
        array = tomlkit.array()
        for item in value:
            array.append(_inline(item))
        return array
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    table.update({key: _inline(item) for key, item in value.items()})
    return table
