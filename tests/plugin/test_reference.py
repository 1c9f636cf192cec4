"""The reference of the plugin protocol, its schema and its examples say what the types say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from jp.plugin import asking, host, intake, messages, outbox, printing, reference, wire
from jp.plugin.messages import Message, Request, type_of
from jp.plugin.reference import EXAMPLES, HOST, PLUGIN, RESPONSES

DOCS = Path(__file__).parents[2] / "docs" / "reference"
TEXT = (DOCS / reference.DOCUMENT).read_text(encoding="utf-8")
ONE_LINE = " ".join(TEXT.split())
REMEDY = "run: python -m jp.plugin.reference docs/reference"
SIDES = [*((each, "HostMessage") for each in HOST), *((each, "PluginMessage") for each in PLUGIN)]
NAMES = [each.__name__ for each, _ in SIDES]


def validator(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({**reference.schema(), "anyOf": [{"$ref": f"#/$defs/{name}"}]})


VALIDATORS = {name: validator(name) for name in ("HostMessage", "PluginMessage")}


def decoded(line: bytes, each: type[Message]) -> Any:
    """The message of this type on a line: a plugin's as the host reads it."""
    if each in PLUGIN:
        return wire.decode(line)
    return msgspec.json.decode(line, type=messages.HostMessage)


# --- the files


def test_the_reference_is_that_of_the_types() -> None:
    assert reference.renewed(TEXT) == TEXT, REMEDY
    assert (DOCS / reference.SCHEMA).read_text(encoding="utf-8") == reference.schema_text(), REMEDY


def test_every_message_and_every_field_is_in_the_reference() -> None:
    for heading, side in (("## What the host sends", HOST), ("## What the plugin sends", PLUGIN)):
        part = TEXT.partition(heading)[2].partition("\n## ")[0]
        assert re.findall(r"^### `(\w+)`", part, re.M) == [type_of(each) for each in side]
        for each, section in zip(side, part.split("\n### ")[1:], strict=True):
            rows = {row.split("`")[1]: row.split(" | ") for row in section.splitlines() if row.startswith("| `")}
            named = {name for struct in (each, *inner(each)) for name in struct.__struct_encode_fields__}
            assert set(rows) == named
            assert all(cells[-1].removesuffix(" |").strip() for cells in rows.values()), f"{each}: a field says nothing"


def inner(struct: type[Struct]) -> list[type[Struct]]:
    return [getattr(messages, name) for field in struct.__annotations__.values() for name in _named(str(field))]


def _named(annotation: str) -> list[str]:
    return [name for name in ("Workspace", "Paths", "ConversationSummary") if re.search(rf"\b{name}\b", annotation)]


