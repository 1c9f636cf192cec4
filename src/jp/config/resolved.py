"""A resolved configuration: its values, and which source said what."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from jp.config.containers import Merge, bare
from jp.config.errors import ModelIdError
from jp.config.kinds import MISSING, SHOWN, Form, whole
from jp.config.layers import Layer
from jp.config.model import PROVIDERS, ModelId, parse_model_id
from jp.config.schema import LOADING, AppConfig, find, root, split_key, typed
from jp.config.stored import without_servers
from jp.config.trust import Withheld, commands, waits_for_trust


class Config:
    """What all sources together say.

    `root` is the typed tree, `values` the same as plain data, `layers` the sources in order (later wins), `delta` what
    `--cfg` and flags changed (to be recorded with the conversation; None when nothing), `withheld` what a workspace's
    own files say that is not in effect until they are trusted, `own_servers` the MCP servers whose program is what the
    user's own sources say, `notices` what a user should be told.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        layers: Sequence[Layer],
        *,
        before: Mapping[str, Any] | None = None,
        withheld: Sequence[Withheld] = (),
        own_servers: Collection[str] = (),
    ) -> None:
        self.values = values
        self.layers = list(layers)
        self.withheld = list(withheld)
        self.own_servers = frozenset(own_servers)
        self.notices = [notice for layer in layers for notice in layer.notices]
        self.root: AppConfig = typed(values)
        self._before = before

    @property
    def aliases(self) -> Mapping[str, str]:
        """Model ids by alias."""
        return self.root.providers.llm.aliases

    @property
    def providers(self) -> tuple[str, ...]:
        """The names of all providers, those of the user's own servers included."""
        own = [name for name, each in self.root.providers.llm.named.items() if each.base_url and name not in PROVIDERS]
        return (*PROVIDERS, *own)

    def model_id(self, text: str | None = None) -> ModelId | None:
        """The model that `text` (or `assistant.model.id`) means; None when none is set. Raises `ModelIdError`."""
        text = text if text is not None else self.root.assistant.model.id
        if text is None:
            return None
        try:
            return parse_model_id(text, self.aliases, self.providers)
        except ModelIdError as error:
            held = self.withheld_for(str(error.metadata.get("provider", "")))
            if not held:
                raise
            raise ModelIdError(
                f"the provider of the model {text} is a server that waits for trust",
                hints=[waits_for_trust(each) for each in held],
                metadata={**error.metadata, "nearest": None, "withheld": [each.key for each in held]},
            ) from None

    def withheld_for(self, provider_name: str) -> list[Withheld]:
        """What is said about a provider and is not in effect; `waits_for_trust` says it to a user."""
        above = ("providers", "llm", provider_name)
        return [each for each in self.withheld if split_key(each.key)[:3] == above]

    @property
    def delta(self) -> dict[str, Any] | None:
        """What `--cfg` and flags changed, in the form of a `config_delta`; None when nothing."""
        if self._before is None:
            return None
        change = root().diff(self._before, self.values, Form(True, self.aliases))
        if change is MISSING:
            return None
        recorded = {key: value for key, value in change.items() if key not in LOADING}
        without_servers(recorded)
        return recorded or None

    def commands(self) -> list[Withheld]:
        """What is in effect of all that needs trust; to be remembered when this is recorded with a conversation."""
        return commands(self.values, self._before)

    def as_partial(self) -> dict[str, Any]:
        """The whole configuration in the form of `base_config.json`."""
        return dict(root().write(self.values, Form(True, self.aliases)))

    def shown(self) -> dict[str, Any]:
        """The whole configuration as a user would write it."""
        return dict(root().write(self.values, SHOWN))

    def get(self, key: str) -> Any:
        """The value at a dotted key as a user would write it, None where it is unset.

        Raises `UnknownKeyError` with the nearest key.
        """
        path, kind = find(key, "jp config")
        value = _value_at(self.values, path)
        return None if value is None else kind.write(value, SHOWN)

    def explain(self, key: str) -> list[tuple[str, str | None, Any]]:
        """What each source says about `key`, in their order, beginning with the default: (source, path, value).

        The last one has the last word, unless values are joined. Raises `UnknownKeyError`.
        """
        path, kind = find(key, "jp config")
        found: list[tuple[str, str | None, Any]] = []
        default = _value_at(root().final(MISSING), path)
        if default is not None:
            found.append(("default", None, kind.write(default, SHOWN)))
        for layer in self.layers:
            value = said(layer, path)
            fills_in = layer.source == "conversation" and _fills_in(layer, path)
            if value is not MISSING and not (fills_in and found):
                found.append((layer.name if layer.path is None else layer.source, layer.path, value))
        return found


def said(layer: Layer, path: Sequence[str]) -> Any:
    """What a layer says at a path, as it was written; MISSING when nothing."""
    tree: Any = layer.partial
    for step in path:
        if isinstance(tree, dict) and step in tree:
            tree = tree[step]
        elif isinstance(tree, list) and (place := whole(step)) is not None and place < len(tree):
            tree = tree[place]
        else:
            return MISSING
    return tree


def _fills_in(layer: Layer, path: Sequence[str]) -> bool:
    """Whether what a layer says at a path only counts where nobody else says anything (`stored`)."""
    tree: Any = layer.read()
    for step in path[:-1]:
        tree = bare(tree).get(step) if isinstance(bare(tree), dict) else None
    return isinstance(tree, Merge) and tree.strategy == "keep"


def _value_at(values: Any, path: Sequence[str]) -> Any:
    for step in path:
        if isinstance(values, dict):
            values = values.get(step)
        elif isinstance(values, list) and (place := whole(step)) is not None and place < len(values):
            values = values[place]
        else:
            return None
    return values
