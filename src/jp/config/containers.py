"""Texts and lists: the kinds that can join with what lower sources set.

How two sources join. A table joins key by key. A list or text may say how it joins, in the merge form
`{value, strategy, separator, dedup, discard_when_merged}`; without it, a text replaces and a list does what its key
says (most append). Defaults fill gaps and are not joined with, except that an explicit `append` or `prepend` starts
from the default where the key allows it. One source read twice gives nothing twice: joining leaves out what is there.

The state of a key while sources are folded is a plain value, or a `Merge` while it carries flags for the next source.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jp.config.kinds import MISSING, Form, Kind, Mismatch, quoted, whole

LIST_STRATEGIES = ("append", "prepend", "replace")
MAP_STRATEGIES = ("deep_merge", "merge", "keep", "replace")
SEPARATORS = {"none": "", "space": " ", "line": "\n", "paragraph": "\n\n"}
TEXT_DEDUP = ("off", "exact", "block", "contains")


class Merge:
    """A value with what it says about joining; `strategy` None is the key's own way."""

    __slots__ = ("dedup", "discard", "separator", "strategy", "value")

    def __init__(
        self,
        value: Any,
        strategy: str | None = None,
        separator: str | None = None,
        dedup: Any = None,
        discard: bool = False,
    ) -> None:
        self.value = value
        self.strategy = strategy
        self.separator = separator
        self.dedup = dedup
        self.discard = discard


def bare(state: Any) -> Any:
    """The value of a state."""
    return state.value if isinstance(state, Merge) else state


def _option(form: Mapping[str, object], name: str, words: Sequence[str | bool]) -> Any:
    found = form.get(name)
    if found is None:
        return None
    if not any(found == word and type(found) is type(word) for word in words):
        fault = Mismatch(found, quoted(words))
        fault.path.insert(0, name)
        raise fault
    return found


def merge_form(form: Mapping[str, object], value: Any, strategies: Sequence[str], dedup: Sequence[str | bool]) -> Merge:
    """The merge form around the read `value`; raises `Mismatch` for what it does not know."""
    known = ("value", "strategy", "separator", "dedup", "discard_when_merged")
    for name in form:
        if name not in known:
            fault = Mismatch(form[name], quoted(known), known)
            fault.path.insert(0, name)
            raise fault
    return Merge(
        value,
        _option(form, "strategy", strategies),
        _option(form, "separator", tuple(SEPARATORS)),
        _option(form, "dedup", dedup),
        bool(_option(form, "discard_when_merged", (True, False))),
    )


class Text(Kind):
    """A text that later sources may add to."""

    __slots__ = ("discard_default",)
    allowed = "a string, or { value, strategy, separator }"

    def __init__(self, default: Any = MISSING, doc: str = "", *, discard_default: bool = False) -> None:
        super().__init__(default, doc)
        self.discard_default = discard_default

    def read(self, value: object, lenient: bool = False) -> Any:  # noqa: ARG002
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and isinstance(value.get("value"), str):
            return merge_form(value, value["value"], LIST_STRATEGIES, TEXT_DEDUP)
        raise Mismatch(value, self.allowed)

    def parse_item(self, text: str) -> Any:
        return {"value": text, "strategy": "append"}

    def merge(self, old: Any, new: Any) -> Any:
        if not isinstance(new, Merge):
            return new
        strategy = new.strategy or "append"
        before = self._before(old)
        separator = SEPARATORS[new.separator or "paragraph"]
        if strategy == "replace" or not before:
            value = new.value
        elif not new.value or _present(before, new.value, new.dedup or "block"):
            value = before
        else:
            value = before + separator + new.value if strategy == "append" else new.value + separator + before
        return Merge(value, discard=True) if new.discard else value

    def _before(self, old: Any) -> str:
        if old is MISSING:
            return "" if self.discard_default or self.default is MISSING else str(self.default)
        if isinstance(old, Merge):
            return "" if old.discard else str(old.value)
        return str(old)

    def final(self, state: Any) -> Any:
        return super().final(bare(state))


class Word(Text):
    """A text that is one value: a name, a URL. A file may write it in the merge form too, a `+=` is refused."""

    __slots__ = ()
    allowed = "a string"

    def parse_item(self, text: str) -> Any:
        raise Mismatch(text, f"{self.allowed}; only lists and texts take more")


def _present(before: str, value: str, mode: str) -> bool:
    """Whether `value` is already in `before`: as it is, as whole lines, or anywhere."""
    if mode == "off":
        return False
    if before == value or (mode == "contains" and value in before):
        return True
    if mode != "block":
        return False
    at = before.find(value)
    while at >= 0:
        end = at + len(value)
        if (at == 0 or before[at - 1] in "\r\n") and (end == len(before) or before[end] in "\r\n"):
            return True
        at = before.find(value, at + 1)
    return False