def test_links_within_the_reference_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)", TEXT, re.M)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for target in re.findall(r"\]\(#([^)]*)\)", TEXT):
        assert target in anchors


def test_every_request_has_a_response_of_its_own() -> None:
    assert set(RESPONSES) == {each for each in PLUGIN if issubclass(each, Request)}
    responses = {each for each in HOST if issubclass(each, messages.Response)}
    assert set(RESPONSES.values()) == responses - {messages.Error}


def test_the_limits_are_those_that_hold() -> None:
    for what, limit in (
        ("a line from the plugin", f"{wire.MAX_LINE // 1024**2} MiB"),
        ("a prompt's `message`, and the `default` of a `text`", f"{asking.MAX_MESSAGE // 1024} KiB"),
        ("the `options` of a `select`", f"{asking.MAX_OPTIONS:,}, each {asking.MAX_OPTION // 1024} KiB"),
        ("prompts that wait for their answers", f"{asking.MAX_WAITING}"),
        ("`exit` to the end of the process", f"{host.LEFT_SECS:g} second"),
    ):
        assert f"| {what} | {limit} |" in TEXT
    assert f"from {outbox.FULL // 1024**2} MiB on" in ONE_LINE
    assert f"after {intake.STALLED_SECS:g} seconds" in ONE_LINE
    assert f"more than {printing.LONGEST // 1024} KiB is not highlighted" in ONE_LINE
    assert f"more than {printing.LONGEST_JSON // 1024**2} MiB or {printing.DEEPEST} levels" in ONE_LINE


def test_channels_and_formats_are_those_that_print_knows() -> None:
    assert re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \| std", TEXT, re.M) == [
        ("content", ""), ("chrome", ""), ("tool_call", "tool_result"), ("reasoning", ""), ("error", ""),
    ]  # fmt: skip
    assert printing.CHANNELS == ("content", "chrome", "tool_call", "tool_result", "reasoning", "error")
    table = TEXT.partition("| `format` |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.M)) == printing.FORMATS


@pytest.mark.req("092-168")
def test_the_reference_tells_what_presses_do_to_a_plugin_and_where_it_may_draw() -> None:
    part = TEXT.partition("## Interrupts\n")[2].partition("\n## ")[0]
    text = " ".join(part.split())
    assert "The plugin has a process group of its own" in text
    rungs = dict(re.findall(r"^\| (first|second|third)[^|]* \| ([^|]*)", part, re.M))
    assert re.match("SIGINT to its whole group, once, and no message", rungs["first"])
    assert "`shutdown`" in rungs["second"]
    assert "`plugins.shutdown_timeout_secs` (5)" in rungs["second"]
    assert re.match("SIGKILL to its whole group, at once and without a message", rungs["third"])
    assert "While a prompt of the plugin is up, the first press is the second one" in text
    assert "**Where a plugin may draw.**" in part
    assert "`/dev/tty`" in text


# --- the examples


@pytest.mark.parametrize(("each", "side"), SIDES, ids=NAMES)
def test_every_example_is_a_message_of_its_type(each: type[Message], side: str) -> None:
    assert EXAMPLES[each]
    for line in EXAMPLES[each]:
        assert f"\n{line}\n" in TEXT
        VALIDATORS[side].validate(json.loads(line))
        message = decoded(line.encode(), each)
        assert type(message) is each
        assert json.loads(wire.encode(message)) == json.loads(line)
        assert set(json.loads(line)) - {"type"} <= set(each.__struct_encode_fields__)
        if isinstance(message, messages.Prompt):
            asking.checked(message)


def test_the_fields_of_a_message_are_all_in_an_example_of_it() -> None:
    for each, _ in SIDES:
        shown = set().union(*(json.loads(line) for line in EXAMPLES[each])) - {"type", "id"}
        assert shown == set(each.__struct_encode_fields__) - {"id"}, each


# --- the wire


WORDS = st.text(st.sampled_from('a\u00e9\u4f60\U0001f388"\\ \n\r\u2028\x85\x1b\x00'), max_size=6)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS
JSON = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(WORDS, LEAVES, max_size=3)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as far as the messages have such types."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limits = next((meta for meta in arguments[1:] if isinstance(meta, Meta) and meta.ge is not None), None)
        return st.integers(limits.ge, limits.le) if limits is not None else values(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values(each) for each in arguments if each is not Raw])
    if origin is list:
        return st.lists(values(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(WORDS, JSON, max_size=3)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return built(hint)
    return {
        str: WORDS,
        int: st.integers(-(2**53), 2**53),
        bool: st.booleans(),
        NoneType: st.none(),
        UnsetType: st.just(UNSET),
        Raw: JSON.map(lambda value: Raw(msgspec.json.encode(value))),
        Any: JSON,
    }[hint]


def built(struct: type[Struct]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(struct, include_extras=True)
    return st.builds(struct, **{name: values(hints[name]) for name in struct.__struct_fields__})


@pytest.mark.parametrize(("each", "side"), SIDES, ids=NAMES)
def test_every_message_comes_back_as_it_went_and_fits_the_schema(each: type[Message], side: str) -> None:
    @settings(max_examples=25, deadline=None)
    @given(built(each))
    def check(message: Message) -> None:
        line = wire.encode(message)
        assert line.count(b"\n") == 1
        VALIDATORS[side].validate(json.loads(line))
        back = decoded(line.removesuffix(b"\n"), each)
        assert type(back) is each
        assert json.loads(wire.encode(back)) == json.loads(line)
        more = json.dumps({"a field": [1], **json.loads(line), "another": {"type": "exit"}})
        assert json.loads(wire.encode(decoded(more.encode(), each))) == json.loads(line)

    check()


@pytest.mark.parametrize(("each", "side"), SIDES, ids=NAMES)
def test_the_schema_refuses_what_the_types_refuse(each: type[Message], side: str) -> None:
    example = json.loads(EXAMPLES[each][0])
    for name, field in msgspec.json.schema(each)["$defs"][each.__name__]["properties"].items():
        if field.get("type") in ("string", "integer", "array", "object") or "enum" in field:
            wrong = {**example, name: True}
            assert not VALIDATORS[side].is_valid(wrong), name
    for name in msgspec.json.schema(each)["$defs"][each.__name__].get("required", []):
        wrong = {key: value for key, value in example.items() if key != name}
        assert not VALIDATORS[side].is_valid(wrong), name
        if name != "type" and each in PLUGIN:
            assert isinstance(wire.decode(json.dumps(wrong).encode()), wire.Faulty)
    assert VALIDATORS[side].is_valid(example)
