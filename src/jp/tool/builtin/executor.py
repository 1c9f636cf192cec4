"""Runs the built-in tools, each call on a thread of its own that nobody ever waits for, some of them at once.

They work in small steps and look between them whether they are still wanted. What could hold the interpreter or not
come back (a search by somebody's pattern, a program, a page) is in a child process or on a socket, which a cancel ends.
"""

import importlib
import threading
import time

from msgspec import structs

from jp.errors import JpError
from jp.interrupt import signals
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.builtin.work import Abandoned, BadArgument, Place, Work
from jp.tool.definition import FORMAT
from jp.tool.outcome import Failure, NeedsInput, Success
from jp.tool.slots import Slots
from jp.tool.watch import REAP_SECS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from jp.tool.confined import Root
    from jp.tool.definition import Definition, Invocation
    from jp.tool.executor import Run
    from jp.tool.outcome import Outcome

AT_ONCE = 8
_AFTER_SECS = 2.0  # that an earlier run may take to be over
_SLICE_SECS = 0.1
_LOOK_SECS = 0.01


class BuiltinTools:
    """The Executor of `origin == "builtin"`, for one workspace."""

    def __init__(
        self,
        root: str,
        environ: "Mapping[str, str]",
        describe: "Callable[[], Iterable[Definition]]",
        hidden_variables: "Iterable[str]" = (),
        spill_dir: str = "",
    ) -> None:
        """`root` is the workspace's directory, opened at the first use. See `Place` for the rest."""
        self._path = root
        self._opened: Root | None = None
        self._lock = threading.Lock()
        # What is shown of a call does not wait for calls that run.
        self._running, self._formatting = Slots(AT_ONCE), Slots(AT_ONCE)
        self._place = Place(self._root, environ, describe, hidden_variables, spill_dir)

    def formats(self, tool: "Definition") -> bool:
        """Those that write show a diff, the one that runs a command shows the command."""
        known = CATALOGUE.get(tool.name)
        return known is not None and known.formats

    def start(
        self, invocation: "Invocation", done: "Callable[[Outcome], object]", *, after: "Run | None" = None
    ) -> "BuiltinRun":
        """See `jp.tool.executor.Executor`."""
        slots = self._formatting if invocation.action == FORMAT else self._running
        run = BuiltinRun(Work(self._place, invocation), done, after, slots)
        slots.take(run.start)
        return run

    def _root(self) -> "Root":
        from jp.tool.confined import Root

        with self._lock:
            if self._opened is None:
                self._opened = Root(self._path)
            return self._opened


class BuiltinRun:
    """A built-in tool at work."""

    def __init__(self, work: Work, done: "Callable[[Outcome], object]", after: "Run | None", slots: "Slots") -> None:
        self._work = work
        self._done = done
        self._after = after
        self._slots = slots
        self._over = threading.Event()

    def start(self) -> None:
        """Begin, on a thread of its own."""
        name = self._work.invocation.tool.name
        try:
            threading.Thread(target=self._run, name=f"tool-{name}", daemon=True).start()
        except RuntimeError as error:
            self._over.set()
            self._done(Failure(f"{name} could not be started: {error}", transient=True))
            self._slots.leave()

    def cancel(self, *, now: bool = False) -> None:
        """Abandon it; what it has started is ended."""
        self._work.cancel(now)
        if self._slots.withdraw(self.start):
            self._over.set()

    def over(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for its thread, and with it what it has started, to be gone."""
        return self._over.wait(timeout)

    def _run(self) -> None:
        signals.alone()
        try:
            outcome = _clean(self._outcome())
            if not self._work.cancelled:
                self._done(outcome)
        except Abandoned:
            pass
        finally:
            until = time.monotonic() + REAP_SECS
            for child in self._work.left_behind:
                while child.lives() and time.monotonic() < until:
                    time.sleep(_LOOK_SECS)
            self._over.set()
            self._slots.leave()

    def _outcome(self) -> "Outcome":
        try:
            until = time.monotonic() + _AFTER_SECS
            while self._after is not None and not self._after.over(_SLICE_SECS) and time.monotonic() < until:
                self._work.checkpoint()
            self._after = None  # or each run would keep all those before it
            self._work.checkpoint()
            outcome: Outcome = _function(self._work.invocation)(self._work)
            return outcome
        except JpError as error:
            return Failure(error.message)
        except Exception as error:  # whoever waits for this run must hear of it, whatever went wrong
            name = self._work.invocation.tool.name
            return Failure(f"{name} failed inside JP: {type(error).__name__}: {error}")


def _function(invocation: "Invocation") -> "Callable[[Work], Any]":
    name = invocation.tool.name
    known = CATALOGUE.get(name)
    if known is None:
        raise BadArgument(f"there is no built-in tool {name}")
    wanted = f"format_{name}" if invocation.action == FORMAT else name
    function: Callable[[Work], Any] | None = getattr(importlib.import_module(known.module), wanted, None)
    if function is None:
        raise BadArgument(f"{name} does not format its arguments")
    return function


def _clean(outcome: "Outcome") -> "Outcome":
    """As text that can be encoded: names of files can hold bytes that are no characters."""
    if isinstance(outcome, Success):
        return Success(_encodable(outcome.content))
    if isinstance(outcome, Failure):
        return Failure(_encodable(outcome.message), outcome.trace, outcome.transient)
    question = outcome.question
    options = [_encodable(option) for option in question.options]
    return NeedsInput(structs.replace(question, text=_encodable(question.text), options=options))


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
