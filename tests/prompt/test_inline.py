"""The inline editor on a pty: every key in both modes of editing, what is submitted, and where the cursor stands.

A row of the tables types its bytes and then Ctrl-X, whose outcome carries the text and the cursor: `|` in the expected
text. ESC is written as the keyboard protocol sends it where a real one would need its time.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jp.prompt.backend import END, PRESS
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, OpenEditor, ShowWhole, Submitted
from jp.prompt.questions import Edit
from tests.prompt.driver import OnTerminal

ANSWER = b"\x1b[?62;22c"  # to the question what terminal it is
KITTY = b"\x1b[?1u" + ANSWER
ESC = "\x1b[27u"
LEFT, RIGHT, UP, DOWN = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"


class Window(OnTerminal):
    """A terminal that answers what it is asked, as soon as it is asked."""

    def __init__(self, answer: bytes = ANSWER, **options: Any) -> None:
        super().__init__(**options)
        self.answer = answer
        self.suspended = self.quitted = 0

    def write(self, text: str) -> None:
        super().write(text)
        if "\x1b[c" in text and self.answer:
            self.send(self.answer)

    def suspend(self) -> None:
        self.suspended += 1

    def quit(self) -> None:
        self.quitted += 1

    def settled(self) -> None:
        """Everything typed has been read and drawn."""
        assert self.still_asks()

    def done(self) -> Any:
        """The outcome; nothing is left of the prompt."""
        outcome = self.ended()
        assert self.screen.text.strip() == ""
        assert not self.screen.mode(2004)
        assert self.screen.mode(25)
        return outcome


def opened(text: str) -> OpenEditor:
    return OpenEditor(text.replace("|", "", 1), text.index("|"))


def typed(keys: str, *, answer: bytes = ANSWER, **edit: Any) -> Any:
    with Window(answer) as window:
        window.send(keys.encode())
        window.ask(Edit("Reply:", escape=True, **edit))
        return window.done()


EMACS = {
    "what is typed": ("hello", "hello|"),
    "C-a, C-e": ("bc\x01a\x05d", "abcd|"),
    "Home, End": ("bc\x1b[Ha\x1b[Fd", "abcd|"),
    "Home, End as an old keyboard sends them": ("bc\x1b[1~a\x1b[4~d", "abcd|"),
    "C-b, C-f": ("abd\x02c\x06e", "abcde|"),
    "Left, Right": (f"abd{LEFT}c{RIGHT}e", "abcde|"),
    "Left, Right in application mode": ("abd\x1bODc\x1bOCe", "abcde|"),
    "Left stays in its line": (f"a\nb{LEFT}{LEFT}{LEFT}x".replace("\n", "\x1b\r"), "a\nx|b"),
    "Up, Down": (f"one\x1b\rtwo{UP}X{DOWN}Y", "oneX\ntwoY|"),
    "C-p, C-n": ("one\x1b\rtwo\x10X\x0eY", "oneX\ntwoY|"),
    "C-a, C-e are of the line": ("one\x1b\rtwo\x01X\x05Y", "one\nXtwoY|"),
    "C-Left, C-Right": ("one two\x1b[1;5DX\x1b[1;5CY", "one XtwoY|"),
    "M-b, M-f": ("one two three\x1bb\x1bbX\x1bfY", "one XtwoY| three"),
    "M-Left, M-Right": ("one two\x1b[1;3DX\x1b[1;3CY", "one XtwoY|"),
    "M-d": ("one two\x01\x1bd", "| two"),
    "M-Backspace": ("one two\x1b\x7f", "one |"),
    "C-w goes to white space, M-Backspace to the word": ("a/b.c\x17d/e.f\x1b\x7f", "d/e.|"),
    "C-h, Backspace": ("abc\x08\x7f", "a|"),
    "Backspace joins lines": ("a\x1b\rb\x02\x7f", "a|b"),
    "Delete, C-d": ("abcd\x01\x1b[3~\x04", "|cd"),
    "C-d at the end does nothing": ("ab\x04", "ab|"),
    "C-k, C-y": ("one two\x1bb\x0b\x01\x19 ", "two |one "),
    "C-u, C-y": ("one two\x1bb\x15\x05 \x19", "two one |"),
    "C-w, C-y": ("one two\x17\x19\x19", "one twotwo|"),
    "kills in a row are yanked together": ("one two\x17\x17\x19", "one two|"),
    "M-y": ("one\x17x\x02two\x17\x19\x1by", "one|x"),
    "C-_ undoes": ("one\x17\x1f", "one|"),
    "C-t": ("ab\x14", "ba|"),
    "M-u, M-l, M-c": ("one TWO three\x01\x1bu\x1bl\x1bc", "ONE two Three|"),
    "Alt+Enter": ("a\x1b\rb", "a\nb|"),
    "Alt+Enter in the middle": (f"ab{LEFT}\x1b\r", "a\n|b"),
    "Shift+Enter by kitty's protocol": ("a\x1b[13;2ub", "a\nb|"),
    "Shift+Enter by xterm's": ("a\x1b[27;2;13~b", "a\nb|"),
    "Alt+Enter by kitty's protocol": ("a\x1b[13;3ub", "a\nb|"),
    "Tab": ("a\tb", "a\tb|"),
    "C-l": ("ab\x0cc", "abc|"),
    "C-q": ("ab\x11c", "abc|"),
    "C-v is no trap": ("ab\x1b[200~x\x1b[201~", "abx|"),
    "a repeat count": ("a\x1b3b", "abbb|"),
    "C-Home, C-End": ("one\x1b\rtwo\x1b[1;5HX\x1b[1;5FY", "Xone\ntwoY|"),
    "PageUp, PageDown": ("1\x1b\r2\x1b\r3\x1b\r4\x1b[5~X\x1b[6~Y", "1X\n2\n3\n4Y|"),
    "an unknown key is nothing": ("a\x1b[99~\x1b[1;99Zb\x1b[57428u", "ab|"),
    "a function key is nothing": ("a\x1bOP\x1b[15~b", "ab|"),
    "an answer of the terminal is nothing": ("a\x1b[12;40R\x1b]11;rgb:00/00/00\x1b\\b", "ab|"),
    "kitty's C-a C-e C-k C-y": ("bc\x1b[97;5ua\x1b[101;5ud\x1b[97;5u\x1b[107;5u\x1b[121;5u", "abcd|"),
    "kitty's M-b, M-Backspace": ("one two\x1b[98;3uX\x1b[127;3u", "one |two"),
    "kitty's Backspace, Delete": ("abcd\x1b[127u\x1b[97;5u\x1b[3~", "|bc"),
    "kitty's C-w and C-_": ("one\x1b[119;5u\x1b[95;6ux\x1b[47;5u", "one|"),
    "kitty's characters with Shift": ("\x1b[97:65;2u", "A|"),
    "kitty's releases": ("a\x1b[98;1:3ub", "ab|"),
    "characters of all kinds": ("ä漢🙂é", "ä漢🙂é|"),
}


@pytest.mark.req("088-3", "088-8", "088-12", "088-13", "088-14", "088-15", "088-22")
@pytest.mark.parametrize(("keys", "expected"), EMACS.values(), ids=EMACS)
def test_a_key_in_emacs_mode(keys: str, expected: str) -> None:
    assert typed(keys + "\x18") == opened(expected)


VI = {
    "typing inserts": ("hello", "hello|"),
    "ESC goes one back": (f"abc{ESC}", "ab|c"),
    "ESC quickly followed by a key": ("abc\x1bhx", "a|c"),
    "h, l": (f"abcd{ESC}hhix\x1b[27ullay", "axbcy|d"),
    "Left, Right in insert mode": (f"abd{LEFT}c{RIGHT}e", "abcde|"),
    "0, $": (f"abc{ESC}0ix{ESC}$ay", "xabcy|"),
    "^": (f"  abc{ESC}^ix", "  x|abc"),
    "w, b, e": (f"one two three{ESC}0wiX{ESC}wbiY{ESC}eaZ", "one YXtwoZ| three"),
    "x, X": (f"abcd{ESC}xhX", "|bc"),
    "dd, p": (f"one\x1b\rtwo\x1b\rthree{ESC}kddp", "one\nthree\n|two"),
    "dw": (f"one two{ESC}0dw", "|two"),
    "d$, D": (f"one two{ESC}0wd$", "one| "),
    "cw": (f"one two{ESC}0cwX", "X| two"),
    "cW, a count before cw": (f"a.b  c d e{ESC}0cWY{ESC}w2cwZ", "Y  Z| e"),
    "ciw": (f"one two three{ESC}0wciwX", "one X| three"),
    'ci"': (f'say "some thing" now{ESC}bbbci"X', 'say "X|" now'),
    "cc": (f"one\x1b\rtwo{ESC}ccX", "one\nX|"),
    "yy, p, P": (f"one{ESC}yyp", "one\n|one"),
    "u": (f"one two{ESC}dbu", "one tw|o"),
    "gg, G": (f"one\x1b\rtwo\x1b\rthree{ESC}ggiX{ESC}GiY", "Xone\ntwo\nY|three"),
    "A, I": (f"abc{ESC}IX{ESC}AY", "XabcY|"),
    "o, O": (f"b{ESC}oc{ESC}kOa", "a|\nb\nc"),
    "counts": (f"one two three four{ESC}02w3iX", "one two X|three four"),
    "a count before an operator": (f"one two three{ESC}02dw", "|three"),
    "r, ~": (f"abc{ESC}0rX~", "x|bc"),
    "f, t, ;": (f"a.b.c.d{ESC}0f.;iX", "a.bX|.c.d"),
    "J": (f"one\x1b\rtwo{ESC}kJ", "one| two"),
    "v, d": (f"abcdef{ESC}0lvlld", "a|ef"),
    "%": (f"(ab){ESC}%iX", "X|(ab)"),
    "j, k": (f"one\x1b\rtwo{ESC}kiX{ESC}jiY", "onXe\ntwYo".replace("Yo", "Y|o")),
    "C-w, C-u, C-h, Backspace in insert mode": ("one two\x17x\x08\x7f", "one|"),
    "C-d deletes in insert mode": (f"abc{LEFT}{LEFT}\x04", "a|c"),
    "Delete": (f"abc{LEFT}\x1b[3~", "ab|"),
    "ESC drops an operator": (f"one two{ESC}0d{ESC}wiX", "one X|two"),
    "ESC drops a count": (f"one two three{ESC}03{ESC}wiX", "one X|two three"),
    "ESC drops a c": (f"one{ESC}c{ESC}x", "o|n"),
    "ESC drops a g": (f"one{ESC}g{ESC}0iX", "X|one"),
    "ESC drops a selection": (f"abc{ESC}0vl{ESC}x", "a|c"),
    "ESC drops an f": (f"abc{ESC}0f{ESC}cl".replace("cl", "x"), "|bc"),
    "C-[ is ESC": ("abc\x1b[91;5ux", "a|b"),
    "Alt+Enter in insert mode": ("a\x1b\rb", "a\nb|"),
    "Shift+Enter in insert mode": ("a\x1b[13;2ub", "a\nb|"),
    "Alt+Enter in normal mode": (f"ab{ESC}\x1b\r", "a\n|b"),
    "Shift+Enter in normal mode": (f"ab{ESC}\x1b[13;2u", "a\n|b"),
    "C-q in both modes": (f"ab\x11{ESC}\x11", "a|b"),
    "C-l in both modes": (f"ab\x0c{ESC}\x0c", "a|b"),
    "a paste in insert mode": ("a\x1b[200~1\n2\x1b[201~b", "a1\n2b|"),
    "a paste in normal mode": (f"ab{ESC}\x1b[200~12\x1b[201~i3", "a123|b"),
    "C-f, C-b": (f"1\x1b\r2\x1b\r3\x1b\r4{ESC}\x02iX{ESC}\x06iY", "X1\n2\n3\nY|4"),
}


@pytest.mark.req("088-8", "088-23", "088-24", "088-25")
@pytest.mark.parametrize(("keys", "expected"), VI.values(), ids=VI)
def test_a_key_in_vi_mode(keys: str, expected: str) -> None:
    assert typed(keys + "\x18", mode="vi") == opened(expected)


ENDS = {
    "Enter": ("abc\r", Submitted("abc")),
    "Enter in the middle of lines": (f"a\x1b\rb{UP}\r", Submitted("a\nb")),
    "Enter as it was typed ahead": ("abc\n", Submitted("abc")),
    "Enter on nothing": ("\r", Submitted("")),
    "Enter on blanks": ("  \x1b\r \r", Submitted("  \n ")),
    "Enter behind blanks": (" a \x1b\r\r", Submitted(" a \n")),
    "Enter on the keypad": ("a\x1bOM", Submitted("a")),
    "kitty's Enter on the keypad": ("a\x1b[57414u", Submitted("a")),
    "Ctrl-X": ("ab\x02\x18", OpenEditor("ab", 1)),
    "kitty's Ctrl-X": ("ab\x1b[120;5u", OpenEditor("ab", 2)),
    "Ctrl-C as a byte": ("ab\x02\x03", Interrupted("ab", 1)),
    "Ctrl-C on nothing": ("\x03", Interrupted("", 0)),
    "kitty's Ctrl-C": ("ab\x1b[99;5u", Interrupted("ab", 2)),
    "Ctrl-D on nothing": ("\x04", Cancelled("", 0)),
    "Ctrl-D on what was emptied": ("ab\x15\x04", Cancelled("", 0)),
    "kitty's Ctrl-D": ("\x1b[100;5u", Cancelled("", 0)),
}


@pytest.mark.req("088-2", "088-8", "088-9", "088-10")
@pytest.mark.parametrize("mode", ["emacs", "vi"])
@pytest.mark.parametrize(("keys", "outcome"), ENDS.values(), ids=ENDS)
def test_an_end(keys: str, outcome: object, mode: str) -> None:
    if mode == "vi":
        keys = keys.replace("\x02", LEFT)
    assert typed(keys, mode=mode) == outcome


NORMAL_ENDS = {
    "Enter": (f"abc{ESC}\r", Submitted("abc")),
    "Enter with an operator pending": (f"abc{ESC}d\r", Submitted("abc")),
    "Ctrl-X": (f"abc{ESC}\x18", OpenEditor("abc", 2)),
    "Ctrl-C": (f"abc{ESC}\x03", Interrupted("abc", 2)),
    "Ctrl-C with an operator pending": (f"abc{ESC}d\x03", Interrupted("abc", 2)),
    "Ctrl-D on nothing": (f"{ESC}\x04", Cancelled("", 0)),
    "ESC": (f"abc{ESC}{ESC}", Cancelled("abc", 2)),
    "ESC behind a dropped count": (f"abc{ESC}3{ESC}{ESC}", Cancelled("abc", 2)),
    "ESC in a line of several": (f"a\x1b\rb{ESC}{ESC}", Cancelled("a\nb", 2)),
}


@pytest.mark.req("088-24", "088-25", "088-26", "088-9")
@pytest.mark.parametrize(("keys", "outcome"), NORMAL_ENDS.values(), ids=NORMAL_ENDS)
def test_an_end_in_vis_normal_mode(keys: str, outcome: object) -> None:
    assert typed(keys, mode="vi") == outcome


@pytest.mark.req("088-11", "088-24")
def test_a_lone_escape_cancels_and_only_after_its_time() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("ab\x1b")
        assert window.done() == Cancelled("ab", 2)
    with Window() as window:
        window.ask(Edit("Reply:", mode="vi")).until("Reply:")
        window.send("ab\x1b")
        window.until("NORMAL")
        window.send("\x1b")
        assert window.done() == Cancelled("ab", 1)


@pytest.mark.req("088-76", "088-137")
@pytest.mark.parametrize("mode", ["emacs", "vi"])
@pytest.mark.parametrize("key", ["\x18", "\x1b[120;5u"])
def test_without_an_editor_ctrl_x_does_nothing_and_is_not_named(mode: str, key: str) -> None:
    with Window(columns=100) as window:
        window.ask(Edit("Reply:", mode=mode)).until("Enter sends")
        assert "Ctrl+X" not in window.screen
        window.send(f"a{key}{key}b")
        window.until("ab")
        window.send("\r")
        assert window.done() == Submitted("ab")


def test_a_question_of_one_line_stays_one() -> None:
    assert typed("a\x1b\rbc\x1b[200~d\ne\x1b[201~\r", multiline=False) == Submitted("abcd e")


# --- pastes

PASTES = {
    "several lines": ("\x1b[200~one\ntwo\rthree\r\nfour\x1b[201~", "one\ntwo\nthree\nfour|"),
    "in the middle": (f"ab{LEFT}\x1b[200~1\n2\x1b[201~", "a1\n2|b"),
    "nothing": ("a\x1b[200~\x1b[201~b", "ab|"),
    "keys in it are text": ("\x1b[200~a\x01\x18\x04\x1bb\x1b[A\x1b[201~c", "ab[Ac|"),
    "an end mark in it": ("\x1b[200~one\x1b[201~two\x1b[201~", "onetwo|"),
    "two of them": ("\x1b[200~one\x1b[201~\x1b[200~two\x1b[201~", "onetwo|"),
    "tabs and blanks": ("\x1b[200~\ta  b \n\x1b[201~", "\ta  b \n|"),
    "undone in one": ("x\x1b[200~one\ntwo\x1b[201~\x1f", "x|"),
}


@pytest.mark.req("088-16")
@pytest.mark.parametrize(("keys", "expected"), PASTES.values(), ids=PASTES)
def test_a_paste(keys: str, expected: str) -> None:
    with Window() as window:
        window.ask(Edit("Reply:", escape=True)).until("Reply:")
        window.send(keys)
        window.settled()
        window.send("\x18")
        assert window.done() == opened(expected)


@pytest.mark.req("088-16")
def test_a_paste_without_an_end_is_text_after_all() -> None:
    with Window() as window:
        window.ask(Edit("Reply:", escape=True)).until("Reply:")
        window.send("\x1b[200~one\rtwo")
        window.until("two")
        window.send("\x18")
        assert window.done() == OpenEditor("one\ntwo", 7)


@pytest.mark.req("088-10", "088-16")
def test_a_press_within_a_paste_counts_and_what_was_pasted_is_kept() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("\x1b[200~one\x03two\x1b[201~")
        outcome = window.done()
        assert window.presses == 1
        assert isinstance(outcome, Interrupted)
        assert outcome.text == "onetwo"


# --- what there is at the beginning, and history


@pytest.mark.req("088-19")
def test_a_seed_is_there_and_is_submitted_as_it_is() -> None:
    seed = "first\n\n  second\t \n"
    with Window() as window:
        window.ask(Edit("Reply:", seed=seed)).until("second")
        window.send("\r")
        assert window.done() == Submitted(seed)
    assert typed("X\x18", seed="abc", cursor=1) == OpenEditor("aXbc", 2)
    assert typed("X\x18", seed="abc") == OpenEditor("abcX", 4)
    assert typed("X\x18", seed="abc", cursor=0, mode="vi") == OpenEditor("Xabc", 1)
    assert typed("\x1f\x18", seed="abc") == OpenEditor("abc", 3)


@pytest.mark.req("104-72")
def test_what_was_typed_before_is_in_it() -> None:
    with Window() as window:
        window.send("typed ahead")
        window.ask(Edit("Reply:")).until("Reply: typed ahead")
        window.send("!\r")
        assert window.done() == Submitted("typed ahead!")


def test_what_is_typed_behind_the_end_is_for_what_comes_next() -> None:
    with Window(b"") as window:
        window.send(b"one\rtwo\x1b[A")
        window.ask(Edit("Reply:", multiline=False))
        assert window.done() == Submitted("one")
        assert window.queued() == b"two\x1b[A"


EARLIER = ("newest\nof two", "middle", "oldest")
HISTORY = {
    "Up": (f"{UP}\x18", "newest\nof two|"),
    "Up from below": (f"{UP}{UP}{UP}\x18", "middle|"),
    "Up and Down": (f"new{UP}{UP}{UP}{DOWN}{DOWN}{DOWN}\x18", "new|"),
    "C-p, C-n": ("\x10\x10\x10\x0e\x18", "newest|\nof two"),
    "C-r": ("\x12mid\r\x18", "|middle"),
    "C-r, then a key goes on editing": ("\x12old\x05X\x18", "oldestX|"),
}


LATE = ("Up", "Up from below")  # keys that wait for it


@pytest.mark.parametrize(("name", "late"), [*((name, False) for name in HISTORY), *((name, True) for name in LATE)])
def test_history(name: str, late: bool) -> None:
    keys, expected = HISTORY[name]
    go_on = threading.Event()

    def fetch() -> Iterator[str]:
        assert go_on.wait(20)
        return iter(EARLIER)

    with Window() as window:
        window.ask(Edit("Reply:", escape=True, history=fetch)).until("Reply:")
        if not late:
            go_on.set()
            window.settled()
        *most, end = keys
        window.send("".join(most))
        window.settled()
        go_on.set()
        window.settled()
        window.send(end)
        outcome = window.done()
        assert outcome.text == expected.replace("|", "")
        if not late:
            assert outcome == opened(expected)


def test_a_search_that_is_left_leaves_nothing() -> None:
    with Window(columns=60) as window:
        window.ask(Edit("Reply:", history=lambda: EARLIER)).until("Reply:")
        window.send("ab")
        window.until("ab")
        before = window.screen.text.strip()
        window.settled()
        window.send("\x12mid")
        window.until("middle")
        window.send(ESC)
        window.until(lambda: window.screen.text.strip() == before)
        assert window.screen.cursor == (9, 0)
        window.send("\r")
        assert window.done() == Submitted("ab")


def test_a_history_that_fails_is_none() -> None:
    def fetch() -> Any:
        raise OSError("no disk")

    assert typed(f"a{UP}b\x18", history=fetch) == opened("ab|")


# --- the keyboard protocol


@pytest.mark.req("088-4", "088-6", "088-7")
def test_the_keyboard_protocol_is_switched_on_where_the_terminal_has_it_and_off_at_the_end() -> None:
    with Window(KITTY, columns=100) as window:
        window.ask(Edit("Reply:", escape=True)).until("Shift+Enter or Alt+Enter new line")
        window.send("a\x1b[13;2ub")
        window.until("b")
        assert window.output.count(b"\x1b[>1u") == 1
        assert b"\x1b[<u" not in window.output
        assert window.undo.endswith("\x1b[<u")
        window.send("\x1b[13u")
        assert window.done() == Submitted("a\nb")
        assert window.output.count(b"\x1b[<u") == 1


@pytest.mark.req("088-5")
@pytest.mark.parametrize("answer", [ANSWER, b""], ids=["another answer", "none"])
def test_the_keyboard_protocol_is_never_switched_on_without_an_answer(answer: bytes) -> None:
    with Window(answer, columns=100) as window:
        window.ask(Edit("Reply:")).until("Enter sends")
        assert "Shift" not in window.screen
        window.send("a\x1b\rb\x01X\r")
        assert window.done() == Submitted("a\nXb")
        assert b"\x1b[>" not in window.output
        assert b"\x1b[<" not in window.output


def test_with_the_keyboard_protocol_the_signal_keys_mean_what_they_do() -> None:
    with Window(KITTY) as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("a\x1b[122;5u\x1b[92;5ub")
        window.until("ab")
        assert (window.suspended, window.quitted) == (1, 1)
        window.send("\x1b[99;5u")
        assert window.done() == Interrupted("ab", 2)
        assert window.presses == 1


def test_a_byte_that_is_no_signal_here_ends_nothing() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("a\x1cb\r")
        assert window.done() == Submitted("ab")
        assert window.quitted == 0


def test_an_answer_that_comes_late_is_not_typed_into_what_follows() -> None:
    with Window(b"") as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("a\r")
        window.until(lambda: not window.screen.text.strip())
        window.send(b"\x1b[?62c" + b"next")
        assert window.ended() == Submitted("a")
        assert window.queued() in (b"next", b"\x1b[?62cnext")  # the second: it waits for a moment only


# --- other ways to end


@pytest.mark.req("088-9", "088-10", "104-73")
def test_a_press_and_an_end_take_what_was_typed_before_them() -> None:
    for what, outcome in ((PRESS, Interrupted("abc", 3)), (END, Broken("abc", "the run is ending"))):
        with Window() as window:
            window.ask(Edit("Reply:")).until("Reply:")
            window.send("abc")
            window.notify(what)
            assert window.done() == outcome


@pytest.mark.req("104-73")
def test_a_lost_terminal_breaks_it_and_the_text_is_kept() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("abc")
        window.until("abc")
        window.lose()
        assert window.ended() == Broken("abc", "the terminal is gone")


def test_a_stop_erases_it_and_it_comes_back_as_it_was() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("ab\x1b\rcd\x02")
        window.until("cd")
        window.settled()
        shown, cursor = window.screen.lines, window.screen.cursor
        window.stop()
        window.pump()
        assert window.screen.text.strip() == ""
        window.go_on.set()
        window.until(lambda: window.screen.lines == shown and window.screen.cursor == cursor)
        window.send("X\r")
        assert window.done() == Submitted("ab\ncXd")


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_fault_of_whoever_is_told_ends_it_with_the_text(when: str) -> None:
    def changed(text: str) -> None:
        if when == "at once" or text == "ab":
            raise RuntimeError("no room")

    with Window() as window:
        window.ask(Edit("Reply:", changed=changed)).until("Reply:")
        window.send("ab" if when == "later" else "a")
        outcome = window.done()
        assert outcome == Broken("ab" if when == "later" else "a", "the prompt failed: RuntimeError: no room")


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_fault_in_drawing_ends_it_with_the_text(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from jp.prompt.page import Page

    draws = iter(range(100))
    draw = Page.write_to_screen

    def fault(*args: Any) -> None:
        if next(draws) >= after:
            raise RuntimeError("a fault")
        draw(*args)

    monkeypatch.setattr(Page, "write_to_screen", fault)
    with Window() as window:
        window.ask(Edit("Reply:", seed="seed"))
        if after:
            window.until("seed")
            for key in "abcdefghij":  # keys that come together are drawn together
                window.send(key)
                window.pump_for(0.05)
        outcome = window.done()
        assert isinstance(outcome, Broken)
        assert outcome.text.startswith("seed")
        assert outcome.reason == "the prompt failed: RuntimeError: a fault"


@pytest.mark.req("088-130")
def test_everything_is_drawn_by_the_writer_that_was_given() -> None:
    """A writer in memory: the terminal itself, which is only read from, gets nothing."""

    class InMemory(Window):
        said = ""

        def write(self, text: str) -> None:
            self.said += text

    with InMemory() as window:
        window.ask(Edit("Reply:"))
        window.until(lambda: "Enter sends" in window.said)
        window.send("hello")
        window.until(lambda: "hello" in window.said)
        window.send("\r")
        assert window.ended() == Submitted("hello")
        assert window.output == b""


def test_every_new_text_is_told() -> None:
    told: list[str] = []
    assert typed("ab\x7f\x1b[200~cd\x1b[201~\x03", changed=told.append) == Interrupted("acd", 3)
    assert told == ["a", "ab", "a", "acd"]


Do = Callable[[Window], None]


def after(window: Window, keys: str, condition: Callable[[], object]) -> None:
    window.send(keys)
    window.until(condition)


@pytest.mark.req("088-27")
def test_the_cursor_shape_tells_vis_mode_and_is_given_back() -> None:
    with Window() as window:
        window.ask(Edit("Reply:", mode="vi")).until("Reply:")
        after(window, "a", lambda: b"\x1b[6 q" in window.output)
        after(window, ESC, lambda: b"\x1b[2 q" in window.output)
        assert "\x1b[0 q" in window.undo
        window.send("\r")
        assert window.done() == Submitted("a")
        assert window.output.rindex(b"\x1b[0 q") > window.output.rindex(b"\x1b[2 q")


def test_in_emacs_mode_the_cursors_shape_is_the_persons_own() -> None:
    with Window() as window:
        window.ask(Edit("Reply:")).until("Reply:")
        window.send("a\r")
        assert window.done() == Submitted("a")
        assert b" q" not in window.output


def test_it_is_quick_to_come_and_to_go() -> None:
    began = time.monotonic()
    for _ in range(10):
        assert typed("a\r") == Submitted("a")
    assert time.monotonic() - began < 5


# --- looking at what was asked before is no editing

ASKED = ("an earlier one", "another earlier one")


@pytest.mark.req("088-138")
@pytest.mark.parametrize(("keys", "outcome"), [("\x03", Interrupted("mine", 4)), ("\x1b", Cancelled("mine", 4))])
def test_what_was_typed_is_kept_while_the_history_is_looked_at(keys: str, outcome: object) -> None:
    told: list[str] = []
    with Window() as window:
        window.ask(Edit("Reply:", history=lambda: ASKED, changed=told.append)).until("Enter sends")
        window.send("mine")
        window.until("mine")
        window.send(UP)
        window.until("an earlier one")
        window.send(keys)
        assert window.done() == outcome
    assert told[-1] == "mine"


def test_an_earlier_text_that_was_changed_is_the_persons_own() -> None:
    told: list[str] = []
    with Window() as window:
        window.ask(Edit("Reply:", history=lambda: ASKED, changed=told.append)).until("Enter sends")
        window.send(UP)
        window.until("an earlier one")
        window.send("!\x03")
        assert window.done() == Interrupted("an earlier one!", 15)
    assert told == ["an earlier one!"]


@pytest.mark.parametrize("mode", ["emacs", "vi"])
def test_escape_leaves_a_search_with_the_text_as_it_was(mode: str) -> None:
    with Window() as window:
        window.ask(Edit("Reply:", mode=mode, history=lambda: ASKED)).until("Enter sends")
        window.send("mine")
        window.until("mine")
        window.send("\x12earlier")
        window.until("an earlier one")
        window.send("\x12")
        window.until("another earlier one")
        window.send("\x1b")
        window.until(lambda: "mine" in window.screen.text and "search" not in window.screen.text)
        window.send("\r")
        assert window.done() == Submitted("mine")


@pytest.mark.parametrize("mode", ["emacs", "vi"])
def test_ctrl_space_swallows_nothing(mode: str) -> None:
    assert typed("hello \x00TAIL\x1b[32;5u!\r", mode=mode) == Submitted("hello TAIL!")


@pytest.mark.parametrize("keys", ["\r", "y\r", "\x1b[200~yes\r\x1b[201~", "\r\r\r"])
def test_what_consents_takes_nothing_that_was_meant_for_something_else(keys: str) -> None:
    with Window() as window:
        window.typed_ahead(keys)
        window.ask(Edit("Delete all?", seed="yes", guarded=True)).until("Delete all? yes")
        window.send(keys)
        assert window.still_asks()
        window.pump_for(0.35)
        assert "Delete all? yes" in window.screen
        window.send("!")
        window.until("yes!")
        window.send("\r")
        assert window.done() == Submitted("yes!")


@pytest.mark.req("D60-58")
def test_a_body_that_does_not_fit_is_cut_and_can_be_had_whole() -> None:
    body = "\n".join(f"line {number}" for number in range(50))
    with Window(rows=16) as window:
        window.ask(Edit("Reply:", body=body, more="; Ctrl-O prints all", seed="ab"))
        window.until(lambda: "Ctrl-O prints all" in window.screen and "Reply:" in window.screen)
        assert "line 20" not in window.screen
        window.send("\x02\x0f")
        assert window.done() == ShowWhole("ab", 1)


def test_ctrl_o_means_nothing_where_nothing_more_can_be_had() -> None:
    assert typed("ab\x0f\x18") == OpenEditor("ab", 2)
