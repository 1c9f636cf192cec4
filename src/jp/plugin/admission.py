"""Whether a plugin may be run: a pure function of what is configured, what was approved and what is in the file.

A hash is of the file as it was read, and a path may lead elsewhere a moment later. Running what was read (a copy, or
the open descriptor) would take from a plugin what it finds by its own path, so the path is run, and whether its stamp
is still the one that was judged (`fingerprint`) is looked at once more: by `describing` right before each start, by
`jp.cli.plugins.admit` last of all, when the person has been asked. What remains is the time from there to the start of
the process, for one who may write to the file or change where its path leads. What came with JP is run by JP's own path
(`discovery`), which is as safe as JP itself.
"""

from typing import NamedTuple

from jp.plugin.discovery import BUNDLED, INSTALLED
from jp.plugin.errors import PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jp.config.sections.providers import Checksum
    from jp.plugin.approvals import Approval

ASK, UNATTENDED, DENY = "ask", "unattended", "deny"  # the values of `run`

# What decided.
ALLOWED = "unattended"  # the configuration, for every run
OWN = "bundled"  # it came with JP
PINNED = "pinned"  # the configuration, by the file's hash
APPROVED = "approved"  # the user, at an earlier question
ASKED = "ask"  # the configuration: the user, each time
NEW, CHANGED, ELSEWHERE = "unapproved", "changed", "elsewhere"  # no approval; of other content; of another file
DENIED, MISMATCH, UNREADABLE = "denied", "mismatch", "unreadable"


class PluginRefusedError(PluginError):
    """A plugin may not be run; nothing of it was."""

    code = "plugin_refused"


class Admit(NamedTuple):
    """It may be run."""

    state: str


class AskFirst(NamedTuple):
    """The user is to be asked before; with `remember` the answer holds until the file changes."""

    state: str
    remember: bool


class Refused(NamedTuple):
    """It may not be run."""

    state: str
    error: PluginRefusedError


class Candidate(NamedTuple):
    """A plugin that may be run or not. `digests` are the hashes of its file by algorithm, as far as it can be read."""

    name: str
    path: str
    origin: str
    digests: "Mapping[str, str]"


def key(name: str, *below: str) -> str:
    """The key of the configuration for a plugin, or one below it."""
    from jp.config.schema import join_key

    return join_key(("plugins", "command", name, *below))


def decide(
    candidate: Candidate,
    *,
    policy: str | None,
    pinned: "Checksum | None",
    approval: "Approval | None",
    promptable: bool,
    waiting: "Sequence[str]" = (),
) -> "Admit | AskFirst | Refused":
    """What is to be done with `candidate`. A pinned hash comes first, whatever the policy says.

    `waiting` are sentences about what the workspace says of it that is not in effect; they are hints of a refusal.
    """
    if pinned is not None and candidate.digests.get(pinned.algorithm) != pinned.value.strip().lower():
        return Refused(MISMATCH, _mismatch(candidate, pinned, waiting))
    if policy == DENY:
        run = key(candidate.name, "run")
        message = f"the plugin {candidate.name} is not run: {run} is {DENY}"
        return Refused(DENIED, _refusal(candidate, message, [_how_to_set(run, ASK), *waiting], key=run))
    if policy == UNATTENDED:
        return Admit(ALLOWED)
    state = ASKED if policy == ASK else _standing(candidate, pinned, approval)
    if state in (OWN, PINNED, APPROVED):
        return Admit(state)
    if state != ASKED and "sha256" not in candidate.digests:
        message = f"the plugin {candidate.name} can't be approved, for its file can't be read: {candidate.path}"
        return Refused(UNREADABLE, _refusal(candidate, message, waiting, key=key(candidate.name, "run")))
    if not promptable:
        return Refused(state, _unasked(candidate, state, waiting))
    return AskFirst(state, remember=state != ASKED)


def _standing(candidate: Candidate, pinned: "Checksum | None", approval: "Approval | None") -> str:
    """How it stands with a plugin that the configuration says nothing of."""
    if candidate.origin == BUNDLED:
        return OWN
    if pinned is not None:
        return PINNED  # it has the hash: the user has named this very content
    if approval is None:
        return NEW
    if not approval.is_for(candidate.path):
        return ELSEWHERE
    return APPROVED if approval.sha256 == candidate.digests.get("sha256") else CHANGED


def why(state: str, origin: str) -> str:
    """Why the user is asked, in a sentence."""
    changed = "It has changed since it was installed" if origin == INSTALLED else "It has changed since it was approved"
    return {
        ASKED: "It is asked about before every run",
        CHANGED: changed,
        ELSEWHERE: "A plugin of this name was approved, but it is another file",
    }.get(state, "It has not been approved")


def _mismatch(candidate: Candidate, pinned: "Checksum", waiting: "Sequence[str]") -> PluginRefusedError:
    where = key(candidate.name, "checksum", "value")
    found = candidate.digests.get(pinned.algorithm, "unknown, for the file can't be read")
    message = (
        f"the plugin {candidate.name} is not the file that is pinned, so it is not run: {candidate.path}\n"
        f"expected {pinned.algorithm} {pinned.value.strip().lower()} ({where})\n"
        f"found {pinned.algorithm} {found}"
    )
    hints = [f"if you know why it has changed, set {where} to what was found", *waiting]
    more = {"expected": pinned.value, "found": candidate.digests.get(pinned.algorithm), "algorithm": pinned.algorithm}
    return _refusal(candidate, message, hints, key=where, **more)


def _unasked(candidate: Candidate, state: str, waiting: "Sequence[str]") -> PluginRefusedError:
    run = key(candidate.name, "run")
    reason = why(state, candidate.origin)
    message = (
        f"the plugin {candidate.name} is not run: {reason[0].lower()}{reason[1:]}, and nobody can be asked: "
        f"this run is not promptable ({run})"
    )
    hints = [_how_to_set(run, UNATTENDED)]
    if state != ASKED:
        hints.insert(0, f"`jp plugin trust {candidate.name}` shows and approves it: {candidate.path}")
    return _refusal(candidate, message, [*hints, *waiting], key=run, reason="unattended")


def _how_to_set(run: str, value: str) -> str:
    means = "runs it without a question" if value == UNATTENDED else "asks before every run"
    return f"`jp config set --user {run} {value}` {means}"


def _refusal(candidate: Candidate, message: str, hints: "Sequence[str]", **metadata: object) -> PluginRefusedError:
    return PluginRefusedError(
        message, hints=hints, metadata={"plugin": candidate.name, "path": candidate.path, **metadata}
    )
