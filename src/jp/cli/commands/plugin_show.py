"""`jp plugin show`: everything that is known about a plugin."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from jp.cli.context import Context

EPILOG = """\
A plugin that may be run without a question is asked what it is, where that is not known; its command is not run.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("name", metavar="NAME", help="a name that `jp plugin ls` lists")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.plugin_records import emit, whole_record
    from jp.cli.plugins import described_for, named
    from jp.cli.trusting import hints_for
    from jp.plugin.approvals import Approvals
    from jp.plugin.discovery import find

    plugins = find(ctx.environ)
    (found,) = described_for(ctx, config, [named(args.name, plugins)], again=True)
    plugins = described_for(ctx, config, plugins)
    record = whole_record(found, plugins, config, Approvals.of(ctx.environ).all())
    if ctx.printer.format.is_json:
        emit(ctx, record)
    else:
        _print(record, ctx)
    for hint in hints_for(config, "plugins", "command", found.name):
        ctx.printer.note(hint)
    return 0


def _print(record: "dict[str, Any]", ctx: "Context") -> None:
    from jp.render.table import details
    from jp.terminal.printer import Target

    width, bold = ctx.printer.width(Target.OUT), ctx.printer.caps(Target.OUT).escapes
    text = details([row for row in _rows(record) if row[1]], width=width, bold=bold)
    if record["help"]:
        head = "\x1b[1mHelp:\x1b[0m" if bold else "Help:"
        text += f"\n{head}\n" + "".join(f"  {line}".rstrip() + "\n" for line in record["help"].splitlines())
    ctx.printer.out(text)


def _rows(record: "dict[str, Any]") -> "list[tuple[str, str]]":
    """What has a value, as a person reads it."""
    import json

    from jp.cli.plugin_records import STATES
    from jp.cli.plugins import WHERE
    from jp.cli.trusting import visible

    pinned = record["checksum"]
    return [
        ("name", record["name"]),
        ("description", record["description"] or ""),
        ("version", record["version"] or ""),
        ("commands", ", ".join("jp " + " ".join(each) for each in record["commands"])),
        ("path", f"{visible(record['path'])} ({WHERE[record['origin']]})"),
        ("state", STATES[record["state"]]),
        ("problem", record["problem"] or ""),
        ("sha256", record["sha256"] or ""),
        ("approved", record["approved_at"] or ""),
        ("installed from", visible(record["source"] or "")),
        ("run", record["run"] or ""),
        ("pinned", f"{pinned['algorithm']} {pinned['value']}" if pinned else ""),
        ("options", json.dumps(record["options"], ensure_ascii=False, default=str) if record["options"] else ""),
        ("author", record["author"] or ""),
        ("repository", record["repository"] or ""),
    ]
