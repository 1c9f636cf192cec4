"""DeepSeek."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from jp.llm.chat import ChatProvider
from jp.llm.provider import effort_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jp.config.sections.model import Parameters
    from jp.conversation.thread import Reasoning, Thread


class DeepSeek(ChatProvider):
    """https://api-docs.deepseek.com"""

    name = "deepseek"
    reasoning_field = "reasoning_content"

    def reasoning(self, model: str, parameters: Parameters) -> dict[str, Any]:
        """On or off; `deepseek-reasoner` always reasons and `deepseek-chat` does when told to."""
        effort = effort_of(parameters)
        if effort.level is None or model == "deepseek-reasoner":
            return {}
        return {"thinking": {"type": "enabled" if effort.wanted else "disabled"}}

    def past_reasoning(self, parts: list[Reasoning], *, recent: bool) -> dict[str, Any]:
        """Wanted back within a turn (between tool calls), refused or ignored from earlier ones."""
        return super().past_reasoning(parts, recent=recent) if recent else {}

    def schema(self, schema: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """It knows JSON, not schemas; the schema is in the system prompt."""
        return {"response_format": {"type": "json_object"}}

    def messages(self, thread: Thread, model: str) -> Iterable[dict[str, Any]]:
        """With the schema in words, where there is one."""
        if thread.schema is not None:
            said = msgspec.json.encode(thread.schema).decode()
            instruction = f"Answer with one JSON value that matches this JSON schema, and nothing else:\n{said}"
            thread = msgspec.structs.replace(thread, system=[*thread.system, instruction])
        return super().messages(thread, model)
