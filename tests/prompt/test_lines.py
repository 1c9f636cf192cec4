"""Questions in whole lines, where a terminal has no escapes."""

import termios

import pytest

from jp.prompt.backend import END, PRESS
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Item, Option, Question, Secret, Select, confirm
from tests.prompt.driver import OnTerminal

MENU = Choice("Interrupted", (Option("c", "Continue"), Option("s", "Stop")), default="c", guarded=False)
FRUIT = Select("Which?", (Item("a", "Apple", "red"), Item("b", "Banana", "yellow"), Item("c", "Cherry", "red")))


def answered(question: Question, *lines: str) -> tuple[Outcome, str]:
    """The outcome of lines that a person types, and what was on the screen at the end."""
    with OnTerminal(escapes=False, rows=24) as terminal:
        terminal.ask(question)
        terminal.until(lambda: terminal.screen.text)
        for line in lines:
            terminal.key(line)
            if line != lines[-1]:
                assert terminal.still_asks()
        outcome = terminal.ended()
        assert b"\x1b" not in terminal.output
        assert terminal.undos == []
        return outcome, terminal.screen.text


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["s\n"], Submitted("s")),
        (["\n"], Submitted("c")),
        (["x\n", " s \n"], Submitted("s")),
        (["\x04"], Cancelled()),
        (["\x1b\n"], Cancelled()),
        (["s\x04", "\n"], Submitted("s")),
    ],
)
def test_a_choice(lines: list[str], outcome: Outcome) -> None:
    assert answered(MENU, *lines)[0] == outcome


def test_a_choice_explains_itself_and_shows_its_body_without_escapes() -> None:
    outcome, screen = answered(confirm("Go\x1b[1m?", body="\x1b[31mred\x1b[0m\ntwo"), "?\n", "n\n")
    assert outcome == Submitted("n")
    assert screen.rstrip() == "red\ntwo\nGo? [y,n,?]? ?\ny - yes\nn - no\nGo? [y,n,?]? n"


@pytest.mark.req("104-70")
def test_what_was_typed_before_a_guarded_question_answers_nothing() -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.typed_ahead("y\n")
        terminal.ask(confirm("Go?")).ready("?]?")
        terminal.send("y\n")  # sooner than a person types
        assert terminal.still_asks()
        terminal.key("n\n")
        assert terminal.ended() == Submitted("n")


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        (["2\n"], Submitted("b")),
        (["red\n", "3\n"], Submitted("c")),
        (["red\n", "2\n", "\x04"], Cancelled("2")),
        (["ban\n", "\n"], Submitted("b")),
        (["\n", "\x04"], Cancelled("")),
        (["zz\n", "\n", "\x1b\n"], Cancelled("zz")),
    ],
)
def test_a_selection(lines: list[str], outcome: Outcome) -> None:
    assert answered(FRUIT, *lines)[0] == outcome


def test_a_long_list_is_cut_and_the_marked_item_is_the_default() -> None:
    question = Select("Which?", tuple(Item(str(n), f"item {n}") for n in range(50)), marked="1")
    outcome, screen = answered(question, "\n")
    assert outcome == Submitted("1")
    assert "* 2 item 1\n" in screen
    assert "… 29 more\n" in screen


def test_a_secret_is_not_shown() -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.ask(Secret("Key:")).ready("Key:")
        assert not termios.tcgetattr(terminal.slave)[3] & termios.ECHO
        terminal.key("hunter2\n")
        assert terminal.ended() == Submitted("hunter2")
        assert termios.tcgetattr(terminal.slave)[3] & termios.ECHO
        assert b"hunter" not in terminal.output


@pytest.mark.parametrize(
    ("question", "lines", "outcome"),
    [
        (Edit("Reply"), ["hello\n"], Submitted("hello")),
        (Edit("Reply"), ["one\\\n", "two\\\n", "\n"], Submitted("one\ntwo\n")),
        (Edit("Reply", multiline=False), ["one\\\n"], Submitted("one\\")),
        (Edit("Reply"), ["\n"], Submitted("")),
        (Edit("Reply", seed="kept"), ["\n"], Submitted("kept")),
        (Edit("Reply", seed="kept"), ["new\n"], Submitted("new")),
        (Edit("Reply", seed="kept"), ["\x04"], Cancelled("kept")),
        (Edit("Reply"), ["one\\\n", "\x04"], Cancelled("one")),
        (Edit("Reply", escape=True), ["one\\\n", "\x18\n"], OpenEditor("one")),
        (Edit("Reply"), ["a\x18b\u6f22\n"], Submitted("ab漢")),
    ],
)
def test_an_edit(question: Edit, lines: list[str], outcome: Outcome) -> None:
    assert answered(question, *lines)[0] == outcome


def test_an_edit_shows_what_there_is_and_tells_of_changes() -> None:
    seen: list[str] = []
    question = Edit("Reply", seed="a\nb", error="Not a number.", body="Question", changed=seen.append)
    _, screen = answered(question, "x\\\n", "y\n")
    assert screen.startswith("Question\nNot a number.\nReply\na\nb\n(An empty line keeps this.)\n> x\\\n> y")
    assert seen == ["x", "x\ny"]


@pytest.mark.req("104-72")
def test_what_was_typed_before_an_edit_is_in_it() -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.typed_ahead("typed ahead\n")
        assert terminal.ask(Edit("Reply")).ended() == Submitted("typed ahead")


@pytest.mark.req("104-73")
@pytest.mark.parametrize("question", [MENU, FRUIT, Secret("Key:"), Edit("Reply", seed="kept")])
@pytest.mark.parametrize(("notice", "kind"), [(PRESS, Interrupted), (END, Broken)])
def test_a_notice_ends_it_without_an_answer(question: Question, notice: str, kind: type) -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.ask(question)
        terminal.until(lambda: terminal.screen.text)
        terminal.notify(notice)
        outcome = terminal.ended()
        assert isinstance(outcome, kind)
        assert outcome.text == ("kept" if isinstance(question, Edit) else "")
        assert termios.tcgetattr(terminal.slave)[3] & termios.ECHO


def test_after_a_stop_it_asks_again() -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.ask(Secret("Key:")).ready("Key:")
        terminal.stop()
        assert termios.tcgetattr(terminal.slave)[3] & termios.ECHO
        terminal.write("\nshell\n")
        terminal.go_on.set()
        terminal.ready("shell\nKey:", discards=2)
        terminal.key("s\n")
        assert terminal.ended() == Submitted("s")


@pytest.mark.req("104-73")
def test_a_lost_terminal_answers_nothing() -> None:
    with OnTerminal(escapes=False) as terminal:
        terminal.ask(Edit("Reply", seed="kept")).until(">")
        terminal.lose()
        outcome = terminal.ended()
        assert isinstance(outcome, Broken)
        assert outcome.text == "kept"
