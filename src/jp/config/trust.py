"""What a workspace's own files may only say once they are trusted: commands, and where API keys are sent.

A cloned repository brings its `.jp` with it. Reading a persona from it is harmless; running a program it names, or
sending the user's key to a server it names, is not. So those keys of layers with workspace scope (its files, and
conversations, which lie in it) are held back until their values are known to the trust store. What is trusted is a
value at a key in one workspace: a command that changes asks again, the rest does not.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jp.config.containers import Merge, bare
from jp.config.kinds import MISSING, SHOWN, Kind, Mismatch
from jp.config.schema import join_key, root, split_key

LOOPBACK = r"https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[^@\\]*)?"


class Withheld(NamedTuple):
    """A value that is not in effect: its key, itself, the source that says it, and what trusting it means."""

    key: str
    value: Any
    origin: str
    digest: str


def digest(key: str, value: Any) -> str:
    """What identifies a value at a key."""
    import hashlib
    import json

    text = json.dumps([key, value], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fingerprint(withheld: "list[Withheld] | tuple[Withheld, ...]") -> str:
    """One hash for a set of values."""
    import hashlib

    return hashlib.sha256("\n".join(sorted({each.digest for each in withheld})).encode()).hexdigest()


LONGEST_WORD = 300
PLAIN = r"[A-Za-z0-9/~][!-~]*"


def waits_for_trust(held: Withheld) -> str:
    """One sentence for a user who needs `held`: what is not in effect, who says it, and how to have it for oneself."""
    import re
    import shlex

    key, value, sign = held.key, held.value, ""
    if _is_list(split_key(key)):
        sign = "+"
    if not (isinstance(value, str) and re.fullmatch(PLAIN, value) and "," not in value):
        import json

        # Escaped, so that what is pasted into a shell is what can be seen.
        sign, value = f"{sign}:", json.dumps(value, default=str)
    word = shlex.quote(f"{sign}{value}")
    if len(word) > LONGEST_WORD:
        word = "VALUE"
    return (
        f"{key} in {held.origin} is not in effect until the workspace is trusted; "
        f"to have it for yourself now: `jp config set --local {shlex.quote(key)} {word}`"
    )


def split(
    form: Mapping[str, Any], origin: str, trusted: frozenset[str] = frozenset(), state: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[Withheld]]:
    """A layer's canonical tree without what must be trusted first, and what that is.

    A value is let through when its digest is in `trusted`, or when `state` (what lower sources resolved to) holds the
    same value at the same key already.
    """
    in_effect = _copy(form)
    withheld: list[Withheld] = []
    for path, value in list(_commands(form)):
        key = join_key(path)
        if _is_list(path):
            _split_list(in_effect, path, value, withheld, (origin, trusted, state))
            continue
        meant = _meaning(path, value)
        mark = digest(key, meant)
        there = MISSING if state is None else _at(state, path)
        if mark in trusted or (there is not MISSING and _meaning(path, there) == meant):
            continue
        withheld.append(Withheld(key, meant, origin, mark))
        _remove(in_effect, path)
    return in_effect, withheld


def commands(values: Mapping[str, Any]) -> list[Withheld]:
    """What is in effect of all that needs trust, from a resolved configuration.

    Whoever records that configuration with a conversation has it remembered as trusted (`TrustStore.remembering`): it
    comes from sources that are, and would be held back when it is read from the conversation. Nothing of `providers`:
    that is not read from a conversation.
    """
    found = []
    for path, value in _commands(values):
        if path[0] == "providers":
            continue
        if _is_list(path):
            found += [(path, item) for item in value if is_command(item)]
        else:
            found.append((path, _meaning(path, value)))
    defaults = dict.fromkeys(digest(join_key(path), value) for path, value in _commands(root().final(MISSING)))
    held = [Withheld(join_key(path), value, "in effect", digest(join_key(path), value)) for path, value in found]
    return [each for each in held if each.digest not in defaults]


def _meaning(path: tuple[str, ...], value: Any) -> Any:
    """What a value comes to by itself: two spellings of one command are the same command."""
    kind: Kind | None = root()
    for step in path:
        kind = kind.child(step) if kind else None
    if kind is None:
        return value
    try:
        return kind.write(kind.final(kind.merge(MISSING, value)), SHOWN)
    except Mismatch as fault:  # it lacks a key that another source may have
        return fault.found


def _commands(form: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys of a tree that name commands or places where keys are sent, with their values."""
    conversation = _table(form, "conversation")
    for name, tool in _tables(conversation, "tools"):
        if "command" in tool:
            yield ("conversation", "tools", name, "command"), tool["command"]
        parameters = _table(tool, "style").get("parameters")
        if parameters is not None and parameters not in ("json", "function_call", "off"):
            yield ("conversation", "tools", name, "style", "parameters"), parameters
    for name, label in _tables(conversation, "labels"):
        if isinstance(label.get("value"), dict):
            yield ("conversation", "labels", name, "value"), label["value"]
    if isinstance(bare(conversation.get("attachments")), list):
        yield ("conversation", "attachments"), conversation["attachments"]
    if "cmd" in _table(form, "editor"):
        yield ("editor", "cmd"), form["editor"]["cmd"]
    for name, server in _tables(_table(form, "providers"), "mcp"):
        yield ("providers", "mcp", name), server
    for name, plugin in _tables(_table(form, "plugins"), "command"):
        yield ("plugins", "command", name), plugin
    for name, provider in _tables(_table(form, "providers"), "llm"):
        if name != "aliases" and not is_loopback(str(provider.get("base_url", "http://localhost"))):
            yield ("providers", "llm", name, "base_url"), provider["base_url"]


