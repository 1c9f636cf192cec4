"""The ladder, row by row."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.interrupt.end import Cause
from jp.interrupt.ladder import (
    LOCAL,
    MENU,
    RECORD,
    UP,
    Begin,
    BeginShutdown,
    Cooldown,
    DeadlinePassed,
    Decline,
    EndNow,
    Known,
    Notify,
    Press,
    Push,
    Quit,
    Read,
    Release,
    Replace,
    Reset,
    State,
    Stood,
    Value,
    initial,
    step,
)

SHUTDOWN = BeginShutdown(Cause.PRESS)
END = EndNow(Cause.PRESS)


def play(state: State, *events: Any) -> tuple[State, list[Value]]:
    """Feed events; a number is the time from there on."""
    now = 100.0
    actions: list[Value] = []
    for event in events:
        if isinstance(event, float | int):
            now = float(event)
        else:
            state, more = step(state, event, now)
            actions.extend(more)
    return state, actions


def done(state: State, *events: Any) -> list[Value]:
    return play(state, *events)[1]


def asked(*kinds: str) -> State:
    """A promptable state with scopes 1, 2, … of these kinds, the last on top."""
    state = initial(promptable=True)
    for number, kind in enumerate(kinds, 1):
        state, _ = step(state, Push(number, kind), 0.0)
    return state


@pytest.mark.req("092-161")
class TestRungs:
    """What each press does, by state and time."""

    def test_nobody_to_ask_first_press_shuts_down_second_ends(self) -> None:
        assert done(initial(), Press()) == [SHUTDOWN]
        assert done(initial(), Press(), Press()) == [SHUTDOWN, END]

    def test_nobody_to_ask_the_second_may_come_much_later(self) -> None:
        assert done(initial(), 100, Press(), 5000, Press()) == [SHUTDOWN, END]

    def test_nobody_to_ask_whatever_scopes_there_are(self) -> None:
        state, _ = step(initial(), Push(1, MENU), 0.0)
        assert done(state, Press()) == [SHUTDOWN]

    def test_first_press_notifies(self) -> None:
        assert done(asked(MENU), Press()) == [Notify(1)]

    def test_second_press_within_the_cooldown_shuts_down(self) -> None:
        assert done(asked(MENU), 100, Press(), Read(1), 102, Press()) == [Notify(1), SHUTDOWN]

    def test_press_after_the_cooldown_is_a_first_one_again(self) -> None:
        assert done(asked(MENU), 100, Press(), Read(1), 102.1, Press()) == [Notify(1), Notify(1)]

    def test_the_cooldown_runs_from_the_press_before(self) -> None:
        events = (100, Press(), Read(1), 102.5, Press(), Read(1), 104, Press())
        assert done(asked(MENU), *events) == [Notify(1), Notify(1), SHUTDOWN]

    @pytest.mark.req("092-5")
    def test_another_cooldown_holds_from_when_it_is_known(self) -> None:
        assert done(asked(MENU), Cooldown(5.0), 100, Press(), Read(1), 104, Press()) == [Notify(1), SHUTDOWN]
        assert done(asked(MENU), 100, Press(), Read(1), Cooldown(1.0), 101.5, Press()) == [Notify(1), Notify(1)]

    def test_third_press_ends(self) -> None:
        assert done(asked(MENU), Press(), Press(), Press()) == [Notify(1), SHUTDOWN, END]

    def test_after_the_end_nothing_happens_any_more(self) -> None:
        state, _ = play(initial(), Press(), Press())
        assert done(state, Press(), Quit(), Begin(Cause.TERM), DeadlinePassed()) == []

    def test_a_reset_makes_the_next_press_a_first_one(self) -> None:
        assert done(asked(MENU), 100, Press(), Read(1), Reset(), 100.2, Press()) == [Notify(1), Notify(1)]

    def test_time_that_stood_still_is_not_cooldown(self) -> None:
        assert done(asked(MENU), 100, Press(), Read(1), 160, Stood(60.0), 161, Press()) == [Notify(1), SHUTDOWN]

    @pytest.mark.parametrize("kinds", [(), (MENU,), (MENU, LOCAL), (MENU, UP), (RECORD,)])
    @pytest.mark.parametrize("cause", [Cause.PRESS, Cause.TERM, Cause.HUP, Cause.PIPE])
    def test_any_press_once_a_shutdown_has_begun_ends(self, cause: Cause, kinds: tuple[str, ...]) -> None:
        assert done(asked(*kinds), Begin(cause), 9999, Press()) == [BeginShutdown(cause), END]

    def test_a_second_cause_changes_nothing(self) -> None:
        assert done(initial(), Press(), Begin(Cause.TERM), Begin(Cause.HUP)) == [SHUTDOWN]
        assert done(initial(), Begin(Cause.TERM), Begin(Cause.TERM)) == [BeginShutdown(Cause.TERM)]

    @pytest.mark.parametrize("cause", [Cause.PRESS, Cause.TERM, Cause.HUP])
    def test_the_deadline_ends_by_the_shutdowns_cause(self, cause: Cause) -> None:
        assert done(initial(), Begin(cause), DeadlinePassed()) == [BeginShutdown(cause), EndNow(cause)]

    def test_a_deadline_without_a_shutdown_is_none(self) -> None:
        assert done(initial(), DeadlinePassed()) == []

    @pytest.mark.parametrize("kinds", [(), (MENU,), (MENU, LOCAL), (MENU, UP), (RECORD,)])
    def test_quit_ends_at_once(self, kinds: tuple[str, ...]) -> None:
        assert done(asked(*kinds), Quit()) == [EndNow(Cause.QUIT)]
        assert done(asked(*kinds), Begin(Cause.TERM), Quit())[-1] == EndNow(Cause.QUIT)

    @pytest.mark.parametrize("kinds", [(), (MENU,), (MENU, LOCAL), (MENU, UP), (RECORD,)])
    def test_terminate_shuts_down_whatever_is_up(self, kinds: tuple[str, ...]) -> None:
        assert done(asked(*kinds), Begin(Cause.TERM)) == [BeginShutdown(Cause.TERM)]


class TestScopes:
    """Who is notified, and where an unanswered press goes."""

    @pytest.mark.req("092-152")
    def test_only_the_topmost_is_notified(self) -> None:
        assert done(asked(MENU, MENU, MENU), Press()) == [Notify(3)]

    @pytest.mark.req("092-153")
    def test_released_out_of_order_the_rest_stays(self) -> None:
        state, _ = play(asked(MENU, MENU, MENU, MENU), Release(2), Release(4), Release(2))
        assert [place.id for place in state.scopes] == [1, 3]
        assert done(state, Press()) == [Notify(3)]

    @pytest.mark.req("092-154")
    @pytest.mark.parametrize("later", [100.01, 500.0])
    def test_an_unread_notification_is_not_repeated_and_the_count_climbs(self, later: float) -> None:
        assert done(asked(MENU), 100, Press(), later, Press()) == [Notify(1), SHUTDOWN]

    @pytest.mark.req("092-155")
    def test_declined_the_next_below_is_notified(self) -> None:
        assert done(asked(MENU, MENU, MENU), Press(), Decline(3), Decline(2)) == [Notify(3), Notify(2), Notify(1)]

    @pytest.mark.req("092-155")
    def test_a_decline_is_for_one_press(self) -> None:
        events = (100, Press(), Decline(2), Read(1), 200, Press())
        assert done(asked(MENU, MENU), *events) == [Notify(2), Notify(1), Notify(2)]

    @pytest.mark.req("092-156")
    def test_declined_by_all_it_is_a_shutdown(self) -> None:
        assert done(asked(MENU, MENU), Press(), Decline(2), Decline(1)) == [Notify(2), Notify(1), SHUTDOWN]

    @pytest.mark.req("092-156")
    def test_no_scope_at_all_it_is_a_shutdown(self) -> None:
        assert done(asked(), Press()) == [SHUTDOWN]

    def test_a_decline_without_a_press_is_nothing(self) -> None:
        assert done(asked(MENU, MENU), Decline(2), Press(), Read(2), Decline(2)) == [Notify(2)]

    @pytest.mark.req("092-157")
    def test_ended_with_a_press_unread_the_next_below_gets_it(self) -> None:
        assert done(asked(MENU, MENU), Press(), Release(2)) == [Notify(2), Notify(1)]
        assert done(asked(MENU), Press(), Release(1)) == [Notify(1), SHUTDOWN]

    @pytest.mark.req("092-157")
    def test_a_press_passed_down_is_counted_once(self) -> None:
        events = (100, Press(), Release(2), Read(1), 102.5, Press())
        assert done(asked(MENU, MENU), *events) == [Notify(2), Notify(1), Notify(1)]

    def test_ended_with_its_press_read_nothing_is_passed_on(self) -> None:
        assert done(asked(MENU, MENU), Press(), Read(2), Release(2)) == [Notify(2)]

    def test_a_scope_below_with_a_press_unread_is_not_notified_twice(self) -> None:
        events = (100, Press(), Push(2, MENU), 200, Press(), Decline(2))
        assert done(asked(MENU), *events) == [Notify(1), Notify(2)]

    def test_a_replaced_scope_hands_its_unread_press_over(self) -> None:
        assert done(asked(MENU), 100, Press(), Replace(2, MENU, 1)) == [Notify(1), Notify(2)]
        state, _ = play(asked(MENU), 100, Press(), Replace(2, MENU, 1))
        assert [place.id for place in state.scopes] == [2]
        assert done(state, 100.5, Press()) == [SHUTDOWN]

    def test_replaced_in_its_place_in_the_middle(self) -> None:
        state, _ = play(asked(MENU, MENU, MENU), Replace(9, LOCAL, 2))
        assert [(place.id, place.kind) for place in state.scopes] == [(1, MENU), (9, LOCAL), (3, MENU)]

    def test_replacing_one_that_is_gone_pushes(self) -> None:
        state, _ = play(asked(MENU), Release(1), Replace(2, MENU, 1))
        assert [place.id for place in state.scopes] == [2]

    def test_the_menu_that_opens_for_a_press_has_taken_it(self) -> None:
        assert done(asked(MENU, MENU), Press(), Replace(3, UP, 2)) == [Notify(2)]


class TestKinds:
    """Menus on screen, replies, editors."""

    def test_a_press_on_a_menu_that_is_up_shuts_down_however_late(self) -> None:
        assert done(asked(MENU), 100, Press(), Read(1), Push(2, UP), 900, Press()) == [Notify(1), SHUTDOWN]

    def test_a_local_scope_takes_one_press_and_it_does_not_climb(self) -> None:
        events = (100, Press(), Read(2), Release(2), 100.1, Press())
        assert done(asked(MENU, LOCAL), *events) == [Notify(2), Notify(1)]

    def test_the_second_press_in_a_local_scope_counts_at_its_parent(self) -> None:
        assert done(asked(MENU, LOCAL), Press(), Press()) == [Notify(2), Notify(1)]
        assert done(asked(MENU, UP, LOCAL), Press(), Press()) == [Notify(3), SHUTDOWN]

    def test_a_press_before_the_reply_does_not_make_the_one_in_it_a_second(self) -> None:
        events = (100, Press(), Read(1), Push(2, UP), Replace(3, LOCAL, 2), 100.1, Press())
        assert done(asked(MENU), *events) == [Notify(1), Notify(3)]

    def test_a_local_scope_that_ends_with_its_press_unread_counts_at_its_parent(self) -> None:
        assert done(asked(MENU, LOCAL), Press(), Release(2)) == [Notify(2), Notify(1)]
        assert done(asked(UP, LOCAL), Press(), Release(2)) == [Notify(2), SHUTDOWN]
        assert done(asked(MENU, LOCAL), Press(), Replace(3, MENU, 2)) == [Notify(2), Notify(3)]

    def test_an_editor_takes_all_presses(self) -> None:
        assert done(asked(MENU, RECORD), Press(), Press(), Press()) == [Notify(2)] * 3

    def test_a_press_in_an_editor_does_not_count_afterwards(self) -> None:
        assert done(asked(MENU, RECORD), 100, Press(), Release(2), 100.1, Press()) == [Notify(2), Notify(1)]


class TestStartUp:
    """While nobody knows yet whether a user can be asked."""

    def test_the_press_waits_and_reaches_the_topmost_scope_then(self) -> None:
        state = initial(promptable=None)
        assert done(state, Push(1, MENU), Press()) == []
        assert done(state, Push(1, MENU), Press(), Push(2, MENU), Known(True)) == [Notify(2)]

    def test_the_press_shuts_down_when_nobody_can_be_asked(self) -> None:
        assert done(initial(promptable=None), Push(1, MENU), Press(), Known(False)) == [SHUTDOWN]

    def test_two_presses_shut_down_before_it_is_known(self) -> None:
        assert done(initial(promptable=None), Press(), Press()) == [SHUTDOWN]
        assert done(initial(promptable=None), Press(), Press(), Known(True)) == [SHUTDOWN]

    def test_the_waiting_press_counts(self) -> None:
        events = (Push(1, MENU), 100, Press(), Known(True), Read(1), 101, Press())
        assert done(initial(promptable=None), *events) == [Notify(1), SHUTDOWN]

    def test_terminate_needs_no_answer(self) -> None:
        assert done(initial(promptable=None), Begin(Cause.TERM)) == [BeginShutdown(Cause.TERM)]


KINDS = st.sampled_from([MENU, UP, LOCAL, RECORD])
IDS = st.integers(1, 4)
EVENTS = st.one_of(
    st.just(Press()),
    st.builds(Push, IDS, KINDS),
    st.builds(Replace, IDS, KINDS, IDS),
    st.builds(Release, IDS),
    st.builds(Read, IDS),
    st.builds(Decline, IDS),
    st.just(Reset()),
    st.builds(Known, st.sampled_from([True, False, None])),
    st.builds(Begin, st.sampled_from([Cause.TERM, Cause.HUP])),
)


@given(st.lists(st.tuples(EVENTS, st.floats(0, 3))))
def test_presses_always_get_on(history: list[tuple[Value, float]]) -> None:
    """From any state, with no editor up, presses that nobody answers end the process after at most one a scope more."""
    state, now = initial(promptable=True), 0.0
    for event, pause in history:
        now += pause
        state, actions = step(state, event, now)
        assert len(actions) <= 1
    if any(place.kind == RECORD for place in state.scopes):
        return
    for _ in range(len(state.scopes) + 3):
        now += 0.1
        state, _ = step(state, Press(), now)
    assert state.over


@given(st.lists(st.tuples(EVENTS, st.floats(0, 3))))
def test_at_most_one_shutdown_begins(history: list[tuple[Value, float]]) -> None:
    state, now, begun = initial(promptable=True), 0.0, 0
    for event, pause in history:
        now += pause
        state, actions = step(state, event, now)
        begun += sum(isinstance(action, BeginShutdown) for action in actions)
    assert begun == (state.cause is not None)


@pytest.mark.req("092-161")
def test_the_router_imports_no_terminal_code() -> None:
    import subprocess

    code = "import jp.interrupt.router, sys; print([m for m in sys.modules if 'term' in m or m in ('tty', 'curses')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_values_are_immutable() -> None:
    with pytest.raises(AttributeError):
        Push(1, MENU).id = 2
    assert Push(1, MENU) == Push(1, MENU)
    assert Push(1, MENU) != Replace(1, MENU, 0)
    assert repr(initial().but(count=2)).startswith("State(None, 2.0, 2,")
    with pytest.raises(TypeError, match="State has no field 'cuont'"):
        initial().but(cuont=2)
