"""Sources laid over each other, those of the workspace held against what the user says and trusts."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from jp.config.assignment import from_argument, from_environment, steers_loading
from jp.config.containers import bare
from jp.config.files import Paths, expand, load_chain
from jp.config.holding import Known, split
from jp.config.kinds import MISSING, Mismatch
from jp.config.layers import Layer, as_error
from jp.config.read import SUFFIXES
from jp.config.resolved import said
from jp.config.schema import root
from jp.config.trust import TrustStore, Withheld
from jp.config.units import at

HELD_AGAINST = {"conversation", "providers", "plugins", "style", "editor"}
"""The parts of the configuration in which something waits for trust, but for what a model is sent."""


class Fold:
    """The sources read so far, and the state they add up to.

    What the workspace says is held against what the user's sources say, those too that come after it. So those that
    are known by their place alone are laid over each other at once (`follow`); where the command line says more,
    everything is laid over each other anew (`settled`).
    """

    def __init__(self, paths: Paths, environ: Mapping[str, str], trust: TrustStore | None) -> None:
        self.paths = paths
        self.environ = environ
        self.trust = trust
        self.state: Any = {}
        self.whole: Any = self.state  # what they would add up to if all of them were trusted
        self.own: Any = {}  # what the user's sources say alone
        self.layers: list[Layer] = []
        self.before: dict[str, Any] | None = None  # what they resolved to at the mark
        self.withheld: list[Withheld] = []
        self.let_through: list[Withheld] = []  # what is in effect because it is trusted
        self.origins: dict[str, dict[str, None]] = {}  # the names of the sources that say either, by digest
        self._own_paths: set[str] = set()  # entries of config_load_paths that the user has said
        self._ahead: list[tuple[Layer, Any]] = []  # what the user's sources say that are still to come
        self._late = False  # the user's sources have said something that was not known to come
        self._marked: int | None = None
        self._trusted: frozenset[str] | None = None
        self._recorded: dict[str, frozenset[str]] = {}
        self._confirmed: bool | None = None

    def add_chain(self) -> None:
        """The discovered files."""
        self._expect(layers := load_chain(self.paths))
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Lay one more source over what there is."""
        form = layer.read()
        users = self._of_the_user(layer)
        if users is not None:
            self._own_paths |= set(bare(form.get("config_load_paths")) or ())
            if self._ahead and self._ahead[0][0] is layer:
                del self._ahead[0]
            else:
                self._late |= _is_measure(users)
                self.own = root().merge(self.own, users)
        in_effect = form
        if users is not form:
            found = split(form, layer.name, self._known(layer))
            in_effect = found.in_effect
            if found.held and self.whole is self.state:
                from copy import deepcopy

                self.whole = deepcopy(self.state)
            private = layer.scope == "private"
            self._note(self.withheld, [each._replace(private=private) for each in found.held], layer.name)
            self._note(self.let_through, found.let_through, layer.name)
        if self.whole is not self.state:
            self.whole = root().merge(self.whole, form)
            self.state = root().merge(self.state, in_effect)
        else:
            self.whole = self.state = root().merge(self.state, in_effect)
        self.layers.append(layer)

    def mark(self) -> None:
        """Keep what the sources resolve to that were read so far."""
        self._marked = len(self.layers)
        self.before = self.so_far()

    def settled(self) -> "Fold":
        """The same sources, each of the workspace's held against all of the user's."""
        if not self._late or all(self._of_the_user(layer) is layer.read_form for layer in self.layers):
            return self
        anew = Fold(self.paths, self.environ, self.trust)
        anew._expect(self.layers)
        for place, layer in enumerate(self.layers):
            if place == self._marked:
                anew.mark()
            anew.add(layer)
        if self._marked == len(self.layers):
            anew.mark()
        return anew

    def known_for(self, layer: Layer, layers: Sequence[Layer]) -> Known:
        """What one of `layers` is held against once those before it are laid over each other."""
        self._expect(layers)
        for each in layers:
            if each is layer:
                break
            self.add(each)
        return self._known(layer)._replace(whole=None)

    def _expect(self, layers: Sequence[Layer]) -> None:
        """Know beforehand what the user's sources among those to come say."""
        for layer in layers:
            users = self._of_the_user(layer)
            if users is not None:
                self.own = root().merge(self.own, users)
                self._ahead.append((layer, users))

    def _of_the_user(self, layer: Layer) -> Any:
        """What of a source is the user's own word, in his own name; None: nothing is.

        His file for the workspace's id is what `.jp/.id` leads to, which he may not have written: of that it is what
        needs no trust, until he has said that the file is for the workspace in this place.
        """
        if layer.scope == "workspace":
            return None
        form = layer.read()
        if layer.scope != "private" or self.paths.workspace_root is None:
            return form
        known = Known(state=self.own, root=self.paths.workspace_root, own=self.own)
        found = split(form, layer.name, known)
        return form if not found.held or self.confirmed() else found.in_effect

    def _known(self, layer: Layer) -> Known:
        recorded = layer.conversation if layer.source == "conversation" else None

        def trusts(mark: str) -> bool:
            return mark in self.trusted() or (recorded is not None and mark in self.recorded(recorded))

        ahead = [form for _, form in self._ahead]
        return Known(trusts, self.state, self.whole, self.paths.workspace_root, self.own, ahead)

    def aside(self, layers: Sequence[Layer]) -> None:
        """Lay sources over a copy of what there is: only what they say that needs trust is kept."""
        from copy import deepcopy

        state, whole = self.state, self.whole
        self.state = deepcopy(state)
        self.whole = self.state if whole is state else deepcopy(whole)
        try:
            for layer in layers:
                self.add(layer)
        finally:
            self.state, self.whole = state, whole

    def _note(self, notes: list[Withheld], found: list[Withheld], name: str) -> None:
        """Keep what of a layer needs trust among `notes`, each value once."""
        for each in found:
            if each.digest not in self.origins:
                notes.append(each)
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
            workspace = self.paths.workspace_root
            self._trusted = self._store().trusted(workspace) if workspace else frozenset()
        return self._trusted

    def recorded(self, conversation_id: str) -> frozenset[str]:
        """What is trusted in a conversation."""
        if conversation_id not in self._recorded:
            workspace = self.paths.workspace_root
            found = self._store().recorded(workspace, conversation_id) if workspace else frozenset()
            self._recorded[conversation_id] = found
        return self._recorded[conversation_id]

    def confirmed(self) -> bool:
        """Whether the user's own file for this workspace is for the workspace in this place."""
        if self._confirmed is None:
            workspace, folder = self.paths.workspace_root, self.paths.user_workspace_dir
            self._confirmed = bool(workspace and folder) and self._store().confirmed(str(workspace), str(folder))
        return self._confirmed

    def _store(self) -> TrustStore:
        return self.trust or TrustStore.of(self.environ)

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


def _is_measure(form: Mapping[str, Any]) -> bool:
    """Whether anything that a workspace says could be held against this: not that another model is asked."""
    return bool(set(form) & HELD_AGAINST) or at(form, ("assistant", "model", "parameters")) is not MISSING


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
