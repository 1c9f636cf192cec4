"""Bytes of a terminal become keys, pastes and answers, however they are cut."""

import itertools
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jp.prompt import keys, pasting
from jp.prompt.keys import Key, KeyReader, Paste, Press, Reply, Token

START, END = b"\x1b[200~", b"\x1b[201~"


def alt(name: str) -> Key:
    return Key(name, alt=True)


def other(text: str) -> Reply:
    return Reply("other", text)


def rest(reader: KeyReader) -> list[Token]:
    """What comes when nothing comes any more."""
    tokens: list[Token] = []
    for _ in range(10):
        if reader.waiting is None:
            return tokens
        tokens += reader.silence()
    raise AssertionError("something is pending for ever")


def read(*pieces: bytes) -> list[Token]:
    reader = KeyReader()
    return [token for piece in pieces for token in reader.feed(piece)] + rest(reader)


TABLE: list[tuple[bytes, list[Token]]] = [
    # characters and controls
    (b"", []),
    (b"a Z", [Key("a"), Key(" "), Key("Z")]),
    ("é漢👍".encode(), [Key("é"), Key("漢"), Key("👍")]),
    (b"\r\n\t\x7f\x08", [Key("enter"), Key("c-j"), Key("tab"), Key("backspace"), Key("c-h")]),
    (b"\x00\x01\x1a\x1c\x1d\x1e\x1f", [Key("c-" + name) for name in "@az\\]^_"]),
    (b"\x03", [Press()]),
    (b"a\x03b", [Key("a"), Press(), Key("b")]),
    # what is not UTF-8, and what no key sends
    (b"a\xffb", [Key("a"), Key("\ufffd"), Key("b")]),
    (b"\xe4\xbd", [Key("\ufffd")]),
    (b"\xe4\x1b[A", [Key("\ufffd"), Key("up")]),
    (b"\xed\xa0\x80", [Key("\ufffd")] * 3),
    (b"\xc2\x9b31m", [Key("3"), Key("1"), Key("m")]),
    # ESC and Alt
    (b"\x1b", [Key("escape")]),
    (b"\x1b\x1b", [Key("escape")] * 2),
    (b"\x1b\x03", [Key("escape"), Press()]),
    (b"\x1bx\x1b\xc3\xa9", [alt("x"), alt("é")]),
    (b"\x1b\r\x1b\n\x1b\x7f\x1b\x01", [alt("enter"), alt("c-j"), alt("backspace"), alt("c-a")]),
    (b"\x1b[", [alt("[")]),
    (b"\x1bO", [alt("O")]),
    (b"\x1bP", [alt("P")]),
    (b"\x1b\x1b[", [Key("escape"), alt("[")]),
    (b"\x1b[\r", [alt("["), Key("enter")]),
    (b"\x1b\x1b[A", [alt("up")]),
    (b"\x1b\x1bOB", [alt("down")]),
    (b"\x1b\x1bx", [Key("escape"), alt("x")]),
    (b"\x1b\x1b\x1b[C", [Key("escape"), alt("right")]),
    (b"\x1b\x1b[200~x\x1b[201~", [Key("escape"), Paste("x")]),
    (b"\x1b\x1b[?1u", [Key("escape"), Reply("keyboard", "[?1u")]),
    (b"\x1b\xc2\x9b", []),
    # CSI and SS3
    (b"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F", [Key(k) for k in ("up", "down", "right", "left", "home", "end")]),
    (b"\x1bOA\x1bOH\x1bOP\x1bOS", [Key("up"), Key("home"), Key("f1"), Key("f4")]),
    (b"\x1bOM\x1bOp\x1bOk", [Key("enter"), Key("0"), Key("+")]),
    (b"\x1b[1~\x1b[2~\x1b[3~\x1b[4~", [Key("home"), Key("insert"), Key("delete"), Key("end")]),
    (b"\x1b[5~\x1b[6~\x1b[7~\x1b[8~", [Key("pageup"), Key("pagedown"), Key("home"), Key("end")]),
    (b"\x1b[11~\x1b[15~\x1b[17~\x1b[24~\x1b[34~", [Key("f1"), Key("f5"), Key("f6"), Key("f12"), Key("f20")]),
    (b"\x1b[[A\x1b[[E\x1b[[Z", [Key("f1"), Key("f5"), other("[[Z")]),
    (b"\x1b[Z\x1b[1;5Z", [Key("s-tab"), Key("c-s-tab")]),
    (b"\x1b[1;5D\x1b[1;2A\x1b[1;6D", [Key("c-left"), Key("s-up"), Key("c-s-left")]),
    (b"\x1b[1;3C\x1b[3;3~\x1b[1;7D", [alt("right"), alt("delete"), alt("c-left")]),
    (b"\x1b[5D\x1bO5D\x1b[1;2P\x1bO1;5Q", [Key("c-left"), Key("c-left"), Key("s-f1"), Key("c-f2")]),
    (b"\x1b[3$\x1b[3^\x1b[3@", [Key("s-delete"), Key("c-delete"), Key("c-s-delete")]),
    (b"\x1b[a\x1bOd", [Key("s-up"), Key("c-left")]),
    (b"\x1b[1;9A", [other("[1;9A")]),
    # xterm's modifyOtherKeys
    (b"\x1b[27;2;13~\x1b[27;5;13~\x1b[27;3;13~", [Key("s-enter"), Key("c-enter"), alt("enter")]),
    (b"\x1b[27;5;120~\x1b[27;5;99~\x1b[27;6;88~", [Key("c-x"), Press(), Key("c-s-x")]),
    (b"\x1b[27;5;105~\x1b[27;2;9~\x1b[27;2;65~", [Key("tab"), Key("s-tab"), Key("A")]),
    (b"\x1b[27;5;128512~", [Key("c-😀")]),
    (b"\x1b[27;5;155~\x1b[27;5;55296~\x1b[27;5;1114112~", [other(f"[27;5;{n}~") for n in (155, 55296, 1114112)]),
    # kitty
    (b"\x1b[97u\x1b[27u\x1b[13u\x1b[9u\x1b[127u", [Key(k) for k in ("a", "escape", "enter", "tab", "backspace")]),
    (b"\x1b[99;5u\x1b[97;5u\x1b[13;2u", [Press(), Key("c-a"), Key("s-enter")]),
    (b"\x1b[99;6u\x1b[97;3u\x1b[97;4u", [Key("c-s-c"), alt("a"), alt("A")]),
    (b"\x1b[91;5u\x1b[47;5u\x1b[32;5u\x1b[109;5u", [Key("escape"), Key("c-_"), Key("c-@"), Key("enter")]),
    (b"\x1b[1089::99;5u\x1b[1092::97;5u", [Press(), Key("c-a")]),
    (b"\x1b[49:33;2u\x1b[97:65:97;2u", [Key("!"), Key("A")]),
    (b"\x1b[97;1:1u\x1b[97;1:2u\x1b[97;1:3u", [Key("a"), Key("a")]),
    (b"\x1b[1;1:3A\x1b[3;5:3~\x1b[99;5:3u", []),
    (b"\x1b[97;193u\x1b[97;65u\x1b[1;129A", [Key("a"), Key("a"), Key("up")]),
    (b"\x1b[97;;229u\x1b[0;;97:98u", [Key("å"), Key("a"), Key("b")]),
    (b"\x1b[97;;27u\x1b[27;;155u", [Key("a"), Key("escape")]),
    (b"\x1b[57399u\x1b[57414u\x1b[57419;5u\x1b[57376u", [Key("0"), Key("enter"), Key("c-up"), Key("f13")]),
    (b"\x1b[57441u\x1b[57358u", [other("[57441u"), other("[57358u")]),
    (b"\x1b[99;9u", [other("[99;9u")]),
    (b"\x1b[3u\x1b[55296u\x1b[u\x1b[99999999999u", [other(f"[{n}u") for n in ("3", "55296", "", "99999999999")]),
    # answers
    (b"\x1b[?1u\x1b[?0u", [Reply("keyboard", "[?1u"), Reply("keyboard", "[?0u")]),
    (b"\x1b[?62;22c", [Reply("device", "[?62;22c")]),
    (b"\x1b[>1;10;0c\x1b[12;40R", [other("[>1;10;0c"), other("[12;40R")]),
    (b"\x1b[?2026;2$y\x1b[4;1$y", [other("[?2026;2$y"), other("[4;1$y")]),
    (b"\x1b[I\x1b[O", [other("[I"), other("[O")]),
    (b"\x1b[<0;3;4M\x1b[M !!a", [other("[<0;3;4M"), other("[M !!"), Key("a")]),
    (b"\x1b]11;rgb:0/0/0\x1b\\a", [other("]11;rgb:0/0/0\\"), Key("a")]),
    (b"\x1b]11;rgb:0/0/0\x07a", [other("]11;rgb:0/0/0"), Key("a")]),
    (b"\x1bP1$r0m\x1b\\\x1b_Gi=1;OK\x1b\\a", [other("P1$r0m\\"), other("_Gi=1;OK\\"), Key("a")]),
    (b"\x1bPx\x07y\x1b\\", [other("Pxy\\")]),
    (b"\x1b]11;\x1b[A", [other("]11;"), Key("up")]),
    (b"\x1b]11;\x18a", [other("]11;"), Key("a")]),
    # broken off
    (b"\x1b[1;5", [other("[1;5")]),
    (b"\x1b[1;5\xc3\xa9", [other("[1;5"), Key("é")]),
    (b"\x1b[1\x1b[A", [other("[1"), Key("up")]),
    (b"\x1b]11;rgb", [other("]11;rgb")]),
    (b"\x1b[1;\x035D", [Press(), Key("c-left")]),
    (b"\x1b[!p", [other("[!p")]),
    (b"\x1b[201~", [other("[201~")]),
    # pastes
    (START + b"hello" + END, [Paste("hello")]),
    (START + END, [Paste("")]),
    (START + b"a\r\nb\rc\nd\te" + END, [Paste("a\nb\nc\nd\te")]),
    (START + b"a\x1b[31mb\x00\x7f\xc2\x9bc\xff" + END, [Paste("a[31mbc\ufffd")]),
    (START + b"a\x03b" + END, [Press(), Paste("ab")]),
    (START + b"a" + END + b"x\r", [Paste("a"), Key("x"), Key("enter")]),
    (START + b"a" + END + b"\rrm -rf\r" + END, [Paste("a\nrm -rf\n")]),
    (START + b"a" + END + START + b"b" + END, [Paste("ab")]),
    (START + b"a" + END + b"\x1b[A", [Paste("a"), Key("up")]),
    (START + b"a" + END + START + b"b", [Paste("a"), Paste("b")]),
    (START + b"never ended\r", [Paste("never ended\n")]),
    (START + b"half a mark\x1b[20", [Paste("half a mark[20")]),
    (START + b"\x1b[20\x1b[201~1~" + END, [Paste("[201~")]),
    (START + b"cut\xe4", [Paste("cut\ufffd")]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), TABLE)
