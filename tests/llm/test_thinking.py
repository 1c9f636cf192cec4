"""Reasoning that comes inside the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.llm.chat_stream import ChatParser
from jp.llm.events import Event, Finish, Message, Reasoning, joined
from jp.llm.thinking import InlineThinking
from tests.llm.test_chat_stream import DONE, STOP, chunk


def split(*pieces: str) -> list[Event]:
    inline = InlineThinking()
    return joined([event for piece in pieces for event in inline.feed(piece)] + inline.end())


CASES: list[tuple[str, list[Event]]] = [
    ("Hello", [Message("Hello")]),
    ("<think>hm</think>Hello", [Reasoning("hm"), Message("Hello")]),
    ("\n<think>\nhm\n\nhm\n</think>\n\nHello\n", [Reasoning("hm\n\nhm"), Message("Hello\n")]),
    ("<think></think>Hello", [Message("Hello")]),
    ("<think>\n\n</think>\n\nHello", [Message("Hello")]),
    ("<think>cut o", [Reasoning("cut o")]),
    ("<think>cut in </thi", [Reasoning("cut in </thi")]),
    ("<think>a < b </ c</think>d", [Reasoning("a < b </ c"), Message("d")]),
    ("Use <think>this</think>", [Message("Use <think>this</think>")]),
    ("<think>a</think>b<think>c</think>", [Reasoning("a"), Message("b<think>c</think>")]),
    ("<thin", [Message("<thin")]),
    ("<thinking>", [Message("<thinking>")]),
    ("  ", [Message("  ")]),
    ("<think>", []),
    ("<think>a</think>\n", [Reasoning("a")]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_cases(text: str, expected: list[Event]) -> None:
    assert split(text) == expected
    assert split(*text) == expected


FRAGMENTS = st.sampled_from(["<think>", "</think>", "<", "/", "think", ">", " ", "\n", "word"])


@given(st.lists(FRAGMENTS, max_size=20), st.lists(st.integers(1, 9), max_size=40))
def test_the_same_however_it_is_cut(fragments: list[str], sizes: list[int]) -> None:
    text, pieces, at = "".join(fragments), [], 0
    for size in [*sizes, len(text)]:
        pieces.append(text[at : at + size])
        at += size
    assert split(*pieces) == split(text)


def test_in_an_answer() -> None:
    wire = [chunk(content="<thi"), chunk(content="nk>hm</think>"), chunk(content="Yes"), STOP, DONE]
    for inline, expected in ((True, [Reasoning("hm"), Message("Yes")]), (False, [Message("<think>hm</think>Yes")])):
        parser = ChatParser("http://h", inline_thinking=inline)
        events = [event for data in wire for event in parser.feed(data)] + parser.close()
        assert joined(events) == [*expected, Finish("stop")]


def test_what_is_held_when_the_stream_is_cut_is_not_lost() -> None:
    parser = ChatParser("http://h", inline_thinking=True)
    assert parser.feed(chunk(content="<thi")) == []
    assert parser.close() == [Message("<thi")]
    assert parser.error is not None
