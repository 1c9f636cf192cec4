"""Command plugins as commands see them: described as far as they may be run, judged, and admitted by the person."""

import os

from jp.errors import JpError, UsageError, nearest
from jp.plugin import admission
from jp.plugin.admission import Admit, AskFirst, Candidate, Refused, decide, key
from jp.plugin.approvals import Approval, Approvals
from jp.plugin.descriptions import Descriptions
from jp.plugin.discovery import BUNDLED, INSTALLED, ON_PATH, Found
from jp.plugin.fingerprint import Fingerprint, Stamp, fingerprint, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.config.sections.general import CommandPlugin
    from jp.interrupt.token import ShutdownToken
    from jp.prompt.questions import Choice

    Decision = Admit | AskFirst | Refused

LONGEST = 300  # characters of what a plugin says of itself, in a question
WHERE = {INSTALLED: "installed", ON_PATH: "found on $PATH", BUNDLED: "a part of JP"}
NOT_APPROVED = "not approved yet"
JUST_CHANGED = "changed just now"  # it might be run when it was judged
# Why a plugin is not asked what it is, in few words.
UNASKED = {
    admission.NEW: NOT_APPROVED,
    admission.ELSEWHERE: NOT_APPROVED,
    admission.CHANGED: "changed since it was approved",
    admission.ASKED: "asked about before every run",
    admission.DENIED: "denied by the configuration",
    admission.MISMATCH: "not the file that is pinned",
    admission.UNREADABLE: "its file can't be read",
}
NOT_ASKED = frozenset((NOT_APPROVED, UNASKED[admission.CHANGED], UNASKED[admission.ASKED]))


class UnknownPluginError(UsageError):
    """A plugin is named that is not there."""

    code = "unknown_plugin"


def named(name: str, found: "Sequence[Found]") -> Found:
    """A plugin by its name, with `jp-` or without. Raises UnknownPluginError with the nearest."""
    wanted = os.path.basename(name).removeprefix("jp-")
    for each in found:
        if each.name == wanted:
            return each
    near = nearest(wanted, [each.name for each in found])
    raise UnknownPluginError(
        f"there is no plugin {wanted}",
        hints=[*([f"did you mean {near}?"] if near else []), "`jp plugin ls` lists them"],
        metadata={"plugin": wanted, "nearest": near},
    )


def settings_of(config: "Config", name: str) -> "CommandPlugin | None":
    """What is configured for a plugin, and in effect."""
    return config.root.plugins.command.get(name)


# --- judging


class Judgement:
    """What is to be done with a plugin, and its file as it was when that was decided (None: it was not read)."""

    __slots__ = ("decision", "fingerprint")

    def __init__(self, decision: "Decision", found: Fingerprint | None) -> None:
        self.decision = decision
        self.fingerprint = found

    @property
    def state(self) -> str:
        """One of the words of `admission`."""
        return self.decision.state


def judge(
    found: Found,
    config: "Config",
    approvals: "Mapping[str, Approval]",
    *,
    promptable: bool = True,
    always_read: bool = True,
) -> Judgement:
    """Read the plugin's file and decide whether it may be run. Raises Shutdown.

    Without `always_read` the file of one is not read that can't be run without a question, whatever is in it: there may
    be anything on `$PATH`.
    """
    from jp.cli.trusting import hints_for

    settings = settings_of(config, found.name)
    policy, pinned = (settings.run, settings.checksum) if settings is not None else (None, None)
    approval = approvals.get(found.name)
    known = policy == admission.UNATTENDED or pinned is not None or approval is not None or found.origin == BUNDLED
    read, digests = None, _UNREAD
    if always_read or known:
        read = _read(found.path, pinned.algorithm if pinned is not None else None)
        digests = dict(read.digests) if read is not None else {}
    decision = decide(
        Candidate(found.name, found.path, found.origin, digests),
        policy=policy,
        pinned=pinned,
        approval=approval,
        promptable=promptable,
        waiting=hints_for(config, "plugins", "command", found.name),
    )
    return Judgement(decision, read)


_UNREAD: "dict[str, str]" = {"sha256": ""}  # the hash of no file


def _read(path: str, algorithm: str | None) -> Fingerprint | None:
    try:
        return fingerprint(path, {"sha256", algorithm or "sha256"})
    except OSError:
        return None


# --- describing


def described(
    found: "Iterable[Found]",
    environ: "Mapping[str, str]",
    token: "ShutdownToken",
    config: "Callable[[], Config | None]",
    *,
    own: bool = True,
    again: bool = False,
) -> list[Found]:
    """The plugins with what they say of themselves, or why that is not known.

    What is remembered is not asked for again, but with `again` where there was no answer. Asked are those that may be
    run without a question; `config` is called when there are others than those remembered, and gives None where the
    configuration can't be had: then nothing is run. Without `own` those that came with JP are left as they are. Raises
    Shutdown.
    """
    from jp.cli.lean import import_msgspec

    import_msgspec()
    memory = Descriptions.of(environ)
    done: dict[str, Found] = {}
    missing: list[Found] = []
    for each in found:
        remembered = memory.get(each.path, stamp(each.path)) if own or each.origin != BUNDLED else None
        if remembered is not None and not (again and remembered.problem):
            done[each.name] = each.described(remembered.description, remembered.problem)
        else:
            done[each.name] = each
            if own or each.origin != BUNDLED:
                missing.append(each)
    if missing:
        for each in _asked(missing, environ, token, config(), memory):
            done[each.name] = each
        memory.save()
    return list(done.values())


