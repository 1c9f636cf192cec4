"""A few rows below the last output, drawn, drawn again and erased; the cursor is then where it was."""

from jp.prompt.backend import PromptTerminal
from jp.prompt.rows import Picture

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


class Drawing:
    """What one prompt has on the terminal. While it is there pastes are marked as such: none is a key by accident."""

    def __init__(self, terminal: PromptTerminal) -> None:
        self._terminal = terminal
        self._on = False
        self._widths: list[int] = []  # of the rows down to the cursor's; empty while nothing is drawn
        self._column = 0

    def draw(self, picture: Picture) -> None:
        """Show `picture` in the place of what was there."""
        text = self._erasing()
        if not self._on:
            self._terminal.undo_with(PASTE_OFF)
            self._on = True
            text += PASTE_ON
        columns = self._terminal.size()[0]
        self._column = min(picture.column, columns - 1)
        self._widths = [row.width for row in picture.rows[: picture.row + 1]]
        text += "\r\n".join([row.text for row in picture.rows]) + "\r"
        below = len(picture.rows) - 1 - picture.row
        text += f"\x1b[{below}A" if below else ""
        text += f"\x1b[{self._column}C" if self._column else ""
        self._terminal.write(text)

    def erase(self) -> None:
        """Take everything away and switch everything off; nothing is done twice."""
        text = self._erasing()
        if self._on:
            text += PASTE_OFF
        if text:
            self._terminal.write(text)
        if self._on:
            self._on = False
            self._terminal.undo_with("")

    def forget(self) -> None:
        """Somebody else has written on the terminal, and may have switched off what was on."""
        self._widths = []
        self._on = False

    def _erasing(self) -> str:
        if not self._widths:
            return ""
        columns = self._terminal.size()[0]  # in a narrower window a row takes more than one
        above = sum([max(1, -(-width // columns)) for width in self._widths[:-1]]) + self._column // columns
        self._widths = []
        return "\r" + (f"\x1b[{above}A" if above else "") + "\x1b[J"
