"""Loading: all sources, in order, into one resolved configuration (contracts, section 4).

Sources, later wins: defaults, files from wide to narrow, the environment, the conversation's own configuration, `--cfg`
in order, other flags.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jp.config.assignment import from_argument, from_environment, from_value, steers_loading
from jp.config.containers import bare
from jp.config.errors import ConfigError
from jp.config.files import Paths, expand, load_chain
from jp.config.kinds import MISSING, Mismatch
from jp.config.layers import Layer, as_error
from jp.config.model import PROVIDERS
from jp.config.read import SUFFIXES
from jp.config.resolved import Config, said
from jp.config.schema import root
from jp.config.stored import conversation_layers
from jp.config.trust import Known, TrustStore, Withheld, split
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
    before = fold.so_far() if cfg or flags else None
    for argument in cfg:
        fold.add_argument(argument)
    for key, value in (flags or {}).items():
        fold.add(from_value(key, value))
    values = fold.final()
    _check_providers(values, fold.layers)
    return Config(values, fold.layers, before=before, withheld=fold.withheld)


class Fold:
    """The sources read so far, and the state they add up to."""

    def __init__(self, paths: Paths, environ: Mapping[str, str], trust: TrustStore | None) -> None:
        self.paths = paths
        self.environ = environ
        self.trust = trust
        self.state: Any = {}
        self.own: Any = {}  # what the user's sources say alone
        self.layers: list[Layer] = []
        self.withheld: list[Withheld] = []
        self.let_through: list[Withheld] = []  # what is in effect because it is trusted
        self.origins: dict[str, dict[str, None]] = {}  # the names of the sources that say either, by digest
        self._own_paths: set[str] = set()  # entries of config_load_paths that the user has said
        self._trusted: frozenset[str] | None = None

    def add_chain(self) -> None:
        """The discovered files. A workspace's are held against all of the user's, the ones that come after them too."""
        layers = load_chain(self.paths)
        for layer in layers:
            if layer.scope != "workspace":
                self.own = root().merge(self.own, layer.read())
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Lay one more source over what there is."""
        form = layer.read()
        if layer.scope == "workspace":
            known = Known(
                state=self.state, root=self.paths.workspace_root, own=self.own, recorded=layer.source == "conversation"
            )
            form, needing = split(form, layer.name, known)
            held = needing
            if needing and self.trusted():
                form, held = split(layer.read(), layer.name, known._replace(trusted=self.trusted()))
            self._note(needing, held, layer.name)
        else:
            self._own_paths |= set(bare(form.get("config_load_paths")) or ())
            if layer.source != "file":
                self.own = root().merge(self.own, form)
        self.state = root().merge(self.state, form)
        self.layers.append(layer)

    def aside(self, layers: Sequence[Layer]) -> None:
        """Lay sources over a copy of what there is: only what they say that needs trust is kept."""
        from copy import deepcopy

        state = self.state
        self.state = deepcopy(state)
        try:
            for layer in layers:
                self.add(layer)
        finally:
            self.state = state

    def _note(self, needing: list[Withheld], held: list[Withheld], name: str) -> None:
        """Keep what of a layer needs trust, each value once, by whether it is `held` back."""
        waiting = {each.digest for each in held}
        for each in needing:
            if each.digest not in self.origins:
                (self.withheld if each.digest in waiting else self.let_through).append(each)
            self.origins.setdefault(each.digest, {})[name] = None

    def final(self) -> dict[str, Any]:
        """The resolved values. A table that lacks a key it needs is an error in the name of who said it last."""
        while True:
            try:
                return dict(root().final(self.state))
            except Mismatch as fault:
                saying = [layer for layer in self.layers if said(layer, fault.path) is not MISSING]
                if saying and not saying[-1].lenient:
                    raise as_error(fault, saying[-1].name) from None
                _drop(self.state, fault.path)

    def so_far(self) -> dict[str, Any]:
        """What the sources read so far resolve to; a table that a later one may yet complete is left out."""
        state = self.state
        while True:
            try:
                return dict(root().final(state))
            except Mismatch as fault:
                from copy import deepcopy

                state = deepcopy(state)
                _drop(state, fault.path)

    def trusted(self) -> frozenset[str]:
        """What is trusted in this workspace; read when it is first asked for."""
        if self._trusted is None:
            store = self.trust or TrustStore.of(self.environ)
            self._trusted = store.trusted(self.paths.workspace_root) if self.paths.workspace_root else frozenset()
        return self._trusted

    def add_environment(self) -> None:
        """The `JP_…` variables; those that the configuration names for something else are none of them."""
        names = {name for name in self.environ if name.startswith("JP_")}
        if names:
            named = _named_variables(self.so_far()) | {text for held in self.withheld for text in _variables_of(held)}
            for layer in from_environment(self.environ, frozenset(named)):
                self.add(layer)

    def add_argument(self, argument: str) -> None:
        """One `--cfg`: an assignment, a path, or a name."""
        if _is_assignment(argument):
            layer = from_argument(argument)
            fault = steers_loading(layer)
            if fault is not None:
                raise fault
            self.add(layer)
            return
        from jp.config.named import LoadPath, in_workspace, load_name

        path = _as_path(argument, self.paths.cwd)
        if path is not None:
            scope = "workspace" if in_workspace(path, self.paths) else "argument"
            layers = expand(path, scope, source="cfg")
        else:
            entries = bare(self.state.get("config_load_paths", []))
            layers = load_name(argument, [LoadPath(entry, entry in self._own_paths) for entry in entries], self.paths)
        for layer in layers:
            self.add(layer)


def _drop(state: Any, path: Sequence[str]) -> None:
    """Forget what is said at a path; a list goes as a whole."""
    for step in path[:-1]:
        below = bare(state).get(step)
        if not isinstance(bare(below), dict):
            path = [step]
            break
        state = below
    bare(state).pop(path[-1], None)


def _is_assignment(argument: str) -> bool:
    key, equals, _ = argument.partition("=")
    return bool(equals) and "/" not in key and not argument.startswith((".", "~"))


def _as_path(argument: str, cwd: str) -> str | None:
    """The path that a `--cfg` argument is, or None when it is a name."""
    path = os.path.join(cwd, os.path.expanduser(argument))
    if argument.startswith(("./", "../", "/", "~")):
        return path
    return path if argument.endswith(SUFFIXES) and os.path.isfile(path) else None


def _named_variables(values: Mapping[str, Any]) -> set[str]:
    """The variables that keys name: those of editors, API keys, base URLs, and what MCP servers get."""
    found = set(values["editor"]["envs"])
    for name, provider in values["providers"]["llm"].items():
        if name != "aliases":
            found |= _texts([provider.get("api_key_env"), provider.get("base_url_env")])
    for server in values["providers"].get("mcp", {}).values():
        found |= _texts(server.get("variables"))
    return found


def _variables_of(held: Withheld) -> set[str]:
    """The variables that a value names which is not in effect: they are no settings for all that."""
    if held.key.endswith(("api_key_env", "base_url_env")):
        return _texts(held.value)
    return _texts(held.value.get("variables")) if isinstance(held.value, dict) else set()


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        value = list(value.values())
    return {text for item in value or () for text in _texts(item)}


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
