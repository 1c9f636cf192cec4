"""What a user's own edit of a workspace's file puts in effect.

Whoever types `jp config set editor.cmd vim` trusts that command, whatever file it goes to. Not by trusting what the
file says afterwards: below `providers.mcp.x` somebody else may have written the program, of which only an argument was
set. So what was typed is trusted, and a table that holds it only where the rest of it was trusted already.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from jp.config.files import Paths, load_chain
from jp.config.fold import Fold
from jp.config.holding import Known, split
from jp.config.layers import Layer
from jp.config.read import parse
from jp.config.schema import split_key
from jp.config.trust import Withheld


class Edit(NamedTuple):
    """One key set in a workspace's file: the file, its text before and after, and what was typed (`edit.typed`)."""

    path: str
    before: str
    after: str
    key: str
    typed: Layer


def around(path: str, paths: Paths, environ: Mapping[str, str]) -> Known:
    """What the file at `path` is held against: what is below it, and what the user's sources say."""
    layers = load_chain(paths)
    own = next((layer for layer in layers if layer.path == path), None)
    return Fold(paths, environ, None).known_for(own, layers) if own is not None else Known()


def trusted_by(
    edit: Edit, trusted: Collection[str], known: Known | None = None
) -> tuple[list[Withheld], list[Withheld]]:
    """What the edit makes trusted, and what keeps the key that was set waiting for trust nevertheless.

    `trusted` are the digests that are trusted in the workspace already, `known` is what is `around` the file.
    """
    known = known or Known()
    steps = split_key(edit.key)
    said = {each.digest for each in _held(edit.typed, (), known)}
    there = {each.key for each in _held(_layer(edit.path, edit.before), trusted, known)}
    own: list[Withheld] = []
    waiting: list[Withheld] = []
    for each in _held(_layer(edit.path, edit.after), trusted, known):
        path = split_key(each.key)
        if each.digest in said:
            own.append(each)
        elif len(path) < len(steps) and steps[: len(path)] == path:
            (waiting if each.key in there else own).append(each)
    return own, waiting


def waits(path: str, text: str, trusted: Collection[str], known: Known) -> bool:
    """Whether anything of a file needs trust and has none."""
    return bool(_held(_layer(path, text), trusted, known))


def _layer(path: str, text: str) -> Layer:
    return Layer("file", path, parse(path, text), path=path, lenient=True)


def _held(layer: Layer, trusted: Collection[str], known: Known) -> list[Withheld]:
    """What of a layer needs trust and has none; not what the defaults say."""
    return split(layer.read(), layer.name, known._replace(trusts=lambda mark: mark in trusted)).held
