"""`key=value` on the command line and `JP_KEY=value` in the environment: what they assign, as layers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jp.config.containers import Items, Text
from jp.config.errors import AssignmentError, ConfigError, UnknownVariableError
from jp.config.kinds import Json, Kind, Mismatch
from jp.config.layers import Layer, as_error
from jp.config.schema import find, join_key, root
from jp.config.tables import OneOf, Table
from jp.errors import nearest

NOT_CONFIG = frozenset(("JP_EDITOR", "JP_SESSION", "JP_LOG_FILE", "JP_NONINTERACTIVE", "JP_DEBUG", "JP_TEST_DATA"))
NOT_CONFIG |= {"JP_WORKSPACE_ROOT"}
"""Variables that are names of their own; `JP_TEST_DATA` is where the test suite finds its data, `JP_WORKSPACE_ROOT` is
what MCP servers are told.
"""


FILES_ALONE = ("inherit", "extends")
"""Keys that a file says about its own loading."""


def nest(path: Sequence[str], value: Any) -> dict[str, Any]:
    """A tree with `value` at `path`."""
    tree = value
    for step in reversed(path):
        tree = {step: tree}
    return dict(tree)


def from_argument(argument: str, origin: str | None = None) -> Layer:
    """The layer of `key=value`, `key:=json`, `key+=item` or `key:+=json`.

    Raises `UnknownKeyError`, `InvalidValueError` or `AssignmentError`, each naming the argument, or `origin` where it
    was written elsewhere than behind `--cfg`.
    """
    key, _, text = argument.partition("=")
    if origin is None:
        origin = f"--cfg {argument}" if len(argument) <= 80 else f"--cfg {argument[:79]}…"
    mode = ""
    while key[-1:] in (":", "+") and key[-1] not in mode:
        mode += key[-1]
        key = key[:-1]
    path, kind = find(key.strip(), origin)
    layer = Layer("cfg", origin, nest(path, _value(origin, path, kind, text, raw=":" in mode, append="+" in mode)))
    layer.read()
    return layer


def steers_loading(layer: Layer) -> AssignmentError | None:
    """The error for an argument or a variable that sets what only a file can say about itself; None for others."""
    key = next((key for key in FILES_ALONE if key in layer.partial), None)
    if key is None:
        return None
    return AssignmentError(
        f'{layer.name}: "{key}" steers the loading of the file that says it and has no effect here',
        hints=["--cfg PATH merges a file"] if key == "extends" else [],
        metadata={"origin": layer.name, "key": key},
    )


PARAMETERS = "assistant.model.parameters."


def from_value(key: str, value: object) -> Layer:
    """The layer of a flag that sets `key` to a value that is one already; a list replaces, unless in the merge form.

    Raises `UnknownKeyError` and `AssignmentError` in the name of the flag; a value that does not fit is refused when
    the layer is read.
    """
    origin = flag_of(key)
    path, kind = find(key, origin)
    if isinstance(value, str):
        refuse_bytes(origin, key, value)
    if isinstance(value, list) and isinstance(kind, Items):
        value = {"value": value, "strategy": "replace"}
    return Layer("flag", origin, nest(path, value))


def flag_of(key: str) -> str:
    """What a user typed to set `key` by a flag; the key itself where no flag is known for it."""
    if key == "assistant.model.id":
        return "-m"
    return f"-p {key.removeprefix(PARAMETERS)}" if key.startswith(PARAMETERS) else key


def refuse_bytes(origin: str, key: str, text: str) -> None:
    """Raise `AssignmentError` for a text that was no UTF-8 on the command line: no file and no event can hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise AssignmentError(
            f"{origin}: the value is not valid UTF-8",
            hints=["check the encoding of the terminal or of the script that says it"],
            metadata={"origin": origin, "key": key},
        ) from None


def _value(origin: str, path: tuple[str, ...], kind: Kind, text: str, *, raw: bool, append: bool) -> Any:
    _refuse_items(origin, path)
    refuse_bytes(origin, join_key(path), text)
    try:
        if raw:
            return _joined(kind, _json(origin, text), append)
        if append:
            return kind.parse_item(text)
        value = kind.parse(text)
        return {"value": value, "strategy": "replace"} if isinstance(kind, Items) else value
    except Mismatch as fault:
        raise as_error(fault, origin, path) from None


def _refuse_items(origin: str, path: tuple[str, ...]) -> None:
    kind: Kind | None = root()
    for step in path:
        if isinstance(kind, Items):
            raise AssignmentError(
                f"{origin}: one item of a list cannot be set",
                hints=["append an item, or set the whole list as JSON"],
                metadata={"origin": origin, "key": join_key(path)},
            )
        kind = kind.child(step) if kind else None


