"""What a workspace's own files may only say once they are trusted (`guarded`), and what the user trusts.

A cloned repository brings its `.jp` with it. Reading a persona from it is harmless; running a program it names, or
sending the user's key to a server it names, is not. So such keys of layers with workspace scope (its files, and
conversations, which lie in it) are held back until their values are known to the trust store. What is trusted is a
value at a key in one workspace: a command that changes asks again, the rest does not.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jp.config.containers import Merge, bare
from jp.config.guarded import ATTACHMENTS, guarded, is_command, is_guarded_attachment
from jp.config.kinds import MISSING, SHOWN, UNSET
from jp.config.loosening import at, kind_at, loosens, policies, resolved
from jp.config.schema import join_key, split_key
from jp.config.tables import Table
from jp.config.trust_store import TrustStore

__all__ = ["Known", "TrustStore", "Withheld", "attachment_waits", "commands", "digest", "split", "waits_for_trust"]


class Withheld(NamedTuple):
    """A value that is not in effect: its key, itself, the source that says it, and what trusting it means."""

    key: str
    value: Any
    origin: str
    digest: str


def digest(key: str, value: Any, *, recorded: bool = False) -> str:
    """What identifies a value at a key; `recorded`: as a conversation has stored it."""
    import hashlib
    import json

    what = [key, value, "recorded"] if recorded else [key, value]
    text = json.dumps(what, sort_keys=True, ensure_ascii=False, default=str)
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
    waits = f"{key} in {held.origin} is not in effect until the workspace is trusted (jp workspace trust)"
    if held.value is None:
        return waits
    return f"{waits}; to have it for yourself now: `jp config set --local {shlex.quote(key)} {word}`"


def attachment_waits(held: Withheld) -> str:
    """One sentence for a user about an attachment that is not in effect."""
    named = held.value if isinstance(held.value, str) else f"{held.value.get('type')}:{held.value.get('path')}"
    what = "runs a command" if is_command(held.value) else "is a file outside the workspace"
    return f"the attachment {named} {what}: not in effect until the workspace is trusted (jp workspace trust)"


class Known(NamedTuple):
    """What a layer's values are held against.

    `trusted` are the digests trusted in the workspace, `state` what lower sources resolved to (None: nothing), `root`
    the workspace, `own` what the user's sources say alone (None: not known), and `recorded` whether the layer is a
    conversation's, where what was in effect when it was recorded is trusted too.
    """

    trusted: frozenset[str] = frozenset()
    state: Mapping[str, Any] | None = None
    root: str | None = None
    own: Mapping[str, Any] | None = None
    recorded: bool = False

    def trusts(self, key: str, value: Any, mark: str) -> bool:
        """Whether a value at a key is trusted; `mark` is its digest."""
        return mark in self.trusted or (self.recorded and digest(key, value, recorded=True) in self.trusted)


def split(form: Mapping[str, Any], origin: str, known: Known) -> tuple[dict[str, Any], list[Withheld]]:
    """A layer's canonical tree without what must be trusted first, and what that is.

    A value is let through when it is trusted, or when it is what holds without it (by lower sources, by default).
    """
    in_effect = _copy(form)
    withheld: list[Withheld] = []
    for path, value in list(guarded(form)):
        if path == ATTACHMENTS:
            withheld += _split_attachments(in_effect, value, origin, known)
            continue
        there = MISSING if known.state is None else at(known.state, path)
        if _meaning(path, there, value) != _meaning(path, there, MISSING):
            _hold(in_effect, withheld, path, value, origin, known)
    for path, value in list(policies(form)):
        if loosens(path, value, known.state, known.own):
            _hold(in_effect, withheld, path, value, origin, known)
    return in_effect, withheld


def _hold(
    in_effect: dict[str, Any], withheld: list[Withheld], path: tuple[str, ...], value: Any, origin: str, known: Known
) -> None:
    """Take a value out of what is in effect, unless it is trusted."""
    key, meant = join_key(path), _meaning(path, MISSING, value)
    if value is UNSET and isinstance(kind_at(path), Table):
        meant = None
    mark = digest(key, meant)
    if not known.trusts(key, meant, mark):
        withheld.append(Withheld(key, meant, origin, mark))
        _remove(in_effect, path)


def commands(values: Mapping[str, Any]) -> list[Withheld]:
    """What is in effect of all that needs trust, from a resolved configuration.

    Whoever records that configuration with a conversation has it remembered as trusted (`TrustStore.remembering`): it
    comes from sources that are, and would be held back when it is read from the conversation. It is trusted nowhere
    else: what was allowed for one run is no reason to let the workspace's files say it. Nothing of `providers`: that is
    not read from a conversation.
    """
    found: list[tuple[tuple[str, ...], Any]] = []
    for path, value in guarded(values):
        if path[0] == "providers":
            continue
        if path == ATTACHMENTS:
            found += [(path, item) for item in value if is_guarded_attachment(item)]
        elif _meaning(path, MISSING, value) != _meaning(path, MISSING, MISSING):
            found.append((path, _meaning(path, MISSING, value)))
    found += [
        (path, _meaning(path, MISSING, value)) for path, value in policies(values) if loosens(path, value, None, None)
    ]
    return [
        Withheld(join_key(path), value, "in effect", digest(join_key(path), value, recorded=True))
        for path, value in found
    ]


def _meaning(path: tuple[str, ...], there: Any, value: Any) -> Any:
    """What a value, read from a layer, comes to over what is `there` (either may be MISSING), as it would be written.

    Two spellings of one command are the same command.
    """
    kind, final = kind_at(path), resolved(path, there, value)
    if kind is None or final is None:
        return final
    try:
        return kind.write(final, SHOWN)
    except (AttributeError, KeyError, TypeError):  # it is what was found in place of something that fits
        return final


def _split_attachments(form: dict[str, Any], value: Any, origin: str, known: Known) -> list[Withheld]:
    """Take what must be trusted out of a layer's attachments, one by one."""
    there = MISSING if known.state is None else bare(at(known.state, ATTACHMENTS))
    before = there if isinstance(there, list) else []
    key = join_key(ATTACHMENTS)
    kept, withheld = [], []
    for item in bare(value):
        mark = digest(key, item)
        if is_guarded_attachment(item, known.root) and not known.trusts(key, item, mark) and item not in before:
            withheld.append(Withheld(key, item, origin, mark))
        else:
            kept.append(item)
    table = bare(form[ATTACHMENTS[0]])
    if isinstance(value, Merge):
        table[ATTACHMENTS[1]] = Merge(kept, value.strategy, value.separator, value.dedup, value.discard)
    else:
        table[ATTACHMENTS[1]] = kept
    return withheld


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
