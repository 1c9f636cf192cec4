"""Events: the bytes of the original, its base64, and everything that is not as it should be."""

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation import events
from jp.conversation.events import (
    ChatRequest,
    ChatResponse,
    Compaction,
    ConfigDelta,
    InquiryRequest,
    InquiryResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
    Unknown,
)
from jp.conversation.stream import NotEventsError, Stream

T = "2026-05-29 19:42:36.46732"


def stored(data_dir: Path) -> list[dict]:
    found = []
    for path in sorted((data_dir / "workspace/.jp/conversations").glob("*/events.json")):
        found += json.loads(path.read_bytes())
    return found


def test_every_event_of_the_data_is_understood_and_written_as_it_was(data_dir: Path) -> None:
    other_alphabet = 0
    for fields in stored(data_dir):
        raw = json.dumps(fields, indent=2, ensure_ascii=False).encode()
        event = events.decode(raw)
        assert not isinstance(event, Unknown), (event.reason, fields)
        if fields["type"] == "config_delta" and "delta" not in fields:
            assert isinstance(event, ConfigDelta)
            assert "assistant" in event.delta
            assert "timestamp" not in event.delta
            continue
        if events.encode(event) != raw:
            # Old tool output is in the alphabet for URLs; what we write is in the ordinary one.
            assert fields["type"] == "tool_call_response"
            assert set(fields["content"]) & {"-", "_"}
            other_alphabet += 1
            assert isinstance(event, ToolCallResponse)
            assert event.content.encode() == base64.urlsafe_b64decode(fields["content"])
    assert other_alphabet == 3


ONE_OF_EACH = [
    (TurnStart(timestamp=T), ["timestamp", "type"]),
    (ConfigDelta(timestamp=T, delta={"assistant": {"name": "x"}}), ["type", "timestamp", "delta"]),
    (ChatRequest(timestamp=T, content="hé"), ["timestamp", "type", "content"]),
    (
        ChatRequest(timestamp=T, content="x", author="me", schema={"type": "object"}),
        ["timestamp", "type", "content", "author", "schema"],
    ),
    (ChatResponse(timestamp=T, message="m"), ["timestamp", "type", "message"]),
    (ChatResponse(timestamp=T, reasoning="r", metadata={"s": "v"}), ["timestamp", "type", "reasoning", "metadata"]),
    (ChatResponse(timestamp=T, data=None), ["timestamp", "type", "data"]),
    (ChatResponse(timestamp=T, data={"a": [1, 2.5, "x"]}), ["timestamp", "type", "data"]),
    (
        ToolCallRequest(timestamp=T, id="1", name="n", arguments={"a": ["x", {"b": "y"}], "n": 3}),
        ["timestamp", "type", "id", "name", "arguments"],
    ),
    (
        ToolCallResponse(timestamp=T, id="1", content="out", is_error=True),
        ["timestamp", "type", "id", "content", "is_error"],
    ),
    (
        InquiryRequest(timestamp=T, id="1.q", source={"source": "tool", "name": "n"}, question={"text": "?"}),
        ["timestamp", "type", "id", "source", "question"],
    ),
    (InquiryResponse(timestamp=T, id="1.q", answer=True), ["timestamp", "type", "id", "answer"]),
    (
        Compaction(timestamp=T, from_turn=0, to_turn=2, summary={"summary": "s"}),
        ["type", "timestamp", "from_turn", "to_turn", "summary"],
    ),
]


@pytest.mark.parametrize(("event", "keys"), ONE_OF_EACH, ids=lambda one: getattr(one, "type", ""))
def test_order_of_fields_and_back(event: events.Event, keys: list[str]) -> None:
    raw = events.encode(event)
    assert list(json.loads(raw)) == keys
    assert events.decode(raw) == event
    assert events.decode(events.encode_line(event)) == event
    assert b"\n" not in events.encode_line(event)
    assert json.loads(events.encode_line(event)) == json.loads(raw)


