"""`jp tool show`: everything that is known about a tool."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from jp.cli.context import Context
    from jp.cli.known_tools import Known
    from jp.config.load import Config
    from jp.tool.definition import Definition

EPILOG = """\
The MCP server of a tool is started for it.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("name", metavar="NAME", help="a name that `jp tool ls` lists")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.known_tools import known_tools, say_notices
    from jp.cli.try_tool import find

    say_notices(ctx, config)
    known = find(known_tools(config), args.name)
    record = _record(known, _definition(known, config, ctx), config)
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps(record, ensure_ascii=False, default=str))
    else:
        _print(record, ctx)
    for hint in _waiting(known, config):
        ctx.printer.note(hint)
    return 0


def _waiting(known: "Known", config: "Config") -> "list[str]":
    """What is said about the tool and its server that is not in effect."""
    from jp.config.schema import split_key
    from jp.config.trust import waits_for_trust

    about = [("conversation", "tools", known.name), ("providers", "mcp", known.server)]
    return [waits_for_trust(held) for held in config.withheld if split_key(held.key)[:3] in about]


def _definition(known: "Known", config: "Config", ctx: "Context") -> "Definition | None":
    """What is known with its MCP server; without one, what is known already."""
    from jp.tool.definition import MCP

    if known.origin != MCP or known.problem:
        return known.definition
    from jp.cli.try_tool import Bench

    bench = Bench(ctx, config)
    try:
        return bench.definition(known)
    finally:
        bench.close()


def _record(known: "Known", tool: "Definition | None", config: "Config") -> "dict[str, Any]":
    import msgspec

    from jp.config.schema import join_key
    from jp.tool.builtin.catalogue import CATALOGUE
    from jp.tool.definition import BUILTIN
    from jp.tool.schema import parameters_schema

    settings = tool.settings if tool is not None else known.settings
    said = config.explain(join_key(("conversation", "tools", known.name))) if _configured(known, config) else []
    builtin = CATALOGUE.get(known.name) if known.origin == BUILTIN else None
    plain: Any = msgspec.to_builtins
    return {
        "name": known.name,
        "origin": known.origin or None,
        "server": known.server or None,
        "remote": (tool.remote or None) if tool is not None else None,
        "enabled": known.enabled,
        "allow_toggle": known.allow_toggle,
        "summary": (tool.summary if tool is not None else known.summary).strip() or None,
        "description": ((tool.description if tool is not None else settings.description) or "").strip() or None,
        "examples": ((tool.examples if tool is not None else settings.examples) or "").strip() or None,
        "parameters": tool.parameters if tool is not None else parameters_schema(settings.parameters),
        "command": plain(settings.command),
        "run": settings.run,
        "format": settings.format,
        "result": settings.result,
        "always_asks": builtin is not None and builtin.always_ask,
        "timeout_secs": settings.timeout_secs,
        "cancellation_response": settings.cancellation_response,
        "questions": plain(settings.questions),
        "options": settings.options,
        "access": plain(settings.access),
        "detached": plain(settings.detached),
        "style": plain(settings.style),
        "sources": list(dict.fromkeys(path or source for source, path, _ in said if source != "default")),
        "problem": known.problem or None,
    }


def _configured(known: "Known", config: "Config") -> bool:
    return known.name in config.root.conversation.tools


def _print(record: "dict[str, Any]", ctx: "Context") -> None:
    from jp.terminal.printer import Target

    width, bold = ctx.printer.width(Target.OUT), ctx.printer.caps(Target.OUT).escapes
    ctx.printer.out(_text(record, width, bold=bold))


def _text(record: "dict[str, Any]", width: int | None, *, bold: bool) -> str:
    """What is known at a glance, then the parameters, questions, options, description and examples. Pure."""
    from jp.cli.known_tools import compact
    from jp.cli.tool_schema import rows
    from jp.render.table import details

    text = details([(name, value) for name, value in _settings(record) if value], width=width, bold=bold)
    inner = None if width is None else width - 2
    sections = {
        "Parameters": details(rows(record["parameters"]) or [("none", "")], width=inner, bold=bold),
        "Questions": details([(name, _question(each)) for name, each in record["questions"].items()], width=inner),
        "Options": details([(name, compact(value)) for name, value in record["options"].items()], width=inner),
    }
    for title, body in sections.items():
        text += _section(title, "".join([f"  {line}\n" for line in body.splitlines()]), bold=bold)
    for title in ("Description", "Examples"):
        lines = [("", line.expandtabs(4).rstrip()) for line in (record[title.lower()] or "").splitlines()]
        text += _section(title, details(lines, width=width), bold=bold)
    return text


def _section(title: str, body: str, *, bold: bool) -> str:
    head = f"\x1b[1m{title}:\x1b[0m" if bold else f"{title}:"
    return f"\n{head}\n{body}" if body else ""


def _settings(record: "dict[str, Any]") -> "list[tuple[str, str]]":
    """What has a value, as a person reads it."""
    from jp.config.sections.tools import CANCELLED

    origin = record["origin"] or "?"
    if record["server"]:
        origin += f", {record['remote'] or '?'} of the server {record['server']}"
    toggle = {"any": "", "never": "; no flag changes it"}.get(record["allow_toggle"], f" ({record['allow_toggle']})")
    detached = record["detached"] or {}
    alike = len(set(detached.values())) == 1
    return [
        ("name", record["name"]),
        ("summary", record["summary"] or ""),
        ("origin", origin),
        ("enabled", ("yes" if record["enabled"] else "no") + toggle),
        ("problem", record["problem"] or ""),
        ("command", _command(record["command"])),
        ("run", record["run"] + (", each time anew" if record["always_asks"] else "")),
        ("format", record["format"] or ""),
        ("result", record["result"]),
        ("time limit", f"{record['timeout_secs']} s" if record["timeout_secs"] else "none"),
        ("access", "; ".join(_rule(rule) for rule in (record["access"] or {}).get("fs", ()))),
        ("detached", next(iter(detached.values()), "") if alike else _pairs(detached)),
        ("style", _pairs({key: value for key, value in (record["style"] or {}).items() if value is not None})),
        ("cancelled", "" if record["cancellation_response"] == CANCELLED else record["cancellation_response"] or ""),
        ("set in", ", ".join(record["sources"])),
    ]


def _command(command: "Any") -> str:
    """A command as it is written; one in parts as words for a shell."""
    if not isinstance(command, dict):
        return command or ""
    import shlex

    words = [command["program"], *command["args"]]
    return " ".join(words) + " (by a shell)" if command["shell"] else shlex.join(words)


def _rule(rule: "dict[str, Any]") -> str:
    what = [key if value else f"no {key}" for key, value in rule.items() if key != "path" and value is not None]
    return f"{rule['path']}: {', '.join(what) or 'nothing'}"


def _question(each: "dict[str, Any]") -> str:
    from jp.cli.known_tools import compact

    if each["answer"] is not None:
        return f"is answered with {compact(each['answer'])}"
    who = {"user": "you", "assistant": "the model"}.get(str(each["target"]), "a model of its own")
    return f"is for {who}" + (", and nobody else" if each["exclusive"] else "")


def _pairs(values: "dict[str, Any]") -> str:
    from jp.cli.known_tools import compact

    return ", ".join(f"{key} {compact(value)}" for key, value in values.items())
