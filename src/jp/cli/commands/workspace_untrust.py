"""`jp workspace untrust`: forget what was trusted in a workspace."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("directory", nargs="?", metavar="PATH", help="a directory of the workspace (here)")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.trusting import remember, store_of, visible

    if args.directory:
        args.workspace = args.directory
    store, root = store_of(ctx), ctx.workspace.root
    trusted = store.count(root)
    remember(store, lambda: store.without(root))
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps({"root": root, "forgotten": trusted}))
    if trusted:
        values = "1 value that was" if trusted == 1 else f"{trusted} values that were"
        ctx.printer.note(f"forgotten: {values} trusted in {visible(root)}")
    else:
        ctx.printer.note(f"nothing was trusted in {visible(root)}")
    return 0
