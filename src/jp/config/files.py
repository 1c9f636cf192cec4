"""Which files are configuration: the chain of discovered files, and what they extend.

What a file extends has the scope of the file, wherever it lies: who says what is merged answers for it.

A file is merged once in the expansion of one root file, where it is first met: of a diamond (A extends B and C, both
extend D) the order is D, B, C, A. Merging D again before C, as a naive walk does, would undo what B changed.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jp.config.errors import ConfigError, ExtendsError, UnreadableFileError, invalid_value
from jp.config.layers import Layer
from jp.config.paths import expand_home
from jp.config.read import SUFFIXES, read_file
from jp.errors import nearest
from jp.interrupt.checkpoint import checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.config.globs import Budget

MOST_FILES = 4096
MOST_NESTED = 64
DEFAULT_EXTENDS = ("config.d/**/*",)


class Paths(NamedTuple):
    """Where configuration is looked for; all absolute, None where there is none.

    `user_dir` is `$XDG_CONFIG_HOME/jp`, `workspace_root` the directory that holds `.jp`, `user_workspace_dir` the
    user's own directory for this workspace.
    """

    user_dir: str | None
    workspace_root: str | None
    cwd: str
    user_workspace_dir: str | None = None


Reader = Callable[[str], dict[str, Any]]


def first_file(stem: str) -> str | None:
    """The file `stem` with the first suffix that exists."""
    for suffix in SUFFIXES:
        if os.path.lexists(stem + suffix):
            return stem + suffix
    return None


def settings_file(directory: str) -> str:
    """The file that holds the settings of a directory: the one that is read, `config.toml` where there is none yet."""
    stem = os.path.join(directory, "config")
    return first_file(stem) or stem + SUFFIXES[0]


def chain(paths: Paths) -> list[tuple[str, str]]:
    """The discovered files with their scope, from the widest to the narrowest."""
    found: list[tuple[str, str | None]] = []
    if paths.user_dir:
        found.append(("user", first_file(os.path.join(paths.user_dir, "config"))))
    if paths.workspace_root:
        found.append(("workspace", first_file(os.path.join(paths.workspace_root, ".jp", "config"))))
        found += [("workspace", first_file(os.path.join(place, ".jp"))) for place in _down(paths)]
    if paths.user_workspace_dir:
        found.append(("private", first_file(os.path.join(paths.user_workspace_dir, "config"))))
    return [(scope, path) for scope, path in found if path]


def _down(paths: Paths) -> list[str]:
    """The directories from the workspace root down to the working directory; only the root when that is elsewhere."""
    top = paths.workspace_root or ""
    below = os.path.relpath(paths.cwd, top)
    steps = [] if below == "." or below.split(os.sep)[0] == ".." else below.split(os.sep)
    places = [top]
    for step in steps:
        places.append(os.path.join(places[-1], step))
    return places


def load_chain(paths: Paths, read: Reader = read_file) -> list[Layer]:
    """The layers of all discovered files; a file with `inherit = false` cuts off those of wider scope.

    A workspace's does not cut off everything of the user's (`kept`).
    """
    layers: list[Layer] = []
    for scope, path in chain(paths):
        group = expand(path, scope, read, default_extends=DEFAULT_EXTENDS)
        inherits = [layer.partial["inherit"] for layer in group if "inherit" in layer.partial]
        if inherits and inherits[-1] is False:
            if scope == "workspace" and layers:
                from jp.config.kept import kept

                layers = kept(layers)
            else:
                layers = []
        group[-1].notices += _beside(path)
        layers += group
    return layers


def _beside(path: str) -> list[str]:
    """A notice for every file of the same name in another language, which is not read."""
    stem, own = os.path.splitext(path)
    others = [stem + suffix for suffix in SUFFIXES if suffix != own and os.path.lexists(stem + suffix)]
    return [f"{other} is not read: {path} is there as well" for other in others]


def expand(
    path: str, scope: str, read: Reader = read_file, *, source: str = "file", default_extends: Sequence[str] = ()
) -> list[Layer]:
    """The layers of the file at `path` and all that it extends, in the order in which they are merged."""
    layers: list[Layer] = []
    _expand(os.path.abspath(path), _Expansion(layers, scope, read, source), default_extends)
    return layers


class _Expansion:
    """One expansion under way: what is merged already, and the files being expanded, outermost first."""

    def __init__(self, layers: list[Layer], scope: str, read: Reader, source: str) -> None:
        self.layers = layers
        self.scope = scope
        self.read = read
        self.source = source
        self.open: dict[object, str] = {}  # the files being expanded, by identity
        self.done: set[object] = set()
        self._budget: Budget | None = None

    def budget(self) -> "Budget":
        """What the globs of this expansion may still look at."""
        if self._budget is None:
            from jp.config.globs import Budget

            self._budget = Budget()
        return self._budget


def _expand(path: str, run: _Expansion, default_extends: Sequence[str]) -> None:
    file = _identity(path)
    if file in run.open:
        circle = [*list(run.open.values())[list(run.open).index(file) :], path]
        raise ExtendsError(
            f"files extend each other in a circle: {' → '.join(circle)}",
            hints=["remove one of these extends"],
            metadata={"cycle": circle},
        )
    if file in run.done:
        return
    if len(run.open) == MOST_NESTED or len(run.done) == MOST_FILES:
        what = f"deeper than {MOST_NESTED}" if len(run.open) == MOST_NESTED else f"more than {MOST_FILES:,}"
        raise ExtendsError(f"{next(iter(run.open.values()))}: extends {what} files", metadata={"path": path})
    checkpoint()
    saying = next(reversed(run.open.values()), None)
    run.open[file] = path
    try:
        if run.scope == "workspace":
            _regular(path)
        tree = run.read(path)
    except ConfigError as error:
        error.hints = (*error.hints, *([f"{saying} extends it"] if saying else []))
        raise
    before, after = _extended(path, tree.get("extends"), default_extends, run)
    for other in before:
        _expand(other, run, ())
    run.layers.append(Layer(run.source, path, tree, path=path, scope=run.scope))
    for other in after:
        _expand(other, run, ())
    del run.open[file]
    run.done.add(file)


def _regular(path: str) -> None:
    """A cloned project must not have the user's stdin or a pipe read as its settings; raises UnreadableFileError."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        reason = "not a regular file"
        raise UnreadableFileError(f"cannot read {path}: {reason}", metadata={"path": path, "reason": reason})


