"""What is sent for a stored conversation is what the original sent, but for differences that are named here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from jp.config.load import Paths, load
from jp.config.sections.model import Parameters, ReasoningTable
from jp.conversation.stream import Stream
from jp.conversation.thread import Thread, build
from jp.llm.provider import Tool
from tests.wire.recordings import Case, Recording
from tests.wire.test_recordings import PROVIDERS, every_case

RUN_ME = Tool(
    "run_me",
    "",
    {
        "type": "object",
        "properties": {
            "foo": {"type": "string", "default": "foo"},
            "bar": {
                "type": ["string", "array"],
                "enum": ["foo"],
                "items": {"type": "string", "enum": ["foo", "bar"]},
            },
        },
        "additionalProperties": False,
        "required": ["bar"],
    },
)
JSON = dict[str, Any]


def asked(case: Case) -> Iterator[tuple[Recording, list[JSON], Any]]:
    """Each request with the events before it and the reasoning setting at that time."""
    snapshot = case.snapshot()
    reasoning = snapshot["base_config"]["assistant"]["model"]["parameters"].get("reasoning")
    exchanges = iter(case.exchanges())
    for number, event in enumerate(snapshot["events"]):
        if event["type"] == "config_delta":
            reasoning = event["delta"]["assistant"]["model"]["parameters"]["reasoning"]
        if event["type"] in ("chat_request", "tool_call_response"):
            yield next(exchanges), snapshot["events"][: number + 1], reasoning
    assert next(exchanges, None) is None


def thread_of(events: list[JSON], tmp_path: Path) -> Thread:
    config = load(Paths(str(tmp_path), None, str(tmp_path), None), {})
    thread = build(config.root, Stream(msgspec.json.encode(events)))
    return msgspec.structs.replace(thread, system=[])  # the original's tests had none


def parameters(reasoning: Any) -> Parameters:
    setting = ReasoningTable(**reasoning) if isinstance(reasoning, dict) else reasoning
    return Parameters(stop_words=[], other={}, reasoning=setting)


def sent(case: Case, recording: Recording, events: list[JSON], reasoning: Any, tmp_path: Path) -> JSON:
    provider = PROVIDERS[case.provider]("http://127.0.0.1:1", "key")
    choice = recording.request.get("tool_choice", "auto")
    if isinstance(choice, dict):
        choice = choice["function"]["name"]
    tools = [RUN_ME] if "tools" in recording.request else []
    request = provider.request(
        thread_of(events, tmp_path), recording.request["model"], parameters(reasoning), tools, choice
    )
    assert request.url == "http://127.0.0.1:1" + recording.path
    body = json.loads(b"".join(request.body))
    assert request.size == sum(map(len, request.body))
    return normal(case.provider, body)


def normal(provider: str, body: JSON) -> JSON:
    """A request without what the provider does not care about."""
    body.pop("stream_options", None)  # ours: usage is wanted
    messages: list[JSON] = []
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            call.pop("index", None)
        message.pop("reasoning_details", None)  # ours: signatures are sent back
        if not message.get("tool_calls"):
            message.pop("tool_calls", None)
        if message.get("thinking") is None:
            message.pop("thinking", None)
        if provider == "ollama" and message["role"] == "system":
            continue  # the words that insist on a tool differ
        last = messages[-1] if messages else {}
        if provider == "ollama" and message["role"] == last.get("role") == "assistant" and not last["content"]:
            last["content"] = message["content"]  # the original sends the thoughts as a message of their own
            continue
        messages.append(message)
    body["messages"] = messages
    for tool in body.get("tools", ()):
        tool["function"].pop("description", None)
        if provider == "cerebras":
            tool["function"]["parameters"].pop("additionalProperties")
        if provider == "ollama":
            tool["type"] = "function"
            tool["function"].pop("parameters")  # the original sends the properties where a schema is documented
    return body


@every_case
def test_requests_are_worded_as_recorded(case: Case, tmp_path: Path) -> None:
    for recording, events, reasoning in asked(case):
        assert sent(case, recording, events, reasoning, tmp_path) == normal(case.provider, recording.request)


def test_signatures_go_back_as_they_came(data_dir: Path, tmp_path: Path) -> None:
    file = data_dir / "provider-recordings" / "openrouter" / "test_multi_turn_conversation.yml"
    case = Case("openrouter", "multi_turn_conversation", file)
    *_, (recording, events, _) = asked(case)
    provider = PROVIDERS["openrouter"]("http://127.0.0.1:1", "key")
    request = provider.request(thread_of(events, tmp_path), recording.request["model"], parameters("low"))
    messages = json.loads(b"".join(request.body))["messages"]
    back = [m["reasoning_details"] for m in messages if "reasoning_details" in m]
    came = [one for exchange in case.exchanges()[:-1] for one in encrypted(exchange.body)]
    assert [detail for details in back for detail in details if detail["type"] == "reasoning.encrypted"] == came


def encrypted(body: bytes) -> Iterator[JSON]:
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                for detail in choice["delta"].get("reasoning_details") or ():
                    if detail["type"] == "reasoning.encrypted":
                        yield detail
