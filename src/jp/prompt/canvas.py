"""Where the inline editor draws: prompt_toolkit's output, on a prompt's terminal alone.

Terminals disagree about how wide a cluster of several code points is (families, flags, skin tones); only some can be
asked (`joined`). Whatever one makes of it, what stands behind it begins in the column that was reckoned with: it is
moved there.
"""

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from jp.prompt.backend import PromptTerminal
from jp.prompt.flow import columns

_BIDI = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_MODIFIERS = range(0x1F3FB, 0x1F400)
_REGIONAL = range(0x1F1E6, 0x1F200)


class _Nowhere:
    """The stream that Vt100_Output asks for; nothing is written to it."""

    encoding = "utf-8"

    def write(self, _: str) -> int:
        return 0

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


class Canvas(Vt100_Output):
    """An Output that draws by `terminal.write` and asks the terminal nothing."""

    def __init__(self, terminal: PromptTerminal) -> None:
        depth = ColorDepth.DEPTH_4_BIT if terminal.colour else ColorDepth.DEPTH_1_BIT
        super().__init__(_Nowhere(), self._window, term="xterm", default_color_depth=depth, enable_cpr=False)  # type: ignore[arg-type]
        self._terminal = terminal
        self.joined = False
        self._column = 0

    def _window(self) -> Size:
        columns, rows = self._terminal.size()
        return Size(rows=rows, columns=columns)

    def write(self, data: str) -> None:
        """Text; a cluster whose width is in dispute is followed by a move to where the next one begins."""
        if data.isascii():
            super().write(data)
            if "\r" in data or "\n" in data:
                self._column = 0
            else:
                self._column += len(data)
            return
        super().write(data.translate(_BIDI))
        self._column += columns(data, joined=self.joined)
        if len(data) > 1 or ord(data) in _MODIFIERS or ord(data) in _REGIONAL:
            self.write_raw(f"\x1b[{self._column + 1}G")

    def cursor_forward(self, amount: int) -> None:
        """Move right."""
        self._column += amount
        super().cursor_forward(amount)

    def cursor_backward(self, amount: int) -> None:
        """Move left."""
        self._column = max(0, self._column - amount)
        super().cursor_backward(amount)

    def cursor_goto(self, row: int = 0, column: int = 0) -> None:
        """Move anywhere."""
        self._column = max(0, column - 1)
        super().cursor_goto(row, column)

    def show_cursor(self) -> None:
        """Show the cursor; whether it blinks is the user's own setting."""
        if self._cursor_visible in (False, None):
            self._cursor_visible = True
            self.write_raw("\x1b[?25h")

    def flush(self) -> None:
        """Hand over what was drawn."""
        if self._buffer:
            data, self._buffer = "".join(self._buffer), []
            self._terminal.write(data)
