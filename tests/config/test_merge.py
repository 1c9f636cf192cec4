"""How sources join: every merge form, and laws that hold for all of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.config.containers import FRESH, REPEAT, REPLACE, Items, Text, Word
from jp.config.kinds import MISSING, Form, Json, Kind, Whole
from jp.config.stored import settled
from jp.config.tables import StrategyTable, Table

STORED = Form(True, {})


def fold(kind: Kind, *values: Any) -> Any:
    """What sources that say `values`, one after the other, come to."""
    state: Any = MISSING
    for value in values:
        state = kind.merge(state, kind.read(value))
    return kind.final(state)


def form(value: Any, strategy: str | None = None, **more: Any) -> dict[str, Any]:
    return {"value": value, **({"strategy": strategy} if strategy else {}), **more}


TEXTS = [
    (["a"], "a"),
    (["a", "b"], "b"),
    (["a", form("b")], "a\n\nb"),
    (["a", form("b", "append")], "a\n\nb"),
    (["a", form("b", "append", separator="none")], "ab"),
    (["a", form("b", "append", separator="space")], "a b"),
    (["a", form("b", "append", separator="line")], "a\nb"),
    (["a", form("b", "prepend", separator="paragraph")], "b\n\na"),
    (["a", form("b", "replace")], "b"),
    (["a", form("", "append")], "a"),
    (["", form("b", "append")], "b"),
    ([form("b", "append")], "b"),
    (["a", form("b", "append"), form("b", "append")], "a\n\nb"),
    (["a\nb\nc", form("b", "append")], "a\nb\nc"),
    (["abc", form("b", "append", separator="none")], "abcb"),
    (["abc", form("b", "append", separator="none", dedup="contains")], "abc"),
    (["a", form("a", "append", separator="space", dedup="off")], "a a"),
    (["a\nb", form("b", "append", separator="line", dedup="exact")], "a\nb\nb"),
    ([form("a", discard_when_merged=True), form("b", "append")], "b"),
    ([form("a", discard_when_merged=True)], "a"),
    (["x", form("a", "append", discard_when_merged=True), "b"], "b"),
]


@pytest.mark.parametrize(("values", "expected"), TEXTS)
def test_texts(values: list[Any], expected: str) -> None:
    assert fold(Text(), *values) == expected


LISTS = [
    (Items(Word()), [["a"], ["b"]], ["a", "b"]),
    (Items(Word()), [["a", "b"], ["b", "c"]], ["a", "b", "c"]),
    (Items(Word(), joining=REPEAT), [["a"], ["a"]], ["a", "a"]),
    (Items(Word(), joining=REPLACE), [["a"], ["b"]], ["b"]),
    (Items(Word()), [["a"], form(["b"], "append")], ["a", "b"]),
    (Items(Word()), [["a"], form(["b"], "prepend")], ["b", "a"]),
    (Items(Word()), [["a"], form(["b"], "replace")], ["b"]),
    (Items(Word()), [["a"], form(["b"])], ["a", "b"]),
    (Items(Word()), [["a"], form(["a"], "append", dedup=False)], ["a", "a"]),
    (Items(Word(), joining=REPEAT), [form(["a"], dedup=True), ["a", "b"]], ["a", "b"]),
    (Items(Word(), joining=REPEAT), [form(["a"], dedup=True), ["b"], ["b", "c"]], ["a", "b", "c"]),
    (Items(Word()), [form(["a"], discard_when_merged=True), ["b"]], ["b"]),
    (Items(Word()), [["a"], form(["b"], discard_when_merged=True)], ["a", "b"]),
    (Items(Word()), [["a"], form(["b"], discard_when_merged=True), ["c"]], ["c"]),
    (Items(Word()), [["a", "a"]], ["a"]),
    (Items(Word(), ["d"]), [["a"]], ["a"]),
    (Items(Word(), ["d"]), [form(["a"], "append")], ["d", "a"]),
    (Items(Word(), ["d"]), [form(["a"], "prepend")], ["a", "d"]),
    (Items(Word(), ["d"], joining=FRESH), [form(["a"], "append")], ["a"]),
    (Items(Word(), ["d"]), [], ["d"]),
    (Items(Table({"a": Whole(7), "b": Whole()})), [[{"b": 1}], [{"a": 7, "b": 1}]], [{"a": 7, "b": 1}]),
]


@pytest.mark.parametrize(("kind", "values", "expected"), LISTS)
def test_lists(kind: Items, values: list[Any], expected: list[Any]) -> None:
    assert fold(kind, *values) == expected


TABLE = Table({"x": Whole(), "t": Table({"u": Whole(9), "v": Whole()})}, rest=Table({"n": Whole()}))
NAMED = StrategyTable({}, rest=Json())

TABLES = [
    (TABLE, [{"x": 1}, {"x": 2}], {"x": 2, "t": {"u": 9}}),
    (TABLE, [{"t": {"v": 1}}, {"t": {"u": 2}}], {"t": {"u": 2, "v": 1}}),
    (TABLE, [{"x": 1}, {"x": None}], {"t": {"u": 9}}),
    (TABLE, [{"any": {"n": 1}}, {"other": {"n": 2}}], {"t": {"u": 9}, "any": {"n": 1}, "other": {"n": 2}}),
    (NAMED, [{"a": {"b": 1}}, {"a": {"c": 2}}], {"a": {"b": 1, "c": 2}}),
    (NAMED, [{"a": {"b": 1}}, form({"a": {"c": 2}}, "deep_merge")], {"a": {"b": 1, "c": 2}}),
    (NAMED, [{"a": {"b": 1}, "z": 1}, form({"a": {"c": 2}}, "merge")], {"z": 1, "a": {"c": 2}}),
    (NAMED, [{"a": 1}, form({"a": 2, "b": 3}, "keep")], {"a": 1, "b": 3}),
    (NAMED, [{"a": 1}, form({"b": 3}, "replace")], {"b": 3}),
    (NAMED, [form({"a": 1}, "replace", discard_when_merged=True), {"b": 3}], {"b": 3}),
    (NAMED, [{"value": "x"}], {"value": "x"}),
]


@pytest.mark.parametrize(("kind", "values", "expected"), TABLES)
def test_tables(kind: Table, values: list[Any], expected: dict[str, Any]) -> None:
    assert fold(kind, *values) == expected


# --- laws ---------------------------------------------------------------------------------------------------------

SCHEMA = Table(
    {
        "word": Word("w"),
        "text": Text("t", discard_default=True),
        "list": Items(Word(), ["d"]),
        "rows": Items(Table({"k": Word(), "n": Whole(0)}), [], wrapped=True),
        "deep": Table({"word": Word(), "list": Items(Word(), [])}),
    },
    rest=Table({"n": Whole(), "list": Items(Word(), [])}),
)

words = st.text(alphabet="ab \n", max_size=4)
names = st.sampled_from(["p", "q"])


def joined(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values, plain and in the merge form."""
    strategies = st.sampled_from(["append", "prepend", "replace"])
    return values | st.fixed_dictionaries({"value": values}, optional={"strategy": strategies})


