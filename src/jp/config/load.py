"""Loading: all sources, in order, into one resolved configuration (contracts, section 4).

Sources, later wins: defaults, files from wide to narrow, the environment, the conversation's own configuration, `--cfg`
in order, other flags.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jp.config.assignment import from_value
from jp.config.errors import ConfigError
from jp.config.files import Paths
from jp.config.fold import Fold
from jp.config.kinds import MISSING
from jp.config.layers import Layer
from jp.config.model import PROVIDERS
from jp.config.resolved import Config, said
from jp.config.stored import conversation_layers
from jp.config.trust import TrustStore
from jp.config.units import SERVERS, resolved
from jp.errors import nearest

__all__ = ["Config", "Layer", "Paths", "conversation_layers", "load"]


def load(
    paths: Paths,
    environ: Mapping[str, str],
    *,
    cfg: Sequence[str] = (),
    conversation: Sequence[Layer] = (),
    flags: Mapping[str, object] | None = None,
    trust: TrustStore | None = None,
) -> Config:
    """The configuration that all sources together give.

    `cfg` are the `--cfg` arguments in order, `conversation` what `conversation_layers` made, `flags` values by dotted
    key, `trust` the store of what is trusted (the user's own by default). Raises leaves of `ConfigError`.
    """
    fold = Fold(paths, environ, trust)
    fold.add_chain()
    fold.add_environment()
    for layer in conversation:
        fold.add(layer)
    if cfg or flags:
        fold.mark()
    for argument in cfg:
        fold.add_argument(argument)
    for key, value in (flags or {}).items():
        fold.add(from_value(key, value))
    fold = fold.settled()
    values = fold.final()
    _check_providers(values, fold.layers)
    own = _own_servers(values, fold.layers)
    return Config(values, fold.layers, before=fold.before, withheld=fold.withheld, own_servers=own)


def _own_servers(values: Mapping[str, Any], layers: Sequence[Layer]) -> list[str]:
    """The MCP servers whose program, or address, is what the user's own sources say."""
    forms = [layer.read() for layer in layers if layer.scope != "workspace"]
    found = []
    for name, server in (values["providers"].get("mcp") or {}).items():
        said = [resolved((*SERVERS, name, key), MISSING, MISSING, forms) for key in ("command", "url")]
        if any(said) and said == [server.get("command"), server.get("url")]:
            found.append(name)
    return found


def _check_providers(values: Mapping[str, Any], layers: Sequence[Layer]) -> None:
    """A provider that is not built in is a server at its `base_url`; without one it is a misspelled name."""
    for name, provider in values["providers"]["llm"].items():
        if name in PROVIDERS or name == "aliases" or provider.get("base_url") or provider.get("base_url_env"):
            continue
        path = ("providers", "llm", name)
        if any(said(layer, (*path, key)) is not MISSING for layer in layers for key in ("base_url", "base_url_env")):
            continue  # it has one, which waits for trust
        saying = [layer.name for layer in layers if not layer.lenient and said(layer, path) is not MISSING]
        if saying:
            raise _unknown_provider(name, saying[-1])


def _unknown_provider(name: str, origin: str) -> ConfigError:
    near = nearest(name, PROVIDERS)
    known = f"a server of your own needs a base_url; known providers: {', '.join(PROVIDERS)}"
    return ConfigError(
        f'{origin}: unknown provider "{name}" in providers.llm',
        hints=[f'did you mean "providers.llm.{near}"?' if near else known],
        metadata={"origin": origin, "key": f"providers.llm.{name}", "nearest": near},
    )
