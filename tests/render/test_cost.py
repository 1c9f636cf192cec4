"""The cost of rendering grows with the length of the text and with nothing else, whatever the text is made for."""

from __future__ import annotations

import time

import pytest

from jp.render.markdown import MarkdownStream
from jp.render.style import MarkdownStyle
from tests.render.documents import ANSWER

SIZE = 24_000
TIMES = 4
CHUNK = 9


def repeated(piece: str, size: int = SIZE) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def nested_items(size: int) -> str:
    parts, length = [], 0
    while length < size:
        for depth in range(60):
            parts.append(f"{'  ' * depth}- a\n")
            length += len(parts[-1])
    return "".join(parts)[:size]


HOSTILE = {
    "one long word": lambda size: "a" * size,
    "one long line": lambda size: repeated("word ", size),
    "stars": lambda size: "x" + "*" * size,
    "openers": lambda size: repeated("*a ", size),
    "closers": lambda size: "*" + repeated("a_ b* c** ", size),
    "brackets": lambda size: repeated("[", size),
    "closing brackets": lambda size: repeated("[", size // 2) + repeated("]", size // 2),
    "link starts": lambda size: repeated("[a](", size),
    "link titles": lambda size: repeated('[a](b "', size),
    "link targets": lambda size: repeated("[a](<b ) ", size),
    "images around links": lambda size: repeated("![", size // 3) + repeated("[a](b) ", size),
    "links in brackets": lambda size: repeated("[", size // 3) + repeated("[a](b) ", size),
    "parentheses": lambda size: "[a](" + repeated("(", size),
    "backticks of all lengths": lambda size: repeated("".join("`" * length + " " for length in range(1, 200)), size),
    "backticks left open": lambda size: "``" + repeated(" ` a", size),
    "tags left open": lambda size: repeated("<a ", size),
    "attributes left open": lambda size: repeated('<a b="', size),
    "comments left open": lambda size: repeated("<!-- ", size),
    "spaces in a tag": lambda size: "<a" + " " * size + "<",
    "entities": lambda size: repeated("&a", size),
    "backslashes": lambda size: "\\" * size,
    "tildes": lambda size: repeated("~~a ", size),
    "addresses": lambda size: repeated("http://a.b/( ", size),
    "one address": lambda size: "http://" + ")" * size,
    "quotes in quotes": lambda size: repeated("> ", size),
    "lists in lists": lambda size: repeated("- ", size - 1) + "a",
    "numbers": lambda size: repeated("1. ", size),
    "items in items": nested_items,
    "empty lines in deep lists": lambda size: "- - - - - - - - a\n" + "\n" * size,
    "bars": lambda size: "|" * size,
    "heads of tables": lambda size: repeated("| a | b |\n", size),
    "tables": lambda size: repeated("| a | b |\n|---|---|\n", size),
    "rows": lambda size: "| a | b |\n|---|---|\n" + repeated("| one | *two* |\n", size),
    "one word in a cell": lambda size: "| a |\n|---|\n| " + "x" * size + " |\n",
    "an address with a long tail": lambda size: "http://a" + ")" * size + "b",
    "attributes": lambda size: "<a" + repeated(" b=c", size) + "<",
    "dashes": lambda size: "|-" + repeated(" ", size) + "x",
    "hashes": lambda size: "# " + repeated(" #", size) + "x",
    "fences": lambda size: repeated("```\n", size),
    "a fence left open": lambda size: "```c\n" + repeated("int a; /* b\n", size),
    "long lines of code": lambda size: "```c\n" + repeated("x" + " " * 300 + "\n", size),
    "words without spaces": lambda size: repeated("你好", size),
    "escapes": lambda size: repeated("\x1b[31ma ", size),
    "short lines": lambda size: repeated("a\n", size),
    "openers on every line": lambda size: repeated("`a **b [c\n", size),
}


def cost(text: str) -> float:
    """Seconds of this thread's processor time."""
    stream = MarkdownStream(MarkdownStyle())
    start = time.thread_time()
    for at in range(0, len(text), CHUNK):
        stream.feed(text[at : at + CHUNK])
    stream.end()
    return time.thread_time() - start


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_the_cost_of_hostile_text_is_linear(name: str) -> None:
    """Four times the text: linear is four times the cost, quadratic sixteen."""
    make = HOSTILE[name]
    measured = []
    for _ in range(3):  # others use this machine, too
        small, large = cost(make(SIZE)), cost(make(SIZE * TIMES))
        measured.append((small, large))
        if large < 8 * max(small, 0.02) and small < 1:
            return
    pytest.fail(f"seconds for a text and for four times as much: {measured}")


def test_a_megabyte_answer_takes_a_few_seconds_at_most() -> None:
    """The benchmark holds it to two; this machine may be doing other things."""
    text = repeated(ANSWER, 1_000_000)
    stream = MarkdownStream(MarkdownStyle())
    stream.feed(ANSWER)  # what is loaded at first use is not counted
    start = time.thread_time()
    for at in range(0, len(text), 400):
        stream.feed(text[at : at + 400])
    stream.end()
    assert time.thread_time() - start < 5
