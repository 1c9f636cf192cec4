"""`jp conversation rm`: delete conversations, both copies."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="+", metavar="TARGET", help="ids, prefixes, a set such as `+archived`, `-` for ids on stdin"
    )
    parser.add_argument("-y", "--yes", action="store_true", help="delete also what a word or a set stands for")


def _targets(words: "list[str]", ctx: "Context") -> "list[str]":
    """The words given; `-` stands for the ids on stdin."""
    found: list[str] = []
    for word in words:
        if word == "-":
            from jp.cli.stdin import read_piped

            found += read_piped(ctx, wanted=True).split()
        else:
            found.append(word)
    return found


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.conversation import ids, targets
    from jp.errors import UsageError
    from jp.interrupt.checkpoint import checkpoint
    from jp.llm.embedded import slots

    store = ctx.store
    wanted: dict[str, None] = {}
    for target in _targets(args.target, ctx):
        if not args.yes and targets.parse(target).kind is not targets.Kind.ID:
            raise UsageError(
                f"`{target}` stands for conversations that you may not have in mind",
                hints=["add `--yes` to delete them, or name them by id (`jp conversation ls`)"],
            )
        wanted.update(dict.fromkeys(store.resolve_all(target)))
    for conversation_id in wanted:  # all are known before the first one goes
        checkpoint()
        store.remove(conversation_id)
        slots.forget(ctx.environ, conversation_id)
        ctx.printer.note(f"deleted {ids.display(conversation_id)}")
    return 0
