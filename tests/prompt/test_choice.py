"""A choice on a terminal: one key, no accident."""

import os
import re

import pytest

from jp.prompt.backend import CONTINUE, END, PRESS, RESIZE, STOP
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, Submitted
from jp.prompt.questions import Choice, Option, confirm
from tests.prompt.driver import QUIET, OnTerminal

MENU = Choice(
    "Interrupted",
    (Option("c", "Continue"), Option("r", "Reply"), Option("s", "Stop")),
    default="c",
    guarded=False,
)
SURE = confirm("Run it?")
PASTE_ON, PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"


def gone(terminal: OnTerminal) -> bool:
    """Nothing is left on the screen, and the cursor is where it was."""
    return not terminal.screen.text.strip() and terminal.screen.cursor == (0, 0) and not terminal.screen.mode(2004)


def test_it_looks_like_git() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until(lambda: terminal.screen.text == "Interrupted [C,r,s,?]?")
        assert terminal.screen.cursor == (23, 0)
        terminal.send("r")
        assert terminal.ended() == Submitted("r")
        assert gone(terminal)
        assert terminal.output.count(PASTE_ON) == terminal.output.count(PASTE_OFF) == 1


def test_it_is_bold_blue_where_colours_are() -> None:
    with OnTerminal(colour=True) as terminal:
        terminal.ask(MENU).until("?]?")
        assert b"\x1b[1;34mInterrupted" in terminal.output
        terminal.send("s")
        terminal.ended()
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        assert b"\x1b[1;34m" not in terminal.output
        terminal.send("s")
        terminal.ended()


@pytest.mark.parametrize(
    ("keys", "outcome"),
    [
        (b"\r", Submitted("c")),
        (b"\n", Submitted("c")),
        (b"\x1b", Cancelled()),
        (b"xqC\x1bc\x1b[A\x01s", Submitted("s")),
        (b"?s", Submitted("s")),
    ],
)
def test_without_a_guard_keys_act_at_once(keys: bytes, outcome: object) -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        terminal.send(keys)
        assert terminal.ended() == outcome
        assert terminal.discarded == 0
        assert gone(terminal)


@pytest.mark.parametrize("keys", [b"s", b"c", b"r", b"\x1b", b"\r", b"make\r", b"ls; rm -r build\r", b"?"])
def test_what_was_typed_before_it_is_there_answers_nothing(keys: bytes) -> None:
    with OnTerminal() as terminal:
        terminal.typed_ahead(keys)
        terminal.ask(MENU)
        assert terminal.still_asks()
        assert "Continue" not in terminal.screen
        terminal.send("s")
        assert terminal.ended() == Submitted("s")


def test_a_key_that_does_no_harm_may_be_quicker_than_the_question() -> None:
    with OnTerminal() as terminal:
        terminal.typed_ahead("r")
        assert terminal.ask(MENU._replace(early="r")).ended() == Submitted("r")
    with OnTerminal() as terminal:
        terminal.typed_ahead("rm build")
        terminal.ask(MENU._replace(early="r"))
        assert terminal.still_asks()
        terminal.send("r")
        assert terminal.ended() == Submitted("r")


def test_a_paste_is_no_answer_without_a_guard_either() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        terminal.send("\x1b[200~crs\r\x1b[201~")
        assert terminal.still_asks()
        terminal.send("s")
        assert terminal.ended() == Submitted("s")


def test_what_is_typed_after_the_answer_is_left_for_the_next_prompt() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        terminal.send("rhello")
        assert terminal.ended() == Submitted("r")
        assert terminal.queued() == b"hello"


def test_case_matters() -> None:
    question = Choice("Go", (Option("y", "once"), Option("Y", "always"), Option("n", "no")), default="y", guarded=False)
    with OnTerminal() as terminal:
        terminal.ask(question).until("Go [y,Y,n,?]?")
        terminal.send("Y")
        assert terminal.ended() == Submitted("Y")


def test_enter_without_a_default_does_nothing() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU._replace(default="")).until("[c,r,s,?]?")
        terminal.send("\r")
        assert terminal.still_asks()
        terminal.send("c")
        assert terminal.ended() == Submitted("c")


