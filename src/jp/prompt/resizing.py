"""A change of the window's width: what was drawn for the old one has been wrapped anew by the terminal."""

from collections.abc import Callable

from prompt_toolkit.renderer import Renderer


def erase_other_width(renderer: Renderer, columns: int, write: Callable[[str], object]) -> None:
    """Erase what the old width has left, for the prompt to be drawn again.

    A narrower window wraps each row that was drawn into several, so there is more to erase than was drawn.
    """
    last, size = renderer.last_rendered_screen, getattr(renderer, "_last_size", None)
    position = getattr(renderer, "_cursor_pos", None)
    if last is not None and size is not None and position is not None and columns < size.columns:
        extra = 0
        for y in range(position.y + 1):
            used = max((x for x, cell in last.data_buffer[y].items() if cell.char != " "), default=0) + 1
            if y == position.y:
                used = min(used, position.x + 1)
            extra += max(0, -(-used // columns) - 1)
        if extra:
            write(f"\x1b[{extra}A")
    write("\r")  # rows that the old width had wrapped may have become one, and the cursor is in it
    renderer.erase(leave_alternate_screen=False)
