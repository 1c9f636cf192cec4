"""`QUERY_MESSAGE.md` on disk, for as long as an editor has it: written before, removed once its text has arrived.

What a run that was killed has left there is where the next composition begins; what can't be understood is opened as
it is and never rebuilt over.
"""

import os
import time

from jp.editor import document
from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.document import NAME, DocumentError
from jp.editor.errors import EditorEndedError
from jp.editor.terminal_editor import AT_ONCE_SECS
from jp.errors import JpError
from jp.storage import files
from jp.storage.errors import UnreadableFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jp.editor.backend import EditorBackend


class DocumentFile:
    """The document of one query in `directory`, as the `Editing` of its composition.

    `settings` is the TOML that may be edited, `history` text for reference; `config` is what was changed of the
    settings, as a partial config.
    """

    def __init__(
        self,
        editor: "EditorBackend | None",
        directory: str,
        settings: str,
        history: str,
        say: "Callable[[str], object]",
    ) -> None:
        self.directory = directory
        self.path = os.path.join(directory, NAME)
        self.config: dict[str, Any] | None = None
        self.first = False
        self._left = ""  # what an earlier run has left
        self._last = ""  # the document as it was saved last
        self.editor = editor
        self._settings = settings
        self._history = history
        self._say = say

    def left(self) -> str:
        """The query in a document that an earlier run has left, empty without one; `first` if only an editor can say.

        What it says of the settings holds, and the document is gone on with. One that can't even be read is set aside,
        and so is, without an editor, one that can't be understood.
        """
        try:
            text = _read(self.path)
        except DocumentMissing:
            return ""
        except JpError as error:
            self._set_aside(error.message)
            return ""
        try:
            parsed = document.parse(text, self._settings)
        except DocumentError as error:
            self.first = self.editor is not None
            if not self.first:
                self._set_aside(error.message)
            return ""
        self._say(f"going on with what was left in {self.path}")
        self._left = self._last = text
        self.config = parsed.config
        return parsed.query

    def arrived(self) -> None:
        """The text that an earlier run has left is a draft now: its document may go, unless it was written since."""
        try:
            if self._left and not self.first and _read(self.path) == self._left:
                self._remove()
        except JpError:
            pass

    def edit(self, text: str) -> str | None:
        """Have the query edited; None when the user cancelled. An error in the document opens it again with the error.

        Raises EditorError, DocumentError (an error that is still there after that: the document stays as it is, and is
        what the next time begins with), WriteError.
        """
        assert self.editor is not None
        if self.first:
            written = _read(self.path)
        else:
            written = document.compose(text, self._settings, self._history)
            if self._last:  # with the settings as they were left there
                written = document.with_query(self._last, text)
            self._write(written)
        self.first = False
        while True:
            began = time.monotonic()
            try:
                outcome = self.editor.edit_file(EditRequest((self.path,), cwd=self.directory))
            except EditorEndedError:  # what it has saved is what the next run begins with
                raise
            except JpError:
                self._forget(written)
                raise
            if outcome is EditOutcome.CANCELLED:
                self._forget(written)
                return None
            found = _read(self.path)
            try:
                parsed = document.parse(found, self._settings)
            except DocumentError as error:
                if found == written:  # it came back just as it went: no use in asking again
                    self.first = True
                    error.hints = (*error.hints, f"the document is kept: {self.path}")
                    raise
                written = self._with_error(found, error)
                self._write(written)
                continue
            self._remove()
            if found == written and time.monotonic() - began < AT_ONCE_SECS:
                return None  # a window that has only just been opened; what it saves is found next time
            self._last, self.config = found, parsed.config
            return parsed.query

    def _with_error(self, text: str, error: DocumentError) -> str:
        """The document with the error in it, whose line is counted with the lines of the error itself."""
        shown = document.with_error(text, error)
        try:
            document.parse(shown, self._settings)
        except DocumentError as again:
            shown = document.with_error(text, again)
        return shown

    def _remove(self) -> None:
        files.discard(self.path)
        try:
            os.rmdir(self.directory)  # one that was made for it alone
        except OSError:
            pass

    def _set_aside(self, why: str) -> None:
        try:
            self._say(f"{why}; it is now {files.set_aside(self.path)}")
        except JpError as error:
            self._say(f"{why}; {error.message}")

    def _write(self, text: str) -> None:
        files.make_directory(self.directory, 0o700)
        files.write_atomic(self.path, text.encode("utf-8", "surrogatepass"))

    def _forget(self, text: str) -> None:
        """Remove the document, unless something was written that JP did not take: that is kept, and named."""
        try:
            kept = files.read(self.path)
        except (OSError, UnreadableFileError):
            kept = b""
        if not kept or kept == text.encode("utf-8", "surrogatepass"):
            self._remove()
            return
        aside = f"{self.path}.{os.getpid()}"
        try:
            os.replace(self.path, aside)
        except OSError:
            aside = self.path
        self._say(f"the editor's text was not taken; it is kept in {aside}")


class DocumentMissing(DocumentError):
    """There is no document; after an editor had it, the editor has removed it."""

    code = "query_document"


def _read(path: str) -> str:
    try:
        return files.read(path).decode()
    except FileNotFoundError as error:
        raise DocumentMissing(f"the editor has left no file: {path}", metadata={"path": path}) from error
    except OSError as error:
        raise DocumentError(f"can't read {path}: {error.strerror or error}", metadata={"path": path}) from error
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path} is not valid UTF-8; it is left as it is", metadata={"path": path}) from error
