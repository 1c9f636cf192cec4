"""The keys of the inline editor that are JP's own (RFD 088); all others are prompt_toolkit's, emacs or vi."""

from typing import TYPE_CHECKING

from prompt_toolkit.filters import (
    Condition,
    emacs_mode,
    is_searching,
    vi_insert_mode,
    vi_navigation_mode,
    vi_waiting_for_text_object_mode,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.bindings.search import accept_search, start_reverse_incremental_search
from prompt_toolkit.key_binding.defaults import load_key_bindings
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.key_binding.vi_state import InputMode

from jp.prompt.outcomes import Cancelled, OpenEditor, ShowWhole, Submitted
from jp.prompt.questions import Edit

if TYPE_CHECKING:
    from jp.prompt.inline import InlineEditor


def bindings(question: Edit, editor: "InlineEditor") -> KeyBindingsBase:
    """The keys for one question; the same in both modes of editing."""
    keys = KeyBindings()
    editing = ~is_searching
    empty = Condition(lambda: not editor.buffer.text)

    @keys.add("enter", filter=editing, eager=True)
    @keys.add("c-j", filter=editing, eager=True)  # what Enter is when it was typed ahead, before the prompt
    def _submit(_: KeyPressEvent) -> None:
        editor.finish(lambda text, _: Submitted(text), shown=True)

    @keys.add("escape", "enter", filter=editing)
    def _new_line(event: KeyPressEvent) -> None:
        if question.multiline:
            event.current_buffer.insert_text("\n")

    @keys.add("tab", filter=editing & ~vi_navigation_mode)
    def _tab(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\t")

    @keys.add("c-x", eager=True)
    def _open_editor(event: KeyPressEvent) -> None:
        if question.escape:
            if is_searching():
                accept_search.call(event)
            editor.finish(OpenEditor, shown=True)

    @keys.add("c-o", eager=True)
    def _show_whole(_: KeyPressEvent) -> None:
        if question.more:
            editor.finish(ShowWhole, shown=True)

    @keys.add("c-@", eager=True)  # a mark would make a selection, into which nothing can be typed
    @keys.add("c-q", eager=True)
    def _nothing(_: KeyPressEvent) -> None:
        """Some terminals and input methods keep these keys for themselves: they have no meaning here either."""

    @keys.add("c-d", filter=editing & empty, eager=True)
    def _cancel(_: KeyPressEvent) -> None:
        editor.finish(Cancelled)

    @keys.add("c-d", filter=editing & ~empty & vi_insert_mode)
    def _delete(event: KeyPressEvent) -> None:
        event.current_buffer.delete()

    _history(keys, editor)
    _vi(keys)
    _pages(keys, editor)
    return merge_key_bindings([load_key_bindings(), keys])


def _history(keys: KeyBindings, editor: "InlineEditor") -> None:
    editing = ~is_searching

    @keys.add(
        "up", filter=editing & Condition(lambda: editor.fetching and not editor.buffer.document.cursor_position_row)
    )
    @keys.add("c-p", filter=editing & Condition(lambda: editor.fetching))
    def _up_when_there(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        editor.when_fetched(buffer.auto_up)

    @keys.add("c-r", filter=editing & (emacs_mode | vi_insert_mode), eager=True)
    def _search(event: KeyPressEvent) -> None:
        editor.search_from_here()
        start_reverse_incremental_search.call(event)

    def _found(event: KeyPressEvent) -> None:
        """A key that moves takes what was found, and moves in it."""
        accept_search.call(event)
        event.key_processor.feed_multiple(event.key_sequence, first=True)

    for key in ("left", "right", "home", "end", "c-a", "c-e", "c-b", "c-f"):
        keys.add(key, filter=is_searching, eager=True)(_found)


def _vi(keys: KeyBindings) -> None:
    @keys.add("c", "w", filter=vi_navigation_mode & ~vi_waiting_for_text_object_mode)
    @keys.add("c", "W", filter=vi_navigation_mode & ~vi_waiting_for_text_object_mode)
    def _change_word(event: KeyPressEvent) -> None:
        """Of a word, what `ce` changes: the white space behind it stays."""
        buffer, document, big = event.current_buffer, event.current_buffer.document, event.key_sequence[-1].key == "W"
        if document.current_char.isspace():
            end = document.find_next_word_beginning(count=event.arg, WORD=big)
        else:
            end = document.find_next_word_ending(include_current_position=True, count=event.arg, WORD=big)
        if end is None:
            end = len(document.text_after_cursor)
        event.app.clipboard.set_text(buffer.delete(end))
        event.app.vi_state.input_mode = InputMode.INSERT


def _pages(keys: KeyBindings, editor: "InlineEditor") -> None:
    editing, empty = ~is_searching, Condition(lambda: not editor.buffer.text)

    @keys.add("pageup", filter=editing)
    @keys.add("c-b", filter=vi_navigation_mode)
    @keys.add("c-u", filter=vi_navigation_mode)
    def _page_up(event: KeyPressEvent) -> None:
        event.current_buffer.cursor_up(editor.page)

    @keys.add("pagedown", filter=editing)
    @keys.add("c-f", filter=vi_navigation_mode)
    @keys.add("c-d", filter=vi_navigation_mode & ~empty)
    def _page_down(event: KeyPressEvent) -> None:
        event.current_buffer.cursor_down(editor.page)
