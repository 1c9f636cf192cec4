"""`jp workspace trust`: show what a workspace says that waits for trust, and have it in effect from then on."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.config.waiting import Survey

EPILOG = """\
Shown is what the workspace's own files say, those that `--cfg NAME` finds in it and its conversations included. What is
trusted is each value at its key, in this workspace, on this machine: one that changes waits again.
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("directory", nargs="?", metavar="PATH", help="a directory of the workspace (here)")
    parser.add_argument("-y", "--yes", action="store_true", help="trust what is shown without asking")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.pick import confirmed
    from jp.cli.trusting import confirmed_dir, counted, remember, store_of, surveyed, visible, waiting_notice

    if args.directory:
        args.workspace = args.directory
    store = store_of(ctx)
    found = surveyed(ctx, args.directory)
    waiting, root = found.waiting, ctx.workspace.root
    _show(found, ctx)
    if not waiting:
        ctx.printer.note(f"nothing in {visible(root)} waits for trust")
        return 0
    ctx.printer.note(f"{counted(len(waiting))} for trust")
    if not args.yes:
        these = "this value" if len(waiting) == 1 else f"these {len(waiting)} values"
        hints = ["look at what is listed, then `jp workspace trust --yes` trusts it without asking"]
        if not confirmed(ctx, f"Trust {these} of {root}?", hints=hints):
            ctx.printer.note("nothing was changed")
            return 1
    own = confirmed_dir(ctx, waiting, waiting)
    remember(store, lambda: store.with_trusted(root, waiting, confirmed_dir=own))
    ctx.printer.note("it is trusted now" if len(waiting) == 1 else f"{len(waiting)} values are trusted now")
    more = surveyed(ctx, args.directory).waiting  # what is in effect now may be what others wait behind
    if more:
        ctx.printer.note(waiting_notice(len(more)))
    return 0


def _show(found: "Survey", ctx: "Context") -> None:
    """Print what waits; on the terminal too where that is not what stdout is: it is what will be asked about."""
    from jp.cli.trusting import listing, record
    from jp.terminal.tty import is_terminal

    text = listing(found.waiting, ctx.workspace.root)
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps([record(each, found.origins) for each in found.waiting], default=str))
    else:
        ctx.printer.out(text)
    if ctx.promptability and not ctx.args.yes and not is_terminal(1):
        ctx.printer.terminal(text)
