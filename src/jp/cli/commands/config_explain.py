"""`jp config explain KEY`: which sources set a key, in order; the last one has the last word."""

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
        layers = conversation_layers(conversation.base_config, conversation.config_deltas())
    config = ctx.load_config(conversation=layers, workspace=has_workspace(ctx))
    found = config.explain(args.key)
    value = config.get(args.key)
    if ctx.printer.format.is_json:
        sources = [{"source": source, "path": path, "value": said} for source, path, said in found]
        ctx.printer.record(_json({"key": args.key, "value": value, "sources": sources}))
        return 0
    from jp.config.trust import waits_for_trust
    from jp.render.table import details
    from jp.terminal.printer import Target

    held_back = [held for held in config.withheld if held.key == args.key or held.key.startswith(args.key + ".")]
    origins = {held.origin for held in held_back if held.key == args.key}
    rows = [
        (path or source, _json(said) + (" (waits for trust)" if (path or source) in origins else ""))
        for source, path, said in found
    ]
    bold = ctx.printer.caps(Target.OUT).escapes
    ctx.printer.out(f"{args.key} = {_json(value)}\n")
    ctx.printer.out(details(rows, width=ctx.printer.width(Target.OUT), bold=bold))
    for held in held_back:
        ctx.printer.note(waits_for_trust(held))
    return 0


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
