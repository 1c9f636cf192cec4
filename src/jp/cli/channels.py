"""The channels of one run: the log, the terminal, the Printer, and the router's hooks into them (RFD 104)."""

import os

from jp import log
from jp.cli.context import Context
from jp.cli.fallback import Fallback
from jp.errors import JpError
from jp.interrupt.end import Cause, at_wind_down
from jp.places import state_home
from jp.terminal import promptability
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer, Target
from jp.terminal.tty import probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from jp.interrupt.router import Router


_CLOSE_SECS = 0.2


class UnwritableLogError(JpError):
    """The log file cannot be opened."""

    code = "unwritable_log"


def open_channels(
    args: "argparse.Namespace", argv: "Sequence[str]", environ: "Mapping[str, str]", router: "Router"
) -> Context:
    """Everything a command is given; raises UsageError, NotPromptable, UnwritableLogError."""
    asked = promptability.request(interactive=args.interactive, no_interactive=args.no_interactive)
    tty = probe()
    promptable = promptability.resolve(asked, environ, tty is not None)
    log_on_stderr = _open_log(args, environ)
    printer = Printer.for_process(
        format=Format(args.format), environ=environ, tty=tty, log_on_stderr=log_on_stderr, quiet=args.quiet
    )
    wind_down = _wire(printer, router)
    context = Context(
        args=args,
        argv=argv,
        environ=environ,
        printer=printer,
        promptability=promptable,
        router=router,
        wind_down=wind_down,
    )
    if promptable:
        context.fallback = Fallback(context)
        context.fallback.open()
    router.promptable = bool(promptable)
    return context


def _wire(printer: Printer, router: "Router") -> "Callable[[], None]":
    """Put the Printer behind the router's hooks; returns what takes its wind-down off again."""
    router.announce = printer.announce
    router.on_resize(printer.resized)
    router.on_stop(printer.suspend)
    router.on_continue(printer.resume)
    router.on_countdown(_Countdown(printer, router))
    printer.on_closed = lambda target: router.shutdown(Cause.PIPE) if target is Target.OUT else None
    printer.on_hangup = lambda: router.shutdown(Cause.HUP)
    return at_wind_down(lambda deadline: _close(printer, deadline))


def _close(printer: Printer, deadline: float) -> None:
    import time

    # A moment beyond the deadline, so that what cannot be written in time is ended by the watchdog, which says so. The
    # status line stays for as long: it may be the countdown of this very wait.
    printer.flush(max(0.0, deadline - time.monotonic()) + 1)
    printer.close(_CLOSE_SECS)


class _Countdown:
    """The line that counts a graceful shutdown down; claimed at its first tick."""

    def __init__(self, printer: Printer, router: "Router") -> None:
        self._printer = printer
        self._router = router
        self._claimed = False

    def __call__(self, left: float) -> None:
        if not self._claimed:
            self._claimed = True
            interval = self._router.shutdown_interval_secs
            self._printer.status("Shutting down…", countdown_from=left, interval=interval)


def _on_stderr(line: bytes) -> None:
    """Write a log line where it can be written at once: a stderr that nobody reads must not hold up a turn."""
    from select import select

    if select([], [2], [], 0)[1]:
        os.write(2, line)


def _open_log(args: "argparse.Namespace", environ: "Mapping[str, str]") -> bool:
    """Open the log that flags and environment ask for; whether it is on stderr."""
    path = args.log_file or environ.get("JP_LOG_FILE")
    if not path and not args.verbose:
        return False
    level = min(log.TRACE, log.WARN + args.verbose) if args.verbose else log.INFO
    if path == "-":
        log.open_log(_on_stderr, level)
        return True
    if not path:
        state = state_home(environ)
        if state is None:
            raise UnwritableLogError("there is no place for a log", hints=["set HOME, or name a file: `--log-file`"])
        path = os.path.join(state, "jp.log")
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        log.open_log(log.append_to(path), level)
    except OSError as error:
        raise UnwritableLogError(
            f"can't write the log to {path}: {error.strerror}",
            hints=["`--log-file` and JP_LOG_FILE name the file; `-` is stderr"],
            metadata={"path": path},
        ) from error
    return False
