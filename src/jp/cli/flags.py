"""The flags of `jp query` that are configuration by another name."""

import json

from jp.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_MODEL = "assistant.model"
_PARAMETERS = f"{_MODEL}.parameters"


def query_flags(args: "argparse.Namespace") -> "dict[str, object]":
    """Values by dotted key, for the last source of the configuration; raises UsageError."""
    flags: dict[str, object] = {}
    if args.model:
        flags[f"{_MODEL}.id"] = args.model
    for pair in args.param:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(
                f"`-p {pair}`: a parameter is written KEY=VALUE", hints=["for example `-p temperature=0.2`"]
            )
        raw = key.endswith(":")  # `key:=json`, as in --cfg
        flags[f"{_PARAMETERS}.{key.removesuffix(':')}"] = _json(value, pair) if raw else _plain(value)
    if args.reasoning and args.no_reasoning:
        raise UsageError("--reasoning and --no-reasoning contradict each other", hints=["give one of them"])
    if args.reasoning:
        flags[f"{_PARAMETERS}.reasoning"] = _plain(args.reasoning)
    if args.no_reasoning:
        flags[f"{_PARAMETERS}.reasoning"] = "off"
    return flags


def tool_directives(args: "argparse.Namespace") -> "list[tuple[str, str]]":
    """Which tools are turned on and off, from left to right; the one that has to be used is turned on, too."""
    used = [("on", args.tool_use)] if args.tool_use not in (None, "auto", "required", "none") else []
    return [(what, name) for what, names in (args.tools or ()) for name in names.split(",")] + used


def _plain(value: str) -> object:
    """A number or a boolean where it reads as one, else the text."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, int | float | bool) else value


def _json(value: str, pair: str) -> object:
    try:
        return json.loads(value)
    except ValueError as error:
        raise UsageError(f"`-p {pair}`: {error}") from error
