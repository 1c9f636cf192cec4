"""The shell around everything: the command line, the channels, one command, one rendering of what went wrong."""

import os

from jp.errors import DONE, FAILED, USAGE, JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from jp.cli.context import Context
    from jp.cli.parse import Command, Help, UnknownCommandError
    from jp.interrupt.router import Router


def run(argv: "Sequence[str]", router: "Router") -> int:
    """Run the command that `argv` names; returns the exit status. Raises Shutdown when the run was interrupted."""
    import gc

    # Imports make objects that stay; looking through them again and again for cycles is a tenth of the start.
    gc.set_threshold(50_000, 10, 10)
    from jp.cli.parse import Help, Version, parse

    try:
        command = parse(argv, lambda unknown: _plugin(unknown, router))
    except Help as asked:
        return _print(asked.text + _plugins(asked, router) + asked.foot)
    except Version:
        from jp.version import VERSION

        return _print(f"jp {VERSION}\n")
    except JpError as error:
        from jp.cli.report import text

        _write(2, text(error))
        return error.status
    return _run_command(command, argv, router)


def _plugin(unknown: "UnknownCommandError", router: "Router") -> "Command":
    """A plugin's command; raises as `parse`."""
    from jp.cli.plugin_dispatch import dispatch

    return dispatch(unknown, os.environ, router)


def _plugins(asked: "Help", router: "Router") -> str:
    """The plugins of the group that help lists; empty for the help of a command."""
    if not asked.group:
        return ""
    from jp.cli.plugin_dispatch import listed

    return listed(asked.group, os.environ, router)


def _run_command(command: "Command", argv: "Sequence[str]", router: "Router") -> int:
    from jp.cli.channels import open_channels
    from jp.cli.report import report
    from jp.interrupt.checkpoint import checkpoint
    from jp.terminal.tty import is_pipe

    try:
        context = open_channels(command.args, argv, os.environ, router)
    except JpError as error:
        from jp.cli.report import text_or_record

        _write(2, text_or_record(error, command.args.format))
        return error.status
    if not is_pipe(0):  # else who writes into it may be reading the terminal (`cat | jp q`)
        context.hold_terminal()
    try:
        checkpoint()  # a shutdown that began before there was anything to do: do nothing
        status = int(command.module.run(command.args, context))
    except JpError as error:
        report(error, context.printer)
        status = error.status
    return _close(context, status)


def _close(context: "Context", status: int) -> int:
    """Write what is still queued; a full disk under stdout is a failure that is said."""
    context.close()
    error = context.printer.out_error
    if error is not None and status in (DONE, USAGE):
        _write(2, f"jp: cannot write to stdout: {error.strerror or error}\n")
        return FAILED
    return status


def _print(text: str) -> int:
    return _write(1, text)


def _write(fd: int, text: str) -> int:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(fd, data) :]
    except BrokenPipeError:
        from jp.interrupt.end import Cause, finish

        if fd == 1:
            finish(Cause.PIPE)
    except OSError as error:
        if fd == 1:
            _write(2, f"jp: cannot write to stdout: {error.strerror}\n")
        return FAILED
    return DONE
