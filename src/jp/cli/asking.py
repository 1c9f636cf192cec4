"""What commands ask with: the editor for the configuration at hand, and where drafts are kept."""

import os
import stat

from jp.errors import JpError
from jp.places import temporary_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jp.ask.compose import Composition
    from jp.ask.drafts import Drafts
    from jp.ask.policy import Context as Wanted
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


def composition(
    ctx: "Context",
    config: "Config",
    context: "Wanted",
    *,
    message: str,
    cancel: str,
    compose: bool | str,
    key: str,
    **more: "Any",
) -> "Composition":
    """What a text of its own (not a query) is written with; `more` as for `Composition`."""
    from jp.ask.compose import Composition, TextEditing

    editor = editor_for(ctx, config)
    return Composition(
        context,
        message=message,
        cancel=cancel,
        compose=compose,
        mode=config.root.editor.inline.edit_mode,
        editing=TextEditing(editor) if editor is not None else None,
        missing=missing_editor(ctx, config),
        drafts=drafts(ctx),
        key=key,
        say=say(ctx),
        rescue=lambda text: rescue(ctx, text),
        **more,
    )


def say(ctx: "Context") -> "Callable[[str], None]":
    """Prints a notice, also in the middle of a dialogue."""
    return lambda text: ctx.printer.note(text, now=True)


def drafts(ctx: "Context") -> "Drafts":
    """The drafts of this workspace: one object a run, for a key that it has claimed is taken for any other."""
    if ctx.drafts is None:
        from jp.ask.drafts import Drafts

        ctx.drafts = Drafts(drafts_directory(ctx))
    return ctx.drafts


def drafts_directory(ctx: "Context") -> str:
    """Where drafts are: in the user's own directory for the workspace, else in a private one for temporary files."""
    try:
        return os.path.join(ctx.workspace.ensure_user_dir(), "drafts")
    except JpError:
        return _temporary(ctx)


def _temporary(ctx: "Context") -> str:
    """A directory of this user alone, of a name that is found again; one that somebody else has made is not used."""
    place = temporary_directory() or ctx.workspace.root
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = os.path.join(place, f"jp-drafts-{user}-{ctx.workspace.id or 'none'}")
    try:
        os.mkdir(path, 0o700)
    except OSError:
        pass
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077:
            return path
    except OSError:
        return path  # nothing can be written there, which is said when it is tried
    import tempfile

    return tempfile.mkdtemp(prefix="jp-drafts-")


def rescue(ctx: "Context", text: str) -> None:
    """A text that its place took no more: kept wherever there is room, and named; else it is said once more."""
    path = drafts(ctx).rescue(text, ctx.environ)
    if path is not None:
        ctx.printer.note(f"what you wrote could not be kept in its place; it is in {path}")
    else:
        from jp.terminal.sanitize import Sanitizer

        ctx.printer.note("what you wrote could not be kept anywhere; here it is:\n" + Sanitizer().feed(text))
