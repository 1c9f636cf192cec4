"""Going on with an answer that was cut off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation.thread import Message, Text, Thread
from jp.llm.continuation import MIN_OVERLAP, WINDOW, Overlap, overlap, thread_for

PARTIAL = "The quick brown fox jumps over the lazy dog. It runs aw"


def continued(partial: str, *pieces: str) -> str:
    new = Overlap(partial)
    return "".join([*map(new.feed, pieces), new.end()])


@pytest.mark.parametrize(
    ("continuation", "expected"),
    [
        ("ay.", "ay."),
        (" away.", " away."),
        ("It runs away.", "ay."),
        ("dog. It runs away.", "ay."),
        ("The quick brown fox jumps over the lazy dog. It runs away.", "ay."),
        (PARTIAL, ""),
        ("", ""),
        ("aw", "aw"),
        ("runs aw", ""),
        ("Something else", "Something else"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_what_is_there_already_is_removed(continuation: str, expected: str, size: int) -> None:
    pieces = [continuation[at : at + size] for at in range(0, len(continuation), size)]
    assert continued(PARTIAL, *pieces) == expected


TEXT = st.text(alphabet="ab \n", max_size=60)


@given(TEXT, TEXT, st.lists(st.integers(1, 9), max_size=30))
def test_the_same_however_the_continuation_is_cut(partial: str, text: str, sizes: list[int]) -> None:
    pieces, at = [], 0
    for size in [*sizes, len(text)]:
        pieces.append(text[at : at + size])
        at += size
    assert continued(partial, *pieces) == continued(partial, text)


@given(st.text(max_size=200), st.integers(0, 200), st.text(max_size=50))
def test_a_repeated_end_never_appears_twice(partial: str, back: int, more: str) -> None:
    repeated = partial[len(partial) - min(back, len(partial)) :]
    joined = partial + continued(partial, repeated + more)
    if len(repeated) >= MIN_OVERLAP:
        assert len(joined) <= len(partial) + len(more)
        assert (partial + more).endswith(joined[len(partial) :])


@given(TEXT, TEXT)
def test_nothing_new_is_lost(partial: str, text: str) -> None:
    new = continued(partial, text)
    assert text.endswith(new)
    dropped = text[: len(text) - len(new)]
    assert partial.endswith(dropped)
    assert not dropped or len(dropped) >= MIN_OVERLAP - 1  # a word that is begun again


def test_a_partial_of_a_letter_loses_nothing() -> None:
    assert continued("a", "aaaa") == "aaaa"
    assert continued("the", "them") == "m"


def test_new_text_is_not_held_back() -> None:
    new = Overlap(PARTIAL)
    assert new.feed("zz") == "zz"
    assert new.feed(" top") == " top"


def test_a_long_partial_is_looked_at_from_its_end() -> None:
    partial = "x" * (WINDOW * 3) + "the very end"
    assert continued(partial, "the very end, and more") == ", and more"
    assert overlap("abc", "abc") == 0


def test_the_thread_asks_to_go_on() -> None:
    thread = Thread(["sys"], [Message("user", [Text("hi")])])
    longer = thread_for(thread, "Hel")
    assert [message.role for message in longer.messages] == ["user", "assistant", "user"]
    assert longer.messages[1].parts == [Text("Hel")]
    assert "cut off" in longer.messages[2].parts[0].text  # type: ignore[union-attr]
    assert len(thread.messages) == 1
    assert longer.system == ["sys"]


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("Half of the wor", "word and more", "Half of the word and more"),
        ("Half of the wor", "ld and more", "Half of the world and more"),
        ("Half of the", " other", "Half of the other"),
        ("a cat", "catalogue", "a catalogue"),
        ("x=1", "1+2", "x=11+2"),
        ("wor", "word", "word"),
    ],
)
def test_a_word_that_is_begun_again_is_there_once(before: str, after: str, whole: str) -> None:
    assert before + after[overlap(before, after) :] == whole
