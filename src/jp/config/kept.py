"""What of the user's own files counts although a workspace's file cuts them off by `inherit = false`.

Which secret goes to which server, what is agreed about plugins, and how all tools and the built-in ones may run: with
the defaults in their place a cloned workspace would have undone what its user has said.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from jp.config.layers import Layer
from jp.config.loosening import BUILTIN


def kept(layers: Iterable[Layer]) -> list[Layer]:
    """The layers of the user's files among `layers`, reduced to what stays."""
    found = []
    for layer in layers:
        partial = _kept(layer.partial) if layer.scope != "workspace" else {}
        if partial:
            found.append(Layer(layer.source, layer.name, partial, path=layer.path, scope=layer.scope))
    return found


def _kept(partial: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    servers = {name: item for name, item in _at(partial, "providers", "llm").items() if name != "aliases"}
    if servers:
        out["providers"] = {"llm": servers}
    if "plugins" in partial:
        out["plugins"] = partial["plugins"]
    tools = {name: item for name, item in _at(partial, "conversation", "tools").items() if name in ("*", *BUILTIN)}
    if tools:
        out["conversation"] = {"tools": tools}
    return out


def _at(tree: Any, *path: str) -> Mapping[str, Any]:
    for step in path:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}
