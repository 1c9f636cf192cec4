"""A selection on a terminal: a list in a window, and a filter."""

import time

import pytest

from jp.prompt.backend import END, PRESS
from jp.prompt.keys import Key
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, Outcome, ShowWhole, Submitted
from jp.prompt.questions import Item, Select
from jp.prompt.reading import Keys
from jp.prompt.select import Selector
from jp.terminal.width import display_width
from tests.prompt.driver import QUIET, OnTerminal

FRUIT = Select(
    "Which?",
    (
        Item("1", "Apple", "red"),
        Item("2", "Banana", "yellow"),
        Item("3", "Cherry", "dark red"),
        Item("4", "Date\x1b[2J", "br\nown"),
    ),
)
UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END_KEY = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"


def many(count: int) -> Select:
    return Select("Which?", tuple(Item(str(n), f"item {n}", f"number {n}") for n in range(count)))


def answered(question: Select, *pieces: str, rows: int = 12) -> Outcome:
    with OnTerminal(rows=rows) as terminal:
        terminal.ask(question).ready(">")
        terminal.pump_for(QUIET)
        for piece in pieces:
            terminal.send(piece)
            if piece != pieces[-1]:
                assert terminal.still_asks()
        outcome: Outcome = terminal.ended()
        assert not terminal.screen.text.strip()
        assert terminal.screen.cursor == (0, 0)
        assert not terminal.screen.mode(2004)
        return outcome


def test_it_shows_message_filter_and_list() -> None:
    with OnTerminal() as terminal:
        terminal.ask(FRUIT._replace(marked="2", body="Some fruit.")).ready("Date")
        assert terminal.screen.lines == [
            "Some fruit.",
            "Which?",
            ">",
            "  Apple  red",
            "› Banana  yellow",
            "  Cherry  dark red",
            "  Date  br own",
        ]
        assert terminal.screen.cursor == (2, 2)
        terminal.key("RED")
        terminal.until(lambda: "Banana" not in terminal.screen.text)
        assert terminal.screen.lines[2:] == ["> RED", "› Apple  red", "  Cherry  dark red"]
        terminal.send("zz")
        terminal.until("no match")
        terminal.send("\r")
        assert terminal.still_asks()
        terminal.send("\x1b")
        assert terminal.ended() == Cancelled("REDzz")


@pytest.mark.parametrize(
    ("pieces", "outcome"),
    [
        ([DOWN, DOWN, UP, "\r"], Submitted("2")),
        (["\x0e\x0e\x10", "\r"], Submitted("2")),
        ([END_KEY, DOWN, "\r"], Submitted("4")),
        ([END_KEY, HOME, UP, "\n"], Submitted("1")),
        (["dark ch", "\r"], Submitted("3")),
        (["zz", "\x7f\x08", "\r"], Submitted("1")),
        (["two words", "\x17\x17ban", "\r"], Submitted("2")),
        (["zz", "\x15", "\r"], Submitted("1")),
        ([DOWN, DOWN, "r", "\r"], Submitted("3")),
        (["\x1b[200~ban\nana\r\x1b[201~", "\x15cher", "\r"], Submitted("3")),
        (["\x04"], Cancelled("")),
        (["x\x04", "\x1b"], Cancelled("x")),
        (["\x1b"], Cancelled("")),
    ],
)
def test_keys(pieces: list[str], outcome: Outcome) -> None:
    assert answered(FRUIT, *pieces) == outcome


@pytest.mark.parametrize(
    ("pieces", "value"),
    [([PAGE_DOWN, "\r"], "4"), ([PAGE_DOWN, PAGE_DOWN, PAGE_UP, "\r"], "4"), ([END_KEY, PAGE_UP, "\r"], "95")],
)
def test_pages(pieces: list[str], value: str) -> None:
    assert answered(many(100), *pieces, rows=6) == Submitted(value)


