"""The one place where an editor comes from: whoever can open one got it here (RFD 088, "One construction helper")."""

from jp import log
from jp.editor.command import resolve
from jp.editor.errors import EditorMissingError
from jp.editor.terminal_editor import TerminalEditor
from jp.terminal import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.config.sections.interaction import Editor
    from jp.editor.backend import EditorBackend
    from jp.editor.terminal_editor import HandOver, Say
    from jp.interrupt.router import Router


def build_editor(
    editor: "Editor",
    environ: "Mapping[str, str]",
    *,
    hand_over: "HandOver",
    router: "Router | None",
    say: "Say",
    drafts_dir: str | None = None,
) -> "EditorBackend | None":
    """The backend for the `editor` section; None when no editor is configured (`missing` is the error for that).

    `say` is also told of a configured command that can't be used.
    """
    found = resolve(editor, environ, system.SHELL)
    for entry in found.entries:
        log.log(log.WARN, "jp.editor", entry)
    for notice in found.notices:
        say(notice)
    if found.invocation is None:
        return None
    return TerminalEditor(found.invocation, environ, hand_over, router, drafts_dir, say)


def missing(editor: "Editor", environ: "Mapping[str, str]") -> EditorMissingError:
    """What to raise where an editor is needed and `build_editor` gave none."""
    return EditorMissingError(editor.envs, resolve(editor, environ, system.SHELL).notices)
