"""The configuration that a conversation carries: its base, what was changed on the way, and how both are read today.

A conversation keeps the whole configuration it began with. Laid over today's as it is, it would also bring back what
has nothing to do with the conversation: where a server was, a delay in a status line. So what a conversation is made of
(`assistant`, `conversation`) holds as recorded; elsewhere only what differed from the defaults does; keys that steer
loading do not, nor does anything of `providers`: servers are where they are today, whatever was in effect when a
conversation was begun or changed. Aliases are the exception, as they name models: one of the base fills in for one that
is gone, one that a change sets holds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jp.config.containers import Items, Merge, bare
from jp.config.kinds import MISSING, UNSET, Kind
from jp.config.layers import Layer
from jp.config.schema import LOADING, root
from jp.config.tables import Table

PINNED = ("assistant", "conversation")


def conversation_layers(
    base_config: Mapping[str, Any] | None, deltas: Sequence[Mapping[str, Any]] = (), conversation_id: str = ""
) -> list[Layer]:
    """The layers of a conversation. Never raises: what this version does not know or understand is passed over.

    `conversation_id` is whose they are: what that conversation was allowed when it recorded them is trusted. Without a
    base the first delta is the base, as conversations had it before `base_config.json`.
    """
    changes = list(deltas)
    if base_config is None and changes:
        base_config = changes.pop(0)
    layers = []
    if base_config:
        layers.append(_layer("the conversation's configuration", base_config, base=True))
    for place, delta in enumerate(changes, 1):
        layers.append(_layer(f"change {place} of the conversation's configuration", delta, base=False))
    for layer in layers:
        layer.conversation = conversation_id
    return layers


def _layer(name: str, partial: Mapping[str, Any], *, base: bool) -> Layer:
    layer = Layer("conversation", name, partial, scope="workspace", lenient=True)
    form = layer.read()
    for key in LOADING:
        form.pop(key, None)
    without_servers(form)
    if base:
        schema = root()
        defaults = schema.final(MISSING)
        for key in list(form):
            kind = schema.fields[key]
            if key not in PINNED:
                form[key] = _without(form[key], defaults.get(key))
            form[key] = settled(kind, form[key])
        _soften_aliases(form)
    layer.partial = _pruned(layer.partial, form)
    return layer


def without_servers(tree: dict[str, Any]) -> None:
    """Take everything of `providers` out of a tree but the aliases."""
    aliases = _table(_table(tree, "providers"), "llm").get("aliases")
    tree.pop("providers", None)
    if aliases:
        tree["providers"] = {"llm": {"aliases": aliases}}


def _table(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = bare(tree.get(key))
    return found if isinstance(found, dict) else {}


def _pruned(partial: Mapping[str, Any], form: Mapping[str, Any]) -> dict[str, Any]:
    """What of `partial`, as it was written, is in `form`: what does not count is not told of either."""
    out = {}
    for key, item in partial.items():
        below = bare(form.get(key))
        if isinstance(item, dict) and isinstance(below, dict) and set(below) <= set(item):
            out[key] = _pruned(item, below)
        elif key in form:
            out[key] = item
    return out


def _without(value: Any, default: Any) -> Any:
    """`value` without the keys that only repeat the default."""
    if not isinstance(value, dict) or not isinstance(default, dict):
        return value
    out = {}
    for key, item in value.items():
        if key not in default or bare(item) != default[key]:
            rest = _without(item, default.get(key))
            if rest != {} or item == {}:
                out[key] = rest
    return out


def settled(kind: Kind, value: Any) -> Any:
    """`value` with its lists meant as a whole: a base holds what was resolved, not what is to be appended."""
    if isinstance(kind, Items):
        return value if isinstance(value, Merge) or value is UNSET else Merge(value, "replace")
    if isinstance(kind, Table) and isinstance(value, dict):
        out = {}
        for key, item in value.items():
            below = kind.child(key)
            out[key] = settled(below, item) if below is not None else item
        return out
    return value


def _soften_aliases(form: dict[str, Any]) -> None:
    llm = _table(_table(form, "providers"), "llm")
    if isinstance(bare(llm.get("aliases")), dict):
        llm["aliases"] = Merge(bare(llm["aliases"]), "keep")
