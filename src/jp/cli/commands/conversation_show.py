"""`jp conversation show`: what is known about a conversation."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.storage.conversation import Conversation


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="?", metavar="TARGET", help="an id, a prefix of one, `newest`, …; the active one by default"
    )


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.select import named

    conversation = ctx.store.open(named(args.target, ctx))
    for notice in conversation.notices:
        ctx.printer.note(notice)
    record = _record(conversation, ctx)
    if ctx.printer.format.is_json:
        import json

        ctx.printer.record(json.dumps(record, ensure_ascii=False))
        return 0
    from jp.render.table import details
    from jp.terminal.printer import Target

    rows = [
        (name.replace("_", " "), _text(value)) for name, value in record.items() if value not in (None, [], {}, False)
    ]
    ctx.printer.out(details(rows, width=ctx.printer.width(Target.OUT), bold=ctx.printer.caps(Target.OUT).escapes))
    return 0


def _text(value: object) -> str:
    from jp.terminal.sanitize import one_line

    if value is True:
        return "yes"
    if isinstance(value, dict):
        return ", ".join(f"{key}={','.join(items)}" if items else str(key) for key, items in value.items())
    return one_line(str(value))


def _record(conversation: "Conversation", ctx: "Context") -> "dict[str, object]":
    from jp.cli.record import moment
    from jp.conversation import ids
    from jp.conversation.turns import starts

    metadata, stream = conversation.metadata, conversation.stream
    return {
        "id": ids.display(conversation.id),
        "title": metadata.title,
        "active": ctx.store.sessions().active() == conversation.id,
        "local": conversation.local,
        "archived": conversation.place.archived,
        "created_at": moment(ids.created_at(conversation.id)),
        "last_activated_at": moment(metadata.time("last_activated_at")),
        "pinned_at": moment(metadata.time("pinned_at")),
        "archived_at": moment(metadata.time("archived_at")),
        "expires_at": moment(metadata.time("expires_at")),
        "labels": metadata.labels,
        "model": _model(conversation),
        "turns": len(starts(stream)),
        "events": len(stream),
        "durable": conversation.place.durable,
        "projection": conversation.place.projection,
    }


def _model(conversation: "Conversation") -> str | None:
    """The model that the conversation's own configuration names last."""
    from jp.config.load import conversation_layers

    found = None
    for layer in conversation_layers(conversation.base_config, conversation.config_deltas()):
        wanted = layer.read().get("assistant", {}).get("model", {}).get("id")
        found = wanted if isinstance(wanted, str) else found
    return found
