"""Ollama's own wire."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.config.sections.model import Parameters
from jp.conversation.thread import Message as Said
from jp.conversation.thread import Text, Thread
from jp.llm import errors as e
from jp.llm.events import (
    Event,
    Finish,
    Message,
    Reasoning,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    joined,
)
from jp.llm.provider import Tool
from jp.llm.providers.ollama import Ollama, OllamaParser

AT = "http://h/api/chat"


def line(done: bool = False, **message: Any) -> bytes:
    return json.dumps({"model": "m", "message": {"role": "assistant", **message}, "done": done}).encode() + b"\n"


END = json.dumps({"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}).encode() + b"\n"


def parse(*wire: bytes) -> tuple[list[Event], OllamaParser]:
    parser = OllamaParser(AT)
    events = [event for data in wire for event in parser.feed(data)]
    return joined(events + parser.close()), parser


def test_an_answer() -> None:
    events, parser = parse(line(content="", thinking="hm"), line(content="Hi"), line(content="!"), END)
    assert parser.error is None
    assert events == [Reasoning("hm"), Message("Hi!"), Usage(3, 4), Finish("stop")]


def test_tool_calls_are_whole_and_named_as_stored() -> None:
    calls = [
        {"function": {"name": "f", "arguments": {"x": "ä"}}},
        {"id": "y", "function": {"name": "f", "arguments": {}}},
    ]
    events, _ = parse(line(content="", tool_calls=calls), END)
    assert events == [
        ToolCallStart(0, "f_2", "f"),
        ToolCallArguments(0, '{"x":"ä"}'),
        ToolCallEnd(0),
        ToolCallStart(1, "f_3", "f"),
        ToolCallArguments(1, "{}"),
        ToolCallEnd(1),
        Usage(3, 4),
        Finish("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (b"", e.StreamCut),
        (b'{"message":{"content":"y', e.StreamCut),
        (b'{"error":"model runner has unexpectedly stopped"}\n', e.ProviderError),
        (b"<html><title>x</title></html>\n", e.BadResponse),
        (b"<html><title>x</title></html>", e.BadResponse),
        (b'{"message":{"content":"y\n', e.BadResponse),
        (b"[1]\n", e.BadResponse),
    ],
)
def test_what_came_before_an_error_is_given_out(wire: bytes, kind: type) -> None:
    events, parser = parse(line(content="kept") + wire)
    assert events == [Message("kept")]
    assert type(parser.error) is kind
    assert parser.feed(line(content="later")) == []
    assert parser.close() == []


@given(st.binary(max_size=300))
def test_any_bytes_end_in_an_error_that_says_something(data: bytes) -> None:
    _, parser = parse(data)
    assert parser.error is not None
    assert parser.error.message


def body(tool_choice: str = "auto", **parameters: Any) -> dict[str, Any]:
    thread = Thread(["be kind"], [Said("user", [Text("hi")])])
    known = Parameters(**{"stop_words": [], "other": {}, **parameters})
    request = Ollama("http://h").request(thread, "m", known, [Tool("f")], tool_choice)
    made: dict[str, Any] = json.loads(b"".join(request.body))
    return made


def test_parameters_are_options() -> None:
    made = body(
        temperature=0.5, top_k=3, max_tokens=9, stop_words=["x"], other={"context_window": 8192, "keep_alive": "1h"}
    )
    assert made["options"] == {"temperature": 0.5, "top_k": 3, "num_predict": 9, "stop": ["x"], "num_ctx": 8192}
    assert made["keep_alive"] == "1h"
    assert made["messages"][0] == {"role": "system", "content": "be kind"}


@pytest.mark.parametrize(("choice", "words"), [("required", "at least one"), ("f", "`f`")])
def test_a_tool_choice_is_said_in_words(choice: str, words: str) -> None:
    assert words in body(choice)["messages"][-1]["content"]


def test_no_tools_where_none_may_be_used() -> None:
    assert "tools" not in body("none")
    assert "tools" in body("auto")
