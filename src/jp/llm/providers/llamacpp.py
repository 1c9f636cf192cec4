"""llama.cpp's server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from jp.llm.chat import ChatProvider
from jp.llm.provider import ModelDetails, Request, effort_of

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters


class LlamaCpp(ChatProvider):
    """https://github.com/ggml-org/llama.cpp/tree/master/tools/server"""

    name = "llamacpp"
    reasoning_field = "reasoning_content"
    strict_tools = True
    inline_thinking = True
    patience = 10.0  # it reads the whole prompt before it says anything

    def sampling(self, parameters: Parameters) -> dict[str, Any]:
        """With `top_k`, which this server knows."""
        known = super().sampling(parameters)
        return known if parameters.top_k is None else {**known, "top_k": parameters.top_k}

    def reasoning(self, model: str, parameters: Parameters) -> dict[str, Any]:  # noqa: ARG002
        """Both ways have to be said: models differ in what they do by themselves."""
        wanted = effort_of(parameters).wanted
        return {
            "reasoning_format": "deepseek" if wanted else "none",
            "chat_template_kwargs": {"enable_thinking": wanted},
        }

    def tool_choice(self, choice: str) -> str | dict[str, Any]:
        """The server knows no named tool; one that must be used comes alone, so `required` is as good."""
        return choice if choice in ("auto", "none", "required") else "required"

    def models_requests(self) -> list[Request]:
        """The list, and the properties of the one model that is loaded."""
        return [self.get(self.models_path), self.get("/props")]

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """A model's name is its alias, without the publisher."""
        context = _context(answers[1]) if len(answers) > 1 else None
        names = [one["id"].rpartition("/")[2] for one in self.listed(answers[0])]
        return [ModelDetails(self.name, name, context_window=context if len(names) == 1 else None) for name in names]


def _context(props: bytes) -> int | None:
    try:
        settings = msgspec.json.decode(props)["default_generation_settings"]
        size = settings["n_ctx"]
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError, TypeError):
        return None
    return size if isinstance(size, int) else None
