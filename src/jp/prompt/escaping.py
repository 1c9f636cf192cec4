"""What a lone ESC does in the inline editor: one level of what is pending is taken back, else it leaves."""

from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.search import stop_search


def step_back(app: Application[Any], buffer: Buffer) -> bool:
    """Take one level back: a search, a selection, an operator or a count, vi's insert mode. False: there was none."""
    pending = bool(app.key_processor.key_buffer) or app.key_processor.arg is not None
    app.key_processor.reset()
    if app.layout.is_searching:
        stop_search()
        return True
    selecting = buffer.selection_state is not None
    if selecting:
        buffer.exit_selection()
    if app.editing_mode != EditingMode.VI:
        return selecting
    vi = app.vi_state
    pending = pending or vi.operator_func is not None or vi.waiting_for_digraph or vi.tilde_operator
    vi.operator_func = vi.operator_arg = None
    vi.waiting_for_digraph = False
    if vi.input_mode != InputMode.NAVIGATION:
        buffer.cursor_position += buffer.document.get_cursor_left_position()
        vi.input_mode = InputMode.NAVIGATION
        return True
    return pending or selecting
