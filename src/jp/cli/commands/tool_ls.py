"""`jp tool ls`: the tools that a model may be offered, and those that can't be used."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.cli.known_tools import Known

EPILOG = """\
MCP servers are not started: of their tools only what is configured is known.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("-e", "--enabled", action="store_true", help="only those that are enabled")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.known_tools import known_tools, say_notices

    say_notices(ctx, config)
    found = [each for each in known_tools(config) if each.enabled or not args.enabled]
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps([_record(each) for each in found], ensure_ascii=False))
        return 0
    if not found:
        ctx.printer.note("no tool is enabled; `jp tool ls` lists all of them")
        return 0
    _print_table(found, ctx)
    return 0


def _record(each: "Known") -> "dict[str, object]":
    return {
        "name": each.name,
        "origin": each.origin or None,
        "server": each.server or None,
        "enabled": each.enabled,
        "allow_toggle": each.allow_toggle,
        "run": each.settings.run,
        "result": each.settings.result,
        "summary": each.summary.strip() or None,
        "problem": each.problem or None,
    }


def _print_table(found: "list[Known]", ctx: "Context") -> None:
    """The table, and below it what stands in the way of tools, in full."""
    from jp.render.table import Column, table
    from jp.terminal.printer import Target

    rows = []
    for each in found:
        origin = f"mcp {each.server}" if each.server else each.origin or "?"
        state = ("yes" if each.enabled else "no") if not each.problem else "unusable"
        summary = each.problem or " ".join(each.summary.split())
        rows.append((each.name, origin, state, each.settings.run or "", summary))
    columns = (Column("Name"), Column("Origin"), Column("Enabled"), Column("Run"), Column("Summary", shrink=1))
    caps = ctx.printer.caps(Target.OUT)
    width = ctx.printer.width(Target.OUT)
    ctx.printer.out(table(columns, rows, width=width, box=caps.escapes))
    for each in found:
        if each.problem and each.enabled and width is not None:  # there it may be cut
            ctx.printer.note(f"{each.name} can't be used: {each.problem}")
