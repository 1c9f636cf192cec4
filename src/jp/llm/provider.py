"""What every provider is: something that words a request and understands the answer.

Both halves are pure. Who sends the request and reads the bytes is `jp.llm.source`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field

from jp.errors import nearest
from jp.llm.errors import BadAddressError, BadKeyError, MissingKeyError, UnknownProviderError, UnsupportedProviderError

if TYPE_CHECKING:
    from jp.config.sections.model import Parameters
    from jp.config.sections.providers import Provider as Settings
    from jp.config.sections.providers import Providers
    from jp.conversation.thread import Thread
    from jp.llm.chat import ChatProvider
    from jp.llm.errors import LlmError
    from jp.llm.events import Event

_MODULES = {
    "cerebras": ("cerebras", "Cerebras"),
    "deepseek": ("deepseek", "DeepSeek"),
    "llamacpp": ("llamacpp", "LlamaCpp"),
    "ollama": ("ollama", "Ollama"),
    "openai": ("openai", "OpenAi"),
    "openrouter": ("openrouter", "OpenRouter"),
}
NOT_YET = ("anthropic", "google")


class Request(Struct, frozen=True):
    """One HTTP request. `body` is a list of pieces so that a long history is neither joined nor copied."""

    method: str
    url: str
    headers: dict[str, str] = {}
    body: list[bytes] = []

    @property
    def size(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.body))


class Tool(Struct, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


class Effort(Struct, frozen=True):
    """`assistant.model.parameters.reasoning` in one form.

    `level` is one of off, none, xlow, low, medium, high, xhigh, max, auto, or None where nothing is configured;
    `tokens` is an absolute budget, `exclude` asks not to be sent the reasoning.
    """

    level: str | None = None
    tokens: int | None = None
    exclude: bool = False

    @property
    def off(self) -> bool:
        """Whether reasoning is turned off by name."""
        return self.level in ("off", "none")

    @property
    def wanted(self) -> bool:
        """Whether reasoning is asked for."""
        return self.level is not None and not self.off


def effort_of(parameters: Parameters) -> Effort:
    """What `parameters` say about reasoning."""
    setting = parameters.reasoning
    if setting is None:
        return Effort()
    if isinstance(setting, str):
        return Effort(setting)
    if isinstance(setting.effort, int):
        return Effort("medium", setting.effort, setting.exclude)
    return Effort(setting.effort, None, setting.exclude)


class Parser(Protocol):
    """Turns the bytes of one answer into events; pure."""

    error: LlmError | None
    """What ended the answer early; set by `feed`, whose events came before it."""
    finished: bool
    """The model said that it is done: nothing that is lost from here on is part of the answer."""
    done: bool
    """The provider's own terminal event came: there is nothing more to read."""

    def feed(self, data: bytes) -> list[Event]:
        """The events that are complete with `data`. Never raises: see `error`."""

    def close(self) -> list[Event]:
        """The stream has ended. Sets `error` to StreamCut when the terminal event is missing."""


class Provider(Protocol):
    """A way to talk to models."""

    name: str
    address: str
    """Where requests go, for messages."""
    patience: float
    """How many idle timeouts the first byte may take: local servers read the whole prompt first."""

    def request(
        self,
        thread: Thread,
        model: str,
        parameters: Parameters,
        tools: Sequence[Tool] = (),
        tool_choice: str = "auto",
    ) -> Request:
        """The request that asks `model` (without its provider) to answer `thread`.

        `tool_choice` is auto, none, required or a tool's name.
        """

    def parser(self) -> Parser:
        """A parser for the answer to one request."""

    def models_requests(self) -> list[Request]:
        """The requests whose answers `parse_models` wants."""

    def parse_models(self, answers: Sequence[bytes]) -> list[ModelDetails]:
        """The models that the answers name. Raises BadResponse."""


class ModelDetails(Struct, frozen=True):
    """What a provider says about a model; None is "does not say".

    `reasoning` is "unsupported" or the effort levels that are known to work; `knowledge_cutoff` is `YYYY-MM-DD`.
    """

    provider: str
    name: str
    display_name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning: str | tuple[str, ...] | None = None
    knowledge_cutoff: str | None = None
    deprecated: bool | None = None
    structured_output: bool | None = None


def provider_for(name: str, providers: Providers, environ: Mapping[str, str]) -> ChatProvider:
    """The provider called `name`, as it is configured, with its key from the environment. Nothing is sent.

    Raises MissingKeyError (it names the variable and `jp init`), UnknownProviderError (with the nearest),
    UnsupportedProviderError, BadAddressError.
    """
    if name not in providers.llm or name == "local":
        near = nearest(name, [*providers.llm.named])
        hints = [f"Did you mean {near}?"] if near else []
        raise UnknownProviderError(
            f"there is no provider {name!r}",
            hints=[*hints, "Any OpenAI-compatible server can be named: `providers.llm.NAME.base_url`."],
        )
    if name in NOT_YET:
        raise UnsupportedProviderError(
            f"this version of JP does not speak to {name} itself",
            hints=[f"Its models are at OpenRouter too: `-m openrouter/{name}/…`."],
        )
    settings = providers.llm[name]
    base_url = _base_url(name, settings, environ)
    key, variable = _api_key(name, settings.api_key_env, environ)
    made = _class_of(name)(base_url, key, key_env=variable)
    made.configure(name, settings)
    return made


def _class_of(name: str) -> type[ChatProvider]:
    from importlib import import_module

    module, cls = _MODULES.get(name, ("generic", "Generic"))
    chosen: type[ChatProvider] = getattr(import_module(f"jp.llm.providers.{module}"), cls)
    return chosen


def _base_url(name: str, settings: Settings, environ: Mapping[str, str]) -> str:
    url = (environ.get(settings.base_url_env) if settings.base_url_env else None) or settings.base_url
    if not url:
        raise BadAddressError(f"the provider {name} has no address", hints=[f"Set `providers.llm.{name}.base_url`."])
    return url


def _api_key(
    name: str, configured: str | list[str] | dict[str, Any] | None, environ: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The key and the variable it came from; (None, None) where none is configured."""
    if isinstance(configured, dict):  # named keys: the first of them
        configured = next(iter(configured.values()), None)
    variables = [configured] if isinstance(configured, str) else list(configured or ())
    variables = [variable for variable in variables if variable]
    for variable in variables:
        key = environ.get(variable, "").strip()
        if key and not all("!" <= c <= "~" for c in key):
            raise BadKeyError(
                f"the API key in {variable} contains a character that no key has",
                hints=["Spaces, line breaks and letters outside ASCII: was it pasted with something else around it?"],
            )
        if key:
            return key, variable
    if not variables:
        return None, None
    which = " or ".join(variables)
    raise MissingKeyError(
        f"no API key for {name}: the environment variable {which} is not set",
        hints=[
            f"Set it (`export {variables[0]}=…`), or choose another model with `-m provider/name`.",
            "`jp init` shows which providers can be used from here; `jp model install` gets one that needs no key.",
        ],
    )
