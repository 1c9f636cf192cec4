"""Values of every kind of the schema, for properties that hold whatever is configured."""

from typing import Any

from hypothesis import strategies as st

from jp.config.containers import Items, Text
from jp.config.kinds import Choice, Flag, Json, Kind, Number, Whole
from jp.config.sections.conversation import Bound
from jp.config.sections.tools import Source
from jp.config.special import EFFORTS, Duration, Effort, Enable, ModelId, Reasoning, Truncation
from jp.config.tables import OneOf, Table

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
names = st.sampled_from(["a", "b_c", "d.e", "é"])
jsons: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-5, 5) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)

SAMPLES: dict[type[Kind], list[Any]] = {
    Duration: ["0", "3ms", "1s 500ms", {"secs": 1, "nanos": 5000}, 20],
    ModelId: ["openai/x", "a", {"provider": "google", "name": "b/c"}],
    Effort: [*EFFORTS, 100, "200"],
    Bound: [0, "3", "5h", "last"],
    Source: ["builtin", "local", "mcp.a.b"],
}


def values(kind: Kind, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that `kind` takes."""
    for sampled, samples in SAMPLES.items():
        if isinstance(kind, sampled):
            return st.sampled_from(samples)
    if isinstance(kind, Reasoning):
        return st.sampled_from(["off", "auto", "high", 5, {"effort": "low"}, {"exclude": True}])
    if isinstance(kind, Truncation):
        return st.sampled_from([*kind.words, 3, {"truncate": {kind.unit: 4}}])
    if isinstance(kind, Flag):
        return st.booleans()
    if isinstance(kind, Choice):
        return st.sampled_from([*kind.words, *kind.synonyms])
    if isinstance(kind, Whole):
        return st.integers(kind.minimum, 300 if kind.maximum is None else kind.maximum)
    if isinstance(kind, Number):
        return st.floats(allow_nan=False, allow_infinity=False)
    if isinstance(kind, Text):
        return texts | st.fixed_dictionaries({"value": texts}, optional={"strategy": st.just("append")})
    if isinstance(kind, Json):
        return jsons
    if isinstance(kind, Items):
        return st.lists(values(kind.item, depth + 1), max_size=2)
    if isinstance(kind, OneOf):
        plain = [each for each in kind.kinds if not isinstance(each, Table)]
        forms = st.one_of([values(each, depth) for each in plain])
        if kind.table is None:
            return forms
        return forms.filter(lambda value: not isinstance(value, dict)) | values(kind.table, depth)
    if isinstance(kind, Table):
        return table(kind, depth)
    return st.sampled_from(["#3c3836"])


def table(kind: Table, depth: int) -> st.SearchStrategy[Any]:
    """Tables with any of the keys of `kind`."""
    if depth > 5:
        return st.nothing() if kind.required else st.just({})
    known = {name: st.deferred(lambda child=child: values(child, depth + 1)) for name, child in kind.fields.items()}
    required = {name: each for name, each in known.items() if name in kind.required}
    optional = {name: each for name, each in known.items() if name not in kind.required}
    tables = st.fixed_dictionaries(required, optional=optional) if known else st.just({})
    if kind.rest is not None:
        rest = kind.rest
        free = st.dictionaries(names, st.deferred(lambda: values(rest, depth + 1)), max_size=2)
        tables = st.builds(lambda one, other: {**other, **one}, tables, free)
    if isinstance(kind, Enable):
        return tables | st.sampled_from([True, False, "on", "off", "explicit", "always"])
    return tables
