"""How much of the model's reasoning is shown (`style.reasoning.display`). Pure."""

CUT = " …"
NOTHING = frozenset({"hidden", "progress", "timer"})  # the status line says that something is going on


class Excerpt:
    """What to show of one block of reasoning, piece by piece.

    `display`: full, truncate (the first `characters`), summary (the first paragraph), static (a line that says that
    there is reasoning), or a word that shows nothing.
    """

    __slots__ = ("_characters", "_cut", "_display", "_last", "_shown")

    def __init__(self, display: str, characters: int) -> None:
        self._display = display
        self._characters = characters
        self._shown = 0
        self._last = ""
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
        if not self._shown:
            text = text.lstrip()
        self._shown += len(text)
        end = (self._last + text).find("\n\n")
        if end < 0:
            self._last = text[-1:] or self._last
            return text
        self._cut = True
        return text[: max(0, end - len(self._last))] + CUT
