"""The wire that most servers speak: OpenAI-compatible chat completions. A provider is a class on top that says how it
differs.

A request is a list of pieces, one a message: encoding a long history in one call would hold the interpreter for as long
as it takes, and no thread may be held for more than a blink.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from jp.conversation.thread import Reasoning, Text, ToolCall, ToolResult
from jp.llm.address import join, parse
from jp.llm.chat_stream import ChatParser
from jp.llm.provider import Body, ModelDetails, Parser, Request, Tool
from jp.llm.status import not_json

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters
    from jp.config.sections.providers import Provider as Settings
    from jp.conversation.thread import Message, Thread

JSON = dict[str, Any]
encode = msgspec.json.encode


class ChatProvider:
    """Base of the providers with this wire; as it is, any server by base URL.

    `base_url` with or without a final `/v1`; `api_key` None sends none.
    """

    name: str = "generic"
    chat_path: ClassVar[str] = "/v1/chat/completions"
    models_path: ClassVar[str] = "/v1/models"
    reasoning_field: ClassVar[str | None] = None
    max_tokens_field: ClassVar[str] = "max_tokens"
    strict_tools: ClassVar[bool] = False
    wants_usage: ClassVar[bool] = True
    inline_thinking: ClassVar[bool] = False
    cache: bool = True
    """Whether the prompt may be marked for caching (`assistant.request.cache`), where that has to be asked for."""
    patience: float = 1.0

    def __init__(self, base_url: str, api_key: str | None = None, *, key_env: str | None = None) -> None:
        parse(base_url, name=f"the base_url of {self.name}")
        self.base_url = base_url
        self.key_env = key_env
        self._api_key = api_key
        self._own_headers: dict[str, str] = {}
        self.address = parse(self._url(self.chat_path)).shown

    def configure(self, name: str, settings: Settings) -> None:
        """Take over what the configuration says beside address and key; `name` is the provider's in model ids."""
        self.name = name
        self._own_headers = dict(settings.headers)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address}>"

    # --- the request ---

    def request(
        self,
        thread: Thread,
        model: str,
        parameters: Parameters,
        tools: Sequence[Tool] = (),
        tool_choice: str = "auto",
    ) -> Request:
        """See `jp.llm.provider.Provider.request`."""
        options: JSON = {"stream": True}
        if self.wants_usage:
            options["stream_options"] = {"include_usage": True}
        options |= self.sampling(parameters)
        options |= self.reasoning(model, parameters)
        if tools:
            options["tools"] = [self.tool(tool) for tool in tools]
            options["tool_choice"] = self.tool_choice(tool_choice)
        if thread.schema is not None:
            options |= self.schema(thread.schema)
        options |= parameters.other
        options = {key: value for key, value in options.items() if value is not None}  # `other` may take one back
        return self.post("text/event-stream", model, lambda: self.messages(thread, model), options)

    def post(self, accept: str, model: str, messages: Callable[[], Iterable[JSON]], options: JSON) -> Request:
        """The request with these messages, which are encoded one at a time."""

        def pieces() -> Iterator[bytes]:
            start = b'{"model":' + encode(model) + b',"messages":['
            for message in messages():
                yield start
                yield encode(message)
                start = b","
            yield (b"]," if start == b"," else start + b"],") + encode(options)[1:]

        headers = {"Content-Type": "application/json", "Accept": accept, **self.headers()}
        return Request("POST", self._url(self.chat_path), headers, Body(pieces))

    def headers(self) -> dict[str, str]:
        """The headers that every request of this provider carries."""
        key = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        return key | self._own_headers

    def sampling(self, parameters: Parameters) -> JSON:
        """Temperature and its kin, as far as they are configured."""
        known = {
            self.max_tokens_field: parameters.max_tokens,
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            "stop": parameters.stop_words or None,
        }
        return {key: value for key, value in known.items() if value is not None}

    def reasoning(self, model: str, parameters: Parameters) -> JSON:  # noqa: ARG002
        """How this provider is told how much to reason; by itself, not at all."""
        return {}

    def tool(self, tool: Tool) -> JSON:
        """A tool's definition."""
        function: JSON = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        if self.strict_tools:
            function["parameters"] = strict_schema(tool.parameters)
            function["strict"] = True
        return {"type": "function", "function": function}

    def tool_choice(self, choice: str) -> str | JSON:
        """How the model is told which tool to use."""
        if choice in ("auto", "none", "required"):
            return choice
        return {"type": "function", "function": {"name": choice}}

    def schema(self, schema: JSON) -> JSON:
        """How the model is bound to a schema."""
        named = {"name": "structured_output", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    # --- messages ---

    def messages(self, thread: Thread, model: str) -> Iterable[JSON]:
        """The thread in this provider's words.

        Neighbours of one role become one message, since many chat templates insist on turns; text after a tool call
        does not, since it came after it.
        """
        system = self.system([*thread.system], model)
        if system is not None:
            yield system
        current: JSON | None = None
        last_user = max((i for i, m in enumerate(thread.messages) if m.role == "user"), default=-1)
        for number, message in enumerate(thread.messages):
            for one in self.message(message, recent=number > last_user):
                if current is not None and mergeable(current, one):
                    merge(current, one)
                    continue
                if current is not None:
                    yield current
                current = one
        if current is not None:
            yield current

    def system(self, parts: list[str], model: str) -> JSON | None:  # noqa: ARG002
        """One system message: templates refuse a second one."""
        return {"role": "system", "content": "\n\n".join(parts)} if parts else None

    def message(self, message: Message, *, recent: bool) -> Iterable[JSON]:
        """One message as this wire has it; `recent` says that it comes after the last of the user."""
        if message.role == "assistant":
            made = self.assistant(message, recent=recent)
            return [made] if len(made) > 1 else []
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        out: list[JSON] = [{"role": "tool", "tool_call_id": r.id, "content": paragraphs([r.content])} for r in results]
        text = [part.text for part in message.parts if isinstance(part, Text)]
        if text:
            out.append({"role": message.role, "content": paragraphs(text)})
        return out

    def assistant(self, message: Message, *, recent: bool) -> JSON:
        """What the model said, with its reasoning where this provider wants it back."""
        out: JSON = {"role": "assistant"}
        reasoning = [part for part in message.parts if isinstance(part, Reasoning)]
        if reasoning:
            out |= self.past_reasoning(reasoning, recent=recent)
        text = [part.text for part in message.parts if isinstance(part, Text)]
        if text:
            out["content"] = paragraphs(text)
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if calls:
            out["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": encode(call.arguments).decode()},
                }
                for call in calls
            ]
        return out

    def past_reasoning(self, parts: list[Reasoning], *, recent: bool) -> JSON:  # noqa: ARG002
        """The reasoning of an earlier answer."""
        text = paragraphs([part.text for part in parts if part.text])
        return {self.reasoning_field: text} if self.reasoning_field and text else {}

    # --- answers ---

    def parser(self) -> Parser:
        """See `jp.llm.provider.Provider.parser`."""
        return ChatParser(self.address, inline_thinking=self.inline_thinking)

    def models_requests(self) -> list[Request]:
        """See `jp.llm.provider.Provider.models_requests`."""
        return [self.get(self.models_path)]

    def get(self, path: str) -> Request:
        """A GET request below the base URL."""
        return Request("GET", self._url(path), {"Accept": "application/json", **self.headers()})

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """See `jp.llm.provider.Provider.parse_models`."""
        return [ModelDetails(self.name, one["id"]) for one in self.listed(answers[0])]

    def listed(self, answer: bytes, key: str = "data", name: str = "id") -> list[JSON]:
        """The entries under `key` of a list of models; those without a `name` are none. Raises BadResponse."""
        try:
            value = msgspec.json.decode(answer)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise not_json(answer, address=self.address) from None
        entries = value.get(key) if isinstance(value, dict) else None
        if not isinstance(entries, list):
            raise not_json(answer, address=self.address)
        return [one for one in entries if isinstance(one, dict) and isinstance(one.get(name), str)]

    def _url(self, path: str) -> str:
        base = self.base_url.rstrip("/")
        for version in ("/api/v1", "/v1"):
            if path.startswith(version + "/") and base.endswith(version):
                return join(base, path.removeprefix(version))
        return join(base, path)


