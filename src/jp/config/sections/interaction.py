"""`interrupt`, `editor`, `query`: what a press does, and where text is written (RFD 088, RFD 092)."""

import msgspec

from jp.config.containers import Items, Word
from jp.config.kinds import Choice, Kind, Whole, ours
from jp.config.sections.style import BoundedProgress, bounded
from jp.config.sections.tools import Command, command
from jp.config.tables import Table

COMPOSE = (False, True, "always", "never")
STREAMING_ACTIONS = ("prompt", "continue", "reply", "stop", "abort")
TOOL_CALL_ACTIONS = ("prompt", "continue", "respond", "stop", "restart")
TURN_ACTIONS = ("prompt", "continue", "reply", "stop")


class Scope(msgspec.Struct, frozen=True):
    """What the first press does in one scope, and where a reply is written."""

    action: str
    compose_in_editor: bool | str


class Interrupt(msgspec.Struct, frozen=True):
    """The interrupt section as resolved from all sources."""

    escalation_cooldown_secs: int
    streaming: Scope
    tool_call: Scope
    turn: Scope
    shutdown: BoundedProgress


class Inline(msgspec.Struct, frozen=True):
    """The inline editor."""

    edit_mode: str


class Editor(msgspec.Struct, frozen=True):
    """The external editor (a command, else the first of the variables that is set) and the inline one."""

    envs: list[str]
    inline: Inline
    cmd: str | Command | None = None


class Query(msgspec.Struct, frozen=True):
    """Composing a query."""

    compose_in_editor: bool | str


def _compose(what: str, more: str = "") -> Choice:
    doc = (
        f"Where {what} is written. false: inline, Ctrl-X opens the editor. true: in the editor, inline if it cannot "
        f'open{more}. "always": in the editor only. "never": inline only.'
    )
    return Choice(COMPOSE, False, doc)


def _scope(actions: tuple[str, ...], doc: str) -> Table:
    keys: dict[str, Kind] = {
        "action": Choice(actions, "prompt", "What the first Ctrl-C does; anything but prompt replaces the menu."),
        "compose_in_editor": _compose("the reply"),
    }
    return Table(keys, doc)


def interrupt() -> Table:
    """The keys of `interrupt`."""
    shutdown: Table = bounded(
        "The countdown of a graceful shutdown.",
        "Seconds until JP ends whatever is still running, a slow but healthy teardown too; 0 ends it at once.",
    )
    shutdown.fields["show"].doc = "Whether the countdown is shown; the deadline holds all the same."
    return Table(
        {
            "escalation_cooldown_secs": Whole(
                2, "Seconds after the last press until the count of presses starts again; 0 counts as 1."
            ),
            "streaming": _scope(STREAMING_ACTIONS, "Ctrl-C while the assistant answers."),
            "tool_call": _scope(TOOL_CALL_ACTIONS, "Ctrl-C while tools run."),
            "turn": ours(_scope(TURN_ACTIONS, "Ctrl-C between the steps of a turn.")),
            "shutdown": ours(shutdown),
        },
        "What Ctrl-C does.",
    )


EDITOR_VARIABLES = ("JP_EDITOR", "VISUAL", "EDITOR")
"""Variables that hold an editor by convention."""


def editor() -> Table:
    """The keys of `editor`."""
    cmd = command(
        'The editor: "code --wait", or { program, args, shell }. No shell reads it but with shell = true: then the '
        'paths are "$@", at the end where it is not said; on Windows use shell = false.'
    )
    return Table(
        {
            "cmd": cmd,
            "envs": Items(
                Word(),
                list(EDITOR_VARIABLES),
                "Variables that name an editor, where cmd is unset; the first one that holds a command is used.",
            ),
            "inline": Table(
                {"edit_mode": Choice(("emacs", "vi"), "emacs", "Keys of the inline editor.")}, "The inline editor."
            ),
        },
        "Where text is edited.",
    )


def query() -> Table:
    """The keys of `query`."""
    return ours(Table({"compose_in_editor": _compose("a query", " or saves nothing")}, "Composing a query."))
