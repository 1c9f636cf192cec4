"""Hostile text: whatever comes, in whatever pieces, the terminal only prints, begins lines and changes styles."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.terminal.escapes import CSI_LIMIT, STRING_LIMIT, Escapes, Strip
from jp.terminal.sanitize import MARK, Sanitizer, one_line, osc_text
from tests.terminal_unit.emulated import Watched
from tests.terminal_unit.properties import patient

CORPUS = {
    "clipboard": "a\x1b]52;c;ZXZpbA==\x07b",
    "title BEL": "a\x1b]0;pwned\x07b",
    "title ST": "a\x1b]2;pwned\x1b\\b",
    "hyperlink": "a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b",
    "DCS": "a\x1bPq#0;2;0;0;0\x1b\\b",
    "APC": "a\x1b_Gf=100;AAAA\x1b\\b",
    "PM": "a\x1b^secret\x1b\\b",
    "SOS": "a\x1bXsecret\x1b\\b",
    "reset": "a\x1bcb",
    "clear": "a\x1b[2J\x1b[Hb",
    "margins": "a\x1b[2;3rb",
    "cursor report": "a\x1b[6nb",
    "device attributes": "a\x1b[cb",
    "DECRQSS": "a\x1bP$qm\x1b\\b",
    "kitty push": "a\x1b[>1ub",
    "keyboard mode that ends in m": "a\x1b[>4;2mb",
    "private m": "a\x1b[?4mb",
    "mouse": "a\x1b[?1000h\x1b[?1006hb",
    "paste end": "a\x1b[201~b",
    "alternate screen": "a\x1b[?1049hb",
    "hide cursor": "a\x1b[?25lb",
    "charset": "a\x1b(0b",
    "index": "a\x1bM\x1bDb",
    "carriage return": "a\rb",
    "backspace": "a\b\b\bb",
    "bell and NUL": "a\x07\x00b",
    "shift out": "a\x0e\x0fb",
    "vertical tab, form feed": "a\x0b\x0cb",
    "DEL": "a\x7fb",
    "C1 CSI": "a\x9b2Jb",
    "C1 OSC": "a\x9d0;pwned\x9cb",
    "C1 DCS": "a\x90q\x9cb",
    "C1 alone": "a\x84\x85\x8db",
    "ESC in CSI": "a\x1b[3\x1b[2Jb",
    "CSI cut by a line feed": "a\x1b[3\n1mb",
    "OSC cut by ESC": "a\x1b]0;x\x1b[2Jb",
    "lone ESC": "a\x1b",
    "lone CSI": "a\x1b[",
    "lone OSC": "a\x1b]0;never",
    "intermediate": "a\x1b[1$}b",
    "DECALN": "a\x1b#8b",
}
ALPHABET = st.sampled_from(
    [*"ab8;:[]mPX^_\\?>$0123456789(#HJKhl~ \n\t\r\x07\x08\x1b\x18\x1a\x9b\x9c\x9d\x90\x85\x00", "é", "漢", "\u202e"]
)
HOSTILE = st.one_of(
    st.text(ALPHABET, max_size=60),
    st.lists(st.sampled_from(list(CORPUS.values())), max_size=6).map("".join),
    st.text(max_size=40),
)


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces, position = [], 0
    for size in sizes:
        pieces.append(text[position : position + size])
        position += size
    return [*pieces, text[position:]]


def whole(text: str, mode: str = "strip") -> str:
    sanitizer = Sanitizer(mode)
    return sanitizer.feed(text) + sanitizer.end()


@pytest.mark.parametrize("name", CORPUS)
def test_what_is_hostile_leaves_the_words_and_nothing_else(name: str) -> None:
    shown = whole(CORPUS[name])
    assert "\x1b" not in shown
    assert not any(character < " " and character not in "\t\n" for character in shown)
    assert not any("\x7f" <= character < "\xa0" for character in shown)
    assert shown.startswith("a")
    if not name.startswith("lone"):
        assert shown.endswith("b")
    assert "pwned" not in shown
    assert "secret" not in shown


@pytest.mark.parametrize("name", CORPUS)
def test_it_is_the_same_cut_at_every_place(name: str) -> None:
    text = CORPUS[name]
    for mode in ("strip", "visualize", "off"):
        for place in range(len(text) + 1):
            sanitizer = Sanitizer(mode)
            assert sanitizer.feed(text[:place]) + sanitizer.feed(text[place:]) + sanitizer.end() == whole(text, mode)
        sanitizer = Sanitizer(mode)
        assert "".join(map(sanitizer.feed, text)) + sanitizer.end() == whole(text, mode)


@patient
@given(HOSTILE, st.lists(st.integers(0, 5), max_size=40))
def test_chunked_is_whole(text: str, sizes: list[int]) -> None:
    for mode in ("strip", "visualize"):
        sanitizer = Sanitizer(mode)
        assert "".join(map(sanitizer.feed, cut(text, sizes))) + sanitizer.end() == whole(text, mode)


@patient
@given(HOSTILE, st.sampled_from(["strip", "visualize"]))
def test_a_terminal_only_prints(text: str, mode: str) -> None:
    shown = whole(text, mode)
    watched = Watched(600, 4)
    before = watched.state()
    for line in shown.split("\n"):
        row = watched.emulator.cursor[1]
        watched.emulator.feed(line.encode("utf-8", "replace"))
        assert watched.emulator.cursor[1] == row
        for column in range(watched.emulator.cursor[0]):
            assert not watched.emulator.style(column, row)["invisible"]
        watched.emulator.feed(b"\r\n")
    assert watched.state() == before
    watched.emulator.close()


@patient
@given(HOSTILE)
def test_sanitizing_twice_changes_nothing_more(text: str) -> None:
    once = whole(text)
    assert whole(once) == once


@patient
@given(st.text(st.characters(blacklist_categories=["Cc", "Cf", "Cs"]) | st.sampled_from("\n\t")))
def test_plain_text_is_kept(text: str) -> None:
    assert whole(text) == text == whole(text, "visualize")


def test_joiners_and_marks_of_writing_are_kept() -> None:
    text = "👩\u200d👩\u200d👧 e\u0301 \u200eעברית\u200f \u00ad"
    assert whole(text) == text


def test_bidirectional_overrides_become_visible() -> None:
    assert whole("ab\u202ecd\u2066") == "ab<U+202E>cd<U+2066>"


@pytest.mark.parametrize(
    ("sequence", "kept"),
    [
        ("\x1b[m", "\x1b[m"),
        ("\x1b[0m", "\x1b[0m"),
        ("\x1b[1;31m", "\x1b[1;31m"),
        ("\x1b[38;5;8m", "\x1b[38;5;8m"),
        ("\x1b[48;2;8;8;8m", "\x1b[48;2;8;8;8m"),
        ("\x1b[38:5:8m", "\x1b[38:5:8m"),
        ("\x1b[4:3m", "\x1b[4:3m"),
        ("\x1b[58;5;8;1m", "\x1b[58;5;8;1m"),
        ("\x1b[8m", ""),
        ("\x1b[08m", ""),
        ("\x1b[1;8m", "\x1b[1m"),
        ("\x1b[8;1m", "\x1b[1m"),
        ("\x1b[;8m", "\x1b[m"),
        ("\x1b[38;5;8;8m", "\x1b[38;5;8m"),
        ("\x1b[38;5;1;8;48;5;8m", "\x1b[38;5;1;48;5;8m"),
        ("\x1b[38;8m", ""),
        ("\x1b[8:1m", ""),
        ("\x1b[28m", "\x1b[28m"),
        ("\x9b31m", ""),
    ],
)
def test_colours_stay_and_conceal_goes(sequence: str, kept: str) -> None:
    assert whole(f"a{sequence}b") == f"a{kept}b"


def test_visualize_marks_each_dropped_sequence() -> None:
    assert whole("a\x1b[2Jb\x1b]0;t\x07c\rd\x1b[1me", "visualize") == f"a{MARK}b{MARK}c{MARK}d\x1b[1me"
    assert whole("a\x1b]0;cut", "visualize") == f"a{MARK}"


def test_off_changes_nothing() -> None:
    text = "".join(CORPUS.values())
    assert whole(text, "off") == text


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="some"):
        Sanitizer("some")


def test_a_string_that_never_ends_does_not_swallow_the_answer() -> None:
    sanitizer = Sanitizer()
    shown = sanitizer.feed("before \x1b]0;") + sanitizer.feed("x" * (STRING_LIMIT - 2)) + sanitizer.feed(" after")
    assert shown == "before  after"
    sanitizer = Sanitizer()
    assert sanitizer.feed("\x1b[" + "1;" * CSI_LIMIT + "mrest").endswith("mrest")


def test_time_grows_with_the_text_alone() -> None:
    def seconds(text: str, size: int) -> float:
        sanitizer = Sanitizer()
        began = time.process_time()
        for start in range(0, len(text), size):
            sanitizer.feed(text[start : start + size])
        return time.process_time() - began

    for text, size in (
        ("\x1b[" * 500_000, 65536),
        ("\x1b]" * 500_000, 65536),
        ("\x1b]0;" + "x" * 1_000_000, 3),
        ("\x1b[" + "1;" * 500_000, 7),
        ("plain text of an answer\n" * 40_000, 5),
        ("\r\x00" * 500_000, 65536),
    ):
        assert seconds(text, size) < 8


@patient
@given(HOSTILE)
def test_a_title_is_one_clean_line(text: str) -> None:
    line = one_line(text)
    assert not any(character < " " or "\x7f" <= character < "\xa0" for character in line)
    assert "\u2028" not in line
    assert "\u202e" not in line


def test_a_title_keeps_its_words() -> None:
    assert one_line("a\tb\nc\r\nd\x1b[31me\x1b]0;t\x07f\x9bJ") == "a b c def"
    assert one_line("\x1b[31mx\x1b[2J \x1b]2;owned\x1b\\y") == "x y"


@pytest.mark.parametrize(
    "end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_a_title_has_a_space_where_a_line_ended(end: str) -> None:
    assert one_line(f"a{end}b") == "a b"


CUT = [
    "\x1b[31m",
    "\x1b[2J",
    "\x9b2J",
    "\x1b]0;t\x07",
    "\x1b]2;t\x1b\\",
    "\x9d0;t\x9c",
    "\x1bPq\x1b\\",
    "\x1b(0",
    "\x1bc",
]
WHOLE = st.sampled_from([*CUT, *"\x00\x07\x08\x7f\x84\x9c"])


@patient
@given(st.lists(st.tuples(st.text("ab [;]mJ0漢", max_size=5), WHOLE)))
def test_a_title_keeps_nothing_of_a_sequence(pieces: list[tuple[str, str]]) -> None:
    assert one_line("".join(plain + sequence for plain, sequence in pieces)) == "".join(plain for plain, _ in pieces)


@patient
@given(st.text())
def test_nothing_ends_an_osc_early(text: str) -> None:
    clean = osc_text(text)
    assert not any(character < " " or "\x7f" <= character < "\xa0" for character in clean)
    assert clean == "".join(c for c in text if not (c < " " or "\x7f" <= c < "\xa0"))


@patient
@given(HOSTILE, st.lists(st.integers(0, 5), max_size=40), st.booleans())
def test_the_cutter_loses_nothing(text: str, sizes: list[int], c1: bool) -> None:
    cutter = Escapes(c1=c1)
    pieces = [piece for part in cut(text, sizes) for _, piece in cutter.feed(part)]
    assert "".join(pieces) + cutter.end() == text


@patient
@given(HOSTILE, st.lists(st.integers(0, 5), max_size=40))
def test_a_channel_without_escapes_gets_none_however_it_is_written(text: str, sizes: list[int]) -> None:
    strip = Strip()
    written = "".join(map(strip.feed, cut(text, sizes)))
    assert "\x1b" not in written
    assert written == Strip().feed(text)


@pytest.mark.req("104-19")
def test_a_channel_that_cannot_be_repainted_keeps_style_alone() -> None:
    strip = Strip(keep_style=True, drop_returns=True)
    text = "\r\x1b[K\x1b[31mred\x1b[0m\x1b[2A\x1b[?25l \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b]0;t\x07\x1b[>4m\r\n"
    assert strip.feed(text) == "\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"
