"""How the inline editor looks: what there is to say above, the prompt line with the text, the help line below."""

from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import ConditionalContainer, Container, HSplit, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl, SearchBufferControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import Style

from jp.prompt.page import Page
from jp.prompt.questions import Edit
from jp.prompt.rows import body_rows
from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width, truncate

if TYPE_CHECKING:
    from jp.prompt.inline import InlineEditor

NARROW = 20  # columns: below, the text gets all there is
LOW = 4  # lines: the same


def layout(question: Edit, buffer: Buffer, editor: "InlineEditor") -> tuple[Container, Page]:
    """What there is for one question, and the window of the text in it."""
    message = one_line(question.message)
    roomy = Condition(lambda: editor.columns >= NARROW)

    def prefix() -> str:
        wide = display_width(message) + 1 <= editor.columns // 2
        return message + " " if wide and editor.columns >= NARROW else ""

    looked_for = Buffer(multiline=False)
    search = SearchBufferControl(looked_for, input_processors=[BeforeInput(lambda: _search_label(editor))])
    control = BufferControl(buffer, search_buffer_control=search, preview_search=True)
    above = lambda: _above(question, editor)
    rows: list[Window | ConditionalContainer] = []
    if question.body or question.error:
        shown = Window(FormattedTextControl(above), wrap_lines=True, dont_extend_height=True)
        rows.append(ConditionalContainer(shown, roomy & Condition(lambda: editor.lines >= 2 * LOW)))
    # A message that does not fit beside the text has a line of its own.
    own_line = Condition(lambda: display_width(message) + 1 > editor.columns // 2 and editor.lines >= LOW)
    rows.append(
        ConditionalContainer(
            Window(FormattedTextControl([("class:prompt", message)]), wrap_lines=True, dont_extend_height=True),
            roomy & own_line,
        )
    )
    text = Page(control, prefix, one_line(question.placeholder))
    rows.append(text)
    rows.append(ConditionalContainer(Window(search, height=1), is_searching & Condition(lambda: editor.lines > 1)))
    rows.append(
        ConditionalContainer(
            Window(FormattedTextControl(lambda: [("class:help", _help(question, editor))]), height=1),
            roomy & Condition(lambda: editor.lines >= LOW),
        )
    )
    return HSplit(rows), text


def _search_label(editor: "InlineEditor") -> str:
    return "(search earlier) " if editor.columns >= 2 * NARROW else "? "


def _above(question: Edit, editor: "InlineEditor") -> StyleAndTextTuples:
    parts: StyleAndTextTuples = []
    if question.body:
        rows = body_rows(
            question.body, editor.columns, max(1, editor.lines - 2 * LOW), colour=False, more=question.more
        )
        parts.append(("", "\n".join(row.text for row in rows)))
    if question.error:
        parts.append(("class:error", ("\n" if parts else "") + one_line(question.error)))
    return parts


def _help(question: Edit, editor: "InlineEditor") -> str:
    """What works here. Where it does not fit, the least needed is left out, but before a key all explanations."""
    if editor.app.layout.is_searching:
        searching = _joined("", [("Enter", "takes it"), ("Ctrl+R", "further back"), ("ESC", "as it was")])
        return truncate(searching, max(1, editor.columns - 1))
    keys = [("Enter", "sends" if question.multiline else "answers", 0)]
    if question.multiline:
        if editor.kitty:
            keys.append(("Shift+Enter", "or", 4))
        keys.append(("Alt+Enter", "new line", 1))
    if question.escape:
        keys.append(("Ctrl+X", "editor", 2))
    keys.append(("Ctrl+C", question.cancel, 3))
    if question.history is not None:
        keys.append(("Ctrl+R", "earlier", 5))
    room = editor.columns - 1
    mode = "NORMAL" if editor.vi_normal else ""
    for least in range(5, 2, -1):  # what Enter, Alt+Enter and Ctrl+X do is said as long as it fits
        line = _joined(mode, [(key, word) for key, word, need in keys if need <= least])
        if display_width(line) <= room:
            return line
    for least in (2, 1, 0):
        for short in (False, True):
            line = _joined(mode, [(key, "" if short else word) for key, word, need in keys if need <= least])
            if display_width(line) <= room:
                return line
    return truncate(mode or "Enter", max(1, room))


def _joined(mode: str, keys: list[tuple[str, str]]) -> str:
    parts = [f"-- {mode} --"] if mode else []
    parts += [f"{key} {word}".rstrip() for key, word in keys]
    return " · ".join(parts).replace(" or · ", " or ")


def style(colour: bool) -> Style:
    """The same look as the one-key prompts."""
    if not colour:
        return Style([("prompt", "bold"), ("error", "bold"), ("marked", "reverse")])
    return Style(
        [
            ("prompt", "bold fg:ansiblue"),
            ("help", "fg:ansibrightblack"),
            ("ghost", "fg:ansibrightblack"),
            ("error", "fg:ansired"),
            ("marked", "reverse"),
        ]
    )