def _asked(
    missing: "Sequence[Found]",
    environ: "Mapping[str, str]",
    token: "ShutdownToken",
    config: "Config | None",
    memory: Descriptions,
) -> list[Found]:
    if config is None:
        return [each.described(None, "not asked: the configuration can't be read") for each in missing]
    approvals = Approvals.of(environ).all()
    judged = {each.path: judge(each, config, approvals, always_read=False) for each in missing}
    admitted = [
        (path, each.fingerprint.stamp if each.fingerprint is not None else None)
        for path, each in judged.items()
        if isinstance(each.decision, Admit)
    ]
    answers = {}
    if admitted:
        from jp.plugin.describing import describe

        answers = describe(admitted, environ, token)
    out = []
    for each in missing:
        answer = answers.get(each.path, UNASKED.get(judged[each.path].state, JUST_CHANGED))
        read = judged[each.path].fingerprint
        if each.path in answers and read is not None:
            memory.put(each.path, read, answer)
        out.append(each.described(None, answer) if isinstance(answer, str) else each.described(answer, ""))
    return out


def described_for(ctx: "Context", config: "Config", found: "Iterable[Found]", *, again: bool = False) -> list[Found]:
    """`described` in a command."""
    from jp.interrupt.checkpoint import checkpoint

    with ctx.printer.status("Asking plugins what they are…", delay=0.5):
        out = described(found, ctx.environ, ctx.router.token, lambda: config, again=again)
    checkpoint()
    return out


def forget_description(environ: "Mapping[str, str]", path: str) -> None:
    """Have a plugin asked again before it is described."""
    memory = Descriptions.of(environ)
    memory.drop(path)
    memory.save()


# --- admitting


def admit(ctx: "Context", config: "Config", found: Found) -> Stamp | None:
    """Return where the plugin may be run now; the person is asked where that is theirs to say, and remembered.

    What is returned is the stamp of the file that was judged, for a last look right before the start (`still`); None
    where any file may run. Raises PluginRefusedError, NotPromptableNow and Shutdown.
    """
    while True:
        approvals = Approvals.of(ctx.environ)
        judged = judge(found, config, approvals.all(), promptable=bool(ctx.promptability))
        decision = judged.decision
        if isinstance(decision, Refused):
            raise decision.error
        if isinstance(decision, AskFirst):
            _ask(ctx, found, judged, approvals.get(found.name))
        if judged.fingerprint is None or stamp(found.path) == judged.fingerprint.stamp:
            break
        ctx.printer.note(f"the plugin {found.name} was changed just now, so it is looked at again")
    if isinstance(decision, AskFirst) and decision.remember and judged.fingerprint is not None:
        remember(ctx, found, judged.fingerprint)
    return judged.fingerprint.stamp if judged.fingerprint is not None else None


def still(found: Found, judged: Stamp | None) -> None:
    """Raise PluginRefusedError where the plugin's file is not the one that was judged any more."""
    if judged is not None and stamp(found.path) != judged:
        raise admission.PluginRefusedError(
            f"the plugin {found.name} was not run, for it was changed just now: {found.path}",
            hints=["try again, and it is looked at again"],
            metadata={"plugin": found.name, "path": found.path},
        )


def remember(ctx: "Context", found: Found, read: Fingerprint) -> None:
    """Approve the file for later runs; where that can't be kept it is said, and holds for this run."""
    try:
        Approvals.of(ctx.environ).approve(found.name, found.path, read.sha256)
    except JpError as error:
        ctx.printer.note(f"{error.message}; {found.name} will be asked about again")


def _ask(ctx: "Context", found: Found, judged: Judgement, approval: Approval | None) -> None:
    from jp.interrupt.checkpoint import checkpoint
    from jp.prompt.outcomes import Submitted

    run = key(found.name, "run")
    hints = [f"`jp config set --user {run} unattended` runs it without a question"]
    question = _question(found, judged, approval)
    answer = ctx.asker.ask(question, about=f"whether to run the plugin {found.name} ({run})", hints=hints)
    if answer != Submitted("y"):
        checkpoint()
        raise admission.PluginRefusedError(
            f"the plugin {found.name} was not run, for it was not approved",
            metadata={"plugin": found.name, "path": found.path, "key": run},
        )


def _question(found: Found, judged: Judgement, approval: Approval | None) -> "Choice":
    from jp.prompt.questions import Choice, Option

    asked_each_time = judged.state == admission.ASKED
    why = admission.why(judged.state, found.origin)
    if judged.state == admission.CHANGED and approval is not None and approval.approved_at:
        why += f" ({approval.approved_at[:10]})"
    body = [*facts(found, judged.fingerprint), f"{why}." + (f" ({key(found.name, 'run')})" if asked_each_time else "")]
    if not asked_each_time:
        body.append("`y` is remembered: you are asked again when the file has changed.")
    yes = "run it this time" if asked_each_time else "run it, now and from now on"
    options = (Option("y", yes), Option("n", "do not run it"))
    return Choice(f"Run the plugin {found.name}?", options, body="\n".join(body))


def facts(found: Found, read: Fingerprint | None) -> list[str]:
    """What a person needs to know of a plugin before it may be run, in lines; what can't be seen is escaped."""
    from jp.cli.trusting import visible
    from jp.terminal.sanitize import one_line

    lines = [f"{visible(found.path)} ({WHERE[found.origin]})"]
    if read is not None:
        lines.append(f"sha256 {read.sha256}")
    if found.description is not None:
        lines.append(f"It says of itself: {one_line(found.description.description)[:LONGEST]}")
    return lines
