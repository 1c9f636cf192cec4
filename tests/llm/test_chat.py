"""How requests are worded, where the recordings do not show it."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from jp.config.sections.model import Parameters, ReasoningTable
from jp.conversation.thread import Message, Reasoning, Text, Thread, ToolCall, ToolResult
from jp.llm import provider
from jp.llm.chat import ChatProvider, strict_schema
from jp.llm.provider import Body, Tool, effort_of
from jp.llm.providers.cerebras import Cerebras, without_limits
from jp.llm.providers.deepseek import DeepSeek
from jp.llm.providers.generic import Generic
from jp.llm.providers.llamacpp import LlamaCpp
from jp.llm.providers.ollama import Ollama
from jp.llm.providers.openai import OpenAi
from jp.llm.providers.openrouter import OpenRouter, restored_details, stored_details

SCHEMA = {"type": "object", "properties": {"n": {"type": "array", "maxItems": 1}}, "required": ["n"]}


def parameters(**known: Any) -> Parameters:
    return Parameters(**{"stop_words": [], "other": {}, **known})


def body(
    cls: type[ChatProvider],
    thread: Thread | None = None,
    model: str = "m",
    tools: list[Tool] | None = None,
    choice: str = "auto",
    **known: Any,
) -> dict[str, Any]:
    thread = thread or Thread([], [Message("user", [Text("hi")])])
    request = cls("http://h", "key").request(thread, model, parameters(**known), tools or [], choice)
    made: dict[str, Any] = json.loads(b"".join(request.body))
    return made


def test_a_plain_question() -> None:
    assert body(Generic) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_sampling() -> None:
    made = body(Generic, max_tokens=5, temperature=0.0, top_p=0.5, stop_words=["x"], other={"seed": 1, "stream": True})
    assert {key: made[key] for key in ("max_tokens", "temperature", "top_p", "stop", "seed")} == {
        "max_tokens": 5,
        "temperature": 0.0,
        "top_p": 0.5,
        "stop": ["x"],
        "seed": 1,
    }
    assert "stream_options" not in body(Generic, other={"stream_options": None})
    assert body(OpenAi, max_tokens=5)["max_completion_tokens"] == 5
    assert body(LlamaCpp, top_k=3)["top_k"] == 3


HISTORY = Thread(
    ["one", "two"],
    [
        Message("user", [Text("doc"), Text("q1")]),
        Message("assistant", [Reasoning("old thought"), Text("a1")]),
        Message("user", [Text("q2")]),
        Message("user", [Text("q3")]),
        Message("assistant", [Reasoning("new"), Reasoning("thought"), Text("let me"), ToolCall("c1", "f", {"x": "ä"})]),
        Message("tool", [ToolResult("c1", "r1")]),
        Message("assistant", [ToolCall("c2", "f", {}), ToolCall("c3", "f", {})]),
        Message("tool", [ToolResult("c2", "r2"), ToolResult("c3", "r3", is_error=True)]),
        Message("assistant", [Reasoning("")]),
    ],
)


def call(id_: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}


def test_a_history() -> None:
    assert body(Generic, HISTORY)["messages"] == [
        {"role": "system", "content": "one\n\ntwo"},
        {"role": "user", "content": "doc\n\nq1"},
        {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "q2\n\nq3"},
        {"role": "assistant", "content": "let me", "tool_calls": [call("c1", '{"x":"ä"}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "r1"},
        {"role": "assistant", "tool_calls": [call("c2", "{}"), call("c3", "{}")]},
        {"role": "tool", "tool_call_id": "c2", "content": "r2"},
        {"role": "tool", "tool_call_id": "c3", "content": "r3"},
    ]


def test_text_after_a_call_stays_after_it() -> None:
    thread = Thread([], [Message("assistant", [ToolCall("c", "f", {})]), Message("assistant", [Text("after")])])
    assert [m.get("content") for m in body(Generic, thread)["messages"]] == [None, "after"]


def test_neighbours_become_one() -> None:
    thread = Thread([], [Message("assistant", [Text("a")]), Message("assistant", [Text("b"), ToolCall("c", "f", {})])])
    assert body(Generic, thread)["messages"] == [
        {"role": "assistant", "content": "a\n\nb", "tool_calls": [call("c", "{}")]}
    ]


@pytest.mark.parametrize(
    ("cls", "field", "thoughts"),
    [
        (OpenAi, "reasoning_content", []),
        (LlamaCpp, "reasoning_content", ["old thought", "new\n\nthought"]),
        (Cerebras, "reasoning", ["old thought", "new\n\nthought"]),
        (DeepSeek, "reasoning_content", ["new\n\nthought"]),
    ],
)
def test_past_reasoning_goes_where_it_is_wanted(cls: type[ChatProvider], field: str, thoughts: list[str]) -> None:
    assert [m[field] for m in body(cls, HISTORY)["messages"] if field in m] == thoughts


LOW = ReasoningTable(effort="low", exclude=False)
BUDGET = ReasoningTable(effort=2000, exclude=True)


@pytest.mark.parametrize(
    ("cls", "model", "reasoning", "expected"),
    [
        (Generic, "m", LOW, {}),
        (OpenAi, "gpt-5", LOW, {"reasoning_effort": "low"}),
        (OpenAi, "gpt-5-mini", "off", {"reasoning_effort": "minimal"}),
        (OpenAi, "gpt-5.2", "off", {"reasoning_effort": "none"}),
        (OpenAi, "o4-mini", "auto", {"reasoning_effort": "medium"}),
        (OpenAi, "o4-mini", "off", {}),
        (OpenAi, "gpt-4o", LOW, {}),
        (OpenAi, "gpt-5", None, {}),
        (DeepSeek, "deepseek-chat", LOW, {"thinking": {"type": "enabled"}}),
        (DeepSeek, "deepseek-chat", "off", {"thinking": {"type": "disabled"}}),
        (DeepSeek, "deepseek-reasoner", "off", {}),
        (DeepSeek, "deepseek-chat", None, {}),
        (Cerebras, "zai-glm-4.7", "off", {"reasoning_format": "parsed", "reasoning_effort": "none"}),
        (Cerebras, "gpt-oss-120b", "max", {"reasoning_format": "parsed", "reasoning_effort": "high"}),
        (Cerebras, "gpt-oss-120b", None, {"reasoning_format": "parsed"}),
        (OpenRouter, "x/y", None, {}),
        (OpenRouter, "x/y", "xlow", {"reasoning": {"exclude": False, "effort": "minimal"}}),
        (OpenRouter, "x/y", BUDGET, {"reasoning": {"exclude": True, "max_tokens": 2000}}),
        (LlamaCpp, "m", None, {"reasoning_format": "none", "chat_template_kwargs": {"enable_thinking": False}}),
    ],
)
def test_reasoning(cls: type[ChatProvider], model: str, reasoning: Any, expected: dict[str, Any]) -> None:
    known = ("reasoning", "reasoning_effort", "reasoning_format", "thinking", "chat_template_kwargs")
    made = body(cls, model=model, reasoning=reasoning)
    assert {key: made[key] for key in known if key in made} == expected


def test_efforts() -> None:
    assert not effort_of(parameters()).wanted
    assert effort_of(parameters(reasoning="off")).off
    assert effort_of(parameters(reasoning=BUDGET)).tokens == 2000
    assert effort_of(parameters(reasoning=LOW)).wanted


TOOL = Tool("f", "does f", {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]})


@pytest.mark.parametrize(
    ("cls", "choice", "expected"),
    [
        (Generic, "auto", "auto"),
        (Generic, "none", "none"),
        (Generic, "required", "required"),
        (Generic, "f", {"type": "function", "function": {"name": "f"}}),
        (LlamaCpp, "f", "required"),
    ],
)
def test_tool_choice(cls: type[ChatProvider], choice: str, expected: Any) -> None:
    assert body(cls, tools=[TOOL], choice=choice)["tool_choice"] == expected
    assert "tool_choice" not in body(cls, choice=choice)


def test_tools() -> None:
    (tool,) = body(Generic, tools=[TOOL])["tools"]
    assert tool == {
        "type": "function",
        "function": {"name": "f", "description": "does f", "parameters": TOOL.parameters},
    }
    assert body(Generic, tools=[Tool("g")])["tools"][0]["function"]["parameters"]["type"] == "object"


def test_strict_schemas() -> None:
    nullable = {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "integer"}, "d": {}}
    assert strict_schema({"properties": nullable, "required": ["a"]}) == {
        "type": "object",
        "properties": {**nullable, "c": {"type": ["integer", "null"]}},
        "additionalProperties": False,
        "required": ["a", "b", "c", "d"],
    }
    assert strict_schema({}) == {"type": "object", "properties": {}, "additionalProperties": False, "required": []}


def structured() -> Thread:
    return Thread(["sys"], [Message("user", [Text("hi")])], schema=SCHEMA)


def test_schemas() -> None:
    assert body(Generic, structured())["response_format"]["json_schema"]["schema"] == SCHEMA
    limited = body(Cerebras, structured())["response_format"]["json_schema"]["schema"]
    assert limited["properties"]["n"] == {"type": "array", "description": "{maxItems: 1}"}
    made = body(DeepSeek, structured())
    assert made["response_format"] == {"type": "json_object"}
    assert '"maxItems":1' in made["messages"][0]["content"]


def test_limits_in_words() -> None:
    assert without_limits({"type": "string", "description": "A name.", "maxLength": 5, "minLength": 1}) == {
        "type": "string",
        "description": "A name. {maxLength: 5, minLength: 1}",
    }
    assert without_limits({"properties": {"format": {"type": "string"}}}) == {
        "properties": {"format": {"type": "string"}}
    }
    assert without_limits({"anyOf": [{"minimum": 1}, True]}) == {"anyOf": [{"description": "{minimum: 1}"}, True]}


def test_openrouter_marks_what_may_be_cached() -> None:
    thread = Thread(["a", "b"], [Message("user", [Text("hi")])])
    assert body(OpenRouter, thread, model="anthropic/claude")["messages"][0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}},
    ]
    assert "cache_control" not in json.dumps(body(OpenRouter, thread, model="openai/gpt-5"))
    uncached = OpenRouter("http://h", "key")
    uncached.cache = False
    assert "cache_control" not in json.dumps(uncached.system(["a"], "anthropic/claude"))


ENCRYPTED = {"type": "reasoning.encrypted", "data": "xyz", "id": "rs_1", "index": 0}
SIGNED = {"type": "reasoning.text", "text": "hm", "signature": "sig", "format": "anthropic-claude-v1", "index": 0}


@pytest.mark.parametrize(
    ("details", "text", "stored", "back"),
    [
        (
            [{**ENCRYPTED, "format": "openai-responses-v1"}],
            "",
            {"openai_encrypted_content": "xyz"},
            [{**ENCRYPTED, "format": "openai-responses-v1"}],
        ),
        (
            [{**ENCRYPTED, "format": "openai-responses-v1"}],
            "hm",
            {"openai_encrypted_content": "xyz"},
            [
                {"type": "reasoning.summary", "summary": "hm", "format": "openai-responses-v1", "index": 0},
                {**ENCRYPTED, "format": "openai-responses-v1"},
            ],
        ),
        ([SIGNED], "hm", {"anthropic_thinking_signature": "sig"}, [SIGNED]),
        (
            [{**ENCRYPTED, "format": "xai-responses-v1"}],
            "hm",
            {"openrouter_reasoning_details": [{**ENCRYPTED, "format": "xai-responses-v1"}]},
            [{**ENCRYPTED, "format": "xai-responses-v1"}],
        ),
        ([{"type": "reasoning.summary", "summary": "hm"}], "hm", {}, []),
        ([{"type": "reasoning.text", "text": "hm", "format": "unknown"}], "hm", {}, []),
    ],
)
def test_signatures(details: list[Any], text: str, stored: dict[str, Any], back: list[Any]) -> None:
    metadata = stored_details(details)
    assert {key: value for key, value in metadata.items() if key != "openrouter_metadata"} == stored
    assert restored_details(text, metadata) == back


def test_signatures_that_make_no_sense_are_left_out() -> None:
    assert restored_details("x", {"openrouter_metadata": ["odd", {"field": "nope"}, {"field": []}, {}]}) == []
    assert restored_details("x", {"anthropic_thinking_signature": "only"}) == []
    assert restored_details("x", {"openrouter_reasoning_details": "odd"}) == []


def test_a_huge_body_is_made_anew_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def pieces() -> Iterator[bytes]:
        made.append(1)
        yield from (b"x" * 40, b"y" * 40)

    kept = Body(pieces)
    assert (kept.size, b"".join(kept), b"".join(kept), len(made)) == (80, b"x" * 40 + b"y" * 40, b"".join(kept), 1)
    monkeypatch.setattr(provider, "MAX_KEPT", 60)
    huge = Body(pieces)
    assert (huge.size, b"".join(huge), b"".join(huge), len(made)) == (80, b"".join(kept), b"".join(kept), 4)


def test_a_huge_conversation_is_sent_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "MAX_KEPT", 1000)
    thread = Thread([], [Message("user", [Text("ä" * 999)]), Message("assistant", [Text("b" * 999)])])
    request = Generic("http://h").request(thread, "m", parameters())
    assert len(b"".join(request.body)) == request.size
    assert json.loads(b"".join(request.body))["messages"][1]["content"] == "b" * 999


def test_the_texts_of_the_thread_do_not_grow() -> None:
    text = "ä€😊" * 1000
    before = sys.getsizeof(text)
    for cls in (Generic, OpenRouter, Ollama):
        b"".join(cls("http://h").request(Thread([], [Message("user", [Text(text)])]), "m", parameters()).body)
        assert sys.getsizeof(text) == before, "its UTF-8 form is kept with it"
