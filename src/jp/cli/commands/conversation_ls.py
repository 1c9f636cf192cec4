"""`jp conversation ls`: the conversations, those activated last first."""

from jp.cli.arguments import positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from jp.cli.context import Context
    from jp.storage.listing import Summary


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("-a", "--archived", action="store_true", help="list the archived ones")
    parser.add_argument("-n", "--limit", type=positive, metavar="N", help="at most N")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.interrupt.checkpoint import checkpoint

    store = ctx.store
    found = store.list(archived=args.archived)
    checkpoint()
    now = store.clock()
    if any(one.expired(now) for one in found):
        from jp.llm.embedded import slots

        gone = set(store.sweep(found))
        for conversation_id in gone:
            slots.forget(ctx.environ, conversation_id)
        found = [one for one in found if one.id not in gone]
    if args.limit is not None:
        found = found[: args.limit]
    active = store.sessions().active()
    for problem in store.problems:
        ctx.printer.note(str(problem))
    if ctx.printer.format.is_json:
        import json

        rows = [_record(one, active) for one in found]
        ctx.printer.record(json.dumps(rows, ensure_ascii=False))
        return 0
    if not found:
        ctx.printer.note("nothing is archived" if args.archived else "no conversations yet; `jp query` begins one")
        return 0
    _print_table(found, active, ctx, now)
    return 0


def _record(one: "Summary", active: str | None) -> "dict[str, object]":
    from jp.cli.record import moment
    from jp.conversation import ids

    return {
        "id": ids.display(one.id),
        "title": one.title,
        "active": one.id == active,
        "local": one.local,
        "archived": one.archived,
        "created_at": moment(ids.created_at(one.id)),
        "last_activated_at": moment(one.last_activated_at),
        "pinned_at": moment(one.pinned_at),
        "archived_at": moment(one.archived_at),
        "expires_at": moment(one.expires_at),
        "labels": one.labels,
        "path": one.path,
    }


def _print_table(found: "list[Summary]", active: str | None, ctx: "Context", now: "datetime") -> None:
    from jp.cli.record import ago
    from jp.conversation import ids
    from jp.render.table import Column, table
    from jp.terminal.printer import Target

    rows = []
    for one in found:
        marks = ("*" if one.id == active else "") + ("p" if one.pinned_at else "") + ("l" if one.local else "")
        rows.append((ids.display(one.id), marks, ago(one.last_activated_at, now), one.title or "(untitled)"))
    columns = (Column("ID"), Column(""), Column("Activity", align="right"), Column("Title", shrink=1))
    caps = ctx.printer.caps(Target.OUT)
    ctx.printer.out(table(columns, rows, width=ctx.printer.width(Target.OUT), box=caps.escapes))
