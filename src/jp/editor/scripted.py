"""A backend whose outcomes are written down: whole flows run without an editor."""

from collections import deque
from collections.abc import Callable, Iterable

from jp.editor.backend import EditOutcome, EditRequest
from jp.editor.errors import EditorError, EditorIoError, EditorSpawnError

Step = str | Callable[[str], str] | EditOutcome | EditorError


class ScriptedEditor:
    """Does `steps` in order, one for each edit.

    A text is saved; a function is called with the text and its result saved; EditOutcome.SAVED saves it unchanged;
    EditOutcome.CANCELLED cancels; an EditorError is raised. In a file edit each file is changed, but a text is the
    first file's. `requests` holds the contents and requests so far. An edit for which nothing is written is a spawn
    error.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._steps = deque(steps)
        self.requests: list[str | EditRequest] = []

    def edit_text(self, content: str, suffix: str = ".md") -> tuple[EditOutcome, str]:  # noqa: ARG002 (the protocol's)
        """The next step, on `content`."""
        step = self._next(content)
        if step is EditOutcome.CANCELLED:
            return EditOutcome.CANCELLED, content
        return EditOutcome.SAVED, _edited(step, content)

    def edit_file(self, request: EditRequest) -> EditOutcome:
        """The next step, on the files themselves; the working directory is ignored."""
        step = self._next(request)
        if isinstance(step, EditOutcome):
            return step
        try:
            for path in request.paths[:1] if isinstance(step, str) else request.paths:
                _edit(step, path)
        except (OSError, ValueError) as error:
            raise EditorIoError("scripted", str(error)) from error
        return EditOutcome.SAVED

    def _next(self, request: str | EditRequest) -> str | Callable[[str], str] | EditOutcome:
        self.requests.append(request)
        step = (
            self._steps.popleft() if self._steps else EditorSpawnError("scripted", "nothing is scripted for this edit")
        )
        if isinstance(step, EditorError):
            raise step
        return step


def _edited(step: str | Callable[[str], str] | EditOutcome, text: str) -> str:
    if isinstance(step, EditOutcome):
        return text
    return step if isinstance(step, str) else step(text)


def _edit(step: str | Callable[[str], str], path: str) -> None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(_edited(step, text))
