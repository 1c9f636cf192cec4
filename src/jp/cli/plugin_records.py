"""What `jp plugin` tells of a plugin: records, and rows for people."""

from typing import Any

from jp.cli.plugin_dispatch import help_text, reached, unreached
from jp.cli.plugins import UNASKED, Judgement, judge, settings_of
from jp.plugin import admission
from jp.plugin.approvals import Approval
from jp.plugin.discovery import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jp.cli.context import Context
    from jp.config.load import Config

STATES = {
    admission.APPROVED: "approved",
    admission.OWN: "a part of JP",
    admission.ALLOWED: "allowed by the configuration",
    admission.PINNED: "pinned by the configuration",
    **UNASKED,
}


def emit(ctx: "Context", record: Any) -> None:
    """Print a record on stdout. What is no text (a path may be any bytes) is replaced."""
    import json

    ctx.printer.record(json.dumps(record, ensure_ascii=False, default=str).encode("utf-8", "replace"))


def commands(found: Found, plugins: "Sequence[Found]") -> list[list[str]]:
    """The commands that it answers to, without those that a built-in one or another of the `plugins` answers."""
    return [list(command) for command in reached(found, plugins)]


def problem_of(found: Found, plugins: "Sequence[Found]") -> str:
    """What is wrong with it, if anything is; that it is not approved is its state."""
    return unreached(found, plugins) or ("" if found.problem in UNASKED.values() else found.problem)


def record(
    found: Found, plugins: "Sequence[Found]", config: "Config", approvals: "Mapping[str, Approval]"
) -> dict[str, Any]:
    """One of the `plugins` in a listing."""
    return _record(found, plugins, config, judge(found, config, approvals, always_read=False))


def _record(found: Found, plugins: "Sequence[Found]", config: "Config", judged: Judgement) -> dict[str, Any]:
    settings = settings_of(config, found.name)
    said = found.description
    return {
        "name": found.name,
        "commands": commands(found, plugins),
        "origin": found.origin,
        "path": found.path,
        "state": judged.state,
        "run": settings.run if settings is not None else None,
        "version": said.version if said is not None else None,
        "description": found.summary or None,
        "problem": problem_of(found, plugins) or None,
    }


def whole_record(
    found: Found, plugins: "Sequence[Found]", config: "Config", approvals: "Mapping[str, Approval]"
) -> dict[str, Any]:
    """All that is known of one of the `plugins`."""
    judged = judge(found, config, approvals)
    settings, approval, said = settings_of(config, found.name), approvals.get(found.name), found.description
    approval = approval if approval is not None and approval.is_for(found.path) else None
    pinned = settings.checksum if settings is not None else None
    return {
        **_record(found, plugins, config, judged),
        "sha256": judged.fingerprint.sha256 if judged.fingerprint is not None else None,
        "approved_at": (approval.approved_at or None) if approval is not None else None,
        "source": (approval.source or None) if approval is not None else None,
        "checksum": {"algorithm": pinned.algorithm, "value": pinned.value} if pinned is not None else None,
        "options": dict(settings.options) if settings is not None else {},
        "author": (said.author or None) if said is not None else None,
        "repository": (said.repository or None) if said is not None else None,
        "help": help_text(found) if said is not None else None,
    }


def shown_command(each: "Mapping[str, Any]") -> str:
    """The command of a record as it is typed."""
    return "jp " + " ".join(each["commands"][0]) if each["commands"] else ""
