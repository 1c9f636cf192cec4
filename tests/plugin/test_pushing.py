"""What may be pushed: forms, requests and responses, turns; as a table, without a store."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation import events
from jp.conversation.stream import Stream
from jp.plugin.errors import RequestError
from jp.plugin.pushing import DEEPEST, Stored, checked, stored

NOW = "2026-06-01 12:00:00.5"
T = "2026-05-29 19:42:36.46732"
JSON = dict[str, Any]

TURN = {"type": "turn_start"}
ASK = {"type": "chat_request", "content": "q"}
ANSWER = {"type": "chat_response", "message": "a"}
THOUGHT = {"type": "chat_response", "reasoning": "hm"}
DATA = {"type": "chat_response", "data": {"x": [1, None]}}
CALL = {"type": "tool_call_request", "id": "c1", "name": "fs_read", "arguments": {"path": "x"}}
RESULT = {"type": "tool_call_response", "id": "c1", "content": "out", "is_error": False}
QUESTION = {"text": "Sure?", "answer_type": {"type": "boolean"}}
INQUIRY = {"type": "inquiry_request", "id": "c1.ok", "source": {"source": "tool", "name": "t"}, "question": QUESTION}
REPLY = {"type": "inquiry_response", "id": "c1.ok", "answer": True}
DELTA = {"type": "config_delta", "delta": {"assistant": {"name": "x"}}}
COMPACTION = {"type": "compaction", "from_turn": 0, "to_turn": 1, "summary": "s"}
ALL = [TURN, ASK, THOUGHT, ANSWER, CALL, INQUIRY, REPLY, RESULT, DATA, DELTA, COMPACTION]


def without(event: JSON, key: str) -> JSON:
    return {name: value for name, value in event.items() if name != key}


def push(*sent: JSON | bytes, there: tuple[JSON, ...] = ()) -> list[JSON]:
    """What is stored of `sent` behind `there`, as it is read again."""
    stream = stream_of(*there)
    raws = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in sent]
    before = [stored(stream.raw(i), stream.type(i)) for i in range(len(stream))]
    for event in checked(raws, before, NOW):
        stream.append(event)
    again = Stream(b"".join(stream.document()))
    return [msgspec.json.decode(msgspec.json.encode(read(again, i))) for i in range(len(there), len(again))]


def read(stream: Stream, place: int) -> JSON:
    event = stream.event(place)
    assert not isinstance(event, events.Unknown), event.reason
    return events.to_dict(event)


def stream_of(*there: JSON) -> Stream:
    stream = Stream()
    for each in there:
        stream.append_raw(json.dumps({"timestamp": T, **each}).encode())
    return stream


def refused(*sent: JSON | bytes, there: tuple[JSON, ...] = (TURN, ASK)) -> str:
    with pytest.raises(RequestError) as error:
        push(*sent, there=there)
    return error.value.message


def kinds(found: list[JSON]) -> list[str]:
    return [each["type"] for each in found]


# --- forms


@pytest.mark.req("PROTO-36")
def test_every_type_is_taken() -> None:
    found = push(*ALL)
    assert [without(each, "timestamp") for each in found] == ALL
    assert {each["timestamp"] for each in found} == {NOW}


REQUIRED = [(each, key) for each in ALL for key in each if key not in ("arguments", "is_error", "summary")]


@pytest.mark.req("PROTO-40", "PROTO-42")
@pytest.mark.parametrize(("event", "key"), REQUIRED, ids=lambda each: each if isinstance(each, str) else each["type"])
def test_a_field_that_must_be_there(event: JSON, key: str) -> None:
    message = refused(ASK, CALL, INQUIRY, without(event, key))
    assert message.startswith("event 4 of ")
    assert "none of the events is stored" in message
    if key != "type":
        assert f"(`{event['type']}`)" in message
    if event["type"] != "chat_response":
        assert f"`{key}`" in message
    elif key != "type":
        assert "message, reasoning and data" in message


WRONG = [
    (b"5", "object"),
    (b"[]", "object"),
    (b"null", "object"),
    (b"{", "no JSON"),
    (b"", "no JSON"),
    (b'{"type":"chat_request","content":"\xff"}', "UTF-8"),
    (b'{"type":"chat_request","content":"\\ud800"}', ""),
    (b"[" * 5000 + b"]" * 5000, "no JSON"),
    ({"type": 5}, "`type` is no string"),
    ({"type": "hologram"}, "unknown event type"),
    ({"type": ""}, "unknown event type"),
    ({**ASK, "content": 5}, "at `content`"),
    ({**ASK, "author": 5}, "`author`"),
    ({**ASK, "schema": "x"}, "at `schema`"),
    ({**ASK, "metadata": None}, "at `metadata`"),
    ({**ASK, "metadata": ["x"]}, "at `metadata`"),
    ({**ASK, "timestamp": None}, "at `timestamp`"),
    ({**ANSWER, "reasoning": "hm"}, "exactly one"),
    ({**ANSWER, "data": None}, "exactly one"),
    ({**ANSWER, "message": None}, "at `message`"),
    ({**CALL, "id": 5}, "at `id`"),
    ({**CALL, "name": None}, "at `name`"),
    ({**CALL, "arguments": "{}"}, "at `arguments`"),
    ({**INQUIRY, "source": 5}, "`source`"),
    ({**INQUIRY, "question": "?"}, "at `question`"),
    ({**INQUIRY, "question": {"answer_type": {"type": "text"}}}, "`text` at `question`"),
    ({**INQUIRY, "question": {"text": "?", "answer_type": {"type": "maybe"}}}, "at `question.answer_type.type`"),
    ({**INQUIRY, "question": {"text": "?", "answer_type": {"type": "select"}}}, "`options`"),
    ({**DELTA, "delta": []}, "at `delta`"),
    ({**COMPACTION, "from_turn": "0"}, "at `from_turn`"),
    ({**COMPACTION, "from_turn": 2}, "range"),
    ({**CALL, "arguments": {"n": 0.5, "x": [[]] * 3}, "is_error": 5, "id": ["c"]}, "at `id`"),
    (b'{"type":"tool_call_request","id":"x","name":"n","arguments":{"n":1e999}}', "out of range"),
    (b'{"type":"tool_call_request","id":"x","name":"n","arguments":{"n":' + b"9" * 5000 + b"}}", "out of range"),
]


@pytest.mark.req("PROTO-40", "PROTO-42")
@pytest.mark.parametrize(("event", "why"), WRONG)
def test_a_wrong_form(event: JSON | bytes, why: str) -> None:
    message = refused(ASK, event)
    assert message.startswith("event 2 of ")
    assert why in message


@pytest.mark.parametrize("kind", ["boolean", "text", "secret"])
def test_a_question_of_any_kind(kind: str) -> None:
    asked = {**INQUIRY, "question": {"text": "?", "answer_type": {"type": kind}}}
    assert kinds(push(asked, there=(TURN, ASK))) == ["inquiry_request"]


def test_nesting_has_a_bound() -> None:
    """What is stored must be read again by every reader, also from deep within a program."""

    def nested(levels: int) -> bytes:
        inside = b"[" * levels + b"]" * levels
        return b'{"type":"tool_call_request","id":"x","name":"n","arguments":{"x":' + inside + b"}}"

    assert len(push(nested(DEEPEST - 2), there=(TURN, ASK))) == 1
    assert "levels deep" in refused(nested(DEEPEST))


@pytest.mark.parametrize("given", [T, "2026-05-29 19:42:36", "2026-05-29 19:42:36.123456789"])
def test_a_timestamp_is_kept_as_it_is(given: str) -> None:
    found = push({**ASK, "timestamp": given})
    assert [each["timestamp"] for each in found] == [given, given]


@pytest.mark.req("PROTO-40")
@pytest.mark.parametrize(
    "given",
    ["", "now", "2026-05-29", "2026-05-29T19:42:36Z", "2026-05-29 19:42:36Z", "2026-13-29 19:42:36", T + "\n", "١" + T],
)
def test_a_timestamp_of_another_form(given: str) -> None:
    assert "`timestamp`" in refused({**ASK, "timestamp": given})


def test_what_is_not_known_of_an_event_is_not_stored() -> None:
    assert push({**ANSWER, "mood": "good"}, there=(TURN, ASK)) == [
        {"timestamp": NOW, "type": "chat_response", "message": "a"}
    ]


# --- texts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.req("PROTO-28", "PROTO-36")
@given(TEXTS, OBJECTS, OBJECTS)
def test_any_text_comes_back_as_it_was_sent(text: str, arguments: JSON, metadata: JSON) -> None:
    sent = [
        {**ASK, "content": text, "metadata": metadata},
        {**CALL, "arguments": arguments, "metadata": metadata},
        {**RESULT, "content": text, "metadata": metadata},
        {**DATA, "data": arguments},
        {**ANSWER, "message": text},
    ]
    assert [without(each, "timestamp") for each in push(*sent, there=(TURN,))] == sent


@pytest.mark.parametrize("text", ["aGVsbG8=", "QUJD", "abcd", "", "eA=="])
def test_a_text_that_looks_like_base64_is_that_text(text: str) -> None:
    found = push(
        {**CALL, "arguments": {"a": [text]}, "metadata": {"s": text}}, {**RESULT, "content": text}, there=(TURN, ASK)
    )
    assert found[0]["arguments"] == {"a": [text]}
    assert found[0]["metadata"] == {"s": text}
    assert found[1]["content"] == text


# --- requests and responses


@pytest.mark.req("PROTO-38")
def test_a_tool_call_response_has_its_request() -> None:
    assert "`tool_call_request`" in refused(RESULT)
    assert "`c1`" in refused(RESULT)
    assert "waits" in refused({**RESULT, "id": "c2"}, there=(TURN, ASK, CALL))
    assert kinds(push(RESULT, there=(TURN, ASK, CALL))) == ["tool_call_response"]
    assert kinds(push(CALL, RESULT, there=(TURN, ASK))) == ["tool_call_request", "tool_call_response"]
    assert refused(RESULT, CALL).startswith("event 1 of 2 ")
    assert refused(CALL, RESULT, RESULT).startswith("event 3 of 3 ")
    assert "waits" in refused(RESULT, there=(TURN, ASK, CALL, RESULT))


@pytest.mark.req("PROTO-39")
def test_an_inquiry_response_has_its_request() -> None:
    assert "`inquiry_request`" in refused(REPLY)
    assert "waits" in refused({**REPLY, "id": "c1"}, there=(TURN, ASK, CALL))  # a call of this id is no inquiry
    assert kinds(push(REPLY, there=(TURN, ASK, CALL, INQUIRY))) == ["inquiry_response"]
    assert refused(INQUIRY, REPLY, REPLY).startswith("event 3 of 3 ")
    assert "waits" in refused(REPLY, there=(TURN, ASK, INQUIRY, REPLY))


@pytest.mark.parametrize(("request_", "response"), [(CALL, RESULT), (INQUIRY, REPLY)])
def test_an_id_stands_for_one_request_that_waits(request_: JSON, response: JSON) -> None:
    assert "same id `c1" in refused(request_, request_)
    assert "same id `c1" in refused(request_, there=(TURN, ASK, request_))
    # Models that count from 0 in every answer: it was answered, or it never will be.
    assert len(push(request_, response, request_, response, there=(TURN, ASK))) == 4
    assert len(push(TURN, ASK, request_, response, there=(TURN, ASK, request_))) == 4


def test_a_call_and_an_inquiry_may_share_an_id() -> None:
    assert len(push(CALL, {**INQUIRY, "id": "c1"}, {**REPLY, "id": "c1"}, RESULT, there=(TURN, ASK))) == 4


@pytest.mark.parametrize("there", [True, False])
def test_the_answer_to_a_secret_is_not_stored(there: bool) -> None:
    asked = {**INQUIRY, "question": {"text": "Token?", "answer_type": {"type": "secret"}}}
    before, sent = ((TURN, ASK, asked), ()) if there else ((TURN, ASK), (asked,))
    found = push(*sent, {**REPLY, "answer": "hunter2"}, there=before)
    assert found[-1]["answer"] == "[redacted]"
    assert "hunter2" not in str(found)
    assert push({**REPLY, "answer": "hunter2"}, there=(TURN, ASK, INQUIRY))[-1]["answer"] == "hunter2"


def test_what_is_stored_may_be_odd() -> None:
    odd = [b'{"type":"tool_call_request","id":5}', b"[1]", b'{"type":"inquiry_request","question":[1]}', b"{"]
    assert [stored(each, "tool_call_request").id for each in odd] == [None] * 4
    assert stored(b"null", "hologram") == Stored("hologram")
    assert kinds(push(CALL, there=(TURN, ASK, {"type": "hologram"}))) == ["tool_call_request"]


# --- turns

OPEN = [
    (TURN,),
    (DELTA, TURN),
    (TURN, DELTA),
    (TURN, ASK),
    (TURN, ASK, THOUGHT),
    (TURN, ASK, CALL),
    (TURN, ASK, ANSWER, CALL, RESULT),
    (TURN, ASK, CALL, INQUIRY),
    (TURN, ASK, ANSWER, TURN),
]
CLOSED = [
    (),
    (DELTA,),
    (TURN, ASK, ANSWER),
    (TURN, ASK, DATA),
    (TURN, ASK, ANSWER, DELTA),
    (TURN, ASK, CALL, RESULT, THOUGHT, ANSWER),
    (ASK, ANSWER),  # the oldest conversations have no turn_start
    (ASK,),
]


@pytest.mark.req("PROTO-41")
@pytest.mark.parametrize("there", CLOSED, ids=lambda there: "-".join(kinds(there)))
def test_a_request_begins_a_turn_where_none_is_open(there: tuple[JSON, ...]) -> None:
    found = push({**ASK, "timestamp": T}, ANSWER, there=there)
    assert kinds(found) == ["turn_start", "chat_request", "chat_response"]
    assert found[0] == {"timestamp": T, "type": "turn_start"}


@pytest.mark.parametrize("there", OPEN, ids=lambda there: "-".join(kinds(there)))
def test_a_request_belongs_to_the_turn_that_is_open(there: tuple[JSON, ...]) -> None:
    assert kinds(push(ASK, there=there)) == ["chat_request"]


@pytest.mark.req("PROTO-41")
def test_several_turns_in_one_push() -> None:
    found = kinds(push(ASK, ANSWER, ASK, CALL, RESULT, ANSWER, DELTA, ASK, ASK))
    assert "".join({"turn_start": "T", "chat_request": "Q", "config_delta": "D"}.get(each, ".") for each in found) == (
        "TQ.TQ...DTQQ"
    )


def test_who_sends_turns_says_where_they_begin() -> None:
    """A person may break into an answer: that is one turn, and is stored as one by JP itself."""
    sent = [TURN, ASK, ANSWER, ASK, ANSWER, TURN, ASK, ANSWER]
    assert kinds(push(*sent)) == kinds(sent)


@pytest.mark.req("PROTO-42")
@pytest.mark.parametrize("event", [ANSWER, THOUGHT, CALL, RESULT, INQUIRY, REPLY, COMPACTION], ids=lambda e: e["type"])
def test_nothing_is_answered_before_anything_was_asked(event: JSON) -> None:
    assert "no turn yet" in refused(event, there=())
    assert "no turn yet" in refused(event, there=(DELTA,))
    assert refused(DELTA, event, there=()).startswith("event 2 of 2 ")


@pytest.mark.req("PROTO-42")
def test_the_error_says_which_event_and_why() -> None:
    with pytest.raises(RequestError) as error:
        push(ASK, ANSWER, {**RESULT, "id": "x" * 500}, ASK)
    assert error.value.message.startswith("event 3 of 4 (`tool_call_response`): no `tool_call_request` before it")
    assert error.value.metadata == {"event": 2, "type": "tool_call_response"}
    assert len(error.value.message) < 300
