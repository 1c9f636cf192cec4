"""`jp config explain KEY`: which sources set a key, in order; the last one has the last word."""

LIST = "conversation.attachments"

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("key", metavar="KEY", help="a dotted key such as `assistant.model.id`")
    parser.add_argument("--id", metavar="TARGET", help="with the configuration of this conversation")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.workspace import has_workspace

    layers = []
    if args.id:
        from jp.cli.select import named
        from jp.config.load import conversation_layers

        conversation = ctx.store.open(named(args.id, ctx))
        layers = conversation_layers(conversation.base_config, conversation.config_deltas(), conversation.id)
    config = ctx.load_config(conversation=layers, workspace=has_workspace(ctx))
    found = config.explain(args.key)
    value = config.get(args.key)
    about = [held for held in config.withheld if _overlap(held.key, args.key)]
    # A list is held back item by item; what else a source says of it counts.
    waiting = {held.origin for held in about if held.key != LIST and _overlap(held.key, args.key, within=True)}
    if ctx.printer.format.is_json:
        sources = [
            {"source": source, "path": path, "value": said}
            for source, path, said in found
            if (path or source) not in waiting
        ]
        ctx.printer.record(_json({"key": args.key, "value": value, "sources": sources}))
    else:
        from jp.render.table import details
        from jp.terminal.printer import Target

        rows = [
            (path or source, _json(said) + (" (waits for trust)" if (path or source) in waiting else ""))
            for source, path, said in found
        ]
        bold = ctx.printer.caps(Target.OUT).escapes
        ctx.printer.out(f"{args.key} = {_json(value)}\n")
        ctx.printer.out(details(rows, width=ctx.printer.width(Target.OUT), bold=bold))
    if about:
        from jp.config.trust import waits_for_trust

        for held in about:
            ctx.printer.note(waits_for_trust(held))
    return 0


def _overlap(held: str, asked: str, *, within: bool = False) -> bool:
    """Whether a key that waits for trust is, or holds, the key that is asked for; or else lies below it."""
    from jp.config.schema import split_key

    one, other = split_key(held), split_key(asked)
    return one == other[: len(one)] or (not within and other == one[: len(other)])


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
