"""From deltas to stored events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation.events import encode_line
from jp.llm.collect import Collector, decoded_arguments, structured_value
from jp.llm.events import (
    Event,
    Finish,
    Keepalive,
    Message,
    Metadata,
    Reasoning,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    joined,
)


def collect(*events: Event, structured: bool = False) -> list[dict[str, Any]]:
    collector = Collector(structured=structured)
    stored = [one for event in events for one in collector.feed(event)] + collector.close()
    plain = [json.loads(encode_line(one)) for one in stored]
    return [{key: value for key, value in one.items() if key not in ("timestamp", "type")} for one in plain]


def test_blocks_in_the_order_of_arrival() -> None:
    assert collect(Reasoning("I "), Reasoning("think"), Message("so "), Message("it is"), Usage(), Finish("stop")) == [
        {"reasoning": "I think"},
        {"message": "so it is"},
    ]


def test_a_block_is_complete_when_the_next_begins() -> None:
    collector = Collector()
    assert collector.feed(Reasoning("a")) == []
    assert collector.reasoning == "a"
    (reasoning,) = collector.feed(Message("b"))
    assert reasoning.reasoning == "a"  # type: ignore[union-attr]
    assert (collector.reasoning, collector.message) == ("", "b")
    (message,) = collector.feed(ToolCallStart(0, "id", "run"))
    assert message.message == "b"  # type: ignore[union-attr]
    assert "calls=[0]" in repr(collector)


def test_tool_calls() -> None:
    assert collect(
        ToolCallStart(0, "c0", "read"),
        ToolCallArguments(0, '{"path"'),
        ToolCallStart(1, "c1", "ls"),
        ToolCallArguments(0, ':"a"}'),
        ToolCallEnd(0),
        ToolCallEnd(1),
        Finish("tool_calls"),
    ) == [
        {"id": "c0", "name": "read", "arguments": {"path": "YQ=="}},
        {"id": "c1", "name": "ls", "arguments": {}},
    ]


def test_cut_off_text_is_kept_and_a_cut_off_call_is_not() -> None:
    assert collect(Reasoning("half"), ToolCallStart(0, "c0", "read"), ToolCallArguments(0, '{"pa')) == [
        {"reasoning": "half"}
    ]


def test_a_call_whose_end_was_lost_counts_when_it_is_whole() -> None:
    assert collect(ToolCallStart(0, "c0", "read"), ToolCallArguments(0, '{"n":1}')) == [
        {"id": "c0", "name": "read", "arguments": {"n": 1}}
    ]


def test_metadata_belongs_to_its_block() -> None:
    assert collect(Reasoning("a"), Metadata({"sig": "x"}), Message("b"), Finish("stop")) == [
        {"reasoning": "a", "metadata": {"sig": "eA=="}},
        {"message": "b"},
    ]
    assert collect(Reasoning("a", {"list": [1], "one": 1}), Reasoning("b", {"list": [2], "one": 2})) == [
        {"reasoning": "ab", "metadata": {"list": [1, 2], "one": 2}}
    ]
    assert collect(Reasoning("", {"sig": "x"}), Message("b")) == [
        {"reasoning": "", "metadata": {"sig": "eA=="}},
        {"message": "b"},
    ]


def test_a_signature_that_comes_late_does_not_split_the_answer() -> None:
    assert collect(Message("a"), Reasoning("", {"sig": "x"}), Message("b"), Finish("stop")) == [
        {"message": "ab"},
        {"reasoning": "", "metadata": {"sig": "eA=="}},
    ]


def test_nothing_makes_nothing() -> None:
    assert collect(Reasoning(""), Message(""), Keepalive(), ToolCallEnd(3), ToolCallArguments(3, "x")) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("null", None),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("```\n[1]\n```\n", [1]),
        ("A title", "A title"),
        ('{"a": ', '{"a": '),
        ("```json\nno\n```", "```json\nno\n```"),
    ],
)
def test_structured_answers(text: str, value: object) -> None:
    assert structured_value(text) == value
    assert collect(Message(text[:3]), Message(text[3:]), Finish("stop"), structured=True) == [{"data": value}]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        (" ", {}),
        ("{}", {}),
        ('{"a": [1, "b"]}', {"a": [1, "b"]}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("[1]", {"input": "[1]"}),
        ("ls -la", {"input": "ls -la"}),
        ("null", {"input": "null"}),
        ("[" * 5000, {"input": "[" * 5000}),
        ('{"a":' * 150 + "1" + "}" * 150, {"input": '{"a":' * 150 + "1" + "}" * 150}),
    ],
)
def test_arguments(text: str, arguments: object) -> None:
    assert decoded_arguments(text) == arguments


DELTAS = st.one_of(
    st.builds(Reasoning, st.text("ab", max_size=3)),
    st.builds(Message, st.text("cd", max_size=3)),
    st.builds(Reasoning, st.just(""), st.just({"sig": "x"})),
    st.just(Keepalive()),
)


@given(st.lists(DELTAS, max_size=30), st.integers(0, 30))
def test_no_text_is_lost_and_joining_changes_nothing(events: list[Event], at: int) -> None:
    stored = collect(*events)
    for kind, key in ((Reasoning, "reasoning"), (Message, "message")):
        said = "".join(event.text for event in events if isinstance(event, kind))  # type: ignore[union-attr]
        assert "".join(one.get(key, "") for one in stored) == said
    assert collect(*joined(events[:at]), *joined(events[at:])) == stored


def test_joined() -> None:
    events: list[Event] = [
        Reasoning("a"),
        Reasoning("b"),
        Reasoning("c", {"x": 1}),
        Reasoning("d"),
        Message("e"),
        Keepalive(),
        Message("f"),
        Message("g"),
        ToolCallStart(0, "i", "n"),
        ToolCallArguments(0, "h"),
        ToolCallArguments(0, "i"),
        ToolCallArguments(1, "j"),
        Finish("stop"),
    ]
    assert joined(events) == [
        Reasoning("ab"),
        Reasoning("c", {"x": 1}),
        Reasoning("d"),
        Message("efg"),
        ToolCallStart(0, "i", "n"),
        ToolCallArguments(0, "hi"),
        ToolCallArguments(1, "j"),
        Finish("stop"),
    ]
    assert joined([]) == []
