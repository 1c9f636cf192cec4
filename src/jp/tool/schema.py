"""Parameters of a tool as a JSON schema, and the arguments of a call held against one.

A schema may be a stranger's: nothing that it refers to is fetched, and its patterns can't run away.
"""

from jp.errors import nearest
from jp.tool.schema_limits import refusal, values, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from jsonschema_rs import ValidationError, Validator

    from jp.config.sections.tools import Parameter

MOST_ERRORS = 20
MOST_WORK = 20_000  # times that a schema in the schema is held against a value in the arguments
FEW = 1000  # as many of which may all go wrong: each error costs a thousand times what finding none costs
KEPT = 256  # validators
DEPTH = 100  # levels of nesting in a schema or in arguments
_LONGEST = 300  # characters of an error: it may quote the value
_BACKTRACKS = 20_000


def parameters_schema(parameters: "Mapping[str, Parameter]") -> "dict[str, Any]":
    """The schema of an object with these fields, and no others."""
    return {
        "type": "object",
        "properties": {name: _schema(parameter) for name, parameter in parameters.items()},
        "additionalProperties": False,
        "required": [name for name, parameter in parameters.items() if parameter.required],
    }


def _schema(parameter: "Parameter") -> "dict[str, Any]":
    schema: dict[str, Any] = {}
    if parameter.kind is not None:
        schema["type"] = parameter.kind
    description = parameter.summary or parameter.description
    if description:
        schema["description"] = description.strip()
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.enumeration is not None:
        schema["enum"] = parameter.enumeration
    if parameter.items is not None:
        schema["items"] = _schema(parameter.items)
    if parameter.properties:
        nested = parameters_schema(parameter.properties)
        del nested["type"]  # the parameter's own may allow more
        schema |= nested
    return schema


def overlaid(schema: "dict[str, Any]", parameters: "Mapping[str, Parameter]") -> "dict[str, Any]":
    """The schema of a tool that is not ours, with what is configured of its parameters; others are not added to it."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not parameters:
        return schema
    known = {name: parameter for name, parameter in parameters.items() if name in properties}
    needed = [name for name in schema.get("required") or () if name not in known or known[name].required is not False]
    return {
        **schema,
        "properties": {
            name: {**inner, **_schema(known[name])} if name in known and isinstance(inner, dict) else inner
            for name, inner in properties.items()
        },
        "required": [*needed, *(name for name in known if known[name].required and name not in needed)],
    }


def checked(schema: "dict[str, Any]", arguments: "dict[str, Any]") -> "tuple[dict[str, Any], list[str]]":
    """The arguments with defaults filled in, and what is wrong with them, in sentences that name the place.

    A null for what may be left out is as good as leaving it out. An invalid schema is one such sentence, too.
    """
    validator = _validator(schema)
    if isinstance(validator, str):
        return arguments, [f"The tool's schema {validator}"]
    if _depth(arguments) > DEPTH:
        return arguments, [f"The arguments are nested more than {DEPTH} levels deep"]
    filled = _filled(schema, arguments)
    if work(schema, filled, MOST_WORK) > MOST_WORK:
        return filled, ["The arguments are too many, or nested too deeply, to be held against the tool's schema"]
    return filled, _errors(schema, validator, filled)[:MOST_ERRORS]


def unusable(schema: "dict[str, Any]") -> str:
    """Why a schema can't be used, as the end of a sentence that begins with it; empty where it can."""
    found = _validator(schema)
    return found if isinstance(found, str) else ""


def _errors(schema: "dict[str, Any]", validator: "Validator", arguments: "dict[str, Any]") -> list[str]:
    """What is wrong: everything, or in so much detail as there is time for."""
    if validator.is_valid(arguments):
        return []
    if work(schema, arguments, FEW) <= FEW:
        return _all_errors(schema, validator, arguments)
    errors: list[str] = []
    properties = schema.get("properties")
    shared: dict[str, Any] = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
    for name, inner in properties.items() if isinstance(properties, dict) and values(schema, FEW) <= FEW else ():
        if name in arguments and len(errors) < MOST_ERRORS:
            errors += _errors_of_one({**shared, "properties": {name: inner}}, name, arguments[name])
    return errors or ["The arguments do not fit the tool's schema"]


