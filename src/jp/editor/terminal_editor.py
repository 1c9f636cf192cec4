"""The external editor on the user's terminal (RFD 088, "EditorBackend")."""

import os
import time

from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.draft import Draft, UnusableError
from jp.editor.errors import EditorEndedError, EditorError, EditorIoError, EditorSpawnError, EditorTerminalError
from jp.editor.run import EndingError, FailedStartError, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from jp.editor.command import Invocation
    from jp.interrupt.router import Router

    HandOver = Callable[[], AbstractContextManager[int | None]]
    Say = Callable[[str], object]

AT_ONCE_SECS = 1.0
_NOT_RUN = {126: "the shell cannot run it (exit status 126)", 127: "the shell does not find it (exit status 127)"}
_Mark = tuple[int, int, int] | None


class TerminalEditor:
    """Runs `invocation` on the terminal, for one thread that is not the main one.

    `hand_over()` is the terminal's descriptor for as long as the editor has it; None means that there is none. It
    takes the terminal's modes back before it ends. `say` shows a notice. Texts are kept under `drafts_dir`, by default
    the temporary directory: `kept` is the path of the last edit's, if it was.
    """

    def __init__(
        self,
        invocation: "Invocation",
        environ: "Mapping[str, str]",
        hand_over: "HandOver",
        router: "Router | None" = None,
        drafts_dir: str | None = None,
        say: "Say" = lambda _: None,
    ) -> None:
        self.invocation = invocation
        self.kept: str | None = None
        self._environ = environ
        self._hand_over = hand_over
        self._router = router
        self._drafts_dir = drafts_dir
        self._say = say

    def edit_text(self, content: str, suffix: str = ".md") -> tuple[EditOutcome, str]:
        """Have `content` edited in a file of its own.

        What the editor wrote and JP does not take is kept where it differs, and `say` names it.
        """
        self.kept = None
        with Watch(self._router) as watch:
            try:
                draft = Draft(content, suffix, self._drafts_dir)
            except UnusableError as error:
                raise self._error(EditorIoError, error) from error
            try:
                outcome, at_once = self._open(watch, (draft.path,), None)
                text = content if outcome is EditOutcome.CANCELLED else draft.read()
            except UnusableError as error:
                raise self._error(EditorIoError, error).keeping(self._settle(draft)) from error
            except EditorError as error:
                error.keeping(self._settle(draft))
                raise
            if outcome is EditOutcome.CANCELLED:
                self._settle(draft)
            elif at_once and not draft.left():
                self.kept = draft.path  # a window may be open on it
                self._hint(f". The file it was given is {draft.path}")
            else:
                draft.discard()
            return outcome, text

    def edit_file(self, request: EditRequest) -> EditOutcome:
        """Have files edited where they are, byte for byte as the editor leaves them."""
        self.kept = None
        before = [_mark(path, request.cwd) for path in request.paths]
        with Watch(self._router) as watch:
            outcome, at_once = self._open(watch, request.paths, request.cwd)
        unchanged = before == [_mark(path, request.cwd) for path in request.paths]
        if outcome is EditOutcome.SAVED and at_once and unchanged:
            self._hint("")
        return outcome

    def _open(self, watch: Watch, paths: tuple[str, ...], cwd: str | None) -> tuple[EditOutcome, bool]:
        """Run the editor; how it went, and whether it took no longer than a program that only opens a window."""
        with self._hand_over() as fd:
            if fd is None:
                raise self._error(EditorTerminalError, "there is no terminal to run it on")
            began = time.monotonic()
            try:
                status = watch.run(self.invocation.argv(paths), self._environ, cwd, fd)
            except FailedStartError as error:
                raise self._error(EditorSpawnError, error, *error.hints) from error
            except EndingError as error:
                raise self._error(EditorEndedError, "JP is ending") from error
            at_once = time.monotonic() - began < AT_ONCE_SECS
        if self.invocation.shell and status in _NOT_RUN:
            raise self._error(EditorSpawnError, _NOT_RUN[status])
        return (EditOutcome.CANCELLED if status else EditOutcome.SAVED), at_once

    def _settle(self, draft: Draft) -> str | None:
        """Keep what the editor wrote and nobody has taken, and say where; None when there is nothing of the kind."""
        if not draft.left():
            draft.discard()
            return None
        self.kept = draft.path
        self._say(f"what the editor wrote is kept in {draft.path}")
        return draft.path

    def _hint(self, where: str) -> None:
        self._say(
            f"the editor `{self.invocation.shown}` returned at once and changed nothing; a graphical editor may need a "
            f"flag to wait, such as `code --wait`{where}"
        )

    def _error(self, kind: type[EditorError], cause: Exception | str, *hints: str) -> EditorError:
        return kind(self.invocation.shown, str(cause), hints=(*hints, f"The command is from {self.invocation.source}."))


def _mark(path: str, cwd: str | None) -> _Mark:
    """What differs when the file has been written or replaced."""
    try:
        found = os.stat(os.path.join(cwd or "", path))
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
