"""Taking out of what a workspace says what is not trusted (yet)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jp.config.containers import Merge, bare
from jp.config.guarded import ATTACHMENTS, guarded, is_guarded_attachment
from jp.config.kinds import MISSING, UNSET
from jp.config.loosening import (
    BUILTIN,
    LABELS,
    ON,
    SWITCHED_OFF,
    TOOLS,
    UNASKED,
    Said,
    Standing,
    loosens,
    policies,
    turned_on,
)
from jp.config.schema import join_key
from jp.config.tables import Table
from jp.config.trust import Withheld, digest
from jp.config.units import FREE_OF_SERVER, SERVERS, Path, at, kind_at, meaning, resolved


def nobody(mark: str) -> bool:  # noqa: ARG001 - part of the signature
    """Trusts nothing."""
    return False


class Known(NamedTuple):
    """What a layer's values are held against.

    `trusts` says of a digest whether it is trusted in the workspace. `state` is what lower sources resolved to (None:
    nothing), `whole` what they would if all of them were trusted (None: the same), `ahead` what the user's sources say
    that come after the layer, `own` what the user's sources say alone (None: not known), `root` the workspace.
    """

    trusts: Callable[[str], bool] = nobody
    state: Mapping[str, Any] | None = None
    whole: Mapping[str, Any] | None = None
    root: str | None = None
    own: Mapping[str, Any] | None = None
    ahead: Sequence[Mapping[str, Any]] = ()


class Split(NamedTuple):
    """What is in effect of a layer, what is held back, and what needed trust and has it."""

    in_effect: dict[str, Any]
    held: list[Withheld]
    let_through: list[Withheld]


def split(form: Mapping[str, Any], origin: str, known: Known) -> Split:
    """A layer's canonical tree without what must be trusted first.

    What is trusted is what comes of a value: laid over what is below it, under what the user's sources say after it. A
    value is let through when that is trusted, or when it is what holds without the value.
    """
    holding = _Holding(form, origin, known)
    holding.hold_guarded()
    holding.hold_policies()
    return Split(holding.in_effect, holding.held, holding.let_through)


class _Holding:
    def __init__(self, form: Mapping[str, Any], origin: str, known: Known) -> None:
        self._form = form
        self._origin = origin
        self._known = known
        self._state = known.state or {}
        self._whole = self._state if known.whole is None else known.whole
        self.in_effect = _copy(form)
        self.held: list[Withheld] = []
        self.let_through: list[Withheld] = []

    def hold_guarded(self) -> None:
        """Hold what runs something, reads or sends something."""
        for path, value in list(guarded(self._form, self._has_key)):
            if path == ATTACHMENTS:
                self._hold_attachments(value)
                continue
            below = self._below(self._state, path)
            ahead = self._known.ahead
            meant = meaning(path, below, value, ahead)
            if meant != meaning(path, below, MISSING, ahead) and not self._trusted(path, value, meant, ahead):
                self._remove(path)

    def hold_policies(self) -> None:
        """Hold what loosens something. What a tool is comes first: how it may run depends on that."""
        found = [*policies(self._form), *self._implied()]
        for path, value in sorted(found, key=lambda each: each[0][-1] != "source"):
            if not loosens(path, value, self._standing()):
                continue
            trusted = self._trusted(path, value, meaning(path, self._below(self._state, path), value))
            if path[-1] == "source" and path[2] in UNASKED:
                trusted &= self._may_run(path)
            if not trusted:
                self._remove(path)

    def _may_run(self, path: Path) -> bool:
        """Whether it is trusted that what a built-in tool becomes runs unasked, where that was said of it before."""
        run = (*path[:-1], "run")
        standing = self._standing()
        now, own = (Said(tree or {}, builtin=standing.builtin) for tree in (self._state, self._known.own))
        loose = now.run(path[2]) == "unattended" != own.run(path[2])
        return not loose or self._trusted(run, at(self._state, run), "unattended")

    def _standing(self) -> Standing:
        def builtin(name: str) -> bool:  # when all is trusted, so that what that would allow is asked about as well
            path = (*TOOLS, name, "source")
            return resolved(path, at(self._whole, path), at(self._form, path)) in (None, "builtin")

        return Standing(self._known.state, self._known.own, builtin)

    def _implied(self) -> list[tuple[Path, Any]]:
        """That a built-in tool is named turns it on."""
        tools = bare(at(self._form, TOOLS))
        named = tools.items() if isinstance(tools, dict) else ()
        return [((*TOOLS, name, "enable"), ON) for name, tool in named if turned_on(name, tool) and not self._has(name)]

    def _has(self, name: str) -> bool:
        return at(self._state, (*TOOLS, name)) is not MISSING

    def _trusted(self, path: Path, value: Any, meant: Any, ahead: Sequence[Mapping[str, Any]] = ()) -> bool:
        """Whether what comes of a value is trusted; keeps it as that, or as held."""
        key = join_key(path)
        back = value is UNSET and isinstance(kind_at(path), Table)
        meant = None if back else meant
        mark = digest(key, meant)
        if self._known.trusts(mark):
            self.let_through.append(Withheld(key, meant, self._origin, mark))
            return True
        if self._whole is not self._state and not back:
            meant = meaning(path, self._below(self._whole, path), value, ahead)
            mark = digest(key, meant)
        self.held.append(Withheld(key, meant, self._origin, mark))
        return False

    def _below(self, state: Mapping[str, Any], path: Path) -> Any:
        """What is there for a value at a path; nothing where the layer replaces the table that holds it."""
        above = at(self._form, LABELS)
        if path[:2] == LABELS and isinstance(above, Merge) and above.strategy in ("replace", "merge"):
            return MISSING
        return at(state, path)

    def _has_key(self, name: str) -> bool:
        """Whether a secret goes to a provider: where one is configured, or will be when all is trusted."""
        path = ("providers", "llm", name)
        for key in ("api_key_env", "headers"):
            if at(self._form, (*path, key)) not in (MISSING, UNSET):
                return True
            for tree in (self._state, self._whole, self._known.own or {}):
                if resolved((*path, key), at(tree, (*path, key))):
                    return True
        return False

    def _hold_attachments(self, value: Any) -> None:
        """Take what must be trusted out of the attachments, one by one."""
        there = bare(at(self._state, ATTACHMENTS))
        before = there if isinstance(there, list) else []
        key = join_key(ATTACHMENTS)
        kept = []
        for item in bare(value):
            mark = digest(key, item)
            each = Withheld(key, item, self._origin, mark)
            if not is_guarded_attachment(item, self._known.root) or item in before:
                kept.append(item)
            elif self._known.trusts(mark):
                kept.append(item)
                self.let_through.append(each)
            else:
                self.held.append(each)
        table = bare(self.in_effect[ATTACHMENTS[0]])
        if isinstance(value, Merge):
            table[ATTACHMENTS[1]] = Merge(kept, value.strategy, value.separator, value.dedup, value.discard)
        else:
            table[ATTACHMENTS[1]] = kept

    def _remove(self, path: Path) -> None:
        tree: Any = self.in_effect
        for step in path[:-1]:
            tree = bare(tree).get(step)
        tree = bare(tree)
        if path[:2] == TOOLS and path[3:] == ("enable",) and path[2] in BUILTIN and not self._has(path[2]):
            tree["enable"] = dict(SWITCHED_OFF)  # that it is named alone would turn it on
        elif path[:2] == SERVERS and at(self._state, path) is not MISSING:
            server = bare(tree[path[-1]])
            tree[path[-1]] = {key: server[key] for key in FREE_OF_SERVER if key in server}
        else:
            del tree[path[-1]]


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            out[key] = _copy(value)
        elif isinstance(value, Merge) and isinstance(value.value, dict):
            out[key] = Merge(_copy(value.value), value.strategy, value.separator, value.dedup, value.discard)
        else:
            out[key] = value
    return out
