"""Events as turns, whatever state they are in."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_plugins.turns import REDACTED, UNKNOWN, Call, Data, Question, Reasoning, Reply, Request, turns
from tests.plugin_export.sample import EVENTS


def test_each_part_says_which_events_made_it() -> None:
    found = turns(EVENTS)
    assert [(each.number, each.at[:16]) for each in found] == [(1, "2026-03-01 10:00"), (2, "2026-03-02 11:30")]
    kinds = [[(type(part), part.index, part.touched) for part in each.parts] for each in found]
    assert kinds == [
        [(Request, 2, 2), (Reasoning, 3, 3), (Call, 4, 7), (Reply, 8, 8)],
        [(Request, 10, 10), (Data, 11, 11)],
    ]
    call = found[0].parts[2]
    assert isinstance(call, Call)
    assert (call.questions[0].text, call.questions[0].answer) == ("Read **a.py**?", "yes")


def test_without_turn_starts_each_request_begins_one() -> None:
    found = turns([{"type": "chat_request", "content": "a"}, {"type": "chat_request", "content": "b"}])
    assert [each.number for each in found] == [1, 2]


def test_what_stands_before_the_first_turn_does_not_count() -> None:
    found = turns([{"type": "chat_response", "message": "a"}, {"type": "turn_start"}])
    assert [each.number for each in found] == [0, 1]


def test_a_turn_that_has_just_begun_is_there() -> None:
    assert [(each.number, each.parts) for each in turns([{"type": "turn_start"}])] == [(1, [])]


def test_a_result_without_its_call() -> None:
    ((call,),) = (each.parts for each in turns([{"type": "tool_call_response", "id": "x", "content": "a"}]))
    assert isinstance(call, Call)
    assert (call.name, call.result) == (UNKNOWN, "a")


def test_a_call_without_its_result() -> None:
    ((call,),) = (each.parts for each in turns([{"type": "tool_call_request", "id": "x", "name": "a"}]))
    assert isinstance(call, Call)
    assert call.result is None


@pytest.mark.parametrize("kind", ["secret", {"type": "secret"}, {"type": "Secret"}])
def test_a_secret_is_not_shown(kind: Any) -> None:
    asked = {"type": "inquiry_request", "id": "q", "question": {"text": "Key?", "answer_type": kind}}
    ((question,),) = (e.parts for e in turns([asked, {"type": "inquiry_response", "id": "q", "answer": "hunter2"}]))
    assert isinstance(question, Question)
    assert question.answer == REDACTED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = ("content", "message", "reasoning", "data", "id", "name", "arguments", "source", "question", "answer", "author")
fields = st.sampled_from(names)
kinds = st.sampled_from([*{each["type"] for each in EVENTS}, "compaction", None, 3])


@given(st.lists(st.tuples(kinds, st.dictionaries(fields, json_values, max_size=5)), max_size=8))
def test_nothing_is_too_broken(events: list[tuple[Any, dict[str, Any]]]) -> None:
    from jp_plugins.export import as_html, as_markdown
    from jp_plugins.export.document import Document

    given_events = [{"type": kind, **rest} for kind, rest in events]
    document = Document("1", None, None, given_events, reasoning=True, tools=True)
    for to in (as_html, as_markdown):
        "".join(to.pieces(document))


def test_what_is_nested_without_end_is_said_to_be() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    ((data,),) = (each.parts for each in turns([{"type": "chat_response", "data": deep}]))
    assert isinstance(data, Data)
    assert data.text == "(nested too deeply)"