def test_bytes_are_tokens_in_one_piece_and_byte_by_byte(data: bytes, expected: list[Token]) -> None:
    assert read(data) == expected
    assert read(*[data[n : n + 1] for n in range(len(data))]) == expected


FRAGMENTS = st.one_of(
    st.sampled_from([row[0] for row in TABLE if row[0]] + [START, END, b"\x1b", b"\x1b[", b"\x1b]", b"\r", b"\x03"]),
    st.binary(max_size=6),
    st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass")),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAGMENTS, max_size=8).map(b"".join), st.lists(st.integers(0, 60), max_size=8))
@example(b"\xed\xa0\x80\xf4\x90\x80\x80", list(range(8)))
@example(b"\x1b\x1b\xe4\x03\x1b[\x03A", list(range(8)))
def test_where_the_bytes_are_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(data)]
    whole = read(data)
    assert read(*[data[a:b] for a, b in itertools.pairwise(edges)]) == whole
    assert read(*[data[n : n + 1] for n in range(len(data))]) == whole
    for token in whole:
        text = token.text if isinstance(token, Paste | Reply) else token.name if isinstance(token, Key) else ""
        allowed = "\n\t" if isinstance(token, Paste) else ""
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in allowed], token


def test_what_waits_says_for_how_long() -> None:
    reader = KeyReader()
    for data, secs in [
        (b"\x1b", keys.ESC_SECS),
        (b"\x1b[", keys.ESC_SECS),
        (b"\x1b[1", keys.SEQUENCE_SECS),
        (b"\xe4", keys.SEQUENCE_SECS),
        (START + b"x", keys.PASTE_IDLE_SECS),
        (START + b"x" + END, keys.PASTE_QUIET_SECS),
    ]:
        assert reader.waiting is None
        assert reader.feed(data) == []
        assert reader.waiting == secs
        rest(reader)
    reader.kitty = True
    reader.feed(b"\x1b")
    assert reader.waiting == keys.SEQUENCE_SECS
    assert reader.silence() == [Key("escape")]


