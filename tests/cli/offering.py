"""The program with one more command: it offers to trust what a query would use, and says what came of it."""

import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("flags", nargs="*")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.trusting import needed, offer_trust

    flags = dict(word.split("=") for word in args.flags)
    config = ctx.load_config(flags=flags)
    again = offer_trust(ctx, config)
    if again:
        config = ctx.load_config(flags=flags)
    ctx.printer.out(f"again={again} editor={config.root.editor.cmd} missing={[each.key for each in needed(config)]}\n")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from jp.boot import main
    from jp.cli.tree import ROOT, Node

    ROOT.children += (Node("offer", "Offer to trust", "tests.cli.offering"),)
    main()
