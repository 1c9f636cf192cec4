"""`run_command`: a shell command in the workspace, approved by the person, in a session of its own.

At the end of a run nothing of its process group is left. What has made itself a daemon is not in it, and goes on.
"""

import os
import threading

from jp.interrupt import children
from jp.interrupt.signals import KILL, TERM
from jp.tool.outcome import Failure, Success
from jp.tool.output import Captured, Errors, Spill
from jp.tool.watch import EXITED, LIMIT, STOPPED, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from jp.interrupt.children import Child
    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

DEFAULT_SECS, MOST_SECS = 120, 3600
# One pipe for both, so that the order is kept, and nothing before the command, so that its line numbers are right.
_SHELL = ("sh", "-c", 'exec sh -c "$1" 2>&1', "sh")


def format_run_command(work: "Work") -> "Outcome":
    """The command itself."""
    return Success(work.text("command"))


def run_command(work: "Work") -> "Outcome":
    """What the command prints, both streams in order, and how it ended. A status other than 0 is a failure."""
    command = work.text("command")
    allowed = work.invocation.tool.settings.timeout_secs or MOST_SECS
    secs = min(work.number("timeout_secs", DEFAULT_SECS, least=1, most=MOST_SECS), allowed)
    output = Captured(Spill(work.place.spill_dir, work.invocation.tool.name))
    with _Waker() as waker:
        try:
            child = _spawn(work, command, waker)
        except (OSError, ValueError) as error:
            return Failure(f"sh could not be started in {work.root.path}: {error}")
        work.left_behind.append(child)
        try:
            how, held = _watched(work, child, waker, output, secs)
        except BaseException:
            output.spill.end()
            raise
        finally:
            child.kill_group(KILL)
    text = output.text()
    told = f"{text.rstrip()}\n" if text.strip() else ""
    told += f"({_ending(child, how, held, secs)})\n"
    return Success(told) if how == EXITED and child.returncode == 0 else Failure(told.rstrip())


class _Waker:
    """A pipe that wakes the watching thread; safe to write to, from any thread, also when it is closed."""

    def __enter__(self) -> "Self":
        self._lock = threading.RLock()
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            os.close(self.reader)
            os.close(self._writer)
            self._writer = -1

    def wake(self) -> None:
        with self._lock:
            try:
                if self._writer >= 0:
                    os.write(self._writer, b"!")
            except BlockingIOError:
                pass  # it has been woken often enough


def _spawn(work: "Work", command: str, waker: _Waker) -> "Child":
    return children.spawn(
        [*_SHELL, command],
        env=work.place.visible,
        cwd=work.root.path,
        stdin=children.DEVNULL,
        stdout=children.PIPE,
        stderr=children.PIPE,
        session=True,
        on_exit=lambda _: waker.wake(),
        on_stop=lambda _: waker.wake(),
    )


def _watched(work: "Work", child: "Child", waker: _Waker, output: Captured, secs: float) -> tuple[str, bool]:
    """How it came to its end, and whether something that it left behind held its output open."""
    asked = [0]

    def stop(now: bool) -> None:
        asked[0] = max(asked[0], 2 if now else 1)
        child.kill_group(KILL if now else TERM)
        waker.wake()

    errors = Errors(lambda _: None)  # what sh itself says, should it fail before the command
    watch = Watch(child, waker.reader, output, errors, limit_secs=secs, cancelled=lambda: asked[0])
    try:
        with work.stopping(stop):
            how = watch.until_over()
    finally:
        watch.close()
    work.checkpoint()
    output.feed(errors.text().encode())
    return how, watch.held


def _ending(child: "Child", how: str, held: bool, secs: int) -> str:
    if how == LIMIT:
        return f"it was ended after {secs} s"
    if how == STOPPED:
        return "it stopped itself, to wait for a terminal or a signal, and was ended"
    code = child.returncode
    if code is None:
        return "how it ended is not known"
    ending = f"exit status {code}" if code >= 0 else f"it was ended by signal {-code}"
    return ending + ("; something was left in the background, and its process group was ended" if held else "")
