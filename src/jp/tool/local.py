"""Local tools: a command that is run for each call, and again with the answer to each question it has.

What does not work, and why:

* A process group in our session: a tool that asks on `/dev/tty` is stopped by the system, or draws over the screen.
* Reading until the pipes end: a grandchild that a tool leaves behind holds them for ever.
* Waiting for the tool: a tool that never ends, or that is stopped, never comes back.

Chosen: a session of its own, and one thread a run that waits for whatever comes first: output, the tool's end, a stop,
a cancellation, the time limit. When a run is over nothing of its process group is left, whatever ended it. More is not
promised: what has made itself a daemon (a session of its own) is not in the group, goes on, and is nobody's child.
"""

import _thread
import errno
import os
import threading
import time

from jp import log as jp_log
from jp.errors import JpError
from jp.interrupt import children, signals
from jp.interrupt.signals import KILL, TERM
from jp.tool import watch
from jp.tool.command_line import argv, formatter, key
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, Success
from jp.tool.output import MAX_CONTENT, Captured, Errors, Spill, shortened
from jp.tool.redaction import secrets_of, without_secrets
from jp.tool.reply import parse
from jp.tool.slots import Slots
from jp.tool.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from jp.interrupt.children import Child
    from jp.tool.definition import Definition, Invocation
    from jp.tool.executor import Run
    from jp.tool.outcome import Outcome

    Done = Callable[[Outcome], object]

AT_ONCE = 32
AFTER_SECS = 2.0  # that an earlier run may take to be over
_LOOK_SECS = 0.05


class LocalTools:
    """The Executor of tools whose origin is a command.

    `root` is the workspace's, the working directory of every tool; `hidden` names the variables of `environ` that no
    tool inherits (keys of providers). Output that is too long for a model is kept whole in files in `spill_dir`.
    """

    def __init__(
        self,
        root: str,
        *,
        workspace_id: str = "",
        conversation_id: str = "",
        environ: "Mapping[str, str]",
        hidden: "Collection[str]" = (),
        spill_dir: str,
        log: "Callable[..., object]" = jp_log.log,
    ) -> None:
        self.root = root
        self.workspace_id = workspace_id
        self.conversation_id = conversation_id
        self.environ = {name: value for name, value in environ.items() if name not in hidden}
        self.spill_dir = spill_dir
        self.log = log
        self.slots = Slots(AT_ONCE)

    def formats(self, tool: "Definition") -> bool:
        """Whether a command is configured that shows this tool's arguments."""
        return formatter(tool) is not None

    def start(self, invocation: "Invocation", done: "Done", *, after: "Run | None" = None) -> "LocalRun":
        """Run the tool's command, or the one that formats its arguments; see Executor."""
        run = LocalRun(self, invocation, done, after)
        self.slots.take(run.start, first=invocation.action == FORMAT)
        return run


