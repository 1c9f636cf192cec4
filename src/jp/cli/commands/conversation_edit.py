"""`jp conversation edit`: a conversation's files, in the editor."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.ask.dialogue import Dialogue
    from jp.cli.context import Context
    from jp.editor.backend import EditorBackend

EPILOG = """\
Without a choice it is the events. What can't be stored is refused: the conversation stays as it was, byte for byte,
and the path of what you wrote is named.

examples:
  jp conversation edit
  jp c edit newest --metadata --config
"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="?", metavar="TARGET", help="an id, a prefix of one, `newest`, …; the active one by default"
    )
    what = parser.add_argument_group("what to edit (several open together; default: the events)")
    what.add_argument("--events", action="store_true", help="what was said: events.json")
    what.add_argument("--metadata", action="store_true", help="title, labels, times: metadata.json")
    what.add_argument(
        "--config", "--base-config", action="store_true", help="the settings it began with: base_config.json"
    )


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.asking import say
    from jp.cli.conversation_check import BASE_CONFIG, EVENTS, METADATA
    from jp.cli.conversation_edit import edit_conversation
    from jp.cli.select import lock, named

    chosen = {EVENTS: args.events, METADATA: args.metadata, BASE_CONFIG: args.config}
    what = [name for name, wanted in chosen.items() if wanted] or [EVENTS]
    conversation_id = named(args.target, ctx)
    backend = _backend(ctx)
    with lock(conversation_id, ctx) as held:
        conversation = ctx.store.open(conversation_id, held)
        for notice in conversation.notices:
            ctx.printer.note(notice)
        return ctx.asker.run(
            lambda dialogue: edit_conversation(
                ctx.store, conversation, what, backend, lambda fault: _again(fault, dialogue), say(ctx)
            ),
            about="the edited files",
            hints=["`jp conversation path` says where they are"],
        )


def _again(fault: str, dialogue: "Dialogue") -> bool:
    """Say what is wrong with what was written, and ask whether to go on with it."""
    from jp.prompt.outcomes import Submitted
    from jp.prompt.questions import Choice, Option

    options = (Option("e", "edit again"), Option("r", "revert: the conversation stays as it was"))
    outcome = dialogue.ask(Choice("It can't be stored like this.", options, body=fault))
    return outcome == Submitted("e")


def _backend(ctx: "Context") -> "EditorBackend":
    """The configured editor; raises `EditorMissingError` when there is none."""
    from jp.cli.asking import editor_for, missing_editor

    config = ctx.load_config()
    backend = editor_for(ctx, config)
    if backend is None:
        raise missing_editor(ctx, config)
    return backend
