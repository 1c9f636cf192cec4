"""Parameters as a JSON schema, and arguments held against one."""

import time
from pathlib import Path
from typing import Any

import pytest

from jp.config.load import Paths, load
from jp.config.sections.tools import Parameter
from jp.tool.schema import checked, overlaid, parameters_schema, unusable
from jp.tool.schema_limits import written_out

NESTED = {
    "path": Parameter("string", required=True, summary=" A path. ", description="At length."),
    "count": Parameter(["integer", "string"], default=3, description="How many.\n"),
    "mode": Parameter("string", enumeration=["a", "b"]),
    "edits": Parameter(
        "array",
        items=Parameter(
            "object",
            properties={"old": Parameter("string", required=True), "all": Parameter("boolean", default=False)},
        ),
    ),
    "free": Parameter("object"),
}


def test_the_schema() -> None:
    assert parameters_schema(NESTED) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A path."},
            "count": {"type": ["integer", "string"], "description": "How many.", "default": 3},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "all": {"type": "boolean", "default": False}},
                    "additionalProperties": False,
                    "required": ["old"],
                },
            },
            "free": {"type": "object"},
        },
        "additionalProperties": False,
        "required": ["path"],
    }
    assert parameters_schema({}) == {"type": "object", "properties": {}, "additionalProperties": False, "required": []}


class TestChecked:
    def check(self, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
        return checked(parameters_schema(NESTED), arguments)

    def test_defaults_are_filled_in_at_every_level_and_the_call_stays_as_it_was(self) -> None:
        given = {"path": "x", "edits": [{"old": "a"}, {"old": "b", "all": True}]}
        filled, errors = self.check(**given)
        assert errors == []
        assert filled == {
            "path": "x",
            "edits": [{"old": "a", "all": False}, {"old": "b", "all": True}],
            "count": 3,
        }
        assert given == {"path": "x", "edits": [{"old": "a"}, {"old": "b", "all": True}]}

    def test_a_null_for_what_may_be_left_out_is_left_out(self) -> None:
        assert self.check(path="x", count=None, mode=None) == ({"path": "x", "count": 3}, [])

    def test_but_not_for_what_may_not(self) -> None:
        assert self.check(path=None)[1] == ['`path`: null is not of type "string"']
        nullable = {"properties": {"a": {"type": ["string", "null"], "default": "x"}, "b": {}}}
        assert checked(nullable, {"a": None, "b": None}) == ({"a": None, "b": None}, [])

    @pytest.mark.parametrize(
        ("arguments", "errors"),
        [
            ({}, ["`path` is missing"]),
            ({"path": 5}, ['`path`: 5 is not of type "string"']),
            ({"path": "x", "mode": "c"}, ['`mode`: "c" is not one of "a" or "b"']),
            ({"path": "x", "pth": 1}, ["`pth` is not one of its parameters; did you mean `path`?"]),
            ({"path": "x", "other": 1}, ["`other` is not one of its parameters"]),
            ({"path": "x", "edits": [{"old": "a"}, {}]}, ["`edits[1].old` is missing"]),
            ({"path": "x", "edits": [{"old": 1}]}, ['`edits[0].old`: 1 is not of type "string"']),
            ({"path": "x", "edits": [{"old": "a", "z": 1}]}, ["`edits[0].z` is not one of its parameters"]),
            ({"path": "x", "free": {"a": [{"b": None}]}}, []),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, arguments: dict[str, Any], errors: list[str]) -> None:
        assert self.check(**arguments)[1] == errors

    def test_everything_at_once_but_not_endlessly(self) -> None:
        assert len(self.check(count=[], mode=1, other=1)[1]) == 5
        many = self.check(path="x", **{f"z{number}": 1 for number in range(500)})[1]
        assert len(many) == 20

    def test_a_long_value_is_not_repeated(self) -> None:
        assert len(self.check(path="x", mode="y" * 100_000)[1][0]) < 400


class TestStrangeSchemas:
    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            ({"type": "banana"}, "banana"),
            ({"properties": {"a": {"pattern": "("}}}, "regex"),
            ({"properties": [1]}, "object"),
            ({"required": "a"}, "array"),
            ({"$ref": "#/nowhere"}, "/nowhere"),
            ({"$schema": "https://nowhere.example/"}, "nowhere.example"),
        ],
    )
    def test_an_invalid_one_is_reported(self, schema: dict[str, Any], said: str) -> None:
        arguments, errors = checked(schema, {"a": "b"})
        assert arguments == {"a": "b"}
        assert len(errors) == 1
        assert errors[0].startswith("The tool's schema is not valid: ")
        assert said in errors[0]

    def test_nothing_is_fetched(self, tmp_path: Path) -> None:
        (tmp_path / "schema.json").write_text('{"type": "object"}')
        for uri in (f"file://{tmp_path}/schema.json", "http://127.0.0.1:1/"):
            (error,) = checked({"$ref": uri}, {})[1]
            assert "is not fetched" in error

    def test_patterns_do_not_run_away(self) -> None:
        schema = {"properties": {"a": {"pattern": "^(?=(x+x+)+y)(\\1)*$"}}}
        began = time.monotonic()
        assert checked(schema, {"a": "x" * 100})[1]
        assert time.monotonic() - began < 5

    def test_too_deep_ones(self) -> None:
        deep: dict[str, Any] = {}
        for _ in range(100_000):
            deep = {"properties": deep}
        assert "levels deep" in checked(deep, {})[1][0]
        assert "levels deep" in checked({}, deep)[1][0]

    def test_one_that_holds_itself(self) -> None:
        schema = {"$defs": {"x": {"properties": {"x": {"$ref": "#/$defs/x"}, "n": {"type": "integer"}}}}}
        schema["$ref"] = "#/$defs/x"  # type: ignore[assignment]
        assert checked(schema, {"x": {"x": {"n": 1}}})[1] == []
        assert checked(schema, {"x": {"x": {"n": "1"}}})[1] == ['`x.x.n`: "1" is not of type "integer"']