class LocalRun:
    """One run of a local tool, on a thread of its own."""

    def __init__(self, tools: LocalTools, invocation: "Invocation", done: "Done", after: "Run | None") -> None:
        self._tools = tools
        self._invocation = invocation
        self._name = invocation.tool.name
        self._done = done
        self._after = after
        self._secrets = secrets_of(invocation)
        self._child: Child | None = None
        self._cancelled = 0  # 1: with a grace, 2: at once
        self._gate = threading.RLock()  # the wake-up descriptor is not written to while it is being closed
        self._waker = -1
        self._over = threading.Event()

    # --- for everybody

    def cancel(self, *, now: bool = False) -> None:
        """End the tool: SIGTERM, and half a second later SIGKILL; `now`: that at once."""
        wanted = 2 if now else 1
        if wanted <= self._cancelled or self._over.is_set():
            return
        self._cancelled = wanted
        if self._tools.slots.withdraw(self.start):
            self._over.set()
            return
        if self._child is not None:
            self._child.kill_group(KILL if now else TERM)
        self._wake()

    def over(self, timeout: float) -> bool:
        """Whether the tool has ended, and all of its group with it; waits so many seconds for it."""
        return self._over.wait(max(0.0, timeout))

    def start(self) -> None:
        """It is its turn."""
        try:
            _thread.start_new_thread(self.run, ())
        except RuntimeError as error:
            self._over.set()
            self._done(Failure(f"{self._name} could not be started: {error}"))
            self._tools.slots.leave()

    # --- on the run's own thread

    def run(self) -> None:
        """The run from its beginning to its end."""
        signals.alone()
        try:
            outcome = self._outcome()
        except Exception as error:  # whatever it is, the turn must hear of it
            self._log(jp_log.ERROR, f"a run failed: {error!r}")
            outcome = Failure(f"{self._name} could not be run: {error}")
        left = self._child is not None and self._child.kill_group(KILL)
        try:
            self._done(without_secrets(outcome, self._secrets))
        finally:
            if left:
                self._await_empty()
            self._over.set()
            self._tools.slots.leave()

    def _outcome(self) -> "Outcome":
        until = time.monotonic() + AFTER_SECS
        while self._after is not None and not self._cancelled and time.monotonic() < until:
            if self._after.over(_LOOK_SECS):
                break
        self._after = None  # or each run would keep all those before it
        tools, invocation = self._tools, self._invocation
        if self._cancelled:
            return Failure(f"{self._name} was cancelled")
        try:
            command = argv(invocation, tools.root, tools.workspace_id, tools.conversation_id)
        except JpError as error:
            return Failure(f"The command of {self._name} can't be run ({key(invocation)}): {error.message}")
        wake, self._waker = os.pipe()
        try:
            os.set_blocking(wake, False)
            os.set_blocking(self._waker, False)
            return self._watched(command, wake)
        finally:
            with self._gate:
                os.close(self._waker)
                self._waker = -1
            os.close(wake)

    def _watched(self, command: list[str], wake: int) -> "Outcome":
        try:
            child = self._child = children.spawn(
                command,
                env=self._tools.environ,
                cwd=self._tools.root,
                stdin=children.DEVNULL,
                stdout=children.PIPE,
                stderr=children.PIPE,
                session=True,
                on_exit=lambda _: self._wake(),
                on_stop=lambda _: self._wake(),
            )
        except (OSError, ValueError) as error:
            return Failure(self._not_started(command, error))
        if self._cancelled:  # meanwhile
            child.kill_group(TERM)
        spill = Spill(self._tools.spill_dir, self._name, self._secrets)
        out, err = Captured(spill), Errors(lambda line: self._log(jp_log.INFO, line), self._secrets)
        limit = self._invocation.tool.settings.timeout_secs or 0
        seen = Watch(child, wake, out, err, limit_secs=limit, cancelled=lambda: self._cancelled)
        try:
            how = seen.until_over()
        finally:
            seen.close()
            err.end()
        if seen.held:
            self._log(
                jp_log.INFO, "something that it had left running held its output open; its process group was ended"
            )
        if how == watch.CANCELLED:
            spill.end()
            return Failure(f"{self._name} was cancelled")
        if how == watch.EXITED and child.returncode is not None:
            whole = out.whole
            outcome = parse(whole) if whole is not None else None
            if outcome is not None:
                return self._fitting(outcome, spill)
            if child.returncode == 0:
                return Success(out.text(self._secrets))
        return Failure(_report(self._ending(how, child), out.text(self._secrets), err.text()))

    def _fitting(self, outcome: "Outcome", spill: Spill) -> "Outcome":
        """`outcome` no longer than a model is given, and the whole of it in the file."""
        outcome = without_secrets(outcome, self._secrets)
        if isinstance(outcome, Success):
            return Success(shortened(outcome.content, spill))
        if isinstance(outcome, Failure) and len(outcome.content.encode("utf-8", "replace")) > MAX_CONTENT:
            return Failure(shortened(outcome.content, spill), transient=outcome.transient)
        return outcome

    def _ending(self, how: str, child: "Child") -> str:
        """How it came to a bad end, in a sentence."""
        settings = self._invocation.tool.settings
        if how == watch.LIMIT:
            limit = f"conversation.tools.{self._name}.timeout_secs"
            return f"{self._name} took longer than {settings.timeout_secs} seconds and was ended ({limit})"
        if how == watch.STOPPED:
            return f"{self._name} was stopped, and ended: it wanted the terminal, which a tool can't have"
        if child.returncode is None:
            return f"{self._name} could not be ended"
        if child.returncode < 0:
            return f"{self._name} was killed by {signals.name_of(-child.returncode)}"
        return f"{self._name} failed with exit status {child.returncode}"

    def _not_started(self, command: list[str], error: Exception) -> str:
        program = command[0]
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        code = error.errno if isinstance(error, OSError) else None
        if code == errno.ENOENT:
            missing = not os.path.isdir(self._tools.root)
            reason = f"there is no directory {self._tools.root}" if missing else f"there is no program `{program}`"
        elif code in (errno.EACCES, errno.ENOEXEC):
            reason = f"`{program}` is not a program that can be run ({reason})"
        elif code == errno.E2BIG:
            longest = max(len(word.encode("utf-8", "replace")) for word in command)
            reason = f"`{program}` was given more than a command line holds (a word of {longest:,} bytes)"
        else:
            reason = f"`{program}`: {reason}"
        return f"{self._name} could not be started: {reason} ({key(self._invocation)})"

    def _await_empty(self) -> None:
        """Wait until nothing of the group runs; what is still there after that time has been killed all the same."""
        child = self._child
        assert child is not None
        until = time.monotonic() + watch.REAP_SECS
        child.exited.wait(watch.REAP_SECS)
        while child.lives() and time.monotonic() < until:
            time.sleep(0.005)

    def _wake(self) -> None:
        with self._gate:
            if self._waker >= 0:
                try:
                    os.write(self._waker, b"!")
                except BlockingIOError:
                    pass  # it has been woken often enough

    def _log(self, level: int, line: str) -> None:
        self._tools.log(level, "tool", line, tool=self._name, call=self._invocation.call_id)


def _report(ending: str, out: str, err: str) -> str:
    parts = [ending]
    for name, text in (("stdout", out), ("stderr", err)):
        if text.strip():
            parts.append(f"{name}:\n{text.rstrip()}")
    return "\n\n".join(parts)
