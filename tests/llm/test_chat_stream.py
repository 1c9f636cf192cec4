"""Answers of chat completions: what servers do beyond the specification."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.llm import errors as e
from jp.llm.chat_stream import MAX_COMMENT_BYTES, ChatParser
from jp.llm.events import (
    Event,
    Finish,
    Keepalive,
    Message,
    Reasoning,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    joined,
)

AT = "http://h/v1/chat/completions"


def chunk(finish: str | None = None, **delta: Any) -> bytes:
    body = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
STOP = chunk("stop")


def parse(*wire: bytes) -> tuple[list[Event], ChatParser]:
    parser = ChatParser(AT)
    events = [event for data in wire for event in parser.feed(data)]
    return joined(events + parser.close()), parser


def whole(*wire: bytes) -> list[Event]:
    events, parser = parse(*wire)
    assert parser.error is None
    return events


def test_an_answer() -> None:
    assert whole(chunk(role="assistant", content=None), chunk(content="Hel"), chunk(content="lo"), STOP, DONE) == [
        Message("Hello"),
        Finish("stop"),
    ]


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_by_either_name_comes_before_text(field: str) -> None:
    assert whole(chunk(**{field: "hm"}), chunk(**{field: "m", "content": "Yes"}), STOP, DONE) == [
        Reasoning("hmm"),
        Message("Yes"),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("whatever", "other"),
    ],
)
def test_finish_reasons(said: str, reason: str) -> None:
    assert whole(chunk(content="x"), chunk(said), DONE)[-1] == Finish(reason)


def test_the_end_may_lack_done_or_reason_but_not_both() -> None:
    assert whole(chunk(content="x"), STOP)[-1] == Finish("stop")
    assert whole(chunk(content="x"), DONE)[-1] == Finish("stop")
    events, parser = parse(chunk(content="x"))
    assert events == [Message("x")]
    assert isinstance(parser.error, e.StreamCut)
    assert AT in parser.error.message


def test_done_without_its_blank_line() -> None:
    assert whole(chunk(content="x"), b"data: [DONE]") == [Message("x"), Finish("stop")]


def test_usage_may_come_alone_or_with_the_end() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 0},
    }
    alone = b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n"
    assert whole(chunk(content="x"), STOP, alone, DONE)[-1] == Usage(7, 5, 3, 2)
    bare = b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":null,"prompt_tokens_details":null}}\n\n'
    assert whole(STOP, bare, DONE)[-1] == Usage(1, 0, 0, 0)


def call(index: int | None, id_: str | None = None, name: str | None = None, arguments: Any = None) -> bytes:
    one: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        one["index"] = index
    if id_ is not None:
        one["id"] = id_
    return chunk(tool_calls=[one])


def test_tool_calls_interleaved() -> None:
    assert whole(
        call(0, "a", "read", ""), call(1, "b", "ls", "{"), call(0, None, None, '{"x":'), call(1, None, None, "}"),
        call(0, None, None, "1}"), chunk("tool_calls"), DONE,
    ) == [
        ToolCallStart(0, "a", "read"),
        ToolCallStart(1, "b", "ls"),
        ToolCallArguments(1, "{"),
        ToolCallArguments(0, '{"x":'),
        ToolCallArguments(1, "}"),
        ToolCallArguments(0, "1}"),
        ToolCallEnd(0),
        ToolCallEnd(1),
        Finish("tool_calls"),
    ]  # fmt: skip


def test_tool_calls_without_index() -> None:
    events = whole(call(None, "a", "read", '{"x"'), call(None, None, None, ":1}"), call(None, "b", "ls", "{}"), STOP)
    assert [event for event in events if isinstance(event, ToolCallStart)] == [
        ToolCallStart(0, "a", "read"),
        ToolCallStart(1, "b", "ls"),
    ]
    assert ToolCallArguments(0, '{"x":1}') in events


def test_a_tool_call_without_id_gets_one() -> None:
    first, second = (whole(call(0, None, "read", "{}"), STOP)[0] for _ in range(2))
    assert isinstance(first, ToolCallStart)
    assert isinstance(second, ToolCallStart)
    assert first.id.startswith("call_")
    assert first.id != second.id


def test_arguments_that_come_as_an_object() -> None:
    assert ToolCallArguments(0, '{"x":1}') in whole(call(0, "a", "read", {"x": 1}), STOP)


def test_text_in_parts_and_refusals() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}, "odd"]
    assert whole(chunk(content=parts), chunk(refusal="No."), STOP)[0] == Message("abNo.")


def test_events_of_no_consequence() -> None:
    odd = [
        b"data: {}\n\n",
        b'data: {"choices":null}\n\n',
        b'data: {"choices":[{}]}\n\n',
        b"data: \n\n",
        b"event: ping\n\n",
    ]
    assert whole(*odd, chunk(content="x"), STOP, DONE) == [Message("x"), Finish("stop")]


@pytest.mark.parametrize(
    ("wire", "kind", "words"),
    [
        (b'data: {"error":{"code":429,"message":"slow down"}}\n\n', e.RateLimited, "slow down"),
        (b'data: {"error":{"message":"boom"}}\n\n', e.ProviderError, "boom"),
        (b'data: {"object":"error","message":"boom","code":400}\n\n', e.HttpError, "boom"),
        (b'data: {"error":"boom"}\n\n', e.ProviderError, "boom"),
        (b'event: error\ndata: {"message":"boom"}\n\n', e.ProviderError, "boom"),
        (b'data: {"choices":[{"error":{"code":502,"message":"boom"},"delta":{}}]}\n\n', e.HttpError, "boom"),
        (b'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\n', e.ProviderError, "failed"),
        (b'data: {"choices":[{"delta":{"content":"y\n\n', e.BadResponse, "makes no sense"),
        (b"data: nonsense\n\n", e.BadResponse, "nonsense"),
        (b"data: [1]\n\n", e.BadResponse, "makes no sense"),
        (b'data: {"choices":[{"delta":{"tool_calls":7}}]}\n\n', e.BadResponse, "makes no sense"),
    ],
)
def test_what_came_before_an_error_is_given_out(wire: bytes, kind: type, words: str) -> None:
    events, parser = parse(chunk(content="kept") + wire + chunk(content="not seen") + DONE)
    assert events == [Message("kept")]
    assert type(parser.error) is kind
    assert words in parser.error.message
    assert parser.feed(chunk(content="later")) == []
    assert parser.close() == []


def test_half_an_event_at_the_end_is_a_cut() -> None:
    events, parser = parse(chunk(content="kept"), chunk(content="lost")[:-20])
    assert events == [Message("kept")]
    assert isinstance(parser.error, e.StreamCut)


def test_html_where_events_were_expected() -> None:
    events, parser = parse(b"\n<!doctype ht", b"ml><title>Sign in</title>")
    assert events == []
    assert isinstance(parser.error, e.BadResponse)
    assert "web page ('Sign in')" in parser.error.message


def test_one_json_object_although_a_stream_was_asked_for() -> None:
    message = {
        "role": "assistant",
        "content": "Hi",
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
    }
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    data = json.dumps(body).encode()
    assert whole(data[:10], data[10:]) == [
        Message("Hi"),
        ToolCallStart(0, "a", "f"),
        ToolCallArguments(0, "{}"),
        ToolCallEnd(0),
        Finish("stop"),
        Usage(1, 2, 0, 0),
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"error": {"message": "boom"}}', e.ProviderError),
        (b'{"choices": [{"message": {"content": "ha', e.StreamCut),
        (b'{"fine": true}', e.BadResponse),
        (b'{"choices": []}', e.BadResponse),
        (b"{not json}", e.BadResponse),
        (b"[1, 2]", e.BadResponse),
    ],
)
def test_json_that_is_no_answer(body: bytes, kind: type) -> None:
    assert type(parse(body)[1].error) is kind


def test_comments_are_signs_of_life_and_a_storm_of_them_is_ended() -> None:
    parser = ChatParser(AT)
    assert parser.feed(b": OPENROUTER PROCESSING\n\n") == [Keepalive()]
    assert parser.error is None
    for _ in range(MAX_COMMENT_BYTES // 60_000 + 2):
        parser.feed(b": x\n" * 20_000)
    assert isinstance(parser.error, e.BadResponse)
    assert "comments without end" in parser.error.message


def test_surrogates() -> None:
    lone = b'data: {"choices":[{"delta":{"content":"a\\ud83d b"}}]}\n\n'
    pair = b'data: {"choices":[{"delta":{"content":"\\ud83d\\ude0a"}}]}\n\n'
    assert whole(lone, pair, STOP) == [Message("a\ufffd b\U0001f60a"), Finish("stop")]
    one = b'{"index":0,"id":"a","function":{"name":"f","arguments":{"x":"\\ud83d"}}}'
    args = b'data: {"choices":[{"delta":{"tool_calls":[' + one + b"]}}]}\n\n"
    assert ToolCallArguments(0, '{"x":"\ufffd"}') in whole(args, STOP)


def test_a_character_cut_over_two_reads() -> None:
    wire = 'data: {"choices":[{"delta":{"content":"h\u00e4 \u20ac \U0001f60a"}}]}\n\n'.encode() + STOP
    assert whole(*(bytes([byte]) for byte in wire))[0] == Message("h\u00e4 \u20ac \U0001f60a")


def test_invalid_utf8_becomes_a_mark_and_nothing_else_is_lost() -> None:
    wire = b'data: {"choices":[{"delta":{"content":"a\xff\xc3b"}}]}\n\n'
    assert whole(wire, STOP) == [Message("a\ufffd\ufffdb"), Finish("stop")]


def test_nothing_is_read_after_done() -> None:
    events, parser = parse(chunk(content="x"), DONE, b"data: nonsense\n\n")
    assert parser.done
    assert events == [Message("x"), Finish("stop")]


@given(st.binary(max_size=300), st.binary(max_size=100))
def test_any_bytes_end_in_an_error_that_says_something(start: bytes, more: bytes) -> None:
    _, parser = parse(start, more)
    if parser.error is not None:
        assert parser.error.message
    else:
        assert parser.finished


@pytest.mark.parametrize("depth", [10, 300, 600, 900, 990, 5000, 100_000])
@pytest.mark.parametrize(
    "around",
    [
        b'{"error":%s}',
        b'{"choices":[{"error":%s}]}',
        b'{"choices":[{"delta":{"content":%s}}]}',
        b'{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}',
        b'{"object":"error","message":%s}',
    ],
)
def test_deep_nesting_is_no_crash(depth: int, around: bytes) -> None:
    for opened, closed in ((b"[", b"]"), (b'{"error":', b"}")):
        value = opened * depth + b"1" + closed * depth
        for wire in (b"data: " + around % value + b"\n\n", around % value):
            _, parser = parse(wire)
            assert parser.error is not None
            assert parser.error.message


def test_tool_calls_without_end() -> None:
    _, parser = parse(*(call(index, f"c{index}", "f", "{}") for index in range(1100)))
    assert isinstance(parser.error, e.BadResponse)
    assert "more than 1000 tools" in parser.error.message