def _tables(form: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, value) for name, value in _table(form, key).items() if isinstance(value, dict)]


def _table(form: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table at a key, an empty one where there is none or where it is taken back."""
    table = bare(form.get(key))
    return table if isinstance(table, dict) else {}


def _is_list(path: tuple[str, ...]) -> bool:
    return path == ("conversation", "attachments")


def _split_list(
    form: dict[str, Any],
    path: tuple[str, ...],
    value: Any,
    withheld: list[Withheld],
    known: tuple[str, frozenset[str], Mapping[str, Any] | None],
) -> None:
    """Take the commands out of a list, one by one."""
    origin, trusted, state = known
    there = bare(_at(state, path)) if state is not None else MISSING
    kept = []
    for item in bare(value) or []:
        mark = digest(join_key(path), item)
        if is_command(item) and mark not in trusted and (there is MISSING or item not in there):
            withheld.append(Withheld(join_key(path), item, origin, mark))
        else:
            kept.append(item)
    table = form
    for step in path[:-1]:
        table = table[step]
    if isinstance(value, Merge):
        table[path[-1]] = Merge(kept, value.strategy, value.separator, value.dedup, value.discard)
    else:
        table[path[-1]] = kept


def is_command(attachment: object) -> bool:
    """Whether an attachment runs a program."""
    if isinstance(attachment, dict):
        return str(attachment.get("type", "")).strip().lower() == "cmd"
    return str(attachment).strip().lower().startswith("cmd:")


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    import re

    # Strict on purpose, and not urlsplit: what this does not recognise counts as another machine.
    return re.fullmatch(LOOPBACK, url.strip(), re.IGNORECASE) is not None


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        tree = bare(tree)
        if not isinstance(tree, dict) or step not in tree:
            return MISSING
        tree = tree[step]
    return tree


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            out[key] = _copy(value)
        elif isinstance(value, Merge) and isinstance(value.value, dict):
            out[key] = Merge(_copy(value.value), value.strategy, value.separator, value.dedup, value.discard)
        else:
            out[key] = value
    return out


def _remove(tree: dict[str, Any], path: tuple[str, ...]) -> None:
    for step in path[:-1]:
        tree = bare(tree[step])
    del tree[path[-1]]


class TrustStore:
    """What the user trusts, by workspace: `$XDG_DATA_HOME/jp/trust.json`. An unreadable store trusts nothing."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "TrustStore":
        """The store of the user whose environment this is."""
        home = environ.get("HOME") or os.path.expanduser("~")
        data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
        return cls(os.path.join(data, "jp", "trust.json"))

    def trusted(self, workspace_root: str) -> frozenset[str]:
        """The digests that are trusted in a workspace."""
        found = self._read().get(os.path.realpath(workspace_root), [])
        return frozenset(each for each in found if isinstance(each, str)) if isinstance(found, list) else frozenset()

    def with_trusted(self, workspace_root: str, withheld: "list[Withheld]") -> str:
        """The text of the store with `withheld` trusted in a workspace, for the caller to write atomically."""
        import json

        workspaces = self._read()
        root = os.path.realpath(workspace_root)
        workspaces[root] = sorted(self.trusted(workspace_root) | {each.digest for each in withheld})
        return json.dumps({"version": 1, "workspaces": workspaces}, indent=2, sort_keys=True) + "\n"

    def remembering(self, workspace_root: str, in_effect: "list[Withheld]") -> str | None:
        """The text of the store with what is `in_effect` (see `commands`) trusted; None when nothing is new."""
        known = self.trusted(workspace_root)
        fresh = [each for each in in_effect if each.digest not in known]
        return self.with_trusted(workspace_root, fresh) if fresh else None

    def _read(self) -> dict[str, Any]:
        import json

        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        workspaces = found.get("workspaces") if isinstance(found, dict) else None
        return dict(workspaces) if isinstance(workspaces, dict) else {}
