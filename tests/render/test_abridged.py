"""Arguments of any size, cut."""

import time
from typing import Any

from jp.render.abridged import CHARACTERS, ITEMS, abridged


def test_what_is_small_stays_as_it_is() -> None:
    value = {"path": "a", "edits": [{"old": "x", "new": None}], "n": 1.5, "deep": [[[]]]}
    assert abridged(value) == value


def test_what_is_left_out_is_said() -> None:
    cut = abridged({"list": list(range(ITEMS + 5)), "text": "a" * CHARACTERS + "the end"})
    assert cut["list"][-1] == "… 5 more items"
    assert len(cut["list"]) == ITEMS + 1
    assert "… 7 more characters …" in cut["text"]
    assert cut["text"].endswith("the end")
    assert abridged({str(n): n for n in range(ITEMS + 1)})["…"] == "1 more items"


def test_the_worst_takes_no_time() -> None:
    wide: Any = [["abc"] * 1000] * 1000
    deep: Any = []
    for _ in range(5000):
        deep = [deep, "x"]
    began = time.process_time()
    for value in ({"a": ["abc"] * 1_000_000}, {"a": wide}, {"a": deep}, {"a": [wide] * 1000}):
        abridged(value)
    assert time.process_time() - began < 1
