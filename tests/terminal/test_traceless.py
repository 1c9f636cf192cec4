"""A question over running output, on a real terminal: answered, it is gone without a trace."""

import pytest

from tests.ask.children import child
from tests.support.terminal import Terminal

LINES = "".join(f"line {number}\n" for number in range(30))
BEFORE = {
    "short": "an unfinished line",
    "styled": "\x1b[1;31man unfinished line",
    "over several rows": "a line that goes on " * 9,
    "at the margin": "x" * 80,
    "wide": "漢字" * 45 + "漢",
}

BODY = """
BEFORE = {before!r}
def main():
    printer.out(BEFORE)
    printer.flush(5)
    answer = asker.ask(Choice("Really?", (Option("y", "Yes"), Option("n", "No")), guarded=False))
    printer.out(" and its end" + answer.value + "\\x1b[0m\\nnext\\n")
"""


def screen_of(text: str, *, rows: int) -> Terminal:
    """The terminal to which a program wrote the text and nothing else."""
    terminal = Terminal(child(f"def main():\n    printer.out({text!r})\n"), columns=40, rows=rows)
    assert terminal.wait() == "exited 0"
    return terminal


@pytest.mark.req("092-138", "092-139", "092-140")
@pytest.mark.parametrize("lead", ["", LINES], ids=["at the top", "at the bottom"])
@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE.keys())
def test_the_output_goes_on_where_it_stopped(before: str, lead: str) -> None:
    text = lead + before
    with Terminal(child(BODY.format(before=text)), columns=40, rows=12) as terminal:
        terminal.until("Really?")
        row = next(line for line in terminal.screen.lines if "Really?" in line)
        assert row.startswith("Really?"), "on a clean line"
        terminal.send(b"y")
        assert terminal.wait() == "exited 0"
        with screen_of(text + " and its endy\x1b[0m\nnext\n", rows=12) as other:
            assert terminal.screen.contents.rstrip() == other.screen.contents.rstrip()
            assert terminal.screen.cursor[0] == other.screen.cursor[0]
