"""Model ids: `provider/name`, aliases, and chains of aliases."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jp.config.errors import ModelIdError
from jp.errors import nearest

PROVIDERS = (
    "anthropic",
    "cerebras",
    "deepseek",
    "google",
    "llamacpp",
    "local",
    "ollama",
    "openai",
    "openrouter",
)
"""The providers that are built in; `local` is the embedded model."""


class ModelId(NamedTuple):
    """A provider and the name by which it knows a model; the name may hold slashes."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


def parse_model_id(text: str, aliases: Mapping[str, str], providers: Sequence[str] = PROVIDERS) -> ModelId:
    """The model that `text` means: an alias (of an alias, …), or `provider/name`.

    `providers` are the names allowed; custom servers are added by the caller. Raises `ModelIdError` with the nearest
    alias or provider, or with the circle that aliases make.
    """
    wanted, seen = text.strip(), [text.strip()]
    while wanted in aliases:
        wanted = aliases[wanted]
        if wanted in seen:
            raise ModelIdError(
                f"model alias {seen[0]} leads in a circle: {' → '.join([*seen, wanted])}",
                hints=["change one of them in providers.llm.aliases"],
                metadata={"model": text, "cycle": [*seen, wanted]},
            )
        seen.append(wanted)
    provider, slash, name = wanted.partition("/")
    if slash and provider in providers and name:
        return ModelId(provider, name)
    raise _unknown(text, seen, aliases, providers)


def _unknown(text: str, seen: list[str], aliases: Mapping[str, str], providers: Sequence[str]) -> ModelIdError:
    wanted = seen[-1]
    provider, slash, name = wanted.partition("/")
    via = f" (alias {' → '.join(seen)})" if len(seen) > 1 else ""
    if not wanted:
        return ModelIdError("the model id is empty", hints=['write "provider/name" or an alias'])
    if slash and not name and provider in providers:
        message, near = f"model {wanted}{via} names no model of {provider}", None
    elif slash:
        message, near = f"unknown provider {provider or '(none)'} in model {wanted}{via}", nearest(provider, providers)
    else:
        message, near = f"{wanted}{via} is no model alias and no provider/name", nearest(wanted, [*aliases, *providers])
    hints = []
    if near:
        hints.append(f"did you mean {near}/{name}?" if slash else f"did you mean {near}?")
    if slash and provider not in providers:
        hints.append(f"known providers: {', '.join(sorted(providers))}")
        hints.append(f"a server of your own is set up by providers.llm.{provider or '<name>'}.base_url")
    elif not slash:
        hints.append("aliases are set in providers.llm.aliases")
    metadata = {"model": text, "provider": provider if slash else None, "nearest": near}
    return ModelIdError(message, hints=hints, metadata=metadata)
