"""Where a text is written and what leaving it means: every row of RFD 088's tables, and those that it lacks."""

import pytest

from jp.ask.policy import (
    Context,
    Next,
    Surface,
    cancelled,
    editor_failed,
    editor_left,
    empty,
    escape,
    first,
    interrupted,
)

C, N = Context, Next


@pytest.mark.req("088-81")
@pytest.mark.parametrize(
    ("compose", "surface"),
    [(False, Surface.INLINE), (True, Surface.EDITOR), ("always", Surface.EDITOR), ("never", Surface.INLINE)],
)
def test_a_text_begins_where_the_setting_says_and_nowhere_without_a_user(compose: bool | str, surface: Surface):
    assert first(compose, promptable=True) is surface
    assert first(compose, promptable=False) is Surface.NONE


@pytest.mark.parametrize(
    ("compose", "editor", "wired"),
    [
        (False, True, True),
        (True, True, True),
        ("always", True, True),
        ("never", True, False),
        (False, False, False),
        (True, False, False),
        ("always", False, False),
        ("never", False, False),
    ],
)
def test_the_escape_is_wired_where_there_is_an_editor_and_never_under_never(
    compose: bool | str, editor: bool, wired: bool
):
    assert escape(compose, editor=editor) is wired


# context, empty Enter, ESC, Ctrl-C
MATRIX = [
    (C.STREAMING_MENU, N.MENU, N.MENU, N.MENU),
    (C.STREAMING_ACTION, N.RESUME, N.RESUME, N.RESUME),
    (C.TOOL_MENU, N.CANNED, N.MENU, N.MENU),
    (C.TOOL_ACTION, N.CANNED, N.CANNED, N.CANNED),
    (C.TURN_MENU, N.MENU, N.MENU, N.MENU),
    (C.TURN_ACTION, N.RESUME, N.RESUME, N.RESUME),
    (C.QUERY, N.NOTHING, N.NOTHING, N.ABORT),
    (C.SKIP_REASON, N.CANNED, N.MENU, N.MENU),
    (C.ARGUMENTS, N.MENU, N.MENU, N.MENU),
    (C.RESULT, N.MENU, N.MENU, N.MENU),
    (C.ANSWER, N.CANNED, N.MENU, N.MENU),
    (C.PLUGIN, N.CANNED, N.MENU, N.MENU),
]


@pytest.mark.parametrize(("context", "on_empty", "on_escape", "on_press"), MATRIX)
def test_the_cancel_and_empty_matrix(context: Context, on_empty: Next, on_escape: Next, on_press: Next):
    assert (empty(context), cancelled(context), interrupted(context)) == (on_empty, on_escape, on_press)


def test_the_matrix_has_every_context():
    assert {row[0] for row in MATRIX} == set(Context)


# context, setting, the editor was cancelled or saved nothing, the editor could not run
FIRST_IN_THE_EDITOR = [
    (C.STREAMING_MENU, True, N.MENU, N.INLINE),
    (C.STREAMING_MENU, "always", N.MENU, N.MENU),
    (C.STREAMING_ACTION, True, N.RESUME, N.INLINE),
    (C.STREAMING_ACTION, "always", N.RESUME, N.RESUME),
    (C.TURN_MENU, True, N.MENU, N.INLINE),
    (C.TURN_MENU, "always", N.MENU, N.MENU),
    (C.TURN_ACTION, True, N.RESUME, N.INLINE),
    (C.TURN_ACTION, "always", N.RESUME, N.RESUME),
    (C.TOOL_MENU, True, N.MENU, N.INLINE),
    (C.TOOL_MENU, "always", N.MENU, N.MENU),
    (C.TOOL_ACTION, True, N.CANNED, N.INLINE),
    (C.TOOL_ACTION, "always", N.CANNED, N.CANNED),
    (C.QUERY, True, N.INLINE, N.INLINE),
    (C.QUERY, "always", N.NOTHING, N.NOTHING),
    (C.SKIP_REASON, True, N.MENU, N.INLINE),
    (C.SKIP_REASON, "always", N.MENU, N.MENU),
    (C.ARGUMENTS, True, N.MENU, N.INLINE),
    (C.ARGUMENTS, "always", N.MENU, N.MENU),
    (C.RESULT, True, N.MENU, N.INLINE),
    (C.RESULT, "always", N.MENU, N.MENU),
    (C.ANSWER, True, N.MENU, N.INLINE),
    (C.ANSWER, "always", N.MENU, N.MENU),
    (C.PLUGIN, True, N.MENU, N.INLINE),
    (C.PLUGIN, "always", N.MENU, N.MENU),
]


def test_every_context_is_there_for_either_setting_that_begins_in_the_editor():
    assert {row[:2] for row in FIRST_IN_THE_EDITOR} == {
        (context, compose) for context in C for compose in (True, "always")
    }


@pytest.mark.parametrize(("context", "compose", "left", "failed"), FIRST_IN_THE_EDITOR)
def test_what_follows_an_editor_that_was_opened_first(context: Context, compose: bool | str, left: Next, failed: Next):
    assert (editor_left(context, compose), editor_failed(context, compose)) == (left, failed)
