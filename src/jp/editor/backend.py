"""The seam between a text and where it is edited (RFD 088): a backend opens an editor and says what the user did.

Whether a saved text is changed, unchanged or empty is the caller's question. No editor is no backend: None.
"""

from enum import Enum
from typing import NamedTuple, Protocol


class EditOutcome(Enum):
    """What the user did; failures are errors (`jp.editor.errors`), never CANCELLED."""

    SAVED = "saved"
    CANCELLED = "cancelled"


class EditRequest(NamedTuple):
    """Files to edit, in order, and the directory that the editor runs in (None: JP's own; a backend may ignore it)."""

    paths: tuple[str, ...]
    cwd: str | None = None


class EditorBackend(Protocol):
    """Opens an editor and blocks until the user is done with it. Raises EditorError."""

    def edit_text(self, content: str, suffix: str = ".md") -> tuple[EditOutcome, str]:
        """Have `content` edited; the text means nothing when CANCELLED. `suffix` tells the editor what it is."""
        ...

    def edit_file(self, request: EditRequest) -> EditOutcome:
        """Have files edited where they are; the caller reads them."""
        ...
