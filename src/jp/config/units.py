"""What a key comes to: the value that sources make of it together, as it would be written.

What is trusted, and what is held against what the user has said, is never what one source says but what comes of it: a
strategy, an order, or what lies below makes something else of the same words.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jp.config.containers import bare
from jp.config.kinds import MISSING, SHOWN, UNSET, Kind, Mismatch
from jp.config.schema import root

Path = tuple[str, ...]

SERVERS = ("providers", "mcp")
FREE_OF_SERVER = ("optional", "startup_timeout_secs")
"""Keys of an MCP server that change nothing of what is started, and with what."""


def at(tree: Any, path: Path) -> Any:
    """What a tree says at a path; MISSING when nothing."""
    for step in path:
        tree = bare(tree)
        if not isinstance(tree, dict) or step not in tree:
            return MISSING
        tree = tree[step]
    return tree


def said(form: Any, path: Path) -> Any:
    """What a source says at a path: as `at`, and UNSET where it takes back a table above."""
    for step in path:
        form = bare(form)
        if form is UNSET:
            return UNSET
        if not isinstance(form, dict) or step not in form:
            return MISSING
        form = form[step]
    return form


def resolved(path: Path, there: Any, value: Any = MISSING, ahead: Iterable[Mapping[str, Any]] = ()) -> Any:
    """The value of a key with `value`, read from a source, over what is `there`, and what the sources `ahead` say on
    top; what is found where that is none.
    """
    kind = kind_at(path)
    if kind is None:
        return content(value if value is not MISSING else there)
    from copy import deepcopy

    there = deepcopy(there) if there is not MISSING else there
    for each in (value, *(said(form, path) for form in ahead)):
        if each is UNSET:
            there = MISSING
        elif each is not MISSING:
            there = kind.merge(there, each)
    try:
        return kind.final(there)
    except Mismatch:  # it lacks a key that another source may have
        return _plain(there)


def meaning(path: Path, there: Any, value: Any, ahead: Iterable[Mapping[str, Any]] = ()) -> Any:
    """As `resolved` (`value` may be MISSING), as it would be written: two spellings of one command are the same."""
    kind, final = kind_at(path), resolved(path, there, value, ahead)
    if kind is None or final is None:
        return final
    try:
        final = kind.write(final, SHOWN)
    except (AttributeError, KeyError, TypeError):  # it is what was found in place of something that fits
        pass
    if path[:2] == SERVERS and len(path) == 3 and isinstance(final, dict):
        return {key: item for key, item in final.items() if key not in FREE_OF_SERVER}
    return final


def content(value: Any) -> Any:
    """The value of a state; None where nothing is said."""
    return None if value is MISSING else bare(value)


def _plain(tree: Any) -> Any:
    tree = content(tree)
    return {key: _plain(item) for key, item in tree.items()} if isinstance(tree, dict) else tree


@lru_cache(1024)
def kind_at(path: Path) -> Kind | None:
    """The kind of a key; None where the schema has none."""
    kind: Kind | None = root()
    for step in path:
        kind = kind.child(step) if kind else None
    return kind
