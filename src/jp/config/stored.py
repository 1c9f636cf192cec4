"""The configuration that a conversation carries: its base, what was changed on the way, and how both are read today.

A conversation keeps the whole configuration it began with. Laid over today's as it is, it would also bring back what
has nothing to do with the conversation: where a server was, a delay in a status line. So what a conversation is made of
(`assistant`, `conversation`) holds as recorded; elsewhere only what differed from the defaults does; keys that steer
loading do not; a recorded alias only fills in for one that is gone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jp.config.containers import Items, Merge
from jp.config.kinds import MISSING, Kind
from jp.config.layers import Layer
from jp.config.schema import LOADING, root
from jp.config.tables import Table

PINNED = ("assistant", "conversation")


def conversation_layers(base_config: Mapping[str, Any] | None, deltas: Sequence[Mapping[str, Any]] = ()) -> list[Layer]:
    """The layers of a conversation. Never raises: what this version does not know or understand is passed over.

    Without a base the first delta is the base, as conversations had it before `base_config.json`.
    """
    changes = list(deltas)
    if base_config is None and changes:
        base_config = changes.pop(0)
    layers = []
    if base_config:
        layers.append(_layer("the conversation's configuration", base_config, base=True))
    for place, delta in enumerate(changes, 1):
        layers.append(_layer(f"change {place} of the conversation's configuration", delta, base=False))
    return layers


def _layer(name: str, partial: Mapping[str, Any], *, base: bool) -> Layer:
    layer = Layer("conversation", name, partial, scope="workspace", lenient=True)
    form = layer.read()
    for key in LOADING:
        form.pop(key, None)
    if base:
        schema = root()
        defaults = schema.final(MISSING)
        for key in list(form):
            kind = schema.fields[key]
            if key not in PINNED:
                form[key] = _without(form[key], defaults.get(key))
            form[key] = settled(kind, form[key])
        _soften_aliases(form)
    return layer


def _without(value: Any, default: Any) -> Any:
    """`value` without the keys that only repeat the default."""
    if not isinstance(value, dict) or not isinstance(default, dict):
        return value
    out = {}
    for key, item in value.items():
        plain = item.value if isinstance(item, Merge) else item
        if key not in default or plain != default[key]:
            rest = _without(item, default.get(key))
            if rest != {} or item == {}:
                out[key] = rest
    return out


def settled(kind: Kind, value: Any) -> Any:
    """`value` with its lists meant as a whole: a base holds what was resolved, not what is to be appended."""
    if isinstance(kind, Items):
        return value if isinstance(value, Merge) else Merge(value, "replace")
    if isinstance(kind, Table) and isinstance(value, dict):
        out = {}
        for key, item in value.items():
            below = kind.child(key)
            out[key] = settled(below, item) if below is not None else item
        return out
    return value


def _soften_aliases(form: dict[str, Any]) -> None:
    providers = form.get("providers")
    llm = providers.get("llm") if isinstance(providers, dict) else None
    if isinstance(llm, dict) and isinstance(llm.get("aliases"), dict):
        llm["aliases"] = Merge(llm["aliases"], "keep")
