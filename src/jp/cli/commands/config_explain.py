"""`jp config explain KEY`: which sources set a key, in order; the last one has the last word."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("key", metavar="KEY", help="a dotted key such as `assistant.model.id`")
    parser.add_argument("--id", metavar="TARGET", help="with the configuration of this conversation")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    import json

    from jp.cli.workspace import has_workspace

    layers = []
    if args.id:
        from jp.cli.select import named
        from jp.config.load import conversation_layers

        conversation = ctx.store.open(named(args.id, ctx))
        layers = conversation_layers(conversation.base_config, conversation.config_deltas())
    config = ctx.load_config(conversation=layers, workspace=has_workspace(ctx))
    found = config.explain(args.key)
    value = config.get(args.key)
    if ctx.printer.format.is_json:
        sources = [{"source": source, "path": path, "value": said} for source, path, said in found]
        ctx.printer.record(
            json.dumps({"key": args.key, "value": value, "sources": sources}, ensure_ascii=False, default=str)
        )
        return 0
    from jp.render.table import details
    from jp.terminal.printer import Target

    rows = [(path or source, json.dumps(said, ensure_ascii=False, default=str)) for source, path, said in found]
    bold = ctx.printer.caps(Target.OUT).escapes
    ctx.printer.out(f"{args.key} = {json.dumps(value, ensure_ascii=False, default=str)}\n")
    ctx.printer.out(details(rows, width=ctx.printer.width(Target.OUT), bold=bold))
    for held in config.withheld:
        if held.key == args.key or held.key.startswith(args.key + "."):
            ctx.printer.note(f"{held.origin} sets it too, which is not in effect until the workspace is trusted")
    return 0