def _errors_of_one(schema: "dict[str, Any]", name: str, value: "Any") -> list[str]:
    validator = _made(schema)
    arguments = {name: value}
    if isinstance(validator, str) or validator.is_valid(arguments):
        return []
    if work(schema, arguments, FEW) <= FEW:
        return _all_errors(schema, validator, arguments)
    return [f"`{_short(name)}` does not fit its schema"]


def _all_errors(schema: "dict[str, Any]", validator: "Validator", arguments: "dict[str, Any]") -> list[str]:
    return [each for error in validator.iter_errors(arguments) for each in _sentences(error, schema)]


def _validator(schema: "dict[str, Any]") -> "Validator | str":
    """It, or why there is none; made once for a schema."""
    known = _validators.get(id(schema))
    if known is None or known[0] is not schema:
        while len(_validators) >= KEPT:
            _validators.pop(next(iter(_validators)), None)
        known = _validators[id(schema)] = (schema, _made(schema))
    return known[1]


# With the schemas themselves, so that no other one gets the identity of one of these.
_validators: "dict[int, tuple[dict[str, Any], Validator | str]]" = {}


def _made(schema: "dict[str, Any]") -> "Validator | str":
    if _depth(schema) > DEPTH:
        return f"is nested more than {DEPTH} levels deep"
    if problem := refusal(schema):
        return problem
    from jsonschema_rs import FancyRegexOptions, validator_for

    options = FancyRegexOptions(backtrack_limit=_BACKTRACKS)
    try:
        return validator_for(schema, retriever=_fetch_nothing, pattern_options=options)
    except ValueError as error:  # what the library raises is one
        return f"is not valid: {_short(str(getattr(error, 'message', error)))}"


def _fetch_nothing(uri: str) -> "Any":
    raise ValueError(f"{uri} is not fetched")


def _filled(schema: "Any", value: "Any") -> "Any":
    """A copy of `value` with the defaults of `schema`, and without nulls that mean nothing."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [_filled(items, each) for each in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    filled = {
        name: _filled(properties.get(name), each)
        for name, each in value.items()
        if each is not None or name in needed or name not in properties or _allows_null(properties[name])
    }
    for name, inner in properties.items():
        if name not in filled and isinstance(inner, dict) and "default" in inner:
            filled[name] = inner["default"]
    return filled


def _allows_null(schema: "Any") -> bool:
    """Whether null is one of the values, as far as that is plain to see."""
    if not isinstance(schema, dict) or "type" not in schema:
        return True
    kinds = schema["type"]
    return "null" in (kinds if isinstance(kinds, list) else [kinds])


def _sentences(error: "ValidationError", schema: "dict[str, Any]") -> list[str]:
    said = error.kind.as_dict()
    where = _path(error.instance_path)
    if error.kind.name == "required":
        return [f"`{_joined(where, said['property'])}` is missing"]
    if error.kind.name == "additionalProperties":
        known = schema.get("properties") if not where else None
        return [_unknown(where, str(name), list(known or ())) for name in said["unexpected"]]
    return [_short(f"`{where}`: {error.message}" if where else error.message)]


def _unknown(where: str, name: str, known: list[str]) -> str:
    close = nearest(name, known)
    hint = f"; did you mean `{close}`?" if close else ""
    return f"`{_joined(where, _short(name))}` is not one of its parameters{hint}"


def _path(steps: "list[str | int]") -> str:
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else _joined(path, step)
    return _short(path)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _depth(value: "Any") -> int:
    """Levels of nesting, counted no further than needed."""
    level = [value]
    for depth in range(DEPTH + 2):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return depth
    return DEPTH + 1
