"""What can go wrong with an external editor; none of it is the user's cancelling, which is an outcome.

Each names the command and the cause. `kept` is the path of a text that the editor had written and JP did not take.
"""

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class EditorError(JpError):
    """A failure of the editor `command`, as the user wrote it; `cause` says why."""

    code = "editor"
    what = "failed"

    def __init__(self, command: str, cause: str, *, hints: "Sequence[str]" = ()) -> None:
        super().__init__(
            f"the editor `{command}` {self.what}: {cause}", hints=hints, metadata={"command": command, "cause": cause}
        )
        self.command = command
        self.cause = cause
        self.kept: str | None = None

    def keeping(self, path: str | None) -> "EditorError":
        """This error, naming also the text that was kept (None: there is none)."""
        if path is not None:
            self.kept = self.metadata["kept"] = path
        return self


class EditorSpawnError(EditorError):
    """It did not run: missing, not executable, no program at all."""

    code = "editor_spawn"
    what = "could not be started"


class EditorIoError(EditorError):
    """The text could not be written for it, or not be read back."""

    code = "editor_io"
    what = "has given no text"


class EditorTerminalError(EditorError):
    """There is no terminal that it could be given, so it was not started."""

    code = "editor_terminal"
    what = "was not started"


class EditorEndedError(EditorError):
    """The run is ending: the editor was ended, or not started any more."""

    code = "editor_ended"
    what = "was ended"


class EditorMissingError(JpError):
    """No editor is configured. `broken` are commands that were found and can't be used."""

    code = "editor_missing"

    def __init__(self, variables: "Sequence[str]", broken: "Sequence[str]" = ()) -> None:
        looked = ["editor.cmd", *variables]
        super().__init__(
            f"no editor is configured: nothing usable in {', '.join(looked)}",
            hints=[*broken, _hint(variables)],
            metadata={"looked_for": looked},
        )


def _hint(variables: "Sequence[str]") -> str:
    example = 'Set the editor with `jp config set editor.cmd "code --wait"`'
    return f"{example}, or in the environment: `export {variables[0]}=vim`." if variables else f"{example}."