class Joining(NamedTuple):
    """How a list joins with lower sources when it does not say so itself.

    `plain` is what a plain list does to them, `dedup` whether items already there are left out, `discard_default`
    whether even an explicit append drops the default.
    """

    plain: str = "append"
    dedup: bool = True
    discard_default: bool = False


APPEND = Joining()
REPLACE = Joining("replace", dedup=False)
REPEAT = Joining(dedup=False)
FRESH = Joining(discard_default=True)


class Items(Kind):
    """A list.

    `wrapped` says whether stored configurations hold it in the merge form, `commas` whether `a,b` on the command line
    is two items.
    """

    __slots__ = ("commas", "item", "joining", "wrapped")

    def __init__(
        self,
        item: Kind,
        default: Any = MISSING,
        doc: str = "",
        *,
        joining: Joining = APPEND,
        wrapped: bool = False,
        commas: bool = True,
    ) -> None:
        super().__init__(default, doc)
        self.item = item
        self.joining = joining
        self.wrapped = wrapped
        self.commas = commas

    @property
    def allowed(self) -> str:  # type: ignore[override]  # computed where others have a constant
        one = self.item.allowed
        for singular, plural in (("a string", "strings"), ("a table", "tables"), ("any value", "values")):
            one = one.replace(singular, plural)
        return f"a list of {one}"

    def read(self, value: object, lenient: bool = False) -> Any:
        if isinstance(value, list | tuple):
            return self._items(value, lenient)
        if isinstance(value, dict) and isinstance(value.get("value"), list):
            return merge_form(value, self._items(value["value"], lenient), LIST_STRATEGIES, (True, False))
        raise Mismatch(value, self.allowed)

    def _items(self, values: Sequence[object], lenient: bool) -> list[Any]:
        out = []
        for place, value in enumerate(values):
            try:
                out.append(self.item.final(self.item.merge(MISSING, self.item.read(value, lenient))))
            except Mismatch as fault:
                if not lenient:
                    fault.path.insert(0, str(place))
                    raise
        return out

    def parse(self, text: str) -> Any:
        words = text.split(",") if self.commas and text else [text] if text else []
        return [self.item.parse(word.strip() if self.commas else word) for word in words]

    def parse_item(self, text: str) -> Any:
        return {"value": self.parse(text), "strategy": "append"}

    def merge(self, old: Any, new: Any) -> Any:
        form = new if isinstance(new, Merge) else Merge(new)
        before, flag = self._before(old, form.strategy)
        dedup = form.dedup if form.dedup is not None else flag
        strategy = form.strategy or self.joining.plain
        if strategy == "replace":
            value = _new(form.value, []) if dedup else list(form.value)
        else:
            fresh = _new(form.value, before) if (self.joining.dedup if dedup is None else dedup) else form.value
            value = [*before, *fresh] if strategy == "append" else [*fresh, *before]
        return value if dedup is None and not form.discard else Merge(value, dedup=dedup, discard=form.discard)

    def _before(self, old: Any, strategy: str | None) -> tuple[list[Any], Any]:
        if old is MISSING:
            keeps = (
                strategy in ("append", "prepend") and not self.joining.discard_default and self.default is not MISSING
            )
            return (list(self.default) if keeps else []), None
        if isinstance(old, Merge):
            return ([] if old.discard else old.value), old.dedup
        return old, None

    def final(self, state: Any) -> Any:
        if state is MISSING:
            return None if self.default is MISSING else list(self.default)
        return bare(state)

    def write(self, value: Any, form: Form) -> Any:
        items = [self.item.write(item, form) for item in value]
        return (
            {"value": items, "strategy": "replace", "discard_when_merged": False}
            if self.wrapped and form.stored
            else items
        )

    def diff(self, old: Any, new: Any, form: Form) -> Any:
        if old == new:
            return MISSING
        if new is None:
            return None
        before = old or []
        added = new[len(before) :]
        if self.joining.plain == "append" and self.merge(before, added) == new:
            return [self.item.write(item, form) for item in added]
        items = [self.item.write(item, form) for item in new]
        return (
            items
            if self.joining.plain == "replace"
            else {"value": items, "strategy": "replace", "discard_when_merged": False}
        )

    def child(self, name: str) -> Kind | None:
        return self.item if whole(name) is not None else None


def _new(values: list[Any], before: list[Any]) -> list[Any]:
    """The values that are not in `before`, in order, each once; tables are compared as a whole."""
    out: list[Any] = []
    seen = {(type(value), value) for value in before if isinstance(value, str | int | float)}
    for value in values:
        if isinstance(value, str | int | float):
            mark = (type(value), value)
            if mark not in seen:
                seen.add(mark)
                out.append(value)
        elif value not in before and value not in out:
            out.append(value)
    return out
