"""Titles that need no model."""

import pytest

from jp.turn.title import from_heading, from_words


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Fix the parser\n\nIt breaks.", "Fix the parser"),
        ("\n## Two ##\nx", "Two"),
        ("#hashtag is no heading", None),
        ("# ", None),
        ("plain", None),
        ("####### seven", None),
        ("# " + "word " * 30, "word word word word word word word word word word word…"),
    ],
)
def test_a_heading_is_the_title(text, title):
    assert from_heading(text) == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("why  does\tthis fail?", "why does this fail?"),
        ("\n\nfirst\nsecond", "first"),
        ("", None),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_else_the_first_words_are(text, title):
    assert from_words(text) == title
