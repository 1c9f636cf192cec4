"""Display width, truncation, hyperlinks and titles."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.terminal.osc import hyperlink, percent, window_title
from jp.terminal.width import display_width, head, truncate
from tests.terminal_unit.emulated import Watched, title
from tests.terminal_unit.properties import patient


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("a\tb", 2), ("é", 1), ("⏱", 1), ("a\x1bb", 2)],
)
def test_width(text: str, width: int) -> None:
    assert display_width(text) == width


@patient
@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=40), st.integers(0, 20))
def test_truncation_fits_and_says_so(text: str, width: int) -> None:
    cut = truncate(text, width)
    assert display_width(cut) <= max(0, width) or display_width(text) <= width
    if cut != text and width > 0:
        assert cut.endswith("…")
    assert text.startswith(head(text, width))


def test_a_wide_character_is_never_cut_in_two() -> None:
    assert truncate("漢字漢字", 6) == "漢字…"
    assert truncate("漢字漢字", 5) == "漢字…"
    assert truncate("漢字漢字", 4) == "漢…"
    assert truncate("漢字", 4) == "漢字"
    assert truncate("abc", 0) == ""


def test_ascii_loads_no_table() -> None:
    code = (
        "import sys; from jp.terminal.width import *; display_width('abc'); truncate('abcdef', 3, '.');"
        "assert 'wcwidth' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@patient
@given(st.text(max_size=60), st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1, max_size=10))
def test_no_target_gets_out_of_its_hyperlink(url: str, text: str) -> None:
    linked = hyperlink(url, text)
    assert linked == text or linked.count("\x1b") == 4
    watched = Watched()
    before = watched.state()
    watched.emulator.feed(linked.encode())
    assert watched.state() == before
    watched.emulator.close()


@patient
@given(st.text(max_size=60))
def test_a_title_sets_the_title_and_nothing_else(text: str) -> None:
    watched = Watched()
    before = watched.state()
    watched.emulator.feed(window_title("x" + text).encode("utf-8", "replace"))
    assert title(watched.emulator).startswith(b"x")
    assert watched.state()[1:] == before[1:]
    assert watched.emulator.text().strip() == ""
    assert watched.emulator.cursor == (0, 0)
    watched.emulator.close()


def test_a_title_inside_a_title_is_only_text() -> None:
    assert window_title("a\x1b]2;b\x07c\x9cd") == "\x1b]2;a]2;bcd\x1b\\"


def test_targets_are_printable_ascii() -> None:
    assert percent("http://x/é b?q=%20") == "http://x/%C3%A9%20b?q=%20"
    assert percent("http://x/%41") == "http://x/%41"
    assert hyperlink("", "text") == "text"
    assert hyperlink("http://" + "x" * 3000, "text") == "text"
    assert hyperlink("http://x\x1b\\\x07", "text") == "\x1b]8;;http://x\\\x1b\\text\x1b]8;;\x1b\\"


def test_a_mark_that_takes_a_column_is_counted() -> None:
    assert truncate("0000\u09c70", 5) == "0000…"
    assert display_width(truncate("👩\u200d👩\u200d👧 family", 5)) <= 5
