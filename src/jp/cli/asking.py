"""What commands ask with: the editor for the configuration at hand, and where drafts are kept."""

import os

from jp.errors import JpError
from jp.places import temporary_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.drafts import Drafts
    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.editor.backend import EditorBackend
    from jp.editor.errors import EditorMissingError


def editor_for(ctx: "Context", config: "Config") -> "EditorBackend | None":
    """The configured editor; None when there is none (`missing_editor` is the error for that)."""
    from jp.editor.build import build_editor

    return build_editor(
        config.root.editor,
        ctx.environ,
        hand_over=ctx.asker.hand_over,
        router=ctx.router,
        say=say(ctx),
        drafts_dir=drafts_directory(ctx),
    )


def missing_editor(ctx: "Context", config: "Config") -> "EditorMissingError":
    """The error where `editor_for` gave none; it names a command that only waits for trust."""
    from jp.config.trust import waits_for_trust
    from jp.editor.build import missing

    error = missing(config.root.editor, ctx.environ)
    held = [waits_for_trust(one) for one in config.withheld if one.key.startswith("editor.")]
    error.hints = (*held, *error.hints)
    return error


def say(ctx: "Context") -> "Callable[[str], None]":
    """Prints a notice, also in the middle of a dialogue."""
    return lambda text: ctx.printer.note(text, now=True)


def drafts(ctx: "Context") -> "Drafts":
    """The drafts of this workspace."""
    from jp.ask.drafts import Drafts

    return Drafts(drafts_directory(ctx))


def drafts_directory(ctx: "Context") -> str:
    """Where drafts are: in the user's own directory for the workspace, else in a private one for temporary files."""
    try:
        return os.path.join(ctx.workspace.ensure_user_dir(), "drafts")
    except JpError:
        user = os.getuid() if hasattr(os, "getuid") else 0
        return os.path.join(temporary_directory() or ctx.workspace.root, f"jp-drafts-{user}")


def rescue(ctx: "Context", text: str) -> None:
    """A text that its place took no more: kept wherever there is room, and named; else it is said once more."""
    path = drafts(ctx).rescue(text, ctx.environ)
    if path is not None:
        ctx.printer.note(f"what you wrote could not be kept in its place; it is in {path}")
    else:
        from jp.terminal.sanitize import Sanitizer

        ctx.printer.note("what you wrote could not be kept anywhere; here it is:\n" + Sanitizer().feed(text))