def test_the_list_follows_the_mark() -> None:
    with OnTerminal(rows=5) as terminal:
        terminal.ask(many(100)).ready("item 2")
        assert terminal.screen.lines[2:] == ["› item 0  number 0", "  item 1  number 1", "  item 2  number 2"]
        terminal.key(DOWN * 3)
        terminal.until(lambda: terminal.screen.lines[-1] == "› item 3  number 3")
        terminal.send(UP)
        terminal.until("› item 2")
        assert terminal.screen.lines[-1] == "  item 3  number 3"
        terminal.send("\x1b")
        terminal.ended()


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 2), (3, 3), (4, 2), (9, 4)])
def test_any_window_will_do(columns: int, rows: int) -> None:
    items = tuple(Item(str(n), f"漢字漢字 {n}", "é̂ detail") for n in range(9))
    with OnTerminal(columns=columns, rows=rows) as terminal:
        terminal.ask(Select("漢字 which one?", items, body="long body\n" * 5)).until(lambda: terminal.discarded)
        terminal.key("漢")
        assert terminal.still_asks()
        terminal.send(DOWN)
        assert terminal.still_asks()
        terminal.send("\r")
        assert terminal.ended() == Submitted("1")
        assert not terminal.screen.text.strip()
        assert terminal.screen.cursor == (0, 0)


def test_no_row_is_wider_than_the_window() -> None:
    items = tuple(Item(str(n), "漢字" * n, "字漢" * 3) for n in range(20))
    for columns in range(1, 30):
        for lines in (1, 2, 3, 9):
            picture = Selector(Select("漢字漢字", items, filter="漢 字", body="字" * 40), colour=True).picture(
                columns, lines
            )
            assert len(picture.rows) <= lines
            assert picture.row < len(picture.rows)
            assert all(row.width <= columns for row in picture.rows), (columns, picture)
            assert display_width("".join(picture.rows[picture.row].text)) == picture.column


# --- no accidents


@pytest.mark.req("104-70")
def test_nothing_counts_before_the_first_silence() -> None:
    with OnTerminal() as terminal:
        terminal.typed_ahead("\r")
        terminal.ask(FRUIT).ready("Date")
        terminal.send(DOWN)
        assert terminal.still_asks()
        terminal.send("\r")
        assert terminal.still_asks()
        assert "› Apple" in terminal.screen
        terminal.key(DOWN)
        terminal.until("› Banana")
        terminal.send("\r")
        assert terminal.ended() == Submitted("2")


def test_enter_in_company_takes_nothing() -> None:
    assert answered(FRUIT, "ban\r", "\x1b") == Cancelled("ban")


@pytest.mark.req("104-73")
@pytest.mark.parametrize(("notice", "outcome"), [(PRESS, Interrupted), (END, Broken)])
def test_the_filter_is_returned_when_it_is_broken_off(notice: str, outcome: type) -> None:
    with OnTerminal() as terminal:
        terminal.ask(FRUIT).ready("Date")
        terminal.key("ap")
        terminal.notify(notice)
        ended = terminal.ended()
        assert isinstance(ended, outcome)
        assert ended.text == "ap"


def test_a_resize_and_a_stop_keep_filter_and_mark() -> None:
    with OnTerminal() as terminal:
        terminal.ask(FRUIT).ready("Date")
        terminal.key("r" + DOWN)
        terminal.until("› Cherry")
        terminal.resize(12, 4)
        terminal.until(lambda: terminal.screen.lines[-1].startswith("› Cherry"))
        terminal.stop()
        assert terminal.screen.text.strip() == ""
        terminal.go_on.set()
        terminal.ready("› Cherry", discards=2)
        terminal.key("\r")
        assert terminal.ended() == Submitted("3")


def test_five_thousand_items_are_quick() -> None:
    question = many(5000)
    begin = time.process_time()
    selector = Selector(question, colour=True)
    for name in "item 49":
        selector.keys(Keys([Key(name)], 1.0))
        selector.picture(80, 24)
    assert time.process_time() - begin < 0.3
    assert selector.keys(Keys([Key("enter")], 1.0)) == Submitted("49")


@pytest.mark.req("D60-58", "D60-59")
def test_what_does_not_fit_can_be_had_whole() -> None:
    long = FRUIT._replace(items=(Item("1", "x" * 500), Item("2", "short")), more="; Ctrl-O prints all")
    with OnTerminal() as terminal:
        terminal.ask(long).ready("short")
        assert "Which?; Ctrl-O prints all" in terminal.screen
        terminal.key("sho")
        assert "Ctrl-O" in terminal.screen
        terminal.key("\x0f")
        assert terminal.ended() == ShowWhole("sho")
    assert answered(FRUIT, "\x0f", "\r") == Submitted("1")  # no such key where all is seen
