"""One run of an editor on the terminal: waited for, and ended when the program ends.

The editor shares our process group and stays in the foreground with us: Ctrl-Z then stops both and `fg` brings both
back. While it runs a press is its own (a RECORD scope). A shutdown ends it with TERM, sent to it alone, and after
GRACE_SECS with KILL; the wind-down waits for that, so that what the editor saves is there before the process is gone.

Still open: a shell's grandchild (`shell = true` with `&&` or a pipe) gets neither signal: our group is its group.
"""

import errno
import os
import signal
import threading
import time

from jp.interrupt import end, ladder
from jp.interrupt.mailbox import Mailbox
from jp.interrupt.router import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from jp.interrupt.children import Child
    from jp.interrupt.router import Router

GRACE_SECS = 2.0
_GONE_SECS = 1.0  # for the system to end what was killed, and for us to look at what it left
_KILL = int(getattr(signal, "SIGKILL", signal.SIGTERM))
_CONT = getattr(signal, "SIGCONT", None)
_EXITED, _ENDING = "exited", "ending"


class EndingError(Exception):
    """The program is ending: the editor was ended, or is not started any more."""


class FailedStartError(Exception):
    """The system did not start it. The message says why; `hints` what to do."""

    def __init__(self, cause: str, *hints: str) -> None:
        super().__init__(cause)
        self.hints = hints


class Watch:
    """What ends an edit early. A context manager around the whole of it; the wind-down waits for its exit."""

    def __init__(self, router: "Router | None") -> None:
        self._router = router
        self._news: Mailbox[str] = Mailbox()
        self._over = threading.Event()
        self._leave: list[Callable[[], None]] = []

    def __enter__(self) -> "Self":
        self._leave.append(end.at_wind_down(self._wind_down))
        if self._router is not None:
            self._leave.append(self._router.token.subscribe(lambda: self._news.post(_ENDING)))
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for leave in self._leave:
            leave()

    def _wind_down(self, deadline: float) -> None:
        self._news.post(_ENDING)
        self._over.wait(max(0.0, min(GRACE_SECS + _GONE_SECS, deadline - time.monotonic())))

    def run(self, argv: "Sequence[str]", environ: "Mapping[str, str]", cwd: str | None, fd: int) -> int:
        """Run `argv` on the terminal `fd`; its exit status, or minus the signal it died of.

        Raises EndingError and FailedStartError. Not on the main thread, which winds down meanwhile.
        """
        if self._router is None:
            return self._run(argv, environ, cwd, fd)
        with self._router.push(Scope(ladder.RECORD, _nothing, "editor")):
            try:
                return self._run(argv, environ, cwd, fd)
            finally:
                self._router.settle()  # a press that has ended the editor is not for whoever comes next

    def _run(self, argv: "Sequence[str]", environ: "Mapping[str, str]", cwd: str | None, fd: int) -> int:
        from jp.interrupt.children import spawn

        if end.ended() or (self._router is not None and self._router.token.cancelled):
            raise EndingError
        try:
            child = spawn(
                argv,
                env=environ,
                cwd=cwd,
                stdin=fd,
                stdout=fd,
                stderr=fd,
                own_group=False,
                on_exit=lambda _: self._news.post(_EXITED),
            )
        except (OSError, ValueError) as error:
            end.park()
            raise _failed_start(error, argv[0], environ, cwd) from error
        ending = self._news.get() == _ENDING
        if ending:
            _stop(child)
        end.park()  # the end itself has killed it: nothing may touch the terminal any more
        if ending or child.returncode is None:
            raise EndingError
        return child.returncode


def _nothing() -> None:
    """A press that the editor has had."""


def _stop(child: "Child") -> None:
    now = time.monotonic()
    # Half of what is left: after it there must be time for KILL and for what comes behind the editor.
    grace = GRACE_SECS if end.deadline is None else min(GRACE_SECS, max(0.0, (end.deadline - now) / 2))
    child.kill_group(signal.SIGTERM)
    if _CONT is not None:
        child.kill_group(_CONT)  # a stopped one would not take it
    if not child.exited.wait(grace):
        child.kill_group(_KILL)
        child.exited.wait(_GONE_SECS)


def _failed_start(
    error: OSError | ValueError, program: str, environ: "Mapping[str, str]", cwd: str | None
) -> FailedStartError:
    if isinstance(error, ValueError):
        return FailedStartError(str(error))
    reason = (error.strerror or str(error)).lower()
    if cwd is not None and not os.path.isdir(cwd):
        return FailedStartError(f"its directory {cwd} is not there")
    if error.errno == errno.ENOENT:
        if _found(program, environ, cwd):
            return FailedStartError(f"{program} is a script whose interpreter is not there", _FIRST_LINE)
        literal = program.startswith("~") or "$" in program
        return FailedStartError(f"{program} is not there", *([_NO_SHELL] if literal else []))
    if error.errno == errno.ENOEXEC:
        return FailedStartError(f"{program} is no program ({reason})", _FIRST_LINE)
    return FailedStartError(f"{program}: {reason}")


_FIRST_LINE = "A script begins with the interpreter that runs it, such as `#!/bin/sh`."
_NO_SHELL = (
    "No shell reads this command, `~` and `$` stand for themselves; `shell = true` in editor.cmd has one read it."
)


def _found(program: str, environ: "Mapping[str, str]", cwd: str | None) -> bool:
    from shutil import which

    return (
        which(os.path.join(cwd or "", program) if os.sep in program else program, path=environ.get("PATH")) is not None
    )
