"""Which provider a model id means, and what it needs from the configuration and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jp.errors import nearest
from jp.llm.errors import BadAddressError, BadKeyError, MissingKeyError, UnknownProviderError, UnsupportedProviderError

if TYPE_CHECKING:
    from jp.config.model import ModelId
    from jp.config.sections.providers import Provider as Settings
    from jp.config.sections.providers import Providers
    from jp.llm.chat import ChatProvider

_MODULES = {
    "cerebras": ("cerebras", "Cerebras"),
    "deepseek": ("deepseek", "DeepSeek"),
    "llamacpp": ("llamacpp", "LlamaCpp"),
    "ollama": ("ollama", "Ollama"),
    "openai": ("openai", "OpenAi"),
    "openrouter": ("openrouter", "OpenRouter"),
}
NOT_YET = ("anthropic", "google")


def provider_for(model: ModelId, providers: Providers, environ: Mapping[str, str]) -> ChatProvider:
    """The provider of `model` as it is configured, with its key from the environment. Nothing is sent.

    Raises MissingKeyError (it names the variable and `jp init`), UnknownProviderError (with the nearest),
    UnsupportedProviderError, BadAddressError.
    """
    name = model.provider
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
            f"Set it (`export {variables[0]}=…`), or use another: `jp init -m provider/name` for this workspace, "
            "`-m provider/name` for one question.",
            "`jp model install` gets one that needs no key.",
        ],
    )


def key_variables(providers: Providers) -> set[str]:
    """The variables that hold keys of providers, set or not: what a program that is started need not see."""
    found: set[str] = set()
    for settings in providers.llm.named.values():
        configured = settings.api_key_env
        values = configured.values() if isinstance(configured, dict) else [configured]
        for value in values:
            found.update([value] if isinstance(value, str) else value or ())
    return found
