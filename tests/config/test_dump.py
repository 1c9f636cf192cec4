"""TOML text of a tree reads back as the tree."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jp.config.dump import to_toml
from jp.config.load import Paths, load

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"""', 'a\n"', '\n""""', "\\", "'"]
)
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
trees: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    texts,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
    ),
    max_size=4,
)


@given(trees)
def test_any_tree(tree: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(tree)) == tree


def test_the_whole_default_configuration(paths: Paths) -> None:
    config = load(paths, {})
    assert tomllib.loads(to_toml(config.shown())) == config.shown()


def test_what_is_shown_can_be_a_configuration_file(paths: Paths, tmp_path: Any) -> None:
    config = load(paths, {})
    (tmp_path / "user/config.toml").write_text(to_toml(config.shown()), encoding="utf-8")
    again = load(paths, {})
    assert again.shown() == config.shown()
    assert again.root == config.root


def test_none_is_left_out() -> None:
    assert to_toml({"a": None, "b": {"c": None}, "d": [None, 1]}) == "d = [1]\n\n[b]\n"
