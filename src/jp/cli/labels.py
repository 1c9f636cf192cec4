"""The labels that a new conversation gets from the configuration; one may be what an approved command says."""

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from jp.cli.context import Context
    from jp.config.sections.conversation import Label, LabelCommand
    from jp.config.sections.tools import Command


class LabelCommandError(JpError):
    """The command that gives a label its value did not; nothing has been made."""

    code = "label_command"


def of_new(
    configured: "Mapping[str, str | Label]", ctx: "Context", hidden: "Collection[str]" = ()
) -> dict[str, list[str]]:
    """The labels of a new conversation. Before it is made: what can fail or be asked comes first.

    `hidden` are variables that no command is told: where providers have their keys. Raises LabelCommandError,
    NotPromptable where a command waits for an approval that nobody can give, and Shutdown.
    """
    found = {}
    environ = {name: value for name, value in ctx.environ.items() if name not in hidden}
    for name, label in configured.items():
        if isinstance(label, str):
            found[name] = [label]
        elif label.apply_on.new:
            given = label.value
            value = given if isinstance(given, str) else _from_command(name, given, label.run, ctx, environ)
            if value is not None:
                found[name] = [value]
    return found


def _from_command(
    name: str, given: "LabelCommand", run: str, ctx: "Context", environ: "Mapping[str, str]"
) -> str | None:
    """What the command says; None leaves the label out: it was refused, or says nothing."""
    shown = _shown(given.cmd)
    if run == "deny" or (run == "ask" and not _approved(name, shown, ctx)):
        ctx.printer.note(f"the label `{name}` is left out: its command was not run")
        return None
    return _output(name, _argv(name, given.cmd), shown, ctx, environ) or None


def _approved(name: str, shown: str, ctx: "Context") -> bool:
    from jp.cli.pick import confirmed

    key = f"conversation.labels.{name}.run"
    hints = [f'`{key} = "unattended"` runs it without asking, "deny" leaves the label out']
    return confirmed(ctx, f"Run this command for the label `{name}`?", body=shown, hints=hints)


def _shown(command: "str | Command") -> str:
    import shlex

    return command if isinstance(command, str) else shlex.join([command.program, *command.args])


def _argv(name: str, command: "str | Command") -> list[str]:
    import shlex

    if isinstance(command, str):
        try:
            argv = shlex.split(command)
        except ValueError as error:
            raise _error(name, command, str(error)) from error
        if not argv:
            raise _error(name, command, "it is empty")
        return argv
    if command.shell:
        return ["sh", "-c", f'{command.program} "$@"', "sh", *command.args]
    return [command.program, *command.args]


def _output(name: str, argv: list[str], shown: str, ctx: "Context", environ: "Mapping[str, str]") -> str:
    import os
    import signal

    from jp.cli.stdin import read, text_of
    from jp.interrupt.checkpoint import checkpoint
    from jp.interrupt.children import DEVNULL, PIPE, spawn
    from jp.turn.inbox import Inbox

    inbox = Inbox()
    try:
        child = spawn(
            argv,
            env=environ,
            cwd=ctx.workspace.root,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            on_exit=lambda _: inbox.post(None),
        )
    except OSError as error:
        raise _error(name, shown, error.strerror or str(error)) from error
    assert child.stdout is not None
    attended = inbox.attend(ctx.router)
    try:
        text = text_of(read(ctx, child.stdout, f"the output of `{shown}`"))
        while child.returncode is None:
            checkpoint()
            inbox.get()
    finally:
        attended()
        if child.returncode is None:
            child.kill_group(signal.SIGTERM)
        os.close(child.stdout)
    if child.returncode != 0:
        how = f"exited {child.returncode}" if child.returncode > 0 else f"died of signal {-child.returncode}"
        raise _error(name, shown, f"it {how}")
    return text.strip()


def _error(name: str, shown: str, why: str) -> LabelCommandError:
    return LabelCommandError(
        f"the label `{name}` has no value: `{shown}` failed: {why}",
        hints=[f'`conversation.labels.{name}.run = "deny"` leaves the label out'],
        metadata={"label": name, "command": shown},
    )
