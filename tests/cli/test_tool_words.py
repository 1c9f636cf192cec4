"""Arguments as words of a command line, by a schema; and that schema in words."""

from typing import Any

import pytest

from jp.cli.tool_schema import MOST_ROWS, kinds, rows
from jp.cli.tool_words import Word, arguments, split
from jp.errors import UsageError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "list": {"type": "array"},
        "table": {"type": "object"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "referred": {"$ref": "#/$defs/Number"},
        "chosen": {"enum": [1, 2]},
        "free": {},
        "lost": {"$ref": "#/$defs/Nothing"},
        "loop": {"$ref": "#/$defs/Loop"},
        "odd": True,
    },
    "$defs": {"Number": {"type": "number", "description": "A number."}, "Loop": {"$ref": "#/$defs/Loop"}},
}


def made(*words: str) -> tuple[dict[str, Any], dict[str, str]]:
    return arguments([split(word, "key", lambda name: f"<{name}>") for word in words], {}, SCHEMA)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=a=b ", "a=b "),
        ("text=", ""),
        ("text=7", "7"),
        ("text=@", "@"),
        ("text=@x", "<x>"),
        ('text:="@x"', "@x"),
        ("count=-12", -12),
        ("share=0.5", 0.5),
        ("share=2", 2),
        ("share=1e3", 1000.0),
        ("sure=true", True),
        ("sure=False", False),
        ('list:=["a", 1]', ["a", 1]),
        ('table:={"a": {}}', {"a": {}}),
        ("maybe=4", 4),
        ("maybe=null", None),
        ("either=5", "5"),
        ("referred=2.5", 2.5),
        ("chosen=2", 2),
        ("free=5", "5"),
        ("lost=5", "5"),
        ("loop=5", "5"),
        ("odd=5", "5"),
        ("unheard=5", "5"),
        ("count:=1.5", 1.5),
    ],
)
def test_a_word_becomes_what_the_schema_wants(word: str, value: object):
    (key,) = {word.partition("=")[0].rstrip(":")}
    found, wrong = made(word)
    assert (found, wrong) == ({key: value}, {})
    assert type(found[key]) is type(value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("count=1.5", '`count` takes a whole number, not "1.5"'),
        ("count=", '`count` takes a whole number, not ""'),
        ("count=" + "9" * 5000, "`count` takes a whole number, not"),
        ("share=NaN", '`share` takes a number, not "NaN"'),
        ("share=Infinity", '`share` takes a number, not "Infinity"'),
        ("sure=yes", '`sure` takes true or false, not "yes"'),
        ("list=a,b", "`list` takes a list: write it as JSON, list:='[\"…\"]'"),
        ("table=a", "`table` takes an object: write it as JSON, table:='{…}'"),
    ],
)
def test_what_does_not_fit_is_said_with_what_would(word: str, said: str):
    found, wrong = made(word)
    assert found == {}
    assert next(iter(wrong.values())).startswith(said)


def test_what_is_given_twice_is_neither():
    assert made("text=a", "text=b", "count=1") == ({"count": 1}, {"text": "`text` is given twice"})


def test_words_go_over_what_was_given_at_once():
    assert arguments([Word("count", "2", False)], {"count": 1, "text": "x"}, SCHEMA)[0] == {"count": 2, "text": "x"}


@pytest.mark.parametrize("word", ["text", "=x", ":=1", "list:=[", "list:=" + "[" * 100_000])
def test_a_word_that_is_none_is_a_usage_error(word: str):
    with pytest.raises(UsageError):
        made(word)


def test_a_schema_in_words():
    shown = dict(rows(SCHEMA))
    assert shown["referred"] == "number. A number."
    assert shown["maybe"] == "integer or null"
    assert shown["chosen"] == "1 | 2"
    assert shown["loop"] == shown["lost"] == shown["odd"] == "anything"


def test_a_schema_that_holds_itself_ends():
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"minimum": 1}}}
    schema = {"properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    found = rows(schema)
    assert [name.strip() for name, _ in found[:3]] == ["first", "next", "next"]
    assert len(found) < 50


def test_a_schema_that_is_made_to_take_for_ever_takes_no_time():
    wide: dict[str, Any] = {"anyOf": [{"$ref": "#/$defs/w"}] * 1000}
    many: dict[str, Any] = {"properties": {f"p{n}": {"$ref": "#/$defs/m"} for n in range(100)}}
    schema = {"properties": {"a": wide, "b": many}, "$defs": {"w": wide, "m": many}}
    assert kinds(wide, schema) == set()
    assert len(rows(schema)) == MOST_ROWS


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": []},
        {"properties": {"a": None, "b": [], "c": "x", "d": {"type": 7, "enum": {}, "anyOf": 1, "items": 2}}},
        {"properties": {"a": {"type": [1, None], "required": 5, "properties": 3}}, "required": "a"},
        {"properties": {"a": {"description": 5, "title": ["x"], "default": float("nan")}}},
        {"properties": {"a": {"$ref": 7}, "b": {"$ref": "http://elsewhere/x"}, "c": {"$ref": "#/properties/a/x/y"}}},
    ],
)
def test_a_schema_that_is_none_fails_nothing(schema: dict[str, Any]):
    for name, text in rows(schema):
        assert name
        assert text
    for inner in schema.get("properties") or ():
        kinds(schema["properties"][inner], schema)
