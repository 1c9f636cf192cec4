"""The thread: what a provider is sent, for every shape a history can have."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.config.schema import AppConfig
from jp.conversation import events, thread
from jp.conversation.attachments import Attachment
from jp.conversation.events import ChatRequest, ChatResponse, Compaction, ToolCallRequest, ToolCallResponse, TurnStart
from jp.conversation.stream import Stream
from jp.conversation.thread import LOST, Message, Reasoning, Text, ToolCall, ToolResult
from tests.conversation.support import config


@pytest.fixture(scope="module")
def cfg() -> AppConfig:
    return config({})


def built(cfg: AppConfig, *given: events.Event, **more: Any) -> list[Message]:
    return thread.build(cfg, stream(*given), **more).messages


def stream(*given: events.Event) -> Stream:
    made = Stream()
    for n, event in enumerate(given):
        event.timestamp = f"2026-01-01 00:00:{n:02}.0"
        made.append(event)
    return made


def ask(text: str = "q", **more: Any) -> ChatRequest:
    return ChatRequest(content=text, **more)


def say(text: str = "a") -> ChatResponse:
    return ChatResponse(message=text)


def think(text: str = "t", **more: Any) -> ChatResponse:
    return ChatResponse(reasoning=text, **more)


def call(identity: str = "1", name: str = "tool") -> ToolCallRequest:
    return ToolCallRequest(id=identity, name=name, arguments={"a": "b"})


def result(identity: str = "1", content: str = "out", *, is_error: bool = False) -> ToolCallResponse:
    return ToolCallResponse(id=identity, content=content, is_error=is_error)


CALL = ToolCall("1", "tool", {"a": "b"})
CALL2 = ToolCall("2", "tool", {"a": "b"})
RESULT = ToolResult("1", "out", False, "tool")
RESULT2 = ToolResult("2", "out", False, "tool")


def test_a_plain_exchange(cfg: AppConfig) -> None:
    assert built(cfg, TurnStart(), ask(), think(metadata={"sig": "x"}), say(), TurnStart(), ask("q2")) == [
        Message("user", [Text("q")]),
        Message("assistant", [Reasoning("t", {"sig": "x"}), Text("a")]),
        Message("user", [Text("q2")]),
    ]


def test_structured_answers_are_json(cfg: AppConfig) -> None:
    assert built(cfg, ask(), ChatResponse(data={"a": [1]}))[1] == Message("assistant", [Text('{"a":[1]}')])


def test_calls_made_together_stay_together(cfg: AppConfig) -> None:
    assert built(cfg, ask(), say(), call("1"), call("2"), result("2"), result("1"), say("done"))[1:] == [
        Message("assistant", [Text("a"), CALL, CALL2]),
        Message("tool", [RESULT, RESULT2]),
        Message("assistant", [Text("done")]),
    ]


def test_calls_made_after_each_other_stay_apart(cfg: AppConfig) -> None:
    assert built(cfg, ask(), call("1"), result("1"), call("2"), result("2"))[1:] == [
        Message("assistant", [CALL]),
        Message("tool", [RESULT]),
        Message("assistant", [CALL2]),
        Message("tool", [RESULT2]),
    ]


def test_an_id_that_comes_again_is_another_call(cfg: AppConfig) -> None:
    first, second = result("1", "one"), result("1", "two")
    found = built(cfg, ask(), call("1"), first, call("1"), second)
    assert [m.parts[0].content for m in found if m.role == "tool"] == ["one", "two"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "after",
    [[], [ask("q2")], [TurnStart(), ask("q2")], [say("never mind"), ask("q2")]],
    ids=["end", "ask", "turn", "say"],
)
def test_a_call_without_a_result_gets_its_cancellation(cfg: AppConfig, after: list[events.Event]) -> None:
    found = built(cfg, ask(), call("1"), call("2"), result("2"), *after)
    assert found[1].role == "assistant"
    assert found[2] == Message("tool", [ToolResult("1", LOST, True, "tool"), RESULT2])


def test_a_result_without_a_call_is_left_out(cfg: AppConfig) -> None:
    assert built(cfg, ask(), result("9"), say()) == [Message("user", [Text("q")]), Message("assistant", [Text("a")])]


def test_two_questions_in_a_row_are_one_message(cfg: AppConfig) -> None:
    assert built(cfg, ask("one"), TurnStart(), ask("two")) == [Message("user", [Text("one"), Text("two")])]


def test_the_schema_is_that_of_the_last_question(cfg: AppConfig) -> None:
    wanted = {"type": "object"}
    assert thread.build(cfg, stream(ask(schema=wanted))).schema == wanted
    assert thread.build(cfg, stream(ask(schema=wanted), say(), ask())).schema is None
    assert thread.build(cfg, Stream()).schema is None


def test_attachments_are_in_the_first_message(cfg: AppConfig) -> None:
    attached = [Attachment("a.md", "one\n"), Attachment('b"&', "two", "what")]
    made = thread.build(cfg, stream(ask(), say(), ask("q2")), attached)
    assert made.attachments == attached
    first, question = made.messages[0].parts
    assert question == Text("q")
    assert isinstance(first, Text)
    assert first.text == (
        '<documents>\n<document source="a.md">\none\n</document>\n'
        '<document source="b&quot;&amp;" description="what">\ntwo\n</document>\n</documents>'
    )
    assert thread.build(cfg, Stream(), attached).messages == [Message("user", [first])]


EVENT = st.one_of(
    st.builds(TurnStart),
    st.builds(ask),
    st.builds(say),
    st.builds(think),
    st.builds(call, st.sampled_from("123")),
    st.builds(result, st.sampled_from("123")),
)


@given(st.lists(EVENT, max_size=14))
def test_every_call_has_one_result_right_after_it(cfg: AppConfig, history: list[events.Event]) -> None:
    messages = built(cfg, *history)
    for before, message in zip([None, *messages], [*messages, None], strict=True):
        calls = [p.id for p in before.parts if isinstance(p, ToolCall)] if before else []
        if calls:
            assert message is not None
            assert message.role == "tool"
        if message is not None and message.role == "tool":
            assert [p.id for p in message.parts if isinstance(p, ToolResult)] == calls
        if before and message:
            assert before.role != message.role
    said = [p.text for m in messages for p in m.parts if isinstance(p, Text)]
    assert said == [
        e.content if isinstance(e, ChatRequest) else e.message
        for e in history
        if isinstance(e, ChatRequest) or (isinstance(e, ChatResponse) and isinstance(e.message, str))
    ]


def test_every_conversation_of_the_data_makes_a_thread(cfg: AppConfig, data_dir: Path) -> None:
    for path in (data_dir / "workspace/.jp/conversations").glob("*/events.json"):
        source = Stream(path.read_bytes())
        messages = thread.build(cfg, source).messages
        parts = [part for message in messages for part in message.parts]
        for kind, of in ((ToolCall, "tool_call_request"), (ToolResult, "tool_call_response")):
            assert sum(isinstance(one, kind) for one in parts) == len(list(source.events(of)))
        assert all(a.role != b.role for a, b in itertools.pairwise(messages))
        assert not any(isinstance(one, ToolResult) and one.content == LOST for one in parts)


# -- overlays


def overlay(first: int, last: int, **policies: Any) -> Compaction:
    return Compaction(from_turn=first, to_turn=last, **policies)


def three_turns() -> list[events.Event]:
    return [
        TurnStart(), ask("q0"), think("t0"), call("1"), result("1", "x" * 50), say("a0"),
        TurnStart(), ask("q1"), think("t1"), say("a1"),
        TurnStart(), ask("q2"), think("t2"), say("a2"),
    ]  # fmt: skip


def spoken(messages: list[Message]) -> list[str]:
    out = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text=text) | Reasoning(text=text):
                    out.append(text)
                case ToolCall(arguments=arguments):
                    out.append(f"call {len(arguments)}")
                case ToolResult(content=content):
                    out.append(f"result {content}")
    return out


PLAIN = ["q0", "t0", "call 1", "result " + "x" * 50, "a0", "q1", "t1", "a1", "q2", "t2", "a2"]
SUMMED = ["[Summary of previous conversation]", "sum"]


WITHOUT_THOUGHTS = [one for one in PLAIN if one not in ("t0", "t1")]


@pytest.mark.parametrize(
    ("overlays", "expected"),
    [
        ([], PLAIN),
        ([overlay(0, 1, summary={"summary": "sum"})], [*SUMMED, "q2", "t2", "a2"]),
        ([overlay(1, 1, summary={"summary": "sum"})], [*PLAIN[:5], *SUMMED, "q2", "t2", "a2"]),
        ([overlay(0, 99, summary="sum")], SUMMED),
        ([overlay(0, 1, reasoning="strip")], WITHOUT_THOUGHTS),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": 1})], WITHOUT_THOUGHTS),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "1KB"})], PLAIN),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "1e999"})], PLAIN),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "inf"})], PLAIN),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "1e308GB"})], PLAIN),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": 1e30})], PLAIN),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "-inf"})], WITHOUT_THOUGHTS),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": "nan"})], WITHOUT_THOUGHTS),
        ([overlay(0, 1, reasoning={"policy": "strip", "over": ["1KB"]})], WITHOUT_THOUGHTS),
        ([overlay(0, 0, tool_calls={"policy": "omit"})], ["q0", "t0", "a0", *PLAIN[5:]]),
        ([overlay(0, 0, tool_calls={"policy": "omit", "over": 1000})], PLAIN),
        (
            [overlay(0, 0, tool_calls={"policy": "strip", "request": True, "response": False})],
            [*PLAIN[:2], "call 0", *PLAIN[3:]],
        ),
        (
            [overlay(0, 0, tool_calls={"policy": "strip", "request": False, "response": True})],
            [*PLAIN[:3], "result [compacted] tool: success", *PLAIN[4:]],
        ),
        (
            [overlay(0, 0, tool_calls={"policy": "strip", "request": True, "response": True, "over": 40})],
            [*PLAIN[:3], "result [compacted] tool: success", *PLAIN[4:]],
        ),
        # The later one wins, for its kind alone.
        ([overlay(0, 0, summary={"summary": "old"}), overlay(0, 1, summary={"summary": "sum"})], [*SUMMED, *PLAIN[8:]]),
        ([overlay(0, 1, summary={"summary": "sum"}), overlay(2, 2, reasoning="strip")], [*SUMMED, "q2", "a2"]),
    ],
)
def test_overlays(cfg: AppConfig, overlays: list[events.Event], expected: list[str]) -> None:
    assert spoken(built(cfg, *three_turns(), *overlays)) == expected


def test_what_comes_after_an_overlay_is_shown(cfg: AppConfig) -> None:
    later = [overlay(0, 2, summary={"summary": "sum"}), TurnStart(), ask("q3")]
    assert spoken(built(cfg, *three_turns(), *later)) == [*SUMMED, "q3"]
