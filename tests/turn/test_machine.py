"""The turn machine, step by step: what happened goes in, what to do comes out."""

import pytest

from jp.errors import JpError
from jp.llm import events as llm
from jp.llm.errors import ConnectionLost, StreamCut, Unauthorized
from jp.llm.retry import Policy
from jp.turn import machine as m

POLICY = Policy(max_retries=2, base_backoff_ms=100, max_backoff_secs=1)


def run(machine: m.Machine, *happenings: m.Happening) -> list[m.Effect]:
    effects: list[m.Effect] = []
    for happening in happenings:
        effects += machine.step(happening)
    return effects


def said(effects: list[m.Effect]) -> list[str]:
    """The effects in a readable form."""
    out = []
    for effect in effects:
        match effect:
            case m.Record(event):
                kind = "message" if isinstance(event.message, str) else "reasoning"
                out.append(f"record {kind} {getattr(event, kind)!r}")
            case m.Partial(kind, text) | m.Show(kind, text):
                out.append(f"{type(effect).__name__.lower()} {kind} {text!r}")
            case m.Send(generation, partial):
                out.append(f"send {generation}" + (f" after {partial!r}" if partial else ""))
            case m.Pause(generation, _, attempt, limit, _):
                out.append(f"pause {generation} {attempt}/{limit}")
            case m.Complete(error):
                out.append(f"complete {error.code if error else 'ok'}")
            case _:
                out.append(type(effect).__name__.lower())
    return out


def arrived(generation: int, *events: llm.Event) -> list[m.Happening]:
    return [m.Arrived(generation, event) for event in events]


def test_an_answer_is_journalled_before_it_is_shown_and_recorded_at_its_end():
    machine = m.Machine(POLICY)
    effects = run(
        machine,
        m.Begin(),
        *arrived(1, llm.Reasoning("hm"), llm.Message("Hel"), llm.Message("lo"), llm.Finish("stop")),
        m.Ended(1),
    )
    assert said(effects) == [
        "send 1",
        "partial reasoning 'hm'",
        "show reasoning 'hm'",
        "record reasoning 'hm'",
        "partial message 'Hel'",
        "show message 'Hel'",
        "partial message 'lo'",
        "show message 'lo'",
        "record message 'Hello'",
        "complete ok",
    ]
    assert machine.done


def test_a_stream_that_dies_is_continued_from_the_partial_text_without_its_overlap():
    machine = m.Machine(POLICY)
    effects = run(
        machine,
        m.Begin(),
        *arrived(1, llm.Message("The quick brown")),
        m.Ended(1, StreamCut("cut")),
        m.RetryDue(1),
        *arrived(2, llm.Message("quick brown"), llm.Message(" fox"), llm.Finish("stop")),
        m.Ended(2),
    )
    assert said(effects)[3:] == [
        "pause 1 1/2",
        "send 2 after 'The quick brown'",
        "activity",
        "partial message ' fox'",
        "show message ' fox'",
        "record message 'The quick brown fox'",
        "complete ok",
    ]


def test_the_reasoning_about_going_on_is_neither_shown_nor_stored():
    machine = m.Machine(POLICY)
    run(machine, m.Begin(), *arrived(1, llm.Message("Half")), m.Ended(1, StreamCut("cut")), m.RetryDue(1))
    assert said(run(machine, *arrived(2, llm.Reasoning("I was cut off")))) == ["activity"]


def test_what_an_abandoned_stream_still_says_is_dropped():
    machine = m.Machine(POLICY)
    run(machine, m.Begin(), m.Ended(1, ConnectionLost("lost")), m.RetryDue(1))
    assert run(machine, *arrived(1, llm.Message("late")), m.Ended(1), m.RetryDue(1)) == []
    assert said(run(machine, *arrived(2, llm.Message("new")))) == ["partial message 'new'", "show message 'new'"]


def test_when_retries_end_the_partial_is_kept_and_the_error_is_the_last_one():
    machine = m.Machine(POLICY)
    effects = run(machine, m.Begin(), *arrived(1, llm.Message("Half")))
    for generation in (1, 2):
        effects += run(machine, m.Ended(generation, StreamCut("cut")), m.RetryDue(generation))
    effects += run(machine, m.Ended(3, StreamCut("cut")))
    assert said(effects)[-2:] == ["record message 'Half'", "complete stream_cut"]
    assert [s for s in said(effects) if s.startswith("pause")] == ["pause 1 1/2", "pause 2 2/2"]


def test_a_server_that_always_cuts_after_new_text_does_not_go_on_for_ever():
    machine = m.Machine(POLICY)
    run(machine, m.Begin())
    for generation in range(1, 10):
        effects = run(
            machine,
            *arrived(generation, llm.Message(f"piece {generation} ")),
            m.Ended(generation, StreamCut("cut")),
            m.RetryDue(generation),
        )
        if machine.done:
            break
    assert generation == POLICY.max_retries + 1
    assert said(effects)[-1] == "complete stream_cut"


@pytest.mark.parametrize("error", [Unauthorized("no", status_code=401), JpError("odd")])
def test_what_would_fail_again_is_not_tried_again(error: JpError):
    machine = m.Machine(POLICY)
    assert said(run(machine, m.Begin(), m.Ended(1, error))) == ["send 1", f"complete {error.code}"]


def test_an_interruption_stops_the_stream_and_keeps_what_came():
    machine = m.Machine(POLICY)
    effects = run(machine, m.Begin(), *arrived(1, llm.Message("Half an ans")), m.Interrupted())
    assert said(effects)[-3:] == ["stop", "record message 'Half an ans'", "complete ok"]
    assert run(machine, *arrived(1, llm.Message("wer")), m.Ended(1)) == []


def test_an_answer_at_the_token_limit_says_so():
    machine = m.Machine(POLICY)
    effects = run(machine, m.Begin(), *arrived(1, llm.Message("x"), llm.Finish("length")), m.Ended(1))
    assert "note" in said(effects)


def test_structured_text_is_stored_as_data_and_not_shown():
    machine = m.Machine(POLICY, structured=True)
    effects = run(machine, m.Begin(), *arrived(1, llm.Message('{"a": 1}'), llm.Finish("stop")), m.Ended(1))
    records = [effect.event for effect in effects if isinstance(effect, m.Record)]
    assert [record.data for record in records] == [{"a": 1}]
    assert not any(isinstance(effect, m.Show) for effect in effects)
