"""A secret on a terminal: nothing of it is seen, and no paste submits it."""

import pytest

from jp.prompt.backend import END, PRESS
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, ShowWhole, Submitted
from jp.prompt.questions import Secret
from tests.prompt.driver import QUIET, OnTerminal

TOKEN = Secret("API key:")


@pytest.mark.parametrize(
    ("pieces", "secret"),
    [
        (["hunter2"], "hunter2"),
        (["hun", "x", "\x7f", "ter"], "hunter"),
        (["wrong", "\x15", "right"], "right"),
        (["p\u00e4ss", "\u6f22"], "päss漢"),
        (["\x1b[200~tok en\n\x1b[201~"], "tok en"),
        (["a", "\x1b[200~one\ntwo\x1b[201~", "b"], "ab"),
        (["a", "typed and entered\r"], "atyped and entered"),
        ([], ""),
    ],
)
def test_what_is_typed_is_the_secret_and_is_not_seen(pieces: list[str], secret: str) -> None:
    with OnTerminal() as terminal:
        terminal.ask(TOKEN).ready("API key:")
        terminal.pump_for(QUIET)
        for piece in pieces:
            terminal.send(piece)
            assert terminal.still_asks()
            assert terminal.screen.lines[-1] == "API key:"
            assert terminal.screen.cursor[0] == len("API key: ")
        terminal.send("\r")
        assert terminal.ended() == Submitted(secret)
        assert not terminal.screen.text.strip()
        assert not terminal.screen.mode(2004)
        for word in ("hun", "right", "tok", "typed"):
            assert word.encode() not in terminal.output


def test_a_paste_of_several_lines_is_refused_in_words() -> None:
    with OnTerminal() as terminal:
        terminal.ask(TOKEN).ready("API key:")
        terminal.key("\x1b[200~one\ntwo\x1b[201~")
        terminal.until("several lines")
        terminal.key("\x1b")
        assert terminal.ended() == Cancelled()


@pytest.mark.req("104-70")
def test_what_was_typed_before_is_not_part_of_it() -> None:
    with OnTerminal() as terminal:
        terminal.typed_ahead("before\r")
        terminal.ask(TOKEN).ready("API key:")
        terminal.send("\r")
        assert terminal.still_asks()
        terminal.key("s")
        assert terminal.still_asks()
        terminal.send("\r")
        assert terminal.ended() == Submitted("s")


@pytest.mark.req("104-73")
@pytest.mark.parametrize(("notice", "outcome"), [(PRESS, Interrupted), (END, Broken)])
def test_an_unfinished_secret_is_kept_nowhere(notice: str, outcome: type) -> None:
    with OnTerminal() as terminal:
        terminal.ask(TOKEN._replace(body="Needed for x.")).ready("Needed for x.\nAPI key:")
        terminal.key("hunter")
        terminal.notify(notice)
        ended = terminal.ended()
        assert isinstance(ended, outcome)
        assert ended.text == ""
        assert terminal.undo == ""


@pytest.mark.req("D60-58")
def test_what_does_not_fit_can_be_had_whole_before_anything_is_typed() -> None:
    long = TOKEN._replace(body="\n".join(map(str, range(100))), more="; Ctrl-O prints all")
    with OnTerminal() as terminal:
        terminal.ask(long).ready("API key:")
        assert "Ctrl-O prints all" in terminal.screen
        terminal.key("s")
        terminal.key("\x0f")
        assert terminal.still_asks()  # what was typed would be lost
        terminal.key("\x7f")
        terminal.key("\x0f")
        assert terminal.ended() == ShowWhole()