def _identity(path: str) -> object:
    """What two paths to one file have in common."""
    try:
        found = os.stat(path)
    except OSError:
        return path
    return found.st_dev, found.st_ino


def _extended(path: str, extends: object, default: Sequence[str], run: "_Expansion") -> tuple[list[str], list[str]]:
    """The files that `path` extends: those merged before it and those merged after it."""
    if extends is None:
        extends = list(default)
    if isinstance(extends, dict) and isinstance(extends.get("value"), list):
        extends = extends["value"]
    if not isinstance(extends, list):
        raise invalid_value(path, "extends", extends, "a list of paths, globs, or { path, strategy }")
    before: list[str] = []
    after: list[str] = []
    for place, entry in enumerate(extends):
        pattern, strategy = entry, "before"
        if isinstance(entry, dict) and set(entry) <= {"path", "strategy"}:
            pattern, strategy = entry.get("path"), entry.get("strategy", "before")
        if not isinstance(pattern, str) or strategy not in ("before", "after"):
            raise invalid_value(
                path, f"extends.{place}", entry, 'a path, a glob, or { path, strategy = "before"|"after" }'
            )
        into = after if strategy == "after" else before
        into += [other for other in _matches(path, pattern, run) if other != path]
    return before, after


def _matches(declaring: str, pattern: str, run: "_Expansion") -> list[str]:
    """The files that `pattern` names, relative to the directory of `declaring`, sorted."""
    base = os.path.dirname(declaring)
    full = os.path.normpath(os.path.join(base, expand_home(pattern)))
    if not any(char in pattern for char in "*?["):
        if os.path.lexists(full):
            return [full]
        there = first_file(full)
        if there:
            return [there]
        raise ExtendsError(
            f'{declaring}: extends "{pattern}", which is not there (looked for {full})',
            hints=near_file(full),
            metadata={"path": declaring, "extends": pattern, "looked_for": full},
        )
    fixed = full
    while any(char in fixed for char in "*?["):
        fixed = os.path.dirname(fixed)
    if not os.path.isdir(fixed):  # the ordinary case of config.d: nothing more is imported for it
        return []
    from jp.config.globs import TooMuch, find

    try:
        return find(full, SUFFIXES, run.budget(), base)
    except TooMuch as error:
        raise ExtendsError(
            f'{declaring}: extends "{pattern}" finds {error}',
            hints=["name a directory that holds only configuration"],
            metadata={"path": declaring, "extends": pattern},
        ) from None


def near_file(path: str) -> list[str]:
    """A hint with the file that `path` was most likely meant to be."""
    near = nearest(os.path.basename(path), _names(os.path.dirname(path)))
    return [f"did you mean {os.path.join(os.path.dirname(path), near)}?"] if near else []


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except (OSError, ValueError):
        return []
