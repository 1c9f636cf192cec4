"""OpenAI, by chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jp.llm.chat import ChatProvider
from jp.llm.provider import effort_of

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters

_REASONS = ("o1", "o3", "o4", "gpt-5", "gpt-oss")
_LEVELS = {"xlow": "minimal", "max": "high", "xhigh": "high", "auto": "medium"}


class OpenAi(ChatProvider):
    """https://platform.openai.com/docs/api-reference/chat"""

    name = "openai"
    max_tokens_field = "max_completion_tokens"

    def reasoning(self, model: str, parameters: Parameters) -> dict[str, Any]:
        """`reasoning_effort`, for models that know it: others refuse the whole request."""
        effort = effort_of(parameters)
        if effort.level is None or not model.rpartition("/")[2].startswith(_REASONS):
            return {}
        if effort.off:
            return {"reasoning_effort": "none" if model.startswith("gpt-5.") else "minimal"} if "gpt-5" in model else {}
        return {"reasoning_effort": _LEVELS.get(effort.level, effort.level)}
