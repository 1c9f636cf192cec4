"""`jp workspace show`: where a workspace is and is stored, and what of it is trusted or waits for trust."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.config.waiting import Survey


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("directory", nargs="?", metavar="PATH", help="a directory of the workspace (here)")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.trusting import surveyed

    if args.directory:
        args.workspace = args.directory
    found = surveyed(ctx, args.directory)
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps(_record(found, ctx), default=str))
    else:
        _print(found, ctx)
    return 0


def _record(found: "Survey", ctx: "Context") -> "dict[str, object]":
    from jp.cli.trusting import record

    workspace = ctx.workspace
    return {
        "root": workspace.root,
        "id": workspace.id,
        "user_dir": workspace.user_dir,
        "durable": ctx.store.roots.durable,
        "projection": workspace.conversations,
        "trusted": [record(each, found.origins) for each in found.trusted],
        "waiting": [record(each, found.origins) for each in found.waiting],
    }


def _print(found: "Survey", ctx: "Context") -> None:
    from jp.cli.trusting import listing, visible, waiting_notice
    from jp.render.table import details
    from jp.terminal.printer import Target

    rows = [
        (name, visible(str(value)))
        for name, value in _record(found, ctx).items()
        if name not in ("trusted", "waiting") and value is not None
    ]
    keys = list(dict.fromkeys(visible(each.key) for each in found.trusted))
    rows += [("trusted" if place == 0 else "", key) for place, key in enumerate(keys)]
    printer = ctx.printer
    labels = [(name.replace("_", " "), value) for name, value in rows]
    printer.out(details(labels, width=printer.width(Target.OUT), bold=printer.caps(Target.OUT).escapes))
    if found.waiting:
        printer.out("\n" + listing(found.waiting, ctx.workspace.root))
        printer.note(waiting_notice(len(found.waiting)))
