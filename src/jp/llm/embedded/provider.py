"""The embedded model as a provider: `llamacpp`'s wire, at the address and with the key of a running model.

Tools are not offered yet: with the wire's own `tools` these models answer in prose (measured: 2 to 6 of 8 cases),
and want few-shot `<tools>` tags in the prompt and a parser of their own instead. Both would stand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jp.config.sections.assistant import SYSTEM_PROMPT as DEFAULT_PROMPT
from jp.llm.embedded.profile import SYSTEM_PROMPT
from jp.llm.providers.llamacpp import LlamaCpp

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters
    from jp.conversation.thread import Thread
    from jp.llm.embedded.runtime import Running
    from jp.llm.provider import Request, Tool


class Local(LlamaCpp):
    """One running model."""

    name = "local"

    def __init__(self, running: Running) -> None:
        super().__init__(running.base_url, running.api_key)

    def request(
        self,
        thread: Thread,
        model: str,
        parameters: Parameters,
        tools: Sequence[Tool] = (),  # noqa: ARG002
        tool_choice: str = "auto",  # noqa: ARG002
    ) -> Request:
        """See `jp.llm.provider.Provider.request`; `tools` are left out."""
        return super().request(thread, model, parameters)

    def reasoning(self, model: str, parameters: Parameters) -> dict[str, Any]:  # noqa: ARG002
        """None of these models reasons."""
        return {"reasoning_format": "none"}

    def system(self, parts: list[str], model: str) -> dict[str, Any] | None:
        """Who it is, where nobody has said anything else: asked who it is, it names other firms' models otherwise."""
        said = [part for part in parts if part != DEFAULT_PROMPT]
        return super().system(said or [SYSTEM_PROMPT], model)
