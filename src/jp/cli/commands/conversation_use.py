"""`jp conversation use`: make a conversation the active one of this session."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", metavar="TARGET", help="an id, a prefix of one, `session` (the previous one), `newest`, …"
    )


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.select import named
    from jp.conversation import ids
    from jp.errors import JpError
    from jp.storage.conversation import Conversation
    from jp.terminal.sanitize import one_line

    store = ctx.store
    conversation_id = named(args.target, ctx)
    sessions = store.sessions()
    if sessions.path is None:
        raise JpError(
            "there is no session to remember the active conversation in",
            hints=["set JP_SESSION to a name for this session, or name a conversation with `--id` each time"],
        )
    title = Conversation(store, conversation_id, store.place(conversation_id)).title
    sessions.activate(conversation_id, store.clock())
    ctx.printer.note(f"now using {ids.display(conversation_id)}" + (f" ({one_line(title)})" if title else ""))
    return 0
