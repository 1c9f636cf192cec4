"""The settings in a query document: which of them are shown, and what was changed in them."""

from typing import Any

from jp.config.assignment import steers_loading
from jp.config.containers import Items
from jp.config.dump import to_toml
from jp.config.errors import ConfigError, SyntaxFault
from jp.config.kinds import MISSING, Kind
from jp.config.layers import Layer
from jp.config.read import parse
from jp.config.resolved import Config
from jp.config.schema import join_key, root
from jp.config.tables import Table
from jp.editor.document import NAME, DocumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SECTIONS = ("assistant", "style")
_EMPTY: tuple[object, ...] = (None, [], {})


def editable(config: Config) -> str:
    """The TOML text of what a person may want to change for a query: the model first, then what is not the default.

    No providers, no tools, nothing of what a conversation is created with.
    """
    shown, default = config.shown(), Config(root().final(MISSING), []).shown()
    assistant = dict(shown["assistant"])
    model = assistant.pop("model", {})
    head = {
        "id": model.get("id"),
        "parameters": {k: v for k, v in model.get("parameters", {}).items() if v not in _EMPTY},
    }
    head = {key: value for key, value in head.items() if value}
    text = "" if "id" in head else '# assistant.model.id = "provider/name"\n'
    text += to_toml({"assistant": {"model": head}}) if head else ""
    others = {"assistant": assistant, "style": shown["style"]}
    rest = {key: set_ for key in _SECTIONS if (set_ := _without(others[key], default[key]))}
    attachments = shown["conversation"].get("attachments")
    if attachments:
        rest["conversation"] = {"attachments": attachments}
    return text + ("\n" if text and rest else "") + to_toml(rest)


def _without(value: "Mapping[str, Any]", default: "Mapping[str, Any]") -> dict[str, Any]:
    """What of a table is not as in `default`."""
    out: dict[str, Any] = {}
    for key, item in value.items():
        below = default.get(key)
        if isinstance(item, dict) and isinstance(below, dict):
            item = _without(item, below)  # noqa: PLW2901 (what remains of it)
            if item:
                out[key] = item
        elif item != below and item is not None:
            out[key] = item
    return out


def changed(text: str, before: str, first_line: int) -> dict[str, Any] | None:
    """What TOML text says that `before` did not, as a partial config; None when nothing.

    A list is meant as a whole; what was taken out is not said. `first_line` is where the text begins in its document,
    for errors. Raises `DocumentError` for what is no TOML and for what the schema refuses.
    """
    tree = _tree(text, first_line)
    layer = Layer("document", NAME, tree)
    try:
        layer.read()
        fault = steers_loading(layer)
        if fault is not None:
            raise fault
    except ConfigError as error:
        raise DocumentError(error.message, hints=error.hints, metadata=error.metadata) from error
    return _changed(root(), tree, parse("", before)) or None


def flags(config: "Mapping[str, Any]") -> dict[str, object]:
    """A partial config that `changed` gave, as values by dotted key: what `load(…, flags=…)` takes."""
    found: dict[str, object] = {}
    _flatten(root(), config, (), found)
    return found


def _tree(text: str, first_line: int) -> dict[str, Any]:
    try:
        return parse("", text)
    except SyntaxFault as fault:
        found = fault.metadata.get("line")
        line = first_line - 1 + (found if isinstance(found, int) else 1)
        what = fault.message.partition(": ")[2]
        raise DocumentError(f"{NAME}:{line}: {what}", metadata={"line": line}) from fault


def _changed(kind: Kind, new: "Mapping[str, Any]", old: "Mapping[str, Any]") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in new.items():
        below, was = kind.child(key), old.get(key)
        if isinstance(below, Table) and isinstance(value, dict):
            value = _changed(below, value, was if isinstance(was, dict) else {})  # noqa: PLW2901 (what differs of it)
            if value:
                out[key] = value
        elif value != was or type(value) is not type(was):
            whole = isinstance(below, Items) and isinstance(value, list)
            out[key] = {"value": value, "strategy": "replace"} if whole else value
    return out


def _flatten(kind: Kind, value: "Mapping[str, Any]", path: tuple[str, ...], found: dict[str, object]) -> None:
    for key, item in value.items():
        below = kind.child(key)
        if isinstance(below, Table) and isinstance(item, dict):
            _flatten(below, item, (*path, key), found)
        else:
            found[join_key((*path, key))] = item