def test_the_options_are_explained_on_demand() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        terminal.send("?")
        terminal.until("c - Continue\nr - Reply\ns - Stop\nInterrupted [C,r,s,?]?")
        terminal.send("c")
        assert terminal.ended() == Submitted("c")
        assert gone(terminal)


def test_texts_of_others_are_sanitized_and_cut() -> None:
    body = "\n".join(f"line {n}\x1b[2J\x07" for n in range(50))
    with OnTerminal(rows=6) as terminal:
        terminal.ask(MENU._replace(body=body, message="a\x1b[2Jb\nc")).until("ab c [C,r,s,?]?")
        assert terminal.screen.lines == ["line 0", "line 1", "line 2", "… 46 more lines", "line 49", "ab c [C,r,s,?]?"]
        terminal.send("c")
        terminal.ended()
        assert gone(terminal)


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 2), (5, 3), (12, 4)])
def test_any_window_will_do(columns: int, rows: int) -> None:
    question = SURE._replace(body="漢字 long text\n" * 9, message="Run 漢字 it?")
    with OnTerminal(columns=columns, rows=rows) as terminal:
        terminal.ask(question).until(lambda: terminal.discarded)
        terminal.key("?")
        terminal.key("y")
        assert terminal.ended() == Submitted("y")
        assert gone(terminal), terminal.screen


def test_of_a_question_that_does_not_fit_the_keys_are_seen() -> None:
    with OnTerminal(columns=20, rows=3) as terminal:
        terminal.ask(MENU._replace(message="x" * 200)).until("[C,r,s,?]")
        assert terminal.screen.lines[0] == "…"
        terminal.send("c")
        assert terminal.ended() == Submitted("c")
        assert gone(terminal)


def test_a_long_question_is_wrapped_and_erased_as_a_whole() -> None:
    with OnTerminal(columns=20) as terminal:
        terminal.ask(MENU._replace(message="x" * 70)).until("[C,r,s,?]")
        assert len(terminal.screen.text.split("\n")) == 5
        terminal.send("c")
        terminal.ended()
        assert gone(terminal)


# --- no accidents


@pytest.mark.req("104-70")
def test_what_was_typed_before_a_guarded_question_answers_nothing() -> None:
    with OnTerminal() as terminal:
        terminal.typed_ahead("y")
        terminal.ask(SURE).ready("[y,n,?]?")
        assert terminal.still_asks()
        terminal.key("n")
        assert terminal.ended() == Submitted("n")
        assert gone(terminal)


@pytest.mark.parametrize("keys", [b"y", b"\r", b"\x1b"])
def test_a_key_just_after_the_drawing_counts_for_nothing(keys: bytes) -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE._replace(default="y")).ready("?]?")
        terminal.send(keys)
        assert terminal.still_asks()
        terminal.key(keys)
        assert terminal.ended() == (Cancelled() if keys == b"\x1b" else Submitted("y"))


def test_a_key_needs_silence_since_the_last_one() -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE).ready("?]?")
        terminal.key("x")
        terminal.pump_for(QUIET / 3)
        terminal.send("y")
        assert terminal.still_asks()
        terminal.key("y")
        assert terminal.ended() == Submitted("y")


@pytest.mark.parametrize("keys", [b"yy", b"y\r", b"\x1b[200~y\x1b[201~", b"\x1b[200~y", b"\x1by", b"yes, I will\n"])
def test_keys_in_company_and_pastes_count_for_nothing(keys: bytes) -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE._replace(default="y")).ready("?]?")
        assert terminal.screen.mode(2004)
        assert terminal.undo == PASTE_OFF.decode()
        terminal.key(keys)
        assert terminal.still_asks()
        terminal.pump_for(1.0)  # an unfinished paste ends
        terminal.key("n")
        assert terminal.ended() == Submitted("n")
        assert gone(terminal)


# --- what else happens


@pytest.mark.parametrize("question", [MENU, SURE])
def test_a_press_interrupts(question: Choice) -> None:
    with OnTerminal() as terminal:
        terminal.ask(question).until("?]?")
        terminal.notify(PRESS)
        assert terminal.ended() == Interrupted()
        assert gone(terminal)