lists = joined(st.lists(words, max_size=3))
rows = joined(st.lists(st.fixed_dictionaries({"k": words}, optional={"n": st.integers(0, 2)}), max_size=3))
leaves: dict[Any, st.SearchStrategy[Any]] = {
    "word": words,
    "text": joined(words),
    "list": lists,
    "rows": rows,
    "deep": st.fixed_dictionaries({}, optional={"word": words, "list": lists}),
}
named = st.fixed_dictionaries({}, optional={"n": st.integers(0, 3), "list": lists})
layers = st.builds(
    lambda known, free: {**known, **free}, st.fixed_dictionaries({}, optional=leaves), st.dictionaries(names, named)
)


@given(st.lists(layers, max_size=3))
def test_a_source_that_says_nothing_changes_nothing(sources: list[Any]) -> None:
    spread = [each for source in sources for each in ({}, source, {})]
    assert fold(SCHEMA, *spread) == fold(SCHEMA, {}, *sources)


@given(st.lists(layers, max_size=2), layers)
def test_one_source_read_twice_says_nothing_twice(sources: list[Any], source: Any) -> None:
    assert fold(SCHEMA, *sources, source, source) == fold(SCHEMA, *sources, source)


@given(layers, layers)
def test_sources_that_say_different_things_may_change_places(one: Any, other: Any) -> None:
    other = {key: value for key, value in other.items() if key not in one}
    assert fold(SCHEMA, {}, one, other) == fold(SCHEMA, {}, other, one)


@given(st.lists(st.lists(words, max_size=3), min_size=3, max_size=3))
def test_appending_lists_is_associative(values: list[list[str]]) -> None:
    kind = Items(Word())
    one, two, three = values
    assert fold(kind, fold(kind, one, two), three) == fold(kind, one, fold(kind, two, three))


@given(st.lists(layers, max_size=2), st.lists(layers, max_size=2))
def test_a_difference_laid_over_the_old_gives_the_new(below: list[Any], above: list[Any]) -> None:
    old, new = fold(SCHEMA, {}, *below), fold(SCHEMA, {}, *below, *above)
    change = SCHEMA.diff(old, new, STORED)
    if old == new:
        assert change is MISSING
    else:
        assert SCHEMA.final(SCHEMA.merge(SCHEMA.merge(MISSING, pinned(old)), SCHEMA.read(change))) == new


def pinned(values: dict[str, Any]) -> Any:
    """Resolved values as one source that says all of them, as a conversation's base does."""
    return settled(SCHEMA, SCHEMA.read(SCHEMA.write(values, STORED)))


@given(st.lists(layers, max_size=3))
def test_what_is_stored_resolves_to_the_same(sources: list[Any]) -> None:
    values = fold(SCHEMA, {}, *sources)
    assert SCHEMA.final(SCHEMA.merge(MISSING, pinned(values))) == values