def test_text_of_tools_is_base64_on_disk_and_readable_here() -> None:
    call = ToolCallRequest(timestamp=T, id="1", name="n", arguments={"p": "secret", "l": ["deep"], "n": 1})
    fields = json.loads(events.encode(call))
    assert fields["arguments"] == {"p": "c2VjcmV0", "l": ["ZGVlcA=="], "n": 1}
    assert fields["name"] == "n"
    answer = ToolCallResponse(timestamp=T, id="1", content="öut")
    assert json.loads(events.encode(answer))["content"] == base64.b64encode("öut".encode()).decode()


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"k":', "}")])
@pytest.mark.parametrize("depth", [100, 300, 490, 900, 5000, 100_000])
def test_deep_nesting_is_no_crash(brackets: tuple[str, str], depth: int) -> None:
    """What the parser takes is decoded and encoded again; what it does not take is no JSON, or unknown."""
    deep = brackets[0] * depth + '"eA=="' + brackets[1] * depth
    call = f'{{"timestamp":"","type":"tool_call_request","id":"1","name":"n","arguments":{{"a":{deep}}}}}'.encode()
    delta = f'{{"type":"config_delta","delta":5,"x":{deep}}}'.encode()
    for raw in (call, delta):
        try:
            Stream(b"[" + raw + b"]")
            event = events.decode(raw)
        except (ValueError, NotEventsError):
            assert depth > 490
            continue
        assert json.loads(events.encode_line(event).replace(b'"x"', b'"eA=="')) or isinstance(event, Unknown)
    if depth <= 490:
        event = events.decode(call)
        assert isinstance(event, ToolCallRequest)
        assert events.decode(events.encode(event)) == event


@pytest.mark.parametrize("text", ["not base64!", "abc", "====", "//79", "a", "QUJD=QUJD", "été!"])
def test_what_is_no_base64_of_text_is_taken_as_it_is(text: str) -> None:
    assert events.decode_text(text) == text


@given(st.text())
def test_base64_both_ways(text: str) -> None:
    assert events.decode_text(events.encode_text(text)) == text.encode(errors="replace").decode()


def test_long_base64_is_undone_in_pieces() -> None:
    text = "☃ snow " * 300_000
    assert events.decode_text(events.encode_text(text)) == text
    broken = events.encode_text("x" * 786_432) * 2  # ends with padding in the middle only by chance of length
    assert events.decode_text("=" * 4 + broken) == "=" * 4 + broken


RECURSIVE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def scrub(value):
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list):
        return [scrub(one) for one in value]
    if isinstance(value, dict):
        return {scrub(key): scrub(one) for key, one in value.items()}
    return value


@given(st.dictionaries(st.text(), RECURSIVE, max_size=4), st.text())
def test_any_arguments_and_metadata_survive(arguments: dict, said: str) -> None:
    arguments, said = scrub(arguments), scrub(said)
    call = ToolCallRequest(timestamp=T, id="1", name="n", arguments=arguments, metadata=arguments)
    assert events.decode(events.encode(call)) == call
    reply = ChatResponse(timestamp=T, message=said)
    assert events.decode(events.encode(reply)) == reply


def test_lone_surrogates_become_question_marks() -> None:
    reply = events.decode(events.encode(ChatResponse(timestamp=T, message="a\udcffb")))
    assert isinstance(reply, ChatResponse)
    assert reply.message == "a?b"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"type":"hologram","timestamp":"t","x":{"y":[1]}}', "hologram"),
        (b'{"timestamp":"t"}', ""),
        (b'{"type":5}', "5"),
        (b'{"type":"chat_request","timestamp":"t"}', "chat_request"),
        (b'{"type":"chat_request","timestamp":"t","content":5}', "chat_request"),
        (b'{"type":"chat_response","timestamp":"t"}', "chat_response"),
        (b'{"type":"chat_response","message":"a","reasoning":"b"}', "chat_response"),
        (b'{"type":"chat_request","content":"\xff\xfe"}', "chat_request"),
        (b"[1]", ""),
        (b"null", ""),
        (b'"text"', ""),
    ],
)
def test_what_is_not_known_is_kept_as_it_is(raw: bytes, kind: str) -> None:
    event = events.decode(raw)
    assert isinstance(event, Unknown)
    assert event.raw == raw
    assert event.type == kind
    assert event.reason
    assert events.encode(event) == raw


def test_unknown_fields_do_not_hide_an_event() -> None:
    event = events.decode(b'{"type":"chat_request","timestamp":"t","content":"x","mood":"good"}')
    assert isinstance(event, ChatRequest)
    assert event.content == "x"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"type":"x",}', b'{"a":1} {"b":2}', b"[" * 100_000 + b"]" * 100_000])
def test_what_is_no_json_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        events.decode(raw)


def test_a_response_is_one_thing() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        ChatResponse(timestamp=T)
