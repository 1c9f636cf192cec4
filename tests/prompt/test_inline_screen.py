"""What the inline editor shows: wrapping, wide and joined characters, narrow windows, changes of size."""

import os
import time

import pytest

from jp.prompt.outcomes import OpenEditor, Submitted
from jp.prompt.questions import Edit
from tests.prompt.test_inline import ANSWER, ESC, KITTY, LEFT, UP, Window

FAMILY, FLAG, SKIN, HEART, KEYCAP = "👨‍👩‍👧", "🇩🇪", "👍🏽", "❤️", "1️⃣"
ACUTE = "e\u0301"
JOINS = b"\x1b[?2027;2$y" + ANSWER
# text, columns on a terminal that joins clusters (when told so), columns on one that does not
WIDTHS = {
    "ASCII": ("x", 1, 1),
    "wide": ("漢", 2, 2),
    "emoji": ("🙂", 2, 2),
    "combining": (ACUTE, 1, 1),
    "two marks": ("e\u0301\u0323", 1, 1),
    "ZWJ family": (FAMILY, 2, 6),
    "flag": (FLAG, 2, 4),
    "skin tone": (SKIN, 2, 4),
    "emoji by selector": (HEART, 2, 1),
    "Hangul of parts": ("\u1112\u1161\u11ab", 2, 2),
}
ON = [
    (answer, text, width)
    for text, *widths in WIDTHS.values()
    for answer, width in zip((JOINS, ANSWER), widths, strict=True)
]
IDS = [f"{name}, {how}" for name in WIDTHS for how in ("joined", "apart")]


@pytest.mark.req("088-17")
@pytest.mark.parametrize("mode", ["emacs", "vi"])
@pytest.mark.parametrize(("answer", "text", "width"), ON, ids=IDS)
def test_editing_before_in_and_behind_a_character_of_several(answer: bytes, text: str, width: int, mode: str) -> None:
    with Window(answer) as window:
        window.ask(Edit("R:", mode=mode, escape=True)).until("R:")

        def shows(line: str, column: int) -> None:
            window.until(lambda: window.screen.lines[0] == "R: " + line and window.screen.cursor == (3 + column, 0))
            assert window.screen.mode(25)

        window.send(f"a{text}{text}b")
        shows(f"a{text}{text}b", 2 + 2 * width)
        window.send(LEFT + LEFT)
        shows(f"a{text}{text}b", 1 + width)
        window.send("-")
        shows(f"a{text}-{text}b", 2 + width)
        window.send(LEFT + LEFT + "+")
        shows(f"a+{text}-{text}b", 2)
        window.send("\x1b[3~")
        shows(f"a+-{text}b", 2)
        window.send("\x1b[C\x1b[C\x7f")
        shows("a+-b", 3)
        window.send(text)
        shows(f"a+-{text}b", 3 + width)
        window.send("\x18")
        assert window.done() == OpenEditor(f"a+-{text}b", 3 + len(text))


@pytest.mark.req("088-17")
@pytest.mark.parametrize(("answer", "text", "width"), ON, ids=IDS)
def test_vis_keys_take_it_as_one(answer: bytes, text: str, width: int) -> None:
    with Window(answer) as window:
        window.ask(Edit("R:", mode="vi", escape=True)).until("R:")
        window.send(f"a{text}b{text}{ESC}")
        window.until(lambda: window.screen.cursor == (3 + 2 + width, 0))
        window.send("hh")
        window.until(lambda: window.screen.cursor == (4, 0))
        window.send("x")
        window.until(lambda: window.screen.lines[0] == f"R: ab{text}")
        window.send("lx\x18")
        assert window.done() == OpenEditor("ab", 1)


@pytest.mark.req("088-17")
def test_up_and_down_never_stand_within_a_character() -> None:
    with Window() as window:
        window.ask(Edit("R:", escape=True)).until("R:")
        window.send(f"{FAMILY}x\x1b\rabc{UP}-\x18")
        outcome = window.done()
        assert outcome.text.replace("-", "") == f"{FAMILY}x\nabc"
        assert FAMILY in outcome.text


@pytest.mark.req("088-17")
def test_a_line_longer_than_the_window_wraps_where_the_terminal_would_and_has_no_break() -> None:
    text = "0123456789" * 5
    with Window(columns=20) as window:
        window.ask(Edit("R:", escape=True)).until("R:")
        window.send(text)
        window.until(lambda: window.screen.lines[:3] == ["R: " + text[:17], text[17:37], text[37:]])
        assert window.screen.cursor == (13, 2)
        window.send("\x01\x1b[C")
        window.until(lambda: window.screen.cursor == (4, 0))
        window.send("-")
        new = text[0] + "-" + text[1:]
        window.until(lambda: window.screen.lines[:3] == ["R: " + new[:17], new[17:37], new[37:]])
        window.send("\x05\r")
        assert window.done() == Submitted(new)