@pytest.mark.parametrize("key", [b"\x03", b"\x1b[99;5u", b"\x1b[200~a\x03b\x1b[201~"])
def test_a_press_that_comes_as_a_key_is_the_routers(key: bytes) -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE).ready("?]?")
        terminal.send(key)
        assert terminal.ended() == Interrupted()
        assert terminal.presses == 1


def test_what_was_typed_before_a_press_comes_first() -> None:
    with OnTerminal() as terminal:
        terminal.ask(MENU).until("?]?")
        terminal.send("xr")
        terminal.notify(PRESS)
        assert terminal.ended() == Submitted("r")
        assert terminal.notices() == {PRESS}  # left for whoever comes next


@pytest.mark.req("104-73")
def test_an_end_and_a_lost_terminal_answer_nothing() -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE._replace(default="y")).ready("?]?")
        terminal.notify(END)
        assert isinstance(terminal.ended(), Broken)
        assert gone(terminal)
    with OnTerminal() as terminal:
        terminal.ask(SURE._replace(default="y")).ready("?]?")
        terminal.lose()
        outcome = terminal.ended()
        assert isinstance(outcome, Broken)
        assert outcome.reason


def test_where_it_may_not_read_it_waits_for_a_notice_and_does_not_spin() -> None:
    with OnTerminal() as terminal:
        unreadable = os.open(os.devnull, os.O_WRONLY)
        terminal.fd = unreadable
        terminal.ask(MENU).until(lambda: terminal.failed_reads)
        terminal.send("x")
        terminal.pump_for(0.1)
        assert terminal.failed_reads == 1
        terminal.fd = terminal.slave
        terminal.notify(CONTINUE)
        terminal.pump_for(0.1)
        terminal.send("s")
        assert terminal.ended() == Submitted("s")
        os.close(unreadable)


def test_it_is_drawn_again_in_a_window_of_another_size() -> None:
    with OnTerminal(columns=60) as terminal:
        terminal.write("before\r\n")
        terminal.ask(SURE._replace(message="x" * 50)).ready("?]?")
        for columns in (20, 70, 7, 60):
            terminal.resize(columns, 12)
            terminal.until(lambda: re.sub(r"\s", "", terminal.screen.text) == "before" + "x" * 50 + "[y,n,?]?")
        terminal.key("y")
        assert terminal.ended() == Submitted("y")
        assert terminal.screen.text.strip() == "before"
        assert terminal.screen.cursor == (0, 1)


def test_a_stop_is_not_lost_among_other_notices() -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE).ready("?]?")
        terminal.notify(CONTINUE, RESIZE, STOP)
        terminal.until(terminal.parked.is_set)
        terminal.go_on.set()
        terminal.ready("?]?", discards=2)
        terminal.key("y")
        assert terminal.ended() == Submitted("y")


def test_around_a_stop_the_terminal_is_the_shells() -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE).ready("?]?")
        terminal.stop()
        assert gone(terminal)
        assert terminal.undo == ""
        terminal.write("$ fg\r\n")
        terminal.send("y")
        terminal.go_on.set()
        terminal.ready("Run it? [y,n,?]?", discards=2)
        assert terminal.screen.lines[:2] == ["$ fg", "Run it? [y,n,?]?"]
        assert terminal.screen.mode(2004)
        assert terminal.still_asks()
        terminal.key("y")
        assert terminal.ended() == Submitted("y")


def test_after_a_stop_behind_its_back_it_is_drawn_below() -> None:
    with OnTerminal() as terminal:
        terminal.ask(SURE).ready("?]?")
        terminal.write("\r\nshell\r\n\x1b[?2004l")
        terminal.notify(CONTINUE)
        terminal.ready("shell\nRun it? [y,n,?]?", discards=2)
        assert terminal.screen.mode(2004)
        terminal.key("n")
        assert terminal.ended() == Submitted("n")
        assert terminal.screen.lines[1] == "shell"
        assert terminal.screen.cursor == (0, 2)
