"""Text cut into the rows of a window."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from jp.prompt.rows import body_rows, wrap
from jp.terminal.escapes import Strip
from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width

TEXT = st.text(st.sampled_from("ab 漢é\u0301👍\t\n\x1b[31m\x1b[0m\u200d\x07"), max_size=60)


@settings(deadline=None)
@given(TEXT, st.integers(1, 9), st.integers(0, 6), st.booleans())
def test_rows_fit_and_say_how_wide_they_are(body: str, columns: int, room: int, colour: bool) -> None:
    rows = body_rows(body, columns, room, colour=colour)
    assert len(rows) <= room
    for row in rows + wrap(one_line(body), columns):
        assert row.width <= columns
        assert "\n" not in row.text
        assert display_width(Strip().feed(row.text)) <= columns


def test_colours_go_on_in_the_next_row_and_end_with_each() -> None:
    rows = body_rows("\x1b[31mabcdef\x1b[0mg", 3, 9, colour=True)
    assert [row.text for row in rows] == ["\x1b[31mabc\x1b[0m", "\x1b[31mdef\x1b[0m", "g"]
    assert [row.text for row in body_rows("\x1b[31mabcdef\x1b[0mg", 3, 9, colour=False)] == ["abc", "def", "g"]


def test_a_wide_character_is_never_cut() -> None:
    assert [row.text for row in wrap("a漢字", 2)] == ["a", "漢", "字"]
    assert [row.text for row in body_rows("a漢字", 2, 9, colour=False)] == ["a", "漢", "字"]
    assert [row.text for row in wrap("漢", 1)] == ["?"]


def test_what_is_left_out_is_counted() -> None:
    assert [row.text for row in body_rows("1\n2\n3\n4", 20, 4, colour=False)] == ["1", "2", "3", "4"]
    assert [row.text for row in body_rows("1\n2\n3\n4", 20, 3, colour=False)] == ["1", "2", "… 2 more lines"]
    assert [row.text for row in body_rows("1\n2\n" + "3" * 30, 20, 3, colour=False)] == ["1", "2", "… 2 more lines"]


def test_a_large_body_costs_little() -> None:
    begin = time.process_time()
    body_rows("x" * 1_000_000 + "\n" + "漢\n" * 100_000, 80, 24, colour=True)
    assert time.process_time() - begin < 0.5


def test_the_end_of_what_does_not_fit_is_seen_and_everything_between_is_counted() -> None:
    body = "run_command\necho start" + " " * 9000 + "; touch EVIL"
    rows = [row.text for row in body_rows(body, 80, 20, colour=False, more="; p prints all")]
    assert len(rows) == 20
    assert rows[:2] == ["run_command", "echo start".ljust(80)]
    assert rows[-1].endswith("; touch EVIL")
    assert "… 95 more lines; p prints all" in rows
    rows = [row.text for row in body_rows("\n".join(f"line {n}" for n in range(200)), 80, 12, colour=False)]
    assert rows[8] == "… 189 more lines"
    assert rows[9:] == ["line 197", "line 198", "line 199"]