@pytest.mark.req("088-17")
def test_a_wide_character_does_not_stand_half_in_a_row() -> None:
    with Window(columns=20) as window:
        window.ask(Edit("R:")).until("R:")
        window.send("x" * 16 + "漢字")
        window.until(lambda: window.screen.lines[:2] == ["R: " + "x" * 16, "漢字"])
        assert window.screen.cursor == (4, 1)
        window.send("\x7f\x7f")
        window.until(lambda: window.screen.cursor == (19, 0))
        window.send("y")
        window.until(lambda: window.screen.cursor == (0, 1))
        window.send("\r")
        assert window.done() == Submitted("x" * 16 + "y")


def test_what_has_no_look_is_shown_in_letters_and_submitted_as_it_is() -> None:
    seed = "a\x1b[31mb\x00\x07\rc\x7f\x9bd"
    with Window() as window:
        window.ask(Edit("R:", seed=seed)).until("R: a^[[31mb^@^G^Mc^?<9b>d")
        assert window.screen.cursor == (3 + 22, 0)
        window.send("\r")
        assert window.done() == Submitted(seed)


def test_a_tab_goes_to_the_next_stop() -> None:
    with Window() as window:
        window.ask(Edit("R:", seed="\tx\ty\nab\tz")).until("ab      z")
        assert window.screen.lines[0] == "R:      x       y"
        window.send("\r")
        assert window.done() == Submitted("\tx\ty\nab\tz")


@pytest.mark.req("088-18")
def test_clearing_the_screen_draws_it_again_at_the_top() -> None:
    with Window() as window:
        window.write("something above\r\n")
        window.ask(Edit("R:")).until("R:")
        window.send("ab\x1b\rcd\x02")
        window.until(lambda: window.screen.cursor == (1, 2))
        window.send("\x0c")
        window.until(lambda: window.screen.lines[:2] == ["R: ab", "cd"] and window.screen.cursor == (1, 1))
        assert "something above" not in window.screen
        window.send("X\r")
        assert window.done() == Submitted("ab\ncXd")


# --- more than the window has


def test_of_many_lines_the_window_shows_those_around_the_cursor() -> None:
    with Window(rows=8) as window:
        window.ask(Edit("R:", escape=True)).until("R:")
        window.send("\x1b[200~" + "\n".join(f"line {n}" for n in range(100)) + "\x1b[201~")
        window.until(lambda: window.screen.lines[:7] == [f"line {n}" for n in range(93, 100)])
        window.send(UP * 6)
        window.until(lambda: window.screen.cursor == (7, 0))
        assert window.screen.lines[0] == "line 93"
        window.send(UP)
        window.until(lambda: window.screen.lines[0] == "line 92")
        window.send("\x1b[1;5H")
        window.until(lambda: window.screen.lines[:3] == ["R: line 0", "line 1", "line 2"])
        window.send("\x1b[6~" * 3 + "X")
        window.until("Xline 15")
        window.send("\x1b[1;5F" + "\x17" * 300 + "\x7f" * 100)
        window.send("\x15\x7f" * 99 + "\x15")
        window.until(lambda: window.screen.lines[0] == "R:")
        window.send("end\r")
        assert window.done() == Submitted("end")


NARROW = [(1, 1), (1, 4), (2, 2), (3, 12), (5, 1), (12, 3), (19, 4), (20, 4), (24, 2), (80, 1)]


@pytest.mark.req("088-18")
@pytest.mark.parametrize(("columns", "rows"), NARROW)
def test_it_works_in_a_window_of_any_size(columns: int, rows: int) -> None:
    with Window(columns=columns, rows=rows) as window:
        window.ask(Edit("Reply:", escape=True, body="something above", error="wrong", placeholder="ghost text"))
        window.send("ab漢c\x1b\rd")
        window.settled()
        window.send("\x7f\x12x\x1b[103;5u\x18")
        assert window.done() == OpenEditor("ab漢c\n", 5)


HELP = {
    100: "Enter sends · Shift+Enter or Alt+Enter new line · Ctrl+X editor · Ctrl+C back · Ctrl+R earlier",
    90: "Enter sends · Shift+Enter or Alt+Enter new line · Ctrl+X editor · Ctrl+C back",
    66: "Enter sends · Alt+Enter new line · Ctrl+X editor · Ctrl+C back",
    50: "Enter sends · Alt+Enter new line · Ctrl+X editor",
    40: "Enter · Alt+Enter · Ctrl+X",
    24: "Enter · Alt+Enter",
}