def _joined(kind: Kind, value: Any, append: bool) -> Any:
    """`value` from JSON as what `kind` reads: appended, or in place of what there is."""
    if isinstance(kind, Items):
        if isinstance(value, dict) and "value" in value:
            return value
        if isinstance(value, list):
            return {"value": value, "strategy": "append" if append else "replace"}
        return {"value": [value], "strategy": "append"} if append else value
    if append and isinstance(kind, Text) and isinstance(value, str):
        return {"value": value, "strategy": "append"}
    if append and not isinstance(value, dict):
        raise Mismatch(value, f"{kind.allowed}; only lists, texts and tables take more")
    return value


def _json(origin: str, text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # "\ud800" alone is no character: it could not be stored
        return value
    except (ValueError, RecursionError) as error:
        raise AssignmentError(
            f"{origin}: not valid JSON: {error}", metadata={"origin": origin}, hints=["a text in JSON is quoted"]
        ) from None


def from_environment(environ: Mapping[str, str], not_config: "Sequence[str] | frozenset[str]" = ()) -> list[Layer]:
    """The layers of all `JP_…` variables that set a key, by name; an empty variable says nothing.

    `not_config` are further names that are used for something else. Raises `UnknownVariableError` and what
    `from_argument` raises.
    """
    layers = []
    for name in sorted(environ):
        if not name.startswith("JP_") or name in NOT_CONFIG or name in not_config or not environ[name]:
            continue
        layers.append(_variable(name, environ[name]))
    return layers


def _variable(name: str, text: str) -> Layer:
    found = locate(name[3:])
    origin = f"environment variable {name}"
    if found is None:
        raise _unknown_variable(name)
    path, kind = found
    raw, append, text = prefix(text)
    layer = Layer("environment", origin, nest(path, _value(origin, path, kind, text, raw=raw, append=append)))
    layer.read()
    fault = steers_loading(layer)
    if fault is not None:
        raise fault
    return layer


def prefix(text: str) -> tuple[bool, bool, str]:
    """Whether the value is raw JSON (`:`) and whether it is appended (`+`); a backslash keeps either."""
    raw = append = False
    while text[:1] in (":", "+"):
        if (raw and text[0] == ":") or (append and text[0] == "+"):
            break
        raw, append, text = raw or text[0] == ":", append or text[0] == "+", text[1:]
    if text[:2] in ("\\:", "\\+"):
        text = text[1:]
    return raw, append, text


def locate(words: str) -> tuple[tuple[str, ...], Kind] | None:
    """The leaf key that `words` (upper case, joined by `_`) means; keys hold underscores themselves.

    Known names go before free ones, longer known names before shorter ones, short free names before longer ones: what
    can be read as a known name is not taken for a part of a free one.
    """
    return next(_located(words, root(), ()), None)


def _located(words: str, kind: Kind, path: tuple[str, ...]) -> "Iterator[tuple[tuple[str, ...], Kind]]":
    table = kind.table if isinstance(kind, OneOf) else kind
    if not isinstance(table, Table) or len(path) > 12:
        return
    for name in sorted(table.fields, key=len, reverse=True):
        spelled = _spelled(name)
        child = table.fields[name]
        if words == spelled and child.leaf:
            yield (*path, name), child
        elif words.startswith(f"{spelled}_"):
            yield from _located(words[len(spelled) + 1 :], child, (*path, name))
    if table.rest is None:
        return
    if not isinstance(table.rest, Json):
        at = words.find("_", 1)
        while at > 0:
            yield from _located(words[at + 1 :], table.rest, (*path, words[:at].lower()))
            at = words.find("_", at + 1)
    if table.rest.leaf and words:
        yield (*path, words.lower()), table.rest


def _spelled(name: str) -> str:
    return name.upper().replace("-", "_").replace(".", "_")


def variables() -> list[tuple[str, str, Kind]]:
    """Every variable that sets a key: its name, the key, its kind; `<NAME>` stands for free names."""
    from jp.config.tables import walk

    found = []
    for path, kind in walk(root()):
        if kind.leaf and "*" not in path and path[0] not in FILES_ALONE:
            words = "_".join("<NAME>" if step == "<name>" else _spelled(step) for step in path)
            found.append((f"JP_{words}", join_key(path), kind))
    return found


def _unknown_variable(name: str) -> ConfigError:
    known = [variable for variable, _, _ in variables() if "<" not in variable]
    near = nearest(name, [*known, *sorted(NOT_CONFIG)])
    return UnknownVariableError(
        f"environment variable {name} names no configuration key",
        hints=[f"did you mean {near}?" if near else "jp config show --envs lists them"],
        metadata={"variable": name, "nearest": near},
    )
