"""What each kind of value takes, what it becomes, and what it refuses."""

from typing import Any

import pytest

from jp.config.containers import Items, Text, Word
from jp.config.kinds import SHOWN, Choice, Flag, Form, Kind, Mismatch, Number, Whole
from jp.config.sections.conversation import Bound
from jp.config.sections.tools import Source
from jp.config.special import Duration, Effort, Enable, ModelId, Reasoning, Truncation, colour, link_style, spell
from jp.config.tables import OneOf, Table

LINES = Truncation(("off", "full"), "lines", 10, "")

TAKEN: list[tuple[Kind, object, object]] = [
    (Flag(), True, True),
    (Whole(), 3, 3),
    (Whole(minimum=-5), -5, -5),
    (Number(), 1, 1.0),
    (Number(), 0.5, 0.5),
    (Word(), "", ""),
    (Choice((False, True, "always")), False, False),
    (Choice((False, True, "always")), "always", "always"),
    (Choice(("a",), synonyms={"b": "a"}), "b", "a"),
    (link_style("full", ""), True, "full"),
    (link_style("full", ""), False, "off"),
    (Duration(), "200ms", 0.2),
    (Duration(), "500us", 0.0005),
    (Duration(), "1m 30s", 90.0),
    (Duration(), "0", 0.0),
    (Duration(), "10", 0.01),
    (Duration(), 10, 0.01),
    (Duration(), {"secs": 1, "nanos": 500_000_000}, 1.5),
    (ModelId(), "a/b", "a/b"),
    (ModelId(), {"provider": "a", "name": "b/c"}, "a/b/c"),
    (LINES, "full", "full"),
    (LINES, 3, 3),
    (LINES, "3", 3),
    (LINES, True, "full"),
    (LINES, {"truncate": {"lines": 4}}, 4),
    (Effort(), "xhigh", "xhigh"),
    (Effort(), 4096, 4096),
    (Effort(), {"absolute": 12}, 12),
    (Reasoning(""), "off", "off"),
    (Reasoning(""), "auto", "auto"),
    (Reasoning(""), False, "off"),
    (Reasoning(""), "high", {"effort": "high"}),
    (Reasoning(""), 2000, {"effort": 2000}),
    (Reasoning(""), {"effort": "low", "exclude": True}, {"effort": "low", "exclude": True}),
    (Enable(""), True, {"state": True, "allow_toggle": "any"}),
    (Enable(""), "explicit", {"state": False, "allow_toggle": "if_named"}),
    (Enable(""), "always", {"state": True, "allow_toggle": "never"}),
    (Enable(""), {"state": False}, {"state": False}),
    (colour(None, ""), 236, 236),
    (colour(None, ""), "#3C3836", "#3C3836"),
    (Bound(), 3, "3"),
    (Bound(), "5h", "5h"),
    (Bound(), "Last", "last"),
    (Source(), "mcp.server.tool", "mcp.server.tool"),
    (Source(), "builtin", "builtin"),
    (Items(Word()), ["a"], ["a"]),
    (OneOf((Word(), Table({"a": Whole()}))), "x", "x"),
    (OneOf((Word(), Table({"a": Whole()}))), {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("kind", "value", "expected"), TAKEN)
def test_a_value_is_brought_into_its_canonical_form(kind: Kind, value: object, expected: object) -> None:
    read = kind.read(value)
    assert read == expected
    assert type(read) is type(expected)


REFUSED: list[tuple[Kind, object]] = [
    (Flag(), 1),
    (Flag(), "true"),
    (Whole(), True),
    (Whole(), -1),
    (Whole(), 1.0),
    (Whole(maximum=3), 4),
    (Whole(), 2**32),
    (Duration(), "99999999d"),
    (Number(), "1"),
    (Number(), float("nan")),
    (Number(), float("inf")),
    (Word(), 1),
    (Word(), {"value": 1}),
    (Choice((False, True, "always")), "sometimes"),
    (Choice((False, True, "always")), 1),
    (Choice((False, True, "always")), 0),
    (Duration(), "5notaunit"),
    (Duration(), "-1s"),
    (Duration(), ""),
    (Duration(), True),
    (ModelId(), ""),
    (ModelId(), {"provider": "a"}),
    (ModelId(), {"provider": "a", "name": ""}),
    (LINES, -1),
    (LINES, "some"),
    (Effort(), "huge"),
    (Reasoning(""), "huge"),
    (Reasoning(""), {"efort": "low"}),
    (Enable(""), "maybe"),
    (Enable(""), {"state": "yes"}),
    (colour(None, ""), 256),
    (colour(None, ""), "#12345"),
    (Bound(), "some"),
    (Source(), "mcp"),
    (Source(), "mcp..tool"),
    (Source(), "remote"),
    (Text(), {"value": "x", "strategy": "add"}),
    (Text(), {"value": "x", "stratgy": "append"}),
    (Items(Word()), "a"),
    (Items(Word()), [1]),
    (Items(Word()), {"value": ["a"], "dedup": "block"}),
    (Table({"a": Whole()}), []),
    (Table({"a": Whole()}), {"b": 1}),
    (Items(Table({"a": Whole(), "b": Whole()}, required=("a",))), [{"b": 1}]),
    (OneOf((Word(), Table({"a": Whole()}))), {"a": "x"}),
    (OneOf((Word(), Table({"a": Whole()}))), 1),
]


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_what_does_not_fit_is_refused(kind: Kind, value: object) -> None:
    with pytest.raises(Mismatch):
        kind.read(value)


PARSED: list[tuple[Kind, str, object]] = [
    (Flag(), "true", True),
    (Flag(), "False", False),
    (Whole(), "12", 12),
    (Number(), "0.5", 0.5),
    (Word(), "true", "true"),
    (Choice((False, True, "always", "never")), "true", True),
    (Choice((False, True, "always", "never")), "always", "always"),
    (link_style("full", ""), "false", False),
    (LINES, "12", "12"),
    (Enable(""), "true", True),
    (Items(Word()), "a, b", ["a", "b"]),
    (Items(Word()), "", []),
    (Items(Word(), commas=False), "a,b", ["a,b"]),
    (Items(Table({"title": Word()}, from_text="title"), commas=False), "a", [{"title": "a"}]),
    (OneOf((Whole(maximum=255), Word())), "12", 12),
    (OneOf((Whole(maximum=255), Word())), "x", "x"),
]


@pytest.mark.parametrize(("kind", "text", "expected"), PARSED)
def test_a_word_from_outside_becomes_the_value_that_the_key_takes(kind: Kind, text: str, expected: Any) -> None:
    parsed = kind.parse(text)
    assert parsed == expected
    assert type(parsed) is type(expected)
    kind.read(parsed)


@pytest.mark.parametrize(("kind", "text"), [(Flag(), "yes"), (Whole(), "x"), (Number(), ""), (Table({}), "x")])
def test_a_word_that_stands_for_nothing_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(Mismatch):
        kind.parse(text)


STORED: list[tuple[Kind, object, object, object]] = [
    (Duration(), 0.0005, "500us", "500us"),
    (LINES, 10, {"truncate": {"lines": 10}}, 10),
    (ModelId(), "a/b", {"provider": "a", "name": "b"}, "a/b"),
    (ModelId(), "short", {"provider": "x", "name": "y"}, "short"),
    (ModelId(), "nobody", "nobody", "nobody"),
    (Enable(""), {"state": False, "allow_toggle": "if_named"}, "explicit", "explicit"),
    (Enable(""), {"state": True, "allow_toggle": "any"}, True, True),
    (Enable(""), {"state": True, "allow_toggle": "if_named"}, {"state": True, "allow_toggle": "if_named"}, None),
]


@pytest.mark.parametrize(("kind", "value", "stored", "shown"), STORED)
def test_values_are_written_in_the_form_they_came_in(kind: Kind, value: Any, stored: object, shown: object) -> None:
    assert kind.write(value, Form(True, {"short": "x/y"})) == stored
    assert kind.read(stored) == kind.read(kind.write(value, Form(True, {"short": "x/y"})))
    if shown is not None:
        assert kind.write(value, SHOWN) == shown


@pytest.mark.parametrize(
    ("length", "text"), [(0.0, "0s"), (0.003, "3ms"), (1.5, "1s 500ms"), (3661.0, "1h 1m 1s"), (0.000001, "1us")]
)
def test_durations_are_spelled_as_they_are_read(length: float, text: str) -> None:
    assert spell(length) == text
    assert Duration().read(text) == pytest.approx(length)