def test_keys_after_a_paste_are_held_for_a_moment_only() -> None:
    reader = KeyReader()
    assert reader.feed(START + b"a" + END + b"\r\x1b") == []
    assert reader.silence() == [Paste("a"), Key("enter")]
    assert reader.waiting == keys.ESC_SECS
    assert reader.silence() == [Key("escape")]


def test_a_large_paste_costs_little() -> None:
    text = "line é of text\r\n" * 6250
    data = START + text.encode() + END
    reader = KeyReader()
    begin = time.process_time()
    tokens = [token for n in range(0, len(data), 1024) for token in reader.feed(data[n : n + 1024])] + rest(reader)
    took = time.process_time() - begin
    assert tokens == [Paste(text.replace("\r\n", "\n"))]
    assert took < 0.05


def test_a_paste_of_many_marks_and_presses_costs_little() -> None:
    data = START + (b"x" + END + b"\x03\x1b[20") * 20_000
    reader = KeyReader()
    begin = time.process_time()
    tokens = reader.feed(data) + rest(reader)
    took = time.process_time() - begin
    assert tokens.count(Press()) == 20_000
    assert took < 1.0


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_paste_beyond_the_limit_comes_in_pieces_and_none_of_it_is_a_key(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pasting, "PASTE_LIMIT", 16)
    data = START + b"0123456789abcd\r\n" + END + b"x\ry" * 20 + END + b"k"
    tokens = read(*[data[n : n + size] for n in range(0, len(data), size)])
    assert tokens == read(data)
    assert tokens[-1] == Key("k")
    assert "".join(token.text for token in tokens if isinstance(token, Paste)) == "0123456789abcd\n" + "x\ny" * 20
    assert len(tokens) > 3


@pytest.mark.parametrize("opening", [b"\x1b]", b"\x1bP", b"\x1b[", b"\x1bO"])
def test_a_sequence_without_an_end_is_ended(opening: bytes) -> None:
    tokens = read(opening + b"1" * (keys.SEQUENCE_LIMIT - 2) + b"k")
    assert [type(token) for token in tokens] == [Reply, Key]
    assert tokens[-1] == Key("k")
    assert read(*[bytes([n]) for n in opening + b"1" * (keys.SEQUENCE_LIMIT - 2) + b"k"]) == tokens