def paragraphs(texts: list[str]) -> str:
    """The texts with a blank line between them, always as a string of its own.

    Encoding a string that is not ASCII keeps its UTF-8 form with it for as long as it lives: in the thread, that would
    be the whole conversation once more.
    """
    text = "\n\n".join(texts)
    return text if text.isascii() else text[:1] + text[1:]


def mergeable(first: JSON, second: JSON) -> bool:
    """Whether two messages that follow each other may be one."""
    if first["role"] != second["role"] or first["role"] == "tool":
        return False
    return "tool_calls" not in first or "content" not in second


def merge(first: JSON, second: JSON) -> None:
    """Add to a message what the next one of the same role says."""
    for key, value in second.items():
        if key == "role":
            continue
        if key not in first:
            first[key] = value
        elif isinstance(value, list) and isinstance(first[key], list):
            first[key] = [*first[key], *value]
        else:
            first[key] = f"{first[key]}\n\n{value}"


def strict_schema(schema: JSON) -> JSON:
    """A tool's schema in the form that strict mode demands: every property required, those that were not nullable."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    strict = {name: one if name in required else _nullable(one) for name, one in properties.items()}
    return {
        "type": "object",
        **schema,
        "properties": strict,
        "additionalProperties": False,
        "required": list(properties),
    }


def _nullable(schema: JSON) -> JSON:
    kind = schema.get("type")
    if kind is None:
        return schema
    kinds = kind if isinstance(kind, list) else [kind]
    return schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
