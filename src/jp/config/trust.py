"""What a workspace's own files may only say once they are trusted (`guarded`), and what the user trusts.

A cloned repository brings its `.jp` with it. Reading a persona from it is harmless; running a program it names, or
sending the user's key to a server it names, is not. So such keys of layers with workspace scope (its files, and
conversations, which lie in it) are held back until what comes of them is known to the trust store (`holding`). What is
trusted is what a key comes to in one workspace: a command that changes asks again, the rest does not.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jp.config.guarded import ATTACHMENTS, guarded, is_command, is_guarded_attachment
from jp.config.kinds import MISSING
from jp.config.loosening import TOOLS, Standing, loosens, policies
from jp.config.schema import join_key, split_key
from jp.config.trust_store import TrustStore
from jp.config.units import at, meaning

__all__ = ["TrustStore", "Withheld", "attachment_waits", "commands", "digest", "waits_for_trust"]


class Withheld(NamedTuple):
    """A value that is not in effect: its key, what it comes to, the source that says it, and what trusting it means.

    `private`: the source is the user's own file for the workspace's id, which has not been used in this place before.
    """

    key: str
    value: Any
    origin: str
    digest: str
    private: bool = False


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
    waits = f"{key} in {held.origin} is not in effect until the workspace is trusted (jp workspace trust)"
    if held.value is None:
        return waits
    return f"{waits}; to have it for yourself now: `jp config set --local {shlex.quote(key)} {word}`"


def attachment_waits(held: Withheld) -> str:
    """One sentence for a user about an attachment that is not in effect."""
    named = held.value if isinstance(held.value, str) else f"{held.value.get('type')}:{held.value.get('path')}"
    what = "runs a command" if is_command(held.value) else "is a file outside the workspace"
    return f"the attachment {named} {what}: not in effect until the workspace is trusted (jp workspace trust)"


def commands(values: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> list[Withheld]:
    """What is in effect of all that needs trust, from a resolved configuration.

    Whoever records that configuration with a conversation has it remembered as trusted in that conversation
    (`TrustStore.with_recorded`): it comes from sources that are, and would be held back when it is read from the
    conversation. It is trusted nowhere else: what was allowed for one run is no reason to let the workspace's files, or
    another conversation, say it. `before` is what the sources below the command line say, which it may loosen as well.
    Nothing of `providers`: that is not read from a conversation.
    """
    found: list[tuple[tuple[str, ...], Any]] = []
    for path, value in guarded(values):
        if path[0] == "providers":
            continue
        if path == ATTACHMENTS:
            found += [(path, item) for item in value if is_guarded_attachment(item)]
        elif meaning(path, MISSING, value) != meaning(path, MISSING, MISSING):
            found.append((path, meaning(path, MISSING, value)))

    def builtin(name: str) -> bool:
        return at(values, (*TOOLS, name, "source")) in (MISSING, "builtin")

    standings = [Standing(None, None, builtin), *([Standing(before, before, builtin)] if before else [])]
    found += [
        (path, meaning(path, MISSING, value))
        for path, value in policies(values)
        if any(loosens(path, value, standing) for standing in standings)
    ]
    return [Withheld(join_key(path), value, "in effect", digest(join_key(path), value)) for path, value in found]
