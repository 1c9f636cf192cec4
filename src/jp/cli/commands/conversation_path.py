"""`jp conversation path`: where a conversation is on disk."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="?", metavar="TARGET", help="an id, a prefix of one, `newest`, …; the active one by default"
    )
    parser.add_argument("--projection", action="store_true", help="the copy in the workspace, not the durable one")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.select import named
    from jp.conversation import ids
    from jp.errors import JpError

    conversation_id = named(args.target, ctx)
    place = ctx.store.place(conversation_id)
    path = place.projection if args.projection else place.existing[0]
    if path is None:
        raise JpError(
            f"{ids.display(conversation_id)} is local: the workspace has no copy of it",
            hints=["without `--projection` the durable copy's path is printed"],
        )
    if ctx.printer.format.is_json:
        import json

        record = {"id": ids.display(conversation_id), "durable": place.durable, "projection": place.projection}
        ctx.printer.record(json.dumps(record, ensure_ascii=False))
    else:
        ctx.printer.out(path + "\n")
    return 0