def test_what_is_configured_lies_over_a_servers_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "theirs", "maxLength": 3}, "b": {}, "c": True},
        "required": ["a", "b"],
    }
    parameters = {
        "a": Parameter(summary="ours", required=False, default="x"),
        "c": Parameter("string", required=True),
        "d": Parameter("string", required=True),
    }
    assert overlaid(schema, parameters) == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "ours", "maxLength": 3, "default": "x"}, "b": {}, "c": True,
        },
        "required": ["b", "c"],
    }  # fmt: skip
    assert overlaid(schema, {}) is schema
    assert overlaid({"properties": 5}, parameters) == {"properties": 5}


def test_every_tool_of_a_real_workspace(data_dir: Path) -> None:
    root = str(data_dir / "workspace")
    tools = load(Paths(None, root, root, None), {}).root.conversation.tools
    assert len(tools.named) == 63
    for name, tool in tools.named.items():
        schema = parameters_schema(tool.parameters)
        assert schema["properties"].keys() == tool.parameters.keys()
        for inner in schema["properties"].values():
            assert inner["type"], name
        errors = checked(schema, {})[1]
        missing = {f"`{each}` is missing" for each in schema["required"] if "default" not in schema["properties"][each]}
        assert set(errors) == missing, name


def doubling(levels: int) -> dict[str, Any]:
    defs: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**defs, f"d{levels}": {"type": "string"}}}


def chain(levels: int) -> dict[str, Any]:
    return {"$ref": "#/$defs/0", "$defs": {str(n): {"not": {"$ref": f"#/$defs/{n + 1}"}} for n in range(levels)}}


