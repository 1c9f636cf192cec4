"""How much of the model's reasoning is shown (`style.reasoning.display`). Pure."""

CUT = " …"
NOTHING = frozenset({"hidden", "progress", "timer"})  # the status line says that something is going on


class Excerpt:
    """What to show of one block of reasoning, piece by piece.

    `display`: full, truncate (the first `characters`), summary (the first paragraph), static (a line that says that
    there is reasoning), or a word that shows nothing.
    """

    __slots__ = ("_characters", "_cut", "_display", "_held", "_shown")

    def __init__(self, display: str, characters: int) -> None:
        self._display = display
        self._characters = characters
        self._shown = 0
        self._held = ""
        self._cut = display in NOTHING

    def take(self, text: str) -> str:
        """What of the next piece is to be shown."""
        if self._cut or not text:
            return ""
        if self._display == "static":
            self._cut = True
            return "Reasoning…"
        if self._display == "summary":
            return self._paragraph(text)
        if self._display == "truncate":
            room = self._characters - self._shown
            self._shown += len(text)
            if len(text) > room:
                self._cut = True
                return text[:room] + CUT
        return text

    def _paragraph(self, text: str) -> str:
        """Up to an empty line; a line end is held back, as it may be the first half of that."""
        text = self._held + text if self._shown else text.lstrip()
        self._shown += len(text)
        paragraph, end, _rest = text.partition("\n\n")
        if end:
            self._cut = True
            return paragraph + CUT
        self._held = "\n" if text.endswith("\n") else ""
        return text.removesuffix("\n")
