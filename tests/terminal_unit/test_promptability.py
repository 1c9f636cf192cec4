"""Whether somebody can be asked: all 24 cells of the order, and the moment of asking, without a terminal."""

from itertools import product

import pytest

from jp.errors import FAILED, USAGE, UsageError
from jp.terminal.promptability import (
    Asking,
    NotPromptable,
    NotPromptableNow,
    Promptability,
    Request,
    Why,
    ask_state,
    forced_off_by,
    request,
    require,
    resolve,
)

SET = {"JP_NONINTERACTIVE": "1"}
UNSET: dict[str, str] = {}

# (--interactive, --no-interactive), JP_NONINTERACTIVE, opens, foreground → what comes of it; None: the same for both
NO, YES = (False, False), (True, True)
CELLS = [
    ("104-28", (False, False), UNSET, False, None, "unattended"),
    ("104-29", (False, False), UNSET, True, True, "asks"),
    ("104-30", (False, False), UNSET, True, False, "not now"),
    ("104-31", (False, False), SET, False, None, "unattended"),
    ("104-32", (False, False), SET, True, True, "unattended"),
    ("104-33", (False, False), SET, True, False, "unattended"),
    ("104-34", (False, True), UNSET, False, None, "unattended"),
    ("104-35", (False, True), UNSET, True, True, "unattended"),
    ("104-36", (False, True), UNSET, True, False, "unattended"),
    ("104-37", (False, True), SET, False, None, "unattended"),
    ("104-38", (False, True), SET, True, True, "unattended"),
    ("104-39", (False, True), SET, True, False, "unattended"),
    ("104-40", (True, False), UNSET, False, None, "error at start"),
    ("104-41", (True, False), UNSET, True, True, "asks"),
    ("104-42", (True, False), UNSET, True, False, "not now"),
    ("104-43", (True, False), SET, False, None, "error at start"),
    ("104-44", (True, False), SET, True, True, "asks"),
    ("104-45", (True, False), SET, True, False, "not now"),
    ("104-46", (True, True), UNSET, False, None, "usage error"),
    ("104-47", (True, True), UNSET, True, True, "usage error"),
    ("104-48", (True, True), UNSET, True, False, "usage error"),
    ("104-49", (True, True), SET, False, None, "usage error"),
    ("104-50", (True, True), SET, True, True, "usage error"),
    ("104-51", (True, True), SET, True, False, "usage error"),
]


def outcome(flags: tuple[bool, bool], environ: dict[str, str], opens: bool, foreground: bool) -> str:
    try:
        asked = request(interactive=flags[0], no_interactive=flags[1])
    except UsageError:
        return "usage error"
    try:
        promptability = resolve(asked, environ, opens)
    except NotPromptable:
        return "error at start"
    state = ask_state(promptability, foreground=foreground)
    return {Asking.NOW: "asks", Asking.BACKGROUND: "not now", Asking.UNATTENDED: "unattended"}[state]


@pytest.mark.req(
    "104-28", "104-29", "104-30", "104-31", "104-32", "104-33", "104-34", "104-35", "104-36", "104-37", "104-38",
    "104-39", "104-40", "104-41", "104-42", "104-43", "104-44", "104-45", "104-46", "104-47", "104-48", "104-49",
    "104-50", "104-51", "104-113",
)  # fmt: skip
@pytest.mark.parametrize("cell", CELLS, ids=[cell[0] for cell in CELLS])
def test_each_cell(cell: tuple[str, tuple[bool, bool], dict[str, str], bool, bool | None, str]) -> None:
    _, flags, environ, opens, foreground, wanted = cell
    for value in (True, False) if foreground is None else (foreground,):
        assert outcome(flags, environ, opens, value) == wanted


def test_the_table_is_whole() -> None:
    cells = {(flags, bool(environ), opens, foreground) for _, flags, environ, opens, foreground, _ in CELLS}
    for flags, variable in product(product((True, False), repeat=2), (True, False)):
        assert {(opens, fg) for f, v, opens, fg in cells if (f, v) == (flags, variable)} == {
            (False, None),
            (True, True),
            (True, False),
        }


