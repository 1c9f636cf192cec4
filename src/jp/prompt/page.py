"""The window of the inline editor: of the text, only the rows that are seen are laid out and drawn.

prompt_toolkit's own wraps and styles whole lines code point by code point, at every key: a pasted line of 100,000
characters then takes a tenth of a second a key, and a family of emoji takes six columns.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import get_app
from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.layout import Window
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.screen import Char, Screen, WritePosition

from jp.prompt.flow import Flow

if TYPE_CHECKING:
    from prompt_toolkit.layout.mouse_handlers import MouseHandlers

_KEPT = 400  # lines whose rows are remembered
_BESIDE = Char("", "")  # the second column of what takes two


class Page(Window):
    """Shows a buffer: `prefix` before its first line, `ghost` in its place while it is empty.

    `joined` is for its user to set: whether the terminal shows a cluster in the columns of one character.
    """

    def __init__(self, control: BufferControl, prefix: Callable[[], str], ghost: str) -> None:
        super().__init__(control)
        self.control = control
        self.joined = False
        self._prefix = prefix
        self._ghost = Document(ghost, 0) if ghost else None
        self._seen: tuple[tuple[Any, ...], _View] | None = None
        self._top = (0, 0)  # line and row of it that are seen first
        self._flows: dict[tuple[str, int, int, bool], Flow] = {}
        self._edited: Flow | None = None
        self._rows: dict[tuple[Flow, int, int, str], dict[int, Char]] = {}
        self._cells: dict[tuple[str, str], Char] = {}

    def preferred_width(self, max_available_width: int) -> Dimension:  # noqa: ARG002
        """As wide as there is room."""
        return Dimension()

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:
        """As high as the text, as far as there is room."""
        view = self._view(width)
        rows = 0
        for line in range(len(view.lines)):
            rows += view.rows(line, max_available_height - rows)
            if rows >= max_available_height:
                break
        rows = max(1, min(rows, max_available_height))
        return Dimension(min=1, max=rows, preferred=rows)

    def write_to_screen(
        self,
        screen: Screen,
        mouse_handlers: "MouseHandlers",  # noqa: ARG002
        write_position: WritePosition,
        parent_style: str,  # noqa: ARG002
        erase_bg: bool,  # noqa: ARG002
        z_index: int | None,  # noqa: ARG002
    ) -> None:
        """Draw."""
        width, height = write_position.width, write_position.height
        if width <= 0 or height <= 0:
            return
        self.control.buffer.load_history_if_not_yet_loaded()
        view = self._view(width)
        height = min(height, self.preferred_height(width, height).preferred)
        self._top = view.scrolled(self._top, height)
        y = write_position.ypos
        line, row = self._top
        if (line, row) == (0, 0):
            for x, character in enumerate(view.prefix):
                screen.data_buffer[y][write_position.xpos + x] = self._cell(character, "class:prompt")
        cursor = Point(write_position.xpos, y)
        for number in range(height):
            if (line, row) == view.cursor:
                cursor = Point(write_position.xpos + view.column, y + number)
            x = write_position.xpos + (view.indent if (line, row) == (0, 0) else 0)
            screen.data_buffer[y + number].update(self._row(view, line, row, x))
            if row + 1 < view.rows(line, row + 2):
                row += 1
            elif line + 1 < len(view.lines):
                line, row = line + 1, 0
            else:
                break
        screen.set_cursor_position(self, cursor)
        screen.show_cursor = True
        screen.show_cursor = True
        screen.width = max(screen.width, write_position.xpos + width)
        screen.height = max(screen.height, write_position.ypos + height)
        screen.visible_windows_to_write_positions[self] = write_position

    def _row(self, view: "_View", line: int, row: int, x: int) -> dict[int, Char]:
        """What is in a row that begins at column `x`, remembered where nothing in it is marked."""
        flow, marked = view.flow(line), view.marked(line)
        if marked:
            return self._drawn(flow, row, x, view.style, marked)
        key = (flow, row, x, view.style)
        found = self._rows.get(key)
        if found is None:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            found = self._rows[key] = self._drawn(flow, row, x, view.style, (0, 0))
        return found

    def _drawn(self, flow: Flow, row: int, x: int, style: str, marked: tuple[int, int]) -> dict[int, Char]:
        cells: dict[int, Char] = {}
        for offset, shown, width in flow.cells(row):
            look = style + " class:marked" if marked[0] <= offset < marked[1] else style
            if len(shown) == width and shown.isascii():  # a character a column, or what stands for a control character
                for at, character in enumerate(shown):
                    cells[x + at] = self._cell(character, look)
            elif width:
                cell = Char(shown, look)
                cell.width = width
                cells[x] = cell
                for at in range(1, width):
                    cells[x + at] = _BESIDE
            x += width
        return cells

    def _cell(self, character: str, style: str) -> Char:
        found = self._cells.get((character, style))
        if found is None:
            if len(self._cells) > 10 * _KEPT:
                self._cells.clear()
            found = self._cells[character, style] = Char(character, style)
            found.width = 1
        return found

    def _view(self, width: int) -> "_View":
        document, style, found = self._document()
        key = (document, width, self.joined, style, found, self._prefix())
        if self._seen is None or self._seen[0][0] is not document or self._seen[0][1:] != key[1:]:
            self._seen = (key, _View(self, document, width, style, found))
        return self._seen[1]

    def _document(self) -> tuple[Document, str, int]:
        """What is shown, in which style, and how much of it from the cursor on is what was searched for."""
        control, buffer = self.control, self.control.buffer
        if control.preview_search() and (search := control.search_buffer) and search.text:
            from prompt_toolkit.search import SearchState

            state = control.search_state
            looked_for = SearchState(search.text, direction=state.direction, ignore_case=state.ignore_case)
            searching = get_app().layout.is_searching
            return buffer.document_for_search(looked_for), "", len(search.text) if searching else 0
        if not buffer.text and self._ghost:
            return self._ghost, "class:ghost", 0
        return buffer.document, "", 0

    def flow(self, text: str, width: int, indent: int, edited: bool) -> Flow:
        """The rows of a line; of the one that is being edited, with what is known of it from before."""
        key = (text, width, indent, self.joined)
        found = self._flows.get(key)
        if found is None:
            if len(self._flows) >= _KEPT:
                self._flows.clear()
            found = self._flows[key] = Flow(
                text, width, indent, joined=self.joined, like=self._edited if edited else None
            )
        if edited:
            self._edited = found
        return found


class _View:
    """A text in a width: which rows there are, and where its cursor is."""

    def __init__(self, page: Page, document: Document, width: int, style: str, found: int) -> None:
        self.lines = document.lines
        self.width = width
        self.style = style
        self.prefix = page._prefix()
        self.indent = len(self.prefix) if len(self.prefix) < width else 0
        if not self.indent:
            self.prefix = ""
        self._page = page
        self._document = document
        self._found = found
        self._line, self._offset = document.cursor_position_row, document.cursor_position_col
        row, self.column = self.flow(self._line).place(self._offset)
        self.cursor = (self._line, row)

    def flow(self, line: int) -> Flow:
        return self._page.flow(self.lines[line], self.width, 0 if line else self.indent, line == self._line)

    def rows(self, line: int, limit: int) -> int:
        """The rows of a line; the cursor behind a full row has one of its own."""
        rows = self.flow(line).rows(limit)
        return max(rows, self.cursor[1] + 1) if line == self._line else rows

    def marked(self, line: int) -> tuple[int, int] | None:
        """From where to where a line is selected, or is what was searched for."""
        if self._found:
            return (self._offset, self._offset + self._found) if line == self._line else None
        return self._document.selection_range_at_line(line) if self._document.selection else None

    def scrolled(self, top: tuple[int, int], height: int) -> tuple[int, int]:
        """The first row to show: what it was, moved as little as lets the cursor be seen and the window be full."""
        line, row = min(top, (len(self.lines) - 1, top[1]))
        top = min((line, min(row, self.rows(line, row + 1) - 1)), self.cursor)
        lowest = self._back(self.cursor, height - 1)
        return max(min(top, self._fullest(top, height)), lowest)

    def _fullest(self, top: tuple[int, int], height: int) -> tuple[int, int]:
        """The last first row with which the window is full."""
        line, row = top
        left = height - (self.rows(line, row + height) - row)
        while left > 0 and line + 1 < len(self.lines):
            line += 1
            left -= self.rows(line, left)
        return self._back(top, left) if left > 0 else top

    def _back(self, place: tuple[int, int], count: int) -> tuple[int, int]:
        line, row = place
        while count > row and line:
            count -= row + 1
            line -= 1
            row = self.rows(line, len(self.lines[line]) + 1) - 1
        return line, max(0, row - count)