class TestWork:
    """Nothing that a schema says takes long: it is refused, or its work is counted before it is done."""

    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            (doubling(45), "is too large: more than 10,000 schemas"),
            (doubling(12), "is too large: more than 10,000 schemas"),
            (
                {"properties": {f"p{n}": {"type": "string"} for n in range(2500)}},
                "is too large: more than 5,000 values",
            ),
            (chain(200), "is nested more than 100 levels deep"),
            ({"properties": {f"p{n}": {"pattern": "a"} for n in range(101)}}, "has more than 100 patterns"),
            ({"patternProperties": {f"p{n}": {} for n in range(101)}}, "has more than 100 patterns"),
            ({"properties": {"a": {"pattern": "\\pL{400}"}}}, "has patterns that are too large"),
            ({"properties": {"a": {"pattern": "((a{1,99}){9}){9}"}}}, "has patterns that are too large"),
            ({"properties": {"a": {"pattern": "(?i)\\w{100}"}}}, "has patterns that are too large"),
            ({"$defs": {"x": {"pattern": "a{9999}"}}}, "has patterns that are too large"),
            ({"properties": {"a": {"pattern": "a" * 1001}}}, "has a pattern of more than 1,000 characters"),
            ({"$ref": "#here", "$anchor": "here"}, "only references that begin with #/"),
            ({"$ref": "http://json-schema.org/draft-07/schema#"}, "is not fetched"),
            ({"properties": {"a": {"$dynamicRef": "#a"}}}, "has a $dynamicRef"),
            ({"properties": {"a": {"$id": "http://a/", "$ref": "#/$defs/b"}}}, "has another schema with an id"),
        ],
    )
    def test_what_is_refused(self, schema: dict[str, Any], said: str) -> None:
        began = time.process_time()
        (error,) = checked(schema, {"a": "x"})[1]
        assert error.startswith("The tool's schema ")
        assert said in error
        assert unusable(schema) == error.removeprefix("The tool's schema ")
        assert time.process_time() - began < 0.5

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [{"items": {"$ref": "#/$defs/n"}}] * 2}}}, 60),
            ({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"contains": {"$ref": "#/$defs/n"}}] * 3}}}, 60),
            ({"items": {"enum": [[n] for n in range(2000)]}}, [[n] for n in range(1000)]),
            ({"items": {"allOf": [{"type": "string"}] * 1000}}, [1] * 1000),
            ({"items": {"pattern": "^(?=(x+x+)+y)(\\1)*$"}}, ["x" * 50] * 1000),
            ({"pattern": "(\\w{40}){40}"}, "x" * 1_000_000),
            (
                {"patternProperties": {f"^(?=(x+x+)+y{n})(\\1)*$": {} for n in range(99)}},
                {"x" * 50 + str(n): 1 for n in range(9)},
            ),
        ],
    )  # fmt: skip
    def test_what_is_not_begun(self, schema: dict[str, Any], value: Any) -> None:
        if isinstance(value, int):
            nested: list[Any] = []
            for _ in range(value):
                nested = [nested]
            value = nested
        defs = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        began = time.process_time()
        assert checked({"properties": {"a": schema}, **defs}, {"a": value})[1] == [
            "The arguments are too many, or nested too deeply, to be held against the tool's schema"
        ]
        assert time.process_time() - began < 1

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"items": {"allOf": [{"type": "string"}] * 15}}, [1] * 900),
            ({"anyOf": [{"type": "string"} for _ in range(2400)]}, 1),
            ({"items": {"anyOf": [{"type": "string"} for _ in range(900)]}}, [1] * 15),
            ({"enum": [[n] for n in range(2400)]}, 1),
            ({"pattern": "\\pL{58}"}, "x" * 100_000),
            ({"items": {"pattern": "^(?=(x+x+)+y)(\\1)*$"}}, ["x" * 100] * 150),
        ],
    )
    def test_the_worst_that_is_taken(self, schema: dict[str, Any], value: Any) -> None:
        whole = {"properties": {"a": schema}}
        assert unusable(whole) == ""
        began = time.process_time()
        checked(whole, {"a": value})
        assert time.process_time() - began < 0.5

    def test_where_there_is_no_time_for_everything_the_parameter_is_named(self) -> None:
        schema = {"properties": {"a": {"items": {"type": "string"}}, "b": {"type": "string"}, "c": {}}}
        assert checked(schema, {"a": [1] * 5000, "b": 1, "c": 1})[1] == [
            "`a` does not fit its schema",
            '`b`: 1 is not of type "string"',
        ]

    @pytest.mark.parametrize(
        ("pattern", "size"),
        [
            ("abc", 3),
            ("a{3}", 3),
            ("[a-z]{2,4}", 4),
            ("(ab){3}", 9),
            ("((ab){3}){3}", 30),
            ("\\pL{3}", 150),
            ("\\p{Greek}{3}", 150),
            ("[^\\PL]{3}", 150),
            ("a{", 2),
        ],
    )
    def test_patterns_written_out(self, pattern: str, size: int) -> None:
        assert written_out(pattern) == size