def test_the_usage_error_names_both_flags() -> None:
    with pytest.raises(UsageError) as caught:
        request(interactive=True, no_interactive=True)
    assert caught.value.status == USAGE
    assert "--interactive" in caught.value.message
    assert "--no-interactive" in caught.value.message


def test_the_failed_assertion_names_the_flag_and_the_terminal() -> None:
    with pytest.raises(NotPromptable) as caught:
        resolve(Request.FORCED_ON, {}, terminal_opens=False)
    error = caught.value
    assert (error.code, error.status) == ("not_promptable", FAILED)
    assert "--interactive" in error.message
    assert "/dev/tty" in error.message
    assert not isinstance(error, NotPromptableNow)


@pytest.mark.parametrize("value", ["", "0", "false", "no", "off", "n", "f", "FALSE", "No", "OFF", "N", "F"])
def test_words_for_no_leave_the_variable_unset(value: str) -> None:
    assert not forced_off_by({"JP_NONINTERACTIVE": value})


@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "y", "t", "2", " ", "nope", "-1", "00"])
def test_anything_else_sets_it(value: str) -> None:
    assert forced_off_by({"JP_NONINTERACTIVE": value})


def test_what_decided_is_kept() -> None:
    assert resolve(Request.FORCED_OFF, SET, True).why is Why.FLAG
    assert resolve(Request.AUTO, SET, True).why is Why.ENVIRONMENT
    assert resolve(Request.AUTO, UNSET, False).why is Why.TERMINAL
    assert bool(resolve(Request.AUTO, UNSET, True))
    assert resolve(Request.AUTO, UNSET, True) == Promptability(True, Request.AUTO, Why.TERMINAL)


@pytest.mark.req("104-79")
@pytest.mark.parametrize("asked", [Request.AUTO, Request.FORCED_ON])
def test_the_moment_of_asking_is_looked_at_anew(asked: Request) -> None:
    promptability = resolve(asked, UNSET, True)
    assert ask_state(promptability, foreground=True) is Asking.NOW
    assert ask_state(promptability, foreground=False) is Asking.BACKGROUND
    assert ask_state(promptability, foreground=True) is Asking.NOW
    assert ask_state(promptability, foreground=True, in_use=True) is Asking.IN_USE
    assert ask_state(promptability, terminal=False, foreground=False) is Asking.LOST


@pytest.mark.req("104-77")
def test_the_error_in_the_background_says_so_and_what_to_do() -> None:
    promptability = resolve(Request.FORCED_ON, UNSET, True)
    with pytest.raises(NotPromptableNow) as caught:
        require(promptability, Asking.BACKGROUND, question="run the tool?", hints=["Set conversation.tools.x.run"])
    error = caught.value
    assert error.code == "not_promptable"
    assert "background" in error.message
    assert "run the tool?" in error.message
    assert any("fg" in hint and "--no-interactive" in hint for hint in error.hints)
    assert "Set conversation.tools.x.run" in error.hints
    assert error.metadata["reason"] == "background"


@pytest.mark.parametrize(
    ("promptability", "word"),
    [
        (Promptability(False, Request.FORCED_OFF, Why.FLAG), "--no-interactive"),
        (Promptability(False, Request.AUTO, Why.ENVIRONMENT), "JP_NONINTERACTIVE"),
        (Promptability(False, Request.AUTO, Why.TERMINAL), "/dev/tty"),
    ],
)
def test_an_unattended_question_says_why_nobody_is_asked(promptability: Promptability, word: str) -> None:
    with pytest.raises(NotPromptable, match=word) as caught:
        require(promptability, ask_state(promptability, foreground=True))
    assert not isinstance(caught.value, NotPromptableNow)


@pytest.mark.parametrize("state", [Asking.IN_USE, Asking.LOST])
def test_other_reasons_not_to_ask_now_are_typed_too(state: Asking) -> None:
    with pytest.raises(NotPromptableNow) as caught:
        require(resolve(Request.AUTO, UNSET, True), state)
    assert caught.value.metadata["reason"] == state.value


def test_asking_now_raises_nothing() -> None:
    require(resolve(Request.AUTO, UNSET, True), Asking.NOW)
