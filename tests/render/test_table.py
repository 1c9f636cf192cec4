"""Listings and details: aligned, fitted, and boxed where the channel takes escapes."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.render.table import Column, details, shrunk, table
from jp.terminal.width import display_width
from tests.render.showing import Screen, plain

COLUMNS = (Column("ID"), Column("Age", align="right"), Column("Title", shrink=1))
ROWS = [("jp-c1", "3 h", "A short one"), ("jp-c22", "12 days", "Something with a rather long title to be cut")]


@pytest.mark.req("104-95")
def test_without_escapes_a_table_is_plain_columns() -> None:
    assert table(COLUMNS, ROWS) == dedent("""\
        ID          Age  Title
        jp-c1       3 h  A short one
        jp-c22  12 days  Something with a rather long title to be cut
    """)


@pytest.mark.req("104-95")
def test_with_escapes_a_table_is_a_box() -> None:
    screen = Screen(table(COLUMNS, ROWS[:1], box=True))
    assert screen.text == dedent("""\
        ┌───────┬─────┬─────────────┐
        │ ID    │ Age │ Title       │
        ├───────┼─────┼─────────────┤
        │ jp-c1 │ 3 h │ A short one │
        └───────┴─────┴─────────────┘""")
    assert screen.style("ID")["bold"]
    assert not screen.style("jp-c1")["bold"]


@pytest.mark.req("104-96")
@pytest.mark.parametrize("box", [False, True])
def test_a_table_is_fitted_to_a_width_that_is_known_and_only_then(box: bool) -> None:
    text = plain(table(COLUMNS, ROWS, width=40, box=box))
    assert all(display_width(line) <= 40 for line in text.splitlines())
    assert "jp-c22" in text
    assert "12 days" in text
    assert "…" in text
    assert "title to be cut" in table(COLUMNS, ROWS, box=box)


def test_columns_that_may_shrink_give_first_and_the_others_when_nothing_is_left() -> None:
    assert shrunk([10, 30], [0, 1], 30) == [10, 20]
    assert shrunk([10, 30], [0, 1], 18) == [10, 8]
    assert shrunk([20, 30], [0, 1], 20) == [12, 8]
    assert shrunk([20, 30], [0, 0], 40) == [20, 20]
    assert shrunk([20, 30], [0, 1], 1) == [1, 1]


@given(st.lists(st.tuples(st.integers(1, 80), st.integers(0, 2)), min_size=1, max_size=6), st.integers(6, 200))
def test_widths_fit_whenever_there_is_a_column_for_each(columns: list[tuple[int, int]], available: int) -> None:
    found = shrunk([width for width, _ in columns], [wish for _, wish in columns], available)
    assert sum(found) <= available
    assert all(1 <= width <= natural for width, (natural, _) in zip(found, columns, strict=True))


def test_wide_characters_keep_the_columns_straight() -> None:
    text = plain(table((Column("名"), Column("x")), [("你好", "a"), ("e\u0301", "b"), ("👩‍👩‍👧", "c")], box=True))
    assert len({display_width(line) for line in text.splitlines()}) == 1


def test_a_cell_is_one_line_without_control_sequences() -> None:
    text = table((Column("a"), Column("b")), [("x\ny\x1b[2J", "z\tw")])
    assert text.splitlines()[1] == "x y  z w"


def test_links_are_only_in_a_box() -> None:
    assert "\x1b]8;;http://x\x1b\\" in table((Column("a"),), [("b",)], box=True, links=[["http://x"]])
    assert "\x1b" not in table((Column("a"),), [("b",)], links=[["http://x"]])


def test_a_column_in_which_nothing_stands_is_left_out() -> None:
    columns = (Column("a"), Column(""), Column("b"))
    assert table(columns, [("1", "", "2")]) == "a  b\n1  2\n"
    assert table(columns, [("1", "", "2"), ("3", "x", "4")]) == "a     b\n1     2\n3  x  4\n"


def test_no_rows_give_nothing() -> None:
    assert table(COLUMNS, [], box=True) == ""
    assert details([]) == ""


def test_details_are_names_and_values() -> None:
    rows = [("id", "jp-c1"), ("created at", "yesterday"), ("title", "one two three four five six")]
    assert details(rows) == dedent("""\
        id          jp-c1
        created at  yesterday
        title       one two three four five six
    """)
    assert details(rows, width=34) == dedent("""\
        id          jp-c1
        created at  yesterday
        title       one two three four
                    five six
    """)
    assert Screen(details(rows, bold=True)).style("id")["bold"]
    assert "\x1b" not in details([("a\x1b[1m", "b\x1b[2J\n")])
