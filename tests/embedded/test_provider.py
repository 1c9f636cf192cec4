"""The embedded model as a provider: what is sent to it."""

from typing import Any

import msgspec

from jp.config.sections.assistant import SYSTEM_PROMPT as DEFAULT_PROMPT
from jp.config.sections.model import Parameters
from jp.conversation.thread import Message, Text, Thread
from jp.llm.embedded.profile import SYSTEM_PROMPT
from jp.llm.embedded.provider import Local
from jp.llm.provider import Tool


class Started:
    """What a running model is to its provider."""

    base_url = "http://127.0.0.1:4711/v1"
    api_key = "secret"


def sent(*system: str) -> dict[str, Any]:
    thread = Thread(system=list(system), messages=[Message("user", [Text("hello")])])
    provider = Local(Started())  # type: ignore[arg-type]
    request = provider.request(thread, "smollm2-135m", Parameters(stop_words=[], other={}), [Tool("read_file")])
    assert request.url == "http://127.0.0.1:4711/v1/chat/completions"
    assert request.headers["Authorization"] == "Bearer secret"
    body: dict[str, Any] = msgspec.json.decode(b"".join(request.body))
    return body


def test_it_is_told_who_it_is_where_nobody_else_says_it() -> None:
    for said in ([], [DEFAULT_PROMPT]):
        assert sent(*said)["messages"] == [
            {"role": "system", "content": SYSTEM_PROMPT},
            {"role": "user", "content": "hello"},
        ]
    assert sent("You are a pirate.")["messages"][0]["content"] == "You are a pirate."
    assert sent(DEFAULT_PROMPT, "Be kind.")["messages"][0]["content"] == "Be kind."


def test_no_reasoning_is_asked_for_and_no_tools_are_offered() -> None:
    body = sent()
    assert body["stream"] is True
    assert body["reasoning_format"] == "none"
    assert "tools" not in body
    assert "chat_template_kwargs" not in body