@pytest.mark.req("088-7")
@pytest.mark.parametrize("columns", HELP)
def test_the_help_names_the_keys_that_are_needed_most_as_long_as_they_fit(columns: int) -> None:
    with Window(KITTY, columns=columns) as window:
        window.ask(Edit("R:", escape=True, history=lambda: ())).until(
            lambda: len(window.screen.lines) > 1 and window.screen.lines[1] == HELP[columns]
        )
        window.send("\x1b[13u")
        assert window.done() == Submitted("")


@pytest.mark.req("088-20")
def test_the_message_is_the_prompt_in_the_one_key_prompts_style() -> None:
    with Window(colour=True) as window:
        window.ask(Edit("Any message\x1b[31m at all?\nreally")).until("Any message at all? really")
        window.send("a\r")
        assert window.done() == Submitted("a")
        assert b"\x1b[0;34;1m" in window.output
        assert b"\x1b[31m" not in window.output


def test_an_error_and_what_it_is_about_stand_above_and_ghost_text_in_its_place() -> None:
    with Window() as window:
        window.ask(Edit("R:", body="what it is about", error="not valid", placeholder="say why"))
        window.until(lambda: window.screen.lines[:3] == ["what it is about", "not valid", "R: say why"])
        assert window.screen.cursor == (3, 2)
        window.send("x")
        window.until(lambda: window.screen.lines[2] == "R: x")
        window.send("\x7f")
        window.until("say why")
        window.send("\r")
        assert window.done() == Submitted("")


# --- changes of size

ROOMY = [(60, 12), (20, 12), (80, 24)]
SIZES = [(60, 12), (20, 12), (12, 12), (40, 5), (1, 1), (1, 12), (30, 3), (80, 24)]


def shown(text: str) -> list[str]:
    """The lines on the screen, each column a character: what is wide is followed by nothing."""
    return ("R: " + text).split("\n")


@pytest.mark.req("088-18")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text", ["short", "0123456789 " * 9, "one\ntwo\nthree"])
def test_a_change_of_size_draws_it_again_with_text_and_cursor_kept(size: tuple[int, int], text: str) -> None:
    with Window() as window:
        window.write("above\r\n")
        window.ask(Edit("R:", seed=text, escape=True, cursor=2)).until("Ctrl+X")
        window.settled()
        window.resize(*size)
        window.settled()
        window.resize(40, 12)
        window.until("Ctrl+X")
        window.settled()
        rows = [line[n : n + 40].rstrip() for line in shown(text) for n in range(0, len(line), 40)]
        assert window.screen.lines[-1 - len(rows) : -1] == rows
        if size in ROOMY:  # else something of it has left the window at its top, which nothing takes back
            assert window.screen.contents.count("R: " + text[:3]) == 1
            assert window.screen.contents.count("Ctrl+X") == 1
        window.send("X\x18")
        assert window.ended() == OpenEditor(text[:2] + "X" + text[2:], 3)


@pytest.mark.req("088-18")
def test_thirty_changes_of_size_in_a_row_while_typing() -> None:
    with Window() as window:
        window.write("above\r\n")
        window.ask(Edit("R:")).until("Enter sends")
        typed = ""
        for number in range(30):
            window.resize(20 + number * 7 % 41, 6 + number % 7)
            typed += f"{number} "
            window.send(f"{number} ")
        window.resize(60, 12)
        window.until(lambda: "Enter sends" in window.screen and "29" in window.screen)
        window.settled()
        assert window.screen.contents.count("Enter sends") == 1
        window.send("\r")
        assert window.ended() == Submitted(typed)


# --- as fast as it should be


@pytest.mark.parametrize("text", ["word " * 20000, "漢字" * 50000, "👨‍👩‍👧" * 5000], ids=["ASCII", "wide", "families"])
def test_a_pasted_line_of_any_length_is_shown_soon_and_keys_stay_quick(text: str) -> None:
    with Window(ANSWER) as window:
        window.ask(Edit("R:", escape=True)).until("R:")
        window.settled()
        began = time.monotonic()
        data = f"\x1b[200~{text}\x1b[201~END".encode()
        while data:
            try:
                data = data[os.write(window.master, data) :]
            except BlockingIOError:
                window.pump(0.001)
        window.until("END")
        assert time.monotonic() - began < 5
        began = time.monotonic()
        for number in range(20):
            window.send(f"{number:02}")
            window.until(lambda: f"{number:02}" in window.screen.text.replace("\n", ""))  # noqa: B023
        assert time.monotonic() - began < 3
        window.send("\x18")
        assert window.done().text.startswith(text + "END00")
