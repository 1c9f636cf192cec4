"""Tables, and keys that take one of several kinds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jp.config.containers import MAP_STRATEGIES, Items, Merge, Text, bare, merge_form
from jp.config.kinds import MISSING, UNSET, Form, Kind, Mismatch


class Table(Kind):
    """A table of known keys, of free names (`rest`), or of both.

    `optional` tables are None until a source sets a key in them; others are there always, filled from defaults. The
    `required` keys must be there when all sources are in: `final` raises `Mismatch` where one is not.
    `from_text` is the key that a plain text stands for, where the table is one of a list.
    """

    __slots__ = ("allowed", "fields", "from_text", "like", "optional", "required", "rest")
    leaf = False
    strategies = False

    def __init__(
        self,
        fields: Mapping[str, Kind],
        doc: str = "",
        *,
        rest: Kind | None = None,
        optional: bool = False,
        required: Sequence[str] = (),
        from_text: str | None = None,
    ) -> None:
        super().__init__(MISSING, doc)
        self.fields = dict(fields)
        self.rest = rest
        self.optional = optional
        self.required = tuple(required)
        self.from_text = from_text
        self.like = ""  # the key of a table with the same keys, for the reference
        self.allowed = "a table" if not self.fields else f"a table with {', '.join(self.fields)}"

    def child(self, name: str) -> Kind | None:
        return self.fields.get(name, self.rest)

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, str) and self.from_text:
            value = {self.from_text: value}
        if not isinstance(value, dict):
            raise Mismatch(value, self.allowed)
        if self.strategies and "value" in value and "strategy" in value and isinstance(value["value"], dict):
            return merge_form(value, self._keys(value["value"], lenient), MAP_STRATEGIES, ())
        return self._keys(value, lenient)

    def _keys(self, value: Mapping[str, object], lenient: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        fields, rest = self.fields, self.rest
        for key, item in value.items():
            kind = fields.get(key, rest)
            if kind is None:
                if lenient:
                    continue
                fault = Mismatch(item, "", tuple(fields))
                fault.path.insert(0, str(key))
                raise fault
            if item is None:
                out[key] = UNSET
                continue
            try:
                out[key] = kind.read(item, lenient)
            except Mismatch as fault:
                if lenient:
                    continue
                fault.path.insert(0, str(key))
                raise
        return out

    def parse(self, text: str) -> Any:
        if self.from_text:
            return {self.from_text: text}
        raise Mismatch(text, f"{self.allowed}; set its keys, or write it as JSON with :=")

    def merge(self, old: Any, new: Any) -> Any:
        if isinstance(new, Merge):
            return self._merge_form(old, new)
        if isinstance(old, Merge):
            old = {} if old.discard else old.value
        state: dict[str, Any] = {} if old is MISSING else old
        for key, item in new.items():
            if item is UNSET:
                state.pop(key, None)
                continue
            kind = self.child(key)
            if kind is not None:
                state[key] = kind.merge(state.get(key, MISSING), item)
        return state

    def _merge_form(self, old: Any, new: Merge) -> Any:
        before = {} if isinstance(old, Merge) and old.discard else bare(old)
        state: dict[str, Any] = {} if before is MISSING or new.strategy == "replace" else before
        if new.strategy == "keep":
            value = {key: item for key, item in new.value.items() if key not in state}
        else:
            value = new.value
        if new.strategy == "merge":
            for key in value:
                state.pop(key, None)
        joined = self.merge(state, value)
        return Merge(joined, discard=True) if new.discard else joined

    def final(self, state: Any) -> Any:
        if state is MISSING:
            if self.optional:
                return None
            state = {}
        state = bare(state)
        out: dict[str, Any] = {}
        for name in self.required:
            if name not in state:
                raise Mismatch({key: bare(item) for key, item in state.items()}, f"a table that has {name}")
        free = [key for key in state if key not in self.fields] if self.rest is not None else ()
        for key in (*self.fields, *free):
            kind = self.fields.get(key, self.rest)
            try:
                value = kind.final(state.get(key, MISSING)) if kind else None
            except Mismatch as fault:
                fault.path.insert(0, key)
                raise
            if value is not None:
                out[key] = value
        return out

    def write(self, value: Any, form: Form) -> Any:
        out = {}
        for key, item in value.items():
            kind = self.child(key)
            if kind is not None and not (form.stored and kind.own and item == kind.final(MISSING)):
                out[key] = kind.write(item, form)
        wrapped = self.strategies and form.stored
        return {"value": out, "strategy": "replace", "discard_when_merged": False} if wrapped else out

    def diff(self, old: Any, new: Any, form: Form) -> Any:
        if old == new:
            return MISSING
        if new is None:
            return None
        before: Mapping[str, Any] = old or {}
        out = {}
        for key in [*new, *(key for key in before if key not in new)]:
            kind = self.child(key)
            change = MISSING if kind is None else kind.diff(before.get(key), new.get(key), form)
            if change is not MISSING:
                out[key] = change
        return out if out or old is None else MISSING  # they differ in spelling alone


class StrategyTable(Table):
    """A table that also takes the merge form `{value, strategy}`."""

    __slots__ = ()
    strategies = True


class OneOf(Kind):
    """One of several kinds, tried in order; a table among them joins key by key with a table below it."""

    __slots__ = ("allowed", "kinds", "table")

    def __init__(self, kinds: Sequence[Kind], default: Any = MISSING, doc: str = "") -> None:
        super().__init__(default, doc)
        self.kinds: tuple[Kind, ...] = ()
        for kind in kinds:  # flat, so that a table among alternatives of an alternative is found
            self.kinds += kind.kinds if isinstance(kind, OneOf) else (kind,)
        self.table = next((kind for kind in self.kinds if isinstance(kind, Table)), None)
        self.allowed = " or ".join(kind.allowed for kind in self.kinds)

    def child(self, name: str) -> Kind | None:
        return self.table.child(name) if self.table else None

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, dict) and self.table is not None:
            return self.table.read(value, lenient)  # its own fault says more than "none of these"
        for kind in self.kinds:
            try:
                return kind.read(value, lenient)
            except Mismatch:
                continue
        raise Mismatch(value, self.allowed)

    def parse(self, text: str) -> Any:
        for kind in self.kinds:
            try:
                value = kind.parse(text)
                kind.read(value)
            except Mismatch:
                continue
            return value
        raise Mismatch(text, self.allowed)

    def merge(self, old: Any, new: Any) -> Any:
        if isinstance(new, dict) and self.table is not None:
            return self.table.merge(old if isinstance(old, dict) else MISSING, new)
        if isinstance(new, Merge):
            kind = next(each for each in self.kinds if isinstance(each, Items if isinstance(new.value, list) else Text))
            return kind.merge(old if type(bare(old)) is type(new.value) else MISSING, new)
        return new

    def final(self, state: Any) -> Any:
        state = bare(state)
        if isinstance(state, dict) and self.table is not None:
            return self.table.final(state)
        return super().final(state)

    def write(self, value: Any, form: Form) -> Any:
        if isinstance(value, dict) and self.table is not None:
            return self.table.write(value, form)
        for kind in self.kinds:
            try:
                kind.read(value)
            except Mismatch:
                continue
            return kind.write(value, form)
        return value

    def diff(self, old: Any, new: Any, form: Form) -> Any:
        if isinstance(old, dict) and isinstance(new, dict) and self.table is not None:
            return self.table.diff(old, new, form)
        return super().diff(old, new, form)


Path = tuple[str, ...]


def walk(kind: Kind, path: Path = (), above: tuple[Kind, ...] = ()) -> Iterator[tuple[Path, Kind]]:
    """Every key below `kind` with its path; free names stand as `<name>`, no table is entered again inside itself."""
    table = kind.table if isinstance(kind, OneOf) else kind
    if not isinstance(table, Table) or table in above:
        return
    named = list(table.fields.items())
    if table.rest is not None:
        named.append(("<name>", table.rest))
    for name, child in named:
        yield (*path, name), child
        yield from walk(child, (*path, name), (*above, table))
