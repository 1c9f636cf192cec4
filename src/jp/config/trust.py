"""What a workspace's own files may only say once they are trusted (`guarded`), and what the user trusts.

A cloned repository brings its `.jp` with it. Reading a persona from it is harmless; running a program it names, or
sending the user's key to a server it names, is not. So such keys of layers with workspace scope (its files, and
conversations, which lie in it) are held back until their values are known to the trust store. What is trusted is a
value at a key in one workspace: a command that changes asks again, the rest does not.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from jp.config.containers import Merge, bare
from jp.config.guarded import ATTACHMENTS, guarded, is_command, is_guarded_attachment
from jp.config.kinds import MISSING, SHOWN, UNSET, Kind, Mismatch
from jp.config.schema import join_key, root, split_key
from jp.places import data_home


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


LONGEST_WORD = 300
PLAIN = r"[A-Za-z0-9/~][!-~]*"


def waits_for_trust(held: Withheld) -> str:
    """One sentence for a user who needs `held`: what is not in effect, who says it, and how to have it for oneself."""
    import re
    import shlex

    key, value, sign = held.key, held.value, ""
    if split_key(key) == ATTACHMENTS:
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


def attachment_waits(held: Withheld) -> str:
    """One sentence for a user about an attachment that is not in effect."""
    named = held.value if isinstance(held.value, str) else f"{held.value.get('type')}:{held.value.get('path')}"
    what = "runs a command" if is_command(held.value) else "is a file outside the workspace"
    return f"the attachment {named} {what}: not in effect until the workspace is trusted"


class Known(NamedTuple):
    """What a layer's values are held against: the digests trusted in the workspace, what lower sources resolved to
    (None: nothing), and the root of the workspace.
    """

    trusted: frozenset[str] = frozenset()
    state: Mapping[str, Any] | None = None
    root: str | None = None


def split(form: Mapping[str, Any], origin: str, known: Known) -> tuple[dict[str, Any], list[Withheld]]:
    """A layer's canonical tree without what must be trusted first, and what that is.

    A value is let through when it is trusted, or when it is what holds without it (by lower sources, by default).
    """
    in_effect = _copy(form)
    withheld: list[Withheld] = []
    for path, value in list(guarded(form)):
        key = join_key(path)
        if path == ATTACHMENTS:
            withheld += _split_attachments(in_effect, value, origin, known)
            continue
        there = MISSING if known.state is None else _at(known.state, path)
        meant = _meaning(path, MISSING, value)
        mark = digest(key, meant)
        if mark in known.trusted or _meaning(path, there, value) == _meaning(path, there, MISSING):
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
    found: list[tuple[tuple[str, ...], Any]] = []
    for path, value in guarded(values):
        if path[0] == "providers":
            continue
        if path == ATTACHMENTS:
            found += [(path, item) for item in value if is_guarded_attachment(item)]
        else:
            found.append((path, _meaning(path, MISSING, value)))
    defaults = dict.fromkeys(digest(join_key(path), value) for path, value in guarded(root().final(MISSING)))
    held = [Withheld(join_key(path), value, "in effect", digest(join_key(path), value)) for path, value in found]
    return [each for each in held if each.digest not in defaults]


def _meaning(path: tuple[str, ...], there: Any, value: Any) -> Any:
    """What a value, read from a layer, comes to over what is `there` (either may be MISSING).

    Two spellings of one command are the same command.
    """
    kind: Kind | None = root()
    for step in path:
        kind = kind.child(step) if kind else None
    if kind is None:
        return value
    try:
        if value is UNSET:
            there = MISSING
        elif value is not MISSING:
            from copy import deepcopy

            there = kind.merge(deepcopy(there) if there is not MISSING else there, value)
        final = kind.final(there)
        return None if final is None else kind.write(final, SHOWN)
    except Mismatch as fault:  # it lacks a key that another source may have
        return fault.found


def _split_attachments(form: dict[str, Any], value: Any, origin: str, known: Known) -> list[Withheld]:
    """Take what must be trusted out of a layer's attachments, one by one."""
    there = MISSING if known.state is None else bare(_at(known.state, ATTACHMENTS))
    before = there if isinstance(there, list) else []
    key = join_key(ATTACHMENTS)
    kept, withheld = [], []
    for item in bare(value):
        mark = digest(key, item)
        if is_guarded_attachment(item, known.root) and mark not in known.trusted and item not in before:
            withheld.append(Withheld(key, item, origin, mark))
        else:
            kept.append(item)
    table = bare(form[ATTACHMENTS[0]])
    if isinstance(value, Merge):
        table[ATTACHMENTS[1]] = Merge(kept, value.strategy, value.separator, value.dedup, value.discard)
    else:
        table[ATTACHMENTS[1]] = kept
    return withheld


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
    """What the user trusts, by workspace: `$XDG_DATA_HOME/jp/trust.json`. An unreadable store trusts nothing.

    `path` is empty where the user has no directory for data.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "TrustStore":
        """The store of the user whose environment this is."""
        home = data_home(environ)
        return cls(os.path.join(home, "trust.json") if home else "")

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
