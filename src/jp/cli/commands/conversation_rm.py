"""`jp conversation rm`: delete conversations, both copies."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context


_SHOWN = 10


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="+", metavar="TARGET", help="ids, prefixes, a set such as `+archived`, `-` for ids on stdin"
    )
    parser.add_argument(
        "-y", "--yes", action="store_true", help="delete without asking, also what a word or a set stands for"
    )


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
    from jp.conversation import ids
    from jp.interrupt.checkpoint import checkpoint
    from jp.llm.embedded import slots

    store = ctx.store
    wanted: dict[str, None] = {}
    for target in _targets(args.target, ctx):
        wanted.update(dict.fromkeys(_meant(target, args, ctx)))
    if wanted and not args.yes and ctx.promptability and not _confirmed(list(wanted), ctx):
        ctx.printer.note("nothing was deleted")
        return 1
    for conversation_id in wanted:  # all are known before the first one goes
        checkpoint()
        store.remove(conversation_id)
        slots.forget(ctx.environ, conversation_id)
        ctx.printer.note(f"deleted {ids.display(conversation_id)}")
    return 0


def _meant(target: str, args: "argparse.Namespace", ctx: "Context") -> "list[str]":
    """The ids that a target stands for; where nobody can be asked, what is no id needs `--yes`."""
    from jp.conversation import targets
    from jp.errors import UsageError

    wanted = targets.parse(target)
    if wanted.kind is targets.Kind.PICKER:
        from jp.cli.pick import conversation

        return [conversation(ctx, within=wanted.within, filter_=wanted.text)]
    if not (args.yes or ctx.promptability) and wanted.kind is not targets.Kind.ID:
        raise UsageError(
            f"`{target}` stands for conversations that you may not have in mind",
            hints=["add `--yes` to delete them, or name them by id (`jp conversation ls`)"],
        )
    return ctx.store.resolve_all(target)


def _confirmed(wanted: "list[str]", ctx: "Context") -> bool:
    from jp.cli.pick import confirmed
    from jp.conversation import ids
    from jp.storage.conversation import Conversation

    store = ctx.store
    lines = []
    for conversation_id in wanted[:_SHOWN]:
        title = Conversation(store, conversation_id, store.place(conversation_id)).title
        lines.append(f"{ids.display(conversation_id)}  {title or '(untitled)'}")
    if len(wanted) > _SHOWN:
        lines.append(f"and {len(wanted) - _SHOWN} more")
    what = "this conversation" if len(wanted) == 1 else f"these {len(wanted)} conversations"
    hints = ["`--yes` deletes without asking"]
    return confirmed(ctx, f"Delete {what} for good?", body="\n".join(lines), hints=hints)
