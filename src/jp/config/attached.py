"""What an entry of `conversation.attachments` asks for, read in one place: its guard must see what its reader sees."""

import os
from typing import Any

import msgspec

from jp.config.paths import expand_home, is_below


class Wanted(msgspec.Struct):
    """An entry of the configuration: its kind (`file`, `cmd`, …), path and description."""

    kind: str
    path: str
    description: str | None = None


def parse(entry: Any) -> Wanted:
    """What an entry asks for: a string, or something with `kind` (or `type`), `path` and `params`."""
    if not isinstance(entry, str):
        fields = entry if isinstance(entry, dict) else msgspec.structs.asdict(entry)
        kind = fields.get("kind") or fields.get("type")
        described = (fields.get("params") or {}).get("description")
        return Wanted(str(kind), str(fields.get("path")), described if isinstance(described, str) else None)
    scheme, colon, rest = entry.partition(":")
    if not colon or len(scheme) < 2 or not scheme.isascii() or not scheme.replace("+", "a").isalpha():
        return Wanted("file", entry)
    from urllib.parse import parse_qs, unquote

    rest, _, query = rest.removeprefix("//").partition("?")
    described = parse_qs(query).get("description", [""])[0]
    scheme = scheme.lower()
    return Wanted(scheme, unquote(rest) if scheme == "file" else rest, described or None)


def full_path(path: str, root: str) -> str:
    """Where the path of a file lies: relative to the workspace at `root`, `~` is the user's home."""
    return os.path.join(root, expand_home(path))


def leads_outside(path: str, root: str | None) -> bool:
    """Whether a path, as it is written, leads out of the workspace at `root`.

    Where `root` is None every absolute path does. What links do is seen when the file is read.
    """
    if root is None:
        path = expand_home(path)
        return os.path.isabs(path) or os.path.normpath(path).split(os.sep)[0] in (os.pardir, "~")
    place = os.path.abspath(root)
    return not is_below(os.path.normpath(full_path(path, place)), place)
