"""The schema as a whole, the typed form of a resolved configuration, and finding keys in it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from jp.config.errors import UnknownKeyError, unknown_key
from jp.config.kinds import Kind
from jp.config.sections.assistant import Assistant, assistant
from jp.config.sections.conversation import Conversation, conversation
from jp.config.sections.general import Plugins, Template, User, loading, plugins, template, user
from jp.config.sections.interaction import Editor, Interrupt, Query, editor, interrupt, query
from jp.config.sections.providers import Providers, providers
from jp.config.sections.style import Style, style
from jp.config.tables import OneOf, Table, walk
from jp.errors import nearest

LOADING = ("inherit", "config_load_paths", "extends")
"""Keys that steer loading: they are the files' own and not recorded with conversations."""

LEGACY = {"mcp": "tools of MCP servers are set in conversation.tools, the servers in providers.mcp"}
"""Top-level keys of older versions: read over, with a notice."""


class AppConfig(msgspec.Struct, frozen=True):
    """A resolved configuration, every value in its canonical form."""

    inherit: bool
    config_load_paths: list[str]
    extends: list[Any]
    assistant: Assistant
    conversation: Conversation
    style: Style
    interrupt: Interrupt
    editor: Editor
    query: Query
    providers: Providers
    plugins: Plugins
    template: Template
    user: User


@cache
def root() -> Table:
    """The schema."""
    return Table(
        {
            **loading(),
            "assistant": assistant(),
            "conversation": conversation(),
            "style": style(),
            "interrupt": interrupt(),
            "editor": editor(),
            "query": query(),
            "providers": providers(),
            "plugins": plugins(),
            "template": template(),
            "user": user(),
        }
    )


def typed(values: Mapping[str, Any]) -> AppConfig:
    """The typed form of resolved values."""
    conversation = dict(values["conversation"])
    named = dict(conversation["tools"])
    conversation["tools"] = {"defaults": named.pop("*"), "named": named}
    servers = dict(values["providers"]["llm"])
    llm = {"aliases": servers.pop("aliases", {}), "named": servers}
    shaped = {
        **values,
        "conversation": conversation,
        "providers": {**values["providers"], "llm": llm},
    }
    return msgspec.convert(shaped, AppConfig)


def split_key(key: str) -> tuple[str, ...]:
    """The steps of a dotted key; a step may be quoted where it holds a dot."""
    if '"' not in key and "'" not in key:
        return tuple(key.split(".")) if key else ()
    steps, step, quote = [], "", ""
    for char in key:
        if quote:
            if char == quote:
                quote = ""
            else:
                step += char
        elif char in "\"'":
            quote = char
        elif char == ".":
            steps.append(step)
            step = ""
        else:
            step += char
    return (*steps, step)


def join_key(path: Sequence[str]) -> str:
    """A dotted key, steps that hold a dot or a quote quoted: `split_key` gives the steps again."""
    return ".".join(_quoted(step) if not step or any(char in step for char in ".\"'") else step for step in path)


def _quoted(step: str) -> str:
    return '"' + step.replace('"', '"\'"\'"') + '"'


def find(key: str, origin: str) -> tuple[tuple[str, ...], Kind]:
    """The steps and the kind of `key`; raises `UnknownKeyError` in the name of `origin`."""
    path = split_key(key)
    kind: Kind = root()
    for place, step in enumerate(path):
        below = kind.child(step)
        if below is None:
            raise unknown(origin, path[: place + 1], kind, path[place + 1 :])
        kind = below
    if not path:
        raise unknown_key(origin, key, None, tuple(root().fields))
    return path, kind


def unknown(
    origin: str,
    path: Sequence[str],
    above: Kind | None = None,
    rest: Sequence[str] = (),
    known: Sequence[str] = (),
) -> UnknownKeyError:
    """The error for the unknown key `path` in the table `above`, with the nearest key there or anywhere.

    `known` are the names allowed there where `above` does not say; `rest` is what was written below `path`.
    """
    if above is None:
        above = root()
        for step in path[:-1]:
            above = above.child(step) or above
    table = above.table if isinstance(above, OneOf) else above
    names = list(table.fields) if isinstance(table, Table) else list(known)
    near = nearest(path[-1], names)
    if near:
        whole = _resolves(above.child(near), rest)
        found: str | None = join_key((*path[:-1], near, *rest) if whole else (*path[:-1], near))
    else:
        found = nearest_key((*path, *rest))
    holds = "" if names else f'"{join_key(path[:-1])}" holds no keys: it is {above.allowed}'
    return unknown_key(origin, join_key((*path, *rest)), found, names, holds)


def _resolves(kind: Kind | None, path: Sequence[str]) -> bool:
    for step in path:
        kind = kind.child(step) if kind else None
    return kind is not None


def keys() -> list[str]:
    """Every key of the schema, `<name>` for free names."""
    return [join_key(path) for path, _ in walk(root())]


def nearest_key(path: Sequence[str]) -> str | None:
    """The key anywhere in the schema that `path` was most likely meant to be: one whose own name is near.

    Not one above it, which says nothing of what was wrong, nor a neighbour that merely begins alike.
    """
    wanted = join_key(path)
    known = [key for key, _ in walk(root()) if not _is_above(key, path)]
    ending = [join_key(key) for key in known if "<name>" not in key and join_key(key).endswith(f".{wanted}")]
    if ending:
        return min(ending, key=len)
    names = {key[-1] for key in known}
    alike = {name for name in names if nearest(path[-1], [name])}
    return nearest(wanted, [join_key(key) for key in known if key[-1] in alike])


def _is_above(key: Sequence[str], path: Sequence[str]) -> bool:
    return len(key) <= len(path) and all(step in ("<name>", other) for step, other in zip(key, path, strict=False))
