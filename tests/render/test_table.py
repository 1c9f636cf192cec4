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


LISTING = (Column("ID"), Column(""), Column("Activity", align="right"), Column("Title", shrink=1))
LISTED = [
    ("jp-c17835632000", "*", "12 days ago", "Something with a rather long title that has to be cut"),
    ("jp-c17835632111", "", "now", "漢字の題名 of a conversation"),
]


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize(
    ("width", "boxed", "columns"),
    [
        (None, True, "ID Activity Title"),
        (80, True, "ID Activity Title"),
        (46, True, "ID Activity Title"),
        (45, False, "ID Activity Title"),
        (40, False, "ID Activity Title"),
        (38, False, "ID Activity"),
        (31, False, "ID Activity"),
        (30, False, "ID"),
        (20, False, "ID"),
        (18, False, "ID"),
        (15, False, "ID"),
        (10, False, "ID"),
        (1, False, "ID"),
    ],
)
def test_ids_are_whole_in_every_window(width: int | None, boxed: bool, columns: str, box: bool) -> None:
    written = table(LISTING, LISTED, width=width, box=box)
    lines = plain(written).splitlines()
    assert ("│" in written) == (box and boxed)
    assert lines[1 if box and boxed else 0].replace("│", " ").split() == columns.split()
    assert all(row[0] in plain(written) for row in LISTED)
    assert (LISTED[0][3] in written) == (width is None)
    assert ("Som" in written) == ("Title" in columns)
    assert ("*" in written) == (width is None or width >= 18)
    assert max(map(display_width, lines)) <= max(width or 1000, len("jp-c17835632000"))


def test_the_most_willing_columns_give_first_and_others_never() -> None:
    assert shrunk([10, 30], [0, 1], 30) == [10, 20]
    assert shrunk([10, 30], [0, 1], 16) == [10, 6]
    assert shrunk([10, 30], [0, 1], 15) is None
    assert shrunk([20, 30, 40], [0, 1, 2], 60) == [20, 30, 10]
    assert shrunk([20, 30, 40], [0, 1, 2], 40) == [20, 14, 6]
    assert shrunk([20, 30], [0, 0], 40) is None
    assert shrunk([20, 3], [0, 1], 23) == [20, 3]
    assert shrunk([20, 3], [0, 1], 22) is None


@given(st.lists(st.tuples(st.integers(1, 80), st.integers(0, 2)), min_size=1, max_size=6), st.integers(1, 300))
def test_widths_fit_and_what_may_not_shrink_is_whole(columns: list[tuple[int, int]], available: int) -> None:
    found = shrunk([width for width, _ in columns], [wish for _, wish in columns], available)
    if found is None:
        assert sum(min(6, width) if wish else width for width, wish in columns) > available
        return
    assert sum(found) <= available
    for width, (natural, wish) in zip(found, columns, strict=True):
        assert width == natural if not wish else min(6, natural) <= width <= natural


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
