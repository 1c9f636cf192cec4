"""Tables in markdown: boxes that fit the width."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jp.render.columns import aligned, fit
from jp.terminal.width import display_width
from tests.render.showing import Screen, plain, rendered, seen


def test_columns_are_aligned_as_the_table_says() -> None:
    source = "| left | mid | right |\n|:--|:-:|--:|\n| a | b | c |\n| aaaaaa | bbbbb | cccccc |"
    assert seen(source) == dedent("""
        ┌────────┬───────┬────────┐
        │ left   │  mid  │  right │
        ├────────┼───────┼────────┤
        │ a      │   b   │      c │
        │ aaaaaa │ bbbbb │ cccccc │
        └────────┴───────┴────────┘
    """).strip("\n")


def test_a_table_that_is_too_wide_is_shrunk_from_its_widest_columns_and_its_cells_wrapped() -> None:
    source = "| id | what |\n|---|---|\n| 1 | one two three four |\n| 2 | x |"
    assert seen(source, width=20) == dedent("""
        ┌────┬─────────────┐
        │ id │ what        │
        ├────┼─────────────┤
        │ 1  │ one two     │
        ┆    │ three four  ┆
        │ 2  │ x           │
        └────┴─────────────┘
    """).strip("\n")
    assert "┆" not in seen(source, width=20, table_continuation_edge=False)


def test_a_column_is_at_most_as_wide_as_configured_and_0_is_no_limit() -> None:
    source = f"| a |\n|---|\n| {'word ' * 12}|"
    assert max(map(len, seen(source, table_max_column_width=20).split("\n"))) == 24
    assert max(map(len, seen(source, table_max_column_width=0).split("\n"))) == 63


def test_a_table_may_use_the_terminal_s_width_where_text_is_wrapped_earlier() -> None:
    source = f"| a | b |\n|---|---|\n| {'x' * 30} | {'y' * 30} |"
    assert max(map(len, seen(source, width=40, table_width=100).split("\n"))) == 67


def test_wide_characters_and_emoji_keep_the_columns_straight() -> None:
    text = plain(rendered("| 名前 | x |\n|---|---|\n| 你好世界 | 👩‍👩‍👧 |\n| e\u0301a | b |"))
    assert len({display_width(line) for line in text.splitlines()}) == 1
    screen = seen("| 名前 | x |\n|---|---|\n| 你好世界 | b |")
    assert "│ 你好世界 │ b │" in screen


def test_a_word_longer_than_its_column_is_broken() -> None:
    assert seen("| a |\n|---|\n| aaaaaaaaaabbbbb |", width=14) == dedent("""
        ┌────────────┐
        │ a          │
        ├────────────┤
        │ aaaaaaaaaa │
        ┆ bbbbb      ┆
        └────────────┘
    """).strip("\n")


def test_cells_hold_inline_markdown_bars_and_line_breaks() -> None:
    text = rendered("| a |\n|---|\n| **b** `c\\|d` |\n| e<br>f |")
    assert seen("| a |\n|---|\n| **b** `c\\|d` |\n| e<br>f |").split("\n")[3:6] == [
        "│ b c|d │",
        "│ e     │",
        "┆ f     ┆",
    ]
    assert Screen(text).style("b c")["bold"]


def test_rows_may_be_short_and_lose_nothing_when_they_are_long() -> None:
    screen = seen("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |")
    assert "│ 1 │       │" in screen
    assert "│ 1 │ 2 | 3 │" in screen


def test_a_table_may_follow_text_and_be_followed_by_it() -> None:
    assert plain(rendered("text\n| a |\n|---|\n| b |\nmore")).split("\n") == [
        *("text", "", "┌───┐", "│ a │", "├───┤", "│ b │", "└───┘", "", "more", ""),
    ]


def test_a_table_in_a_list_and_in_a_quote_is_inside_them() -> None:
    assert seen("- x\n\n  | a |\n  |---|\n  | b |").split("\n")[2:] == [
        "  ┌───┐",
        "  │ a │",
        "  ├───┤",
        "  │ b │",
        "  └───┘",
    ]
    assert seen("> | a |\n> |---|").split("\n") == ["│ ┌───┐", "│ │ a │", "│ ├───┤", "│ └───┘"]


def test_a_table_with_no_room_for_its_columns_is_shown_as_source() -> None:
    row = "| " + " | ".join("abcdefgh") + " |"
    source = f"{row}\n|{'---|' * 8}\n{row}"
    assert plain(rendered(source, width=20)) == f"{row}\n{row}\n"


@pytest.mark.parametrize(
    "text", ["| a |\n|---|---|\n", "| a | b\n", "|---|\n", "| a |\n\n|---|\n", "a | b\n--- | ---\n"]
)
def test_what_is_no_table_is_text(text: str) -> None:
    assert "┌" not in rendered(text)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 10)), min_size=1, max_size=8), st.integers(1, 200))
def test_columns_fit_whenever_they_can(columns: list[tuple[int, int]], available: int) -> None:
    natural, least = [width for width, _ in columns], [floor for _, floor in columns]
    found = fit(natural, least, available)
    floors = [min(pair) for pair in columns]
    if found is None:
        assert sum(floors) > available
        return
    assert sum(found) <= max(available, 0) or found == natural
    assert sum(found) == min(sum(natural), available)
    assert all(floor <= width <= wish for floor, width, wish in zip(floors, found, natural, strict=True))
    # A narrow column gives nothing while a wider one can.
    given_up = [width for width, wish in zip(found, natural, strict=True) if width < wish]
    kept = [width for width, wish, floor in zip(found, natural, floors, strict=True) if width > floor]
    if given_up and kept:
        assert max(kept) <= max(given_up) + 1


CELL = st.lists(st.sampled_from([*"ab 你é*`|\\[]", "👩\u200d👩\u200d👧", "e\u0301", "<br>"]), max_size=20).map("".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=6), st.integers(15, 60))
def test_every_line_of_a_box_is_equally_wide_and_within_the_width(rows: list[list[str]], width: int) -> None:
    body = "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)
    text = plain(rendered(f"| head | other |\n|---|--:|\n{body}", width=width, hyperlinks=False))
    widths = {display_width(line) for line in text.splitlines()}
    assert len(widths) == 1
    assert widths.pop() <= width


def test_alignment_counts_columns_not_characters() -> None:
    assert aligned("你", 2, ">", 4) == "  你"
    assert aligned("ab", 2, "^", 5) == " ab  "
