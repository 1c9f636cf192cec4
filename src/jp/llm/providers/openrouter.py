"""OpenRouter: many vendors behind one wire, whose signatures have to be kept and sent back.

What a vendor signs (encrypted reasoning, a signature of it) is stored under that vendor's own name, so that a
conversation can go on with the vendor itself; `openrouter_metadata` says which detail it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jp.llm.chat import ChatProvider
from jp.llm.chat_stream import ChatParser, Delta
from jp.llm.events import Event, Reasoning
from jp.llm.provider import ModelDetails, Parser, effort_of

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters
    from jp.config.sections.providers import Provider as Settings
    from jp.conversation import thread as threads
    from jp.conversation.thread import Message

JSON = dict[str, Any]

# (format, kind of detail) → the key it is stored under, the field of the detail that holds it
_SIGNED = {
    ("openai-responses-v1", "reasoning.encrypted"): ("openai_encrypted_content", "data"),
    ("anthropic-claude-v1", "reasoning.encrypted"): ("anthropic_redacted_thinking", "data"),
    ("anthropic-claude-v1", "reasoning.text"): ("anthropic_thinking_signature", "signature"),
    ("google-gemini-v1", "reasoning.text"): ("google_thought_signature", "signature"),
}
_KINDS = {key: (form, kind, field) for (form, kind), (key, field) in _SIGNED.items()}
RAW = "openrouter_reasoning_details"  # details of vendors that have no name here
_NAMES = {"minimal": "xlow"}
_ORDER = ["none", "xlow", "low", "medium", "high", "xhigh", "max"]
_LEVELS = {"xlow": "minimal", "auto": "medium", "max": "xhigh"}


class OpenRouter(ChatProvider):
    """https://openrouter.ai/docs"""

    name = "openrouter"
    chat_path = "/api/v1/chat/completions"
    models_path = "/api/v1/models"
    strict_tools = True
    wants_usage = False  # it always sends it
    app_name: str | None = "JP"
    app_referrer: str | None = None

    def configure(self, name: str, settings: Settings) -> None:
        """With the name that is shown in its statistics."""
        super().configure(name, settings)
        self.app_name, self.app_referrer = settings.app_name, settings.app_referrer

    def headers(self) -> dict[str, str]:
        """With the name of this program, for its statistics."""
        named = {"X-Title": self.app_name, "HTTP-Referer": self.app_referrer}
        return {**super().headers(), **{key: value for key, value in named.items() if value}}

    def reasoning(self, model: str, parameters: Parameters) -> JSON:  # noqa: ARG002
        """Not shown is not off: off asks for the least, since many of these models can't do without."""
        effort = effort_of(parameters)
        if effort.level is None:
            return {}
        if effort.off:
            return {"reasoning": {"exclude": True, "effort": "minimal"}}
        if effort.tokens is not None:
            return {"reasoning": {"exclude": effort.exclude, "max_tokens": effort.tokens}}
        return {"reasoning": {"exclude": effort.exclude, "effort": _LEVELS.get(effort.level, effort.level)}}

    def system(self, parts: list[str], model: str) -> JSON | None:
        """In parts; the last one is marked for vendors that cache what they are told to."""
        if not parts:
            return None
        content: list[JSON] = [{"type": "text", "text": part} for part in parts]
        if self.cache and model.startswith(("anthropic/", "google/")):
            content[-1]["cache_control"] = {"type": "ephemeral"}
        return {"role": "system", "content": content}

    def message(self, message: Message, *, recent: bool) -> list[JSON]:
        """Text in parts, as it is documented for all vendors."""
        out = [*super().message(message, recent=recent)]
        for one in out:
            if isinstance(one.get("content"), str) and one["role"] in ("user", "assistant"):
                one["content"] = [{"type": "text", "text": one["content"]}]
        return out

    def past_reasoning(self, parts: list[threads.Reasoning], *, recent: bool) -> JSON:  # noqa: ARG002
        """The details as they came, which vendors check against their signature."""
        details = [detail for part in parts for detail in restored_details(part.text, part.metadata or {})]
        return {"reasoning_details": details} if details else {}

    def parser(self) -> Parser:
        """A parser that keeps the vendors' signatures."""
        return _Parser(self.address)

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """Hundreds of models, by name."""
        models = {one["id"]: self._details(one) for one in self.listed(answers[0])}
        return [models[name] for name in sorted(models)]

    def _details(self, one: JSON) -> ModelDetails:
        supported = one.get("supported_parameters") or []
        best = one.get("top_provider") or {}
        reasons = one.get("reasoning")
        efforts = reasons.get("supported_efforts") if isinstance(reasons, dict) else None
        reasoning: str | tuple[str, ...] | None = None
        if efforts:
            reasoning = tuple(sorted((_NAMES.get(e, e) for e in efforts), key=_rank))
        elif supported and "reasoning" not in supported and reasons is None:
            reasoning = "unsupported"
        return ModelDetails(
            self.name,
            one["id"],
            display_name=one.get("name"),
            context_window=best.get("context_length") or one.get("context_length"),
            max_output_tokens=best.get("max_completion_tokens"),
            reasoning=reasoning,
            knowledge_cutoff=one.get("knowledge_cutoff"),
            structured_output="structured_outputs" in supported if supported else None,
        )


def _rank(effort: str) -> int:
    return _ORDER.index(effort) if effort in _ORDER else len(_ORDER)


class _Parser(ChatParser):
    def delta(self, delta: Delta, out: list[Event]) -> None:
        metadata = stored_details(delta.reasoning_details or [])
        if metadata:
            text = delta.reasoning if isinstance(delta.reasoning, str) else ""
            delta.reasoning = None
            out.append(Reasoning(text, metadata))
        super().delta(delta, out)


def stored_details(details: list[JSON]) -> JSON:
    """The metadata to store for `reasoning_details`; summaries are the reasoning text once more."""
    out: JSON = {}
    origins: list[JSON] = []
    for detail in details:
        kind = detail.get("type")
        key, field = _SIGNED.get((str(detail.get("format")), str(kind)), (None, ""))
        if key is not None and detail.get(field) is not None:
            out[key] = detail[field]
            known = {name: detail[name] for name in ("id", "index") if detail.get(name) is not None}
            origins.append({**known, "field": key})
        elif kind == "reasoning.encrypted" or detail.get("signature"):
            out.setdefault(RAW, []).append(detail)
    if origins:
        out["openrouter_metadata"] = origins
    return out


def restored_details(text: str, metadata: JSON) -> list[JSON]:
    """`reasoning_details` as they were, from stored text and metadata."""
    out: list[JSON] = []
    origins = metadata.get("openrouter_metadata")
    for origin in origins if isinstance(origins, list) else []:
        key = origin.get("field") if isinstance(origin, dict) else None
        if not isinstance(key, str) or key not in _KINDS or metadata.get(key) is None:
            continue
        form, kind, field = _KINDS[key]
        known = {name: origin[name] for name in ("id", "index") if name in origin}
        if kind == "reasoning.text":
            out.append({"type": kind, "text": text, field: metadata[key], "format": form, **known})
            continue
        if text:
            index = {"index": origin["index"]} if "index" in origin else {}
            out.append({"type": "reasoning.summary", "summary": text, "format": form, **index})
        out.append({"type": kind, field: metadata[key], "format": form, **known})
    raw = metadata.get(RAW)
    return [*out, *raw] if isinstance(raw, list) else out
