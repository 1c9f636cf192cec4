"""What `--cfg NAME` names in the load paths, and whose a file is that was named on the command line.

Not the scope of the directory that a load path is joined to: joined to the user's directory, an absolute path, one
with `~` or `..`, or `/proc/self/cwd` leads back into the workspace, and whoever wrote the workspace would have its
files taken for the user's own. So a file's scope comes from the file itself, and from who said the load path that led
to it.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from jp.config.errors import UnknownNameError
from jp.config.files import Paths, Reader, expand, first_file
from jp.config.layers import Layer
from jp.config.paths import expand_home, is_below
from jp.config.read import SUFFIXES, read_file
from jp.errors import nearest
from jp.interrupt.checkpoint import checkpoint

MOST_DIRECTORIES = 500


class LoadPath(NamedTuple):
    """An entry of `config_load_paths`, and whether the user has said it (a workspace's own file has otherwise)."""

    entry: str
    own: bool


def in_workspace(path: str, paths: Paths) -> bool:
    """Whether a file is the workspace's: it lies in it, or a link of the workspace leads to it.

    What is in the user's own directories is the user's, also where these lie in the workspace (a workspace that is a
    whole home).
    """
    if paths.workspace_root is None:
        return False
    top, real = os.path.realpath(paths.workspace_root), os.path.realpath(path)
    for directory in (paths.user_dir, paths.user_workspace_dir):
        if directory and is_below(real, os.path.realpath(directory)) and not is_below(top, os.path.realpath(directory)):
            return False
    return is_below(real, top) or any(is_below(os.path.realpath(step), top) for step in _above(os.path.abspath(path)))


def _above(path: str) -> Iterable[str]:
    """`path` and all directories above it, as they are written."""
    while True:
        yield path
        directory = os.path.dirname(path)
        if directory == path:
            return
        path = directory


def load_name(name: str, load_paths: Iterable[LoadPath], paths: Paths, read: Reader = read_file) -> list[Layer]:
    """The layers of every file that `--cfg NAME` names in the load paths, user first, then workspace.

    What an entry of the workspace leads to has the workspace's scope, wherever that is. Raises `UnknownNameError` with
    the places that were looked at and the nearest name.
    """
    roots = [(paths.user_dir, "user"), (paths.workspace_root, ""), (paths.user_workspace_dir, "private")]
    load_paths = list(load_paths)
    layers: list[Layer] = []
    looked: dict[str, None] = {}
    for base, scope in roots:
        if not base:
            continue
        for entry, own in load_paths:
            home = expand_home(entry)
            directory = os.path.normpath(os.path.join(base, home))
            if directory in looked:  # an absolute one is the same below every base
                continue
            looked[directory] = None
            path = os.path.join(directory, name)
            found = path if path.endswith(SUFFIXES) and os.path.isfile(path) else first_file(path)
            if found:
                users = own and (scope or os.path.isabs(home)) and not in_workspace(found, paths)
                layers += expand(found, (scope or "user") if users else "workspace", read, source="cfg")
    if not layers:
        raise _unknown_name(name, list(looked))
    return layers


def _unknown_name(name: str, looked: list[str]) -> UnknownNameError:
    known: set[str] = set()
    for directory in looked:
        known |= names_below(directory)
    near = nearest(name, sorted(known))
    hints = [f"did you mean {near}?"] if near else []
    if not looked:
        hints.append("no config_load_paths are set; a path that exists, such as ./my.toml, works without")
    places = f" (looked in {', '.join(looked)})" if looked else ""
    return UnknownNameError(
        f"--cfg {name}: no such configuration{places}",
        hints=hints,
        metadata={"name": name, "looked_in": looked, "nearest": near},
    )


def names_below(directory: str) -> set[str]:
    """The names that `--cfg` takes for the files below `directory`; not all where that is somebody's whole home."""
    found: set[str] = set()
    if not os.path.isdir(directory):  # which takes names that no system has, walking does not
        return found
    for count, (place, _, files) in enumerate(os.walk(directory)):
        checkpoint()
        if count == MOST_DIRECTORIES:
            break
        below = os.path.relpath(place, directory)
        for file in files:
            stem, suffix = os.path.splitext(file)
            if suffix in SUFFIXES:
                found.add(stem if below == "." else os.path.join(below, stem))
    return found
