"""`jp plugin ls`: the plugins there are, what they answer to, and whether they may be run."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from jp.cli.context import Context

EPILOG = """\
Plugins are executables named `jp-…`: those installed, those on $PATH, and JP's own. Only those that may be run are
asked what they are.
"""


def add_arguments(_parser: "argparse.ArgumentParser") -> None:
    pass


def run(_args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    config = ctx.load_config(workspace=has_workspace(ctx))
    from jp.cli.plugin_records import emit, record
    from jp.cli.plugins import described_for
    from jp.plugin.approvals import Approvals
    from jp.plugin.discovery import find

    found = described_for(ctx, config, find(ctx.environ))
    approvals = Approvals.of(ctx.environ).all()
    records = [record(each, found, config, approvals) for each in sorted(found, key=lambda each: each.name)]
    if ctx.printer.format.is_json:
        emit(ctx, records)
    elif records:
        _print_table(records, ctx)
    else:
        ctx.printer.note("there are no plugins: no file named jp-… is installed or on $PATH")
    return 0


def _print_table(records: "list[dict[str, Any]]", ctx: "Context") -> None:
    from jp.cli.plugin_records import STATES, shown_command
    from jp.render.table import Column, table
    from jp.terminal.printer import Target
    from jp.terminal.sanitize import one_line

    rows = [
        (
            each["name"],
            shown_command(each),
            each["origin"],
            STATES[each["state"]],
            each["version"] or "",
            each["problem"] or each["description"] or "",
        )
        for each in records
    ]
    columns = (
        Column("Name"),
        Column("Command"),
        Column("Origin"),
        Column("State"),
        Column("Version"),
        Column("Description", shrink=1),
    )
    caps, width = ctx.printer.caps(Target.OUT), ctx.printer.width(Target.OUT)
    ctx.printer.out(table(columns, rows, width=width, box=caps.escapes))
    for each in records:
        if each["problem"] and width is not None:  # there it may be cut
            ctx.printer.note(one_line(f"{each['name']}: {each['problem']}"))
