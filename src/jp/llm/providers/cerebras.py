"""Cerebras."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jp.llm.chat import ChatProvider
from jp.llm.errors import BadResponse
from jp.llm.provider import ModelDetails, Request, effort_of

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters

_LEVELS = {"xlow": "low", "low": "low", "high": "high", "xhigh": "high", "max": "high"}
_EFFORTS: dict[str, tuple[str, ...]] = {"gpt-oss-120b": ("low", "medium", "high"), "zai-glm-4.7": ("none",)}
# Keywords that its grammar compiler refuses; said in the description instead.
_UNSUPPORTED = ("maxItems", "minItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum")


class Cerebras(ChatProvider):
    """https://inference-docs.cerebras.ai"""

    name = "cerebras"
    reasoning_field = "reasoning"
    max_tokens_field = "max_completion_tokens"
    wants_usage = False  # it always sends it

    def reasoning(self, model: str, parameters: Parameters) -> dict[str, Any]:
        """Parsed always: otherwise reasoning would come inside the answer."""
        effort = effort_of(parameters)
        out: dict[str, Any] = {"reasoning_format": "parsed"}
        if effort.wanted and effort.level is not None:
            out["reasoning_effort"] = _LEVELS.get(effort.level, "medium")
        elif effort.off and "none" in _EFFORTS.get(model, ()):
            out["reasoning_effort"] = "none"
        return out

    def tool(self, tool: Any) -> dict[str, Any]:
        """Strictness off, so optional parameters stay optional."""
        made = super().tool(tool)
        made["function"]["parameters"] = {"additionalProperties": True, **tool.parameters}
        return made

    def schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema without the keywords that it refuses."""
        return super().schema(without_limits(schema))

    def models_requests(self) -> list[Request]:
        """Which models this key may use, and what is public about them."""
        return [self.get(self.models_path), self.get("/public/v1/models")]

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """The list of the key, with what the public catalogue adds."""
        try:
            public = {one["id"]: one for one in self.listed(answers[1])} if len(answers) > 1 else {}
        except BadResponse:
            public = {}
        models = [self._details(one["id"], public.get(one["id"])) for one in self.listed(answers[0])]
        return sorted(models, key=lambda model: model.name)

    def _details(self, name: str, public: dict[str, Any] | None) -> ModelDetails:
        if public is None:
            return ModelDetails(self.name, name, reasoning=_EFFORTS.get(name))
        limits, able = public.get("limits") or {}, public.get("capabilities") or {}
        return ModelDetails(
            self.name,
            name,
            display_name=public.get("name"),
            context_window=limits.get("max_context_length"),
            max_output_tokens=limits.get("max_completion_tokens"),
            reasoning="unsupported" if able.get("reasoning") is False else _EFFORTS.get(name),
            deprecated=bool(public.get("deprecated")),
            structured_output=able.get("structured_outputs"),
        )


def without_limits(schema: Any) -> Any:
    """A schema whose limits are words in its description."""
    if isinstance(schema, list):
        return [without_limits(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    limits = {key: schema[key] for key in _UNSUPPORTED if key in schema and not isinstance(schema[key], dict)}
    out = {key: without_limits(value) for key, value in schema.items() if key not in limits}
    if limits:
        said = "{" + ", ".join(f"{key}: {value}" for key, value in sorted(limits.items())) + "}"
        out["description"] = f"{out['description']} {said}" if out.get("description") else said
    return out
