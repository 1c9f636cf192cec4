"""The one place that asks: a thread of its own, the lend of the terminal, one question at a time (RFD 104, RFD 092).

What is asked is a dialogue: a function that runs on the prompt thread and asks one question after the other, with the
terminal lent to it from its first to its last. Main waits for what it returns and for nothing else; when a shutdown
begins, the prompt is told, gives the person's words back, and main goes on ending.

What does not work: asking on the main thread (a stuck terminal would hold up everything); a lend a question (the modes
would go back between a menu and the editor it opens); `/dev/tty` as the file to lock (one inode for all terminals).
"""

import _thread
import time

from jp import log
from jp.ask.dialogue import Dialogue, Opening
from jp.ask.interruption import Decision, Interruption
from jp.ask.menus import What
from jp.errors import JpError
from jp.interrupt import ladder, standing
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.end import Cause, at_wind_down
from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.terminal.promptability import Asking, NotPromptable, ask_state, require
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, TypeVar

    from jp.ask.lent import LentTerminal, NoTerminal
    from jp.interrupt.router import Router, ScopeHandle
    from jp.prompt.backend import PromptBackend
    from jp.prompt.outcomes import Outcome
    from jp.prompt.questions import Question
    from jp.terminal.printer import Printer
    from jp.terminal.promptability import Promptability

    T = TypeVar("T")

GIVE_UP_SECS = 4.0  # for a dialogue to end when a shutdown begins: its editor gets 2 s after a TERM
ERASE_SECS = 0.2  # for a prompt to be erased at the end
TURN_SECS = 0.05  # how often it is looked whether the other JP on this terminal has got its answer
_ENDING = object()


class Asker:
    """Asks the person at the terminal. `backend` shows the questions; None is the terminal's own.

    With a backend a Printer without a terminal will do: the promptability alone says whether somebody is there.
    """

    def __init__(
        self,
        printer: "Printer",
        promptability: "Promptability",
        router: "Router",
        backend: "PromptBackend | None" = None,
        clock: "Callable[[], float]" = time.monotonic,
    ) -> None:
        self._printer = printer
        self._promptability = promptability
        self._router = router
        self._backend = backend
        self._scripted = backend is not None
        self._clock = clock
        self._jobs: Mailbox[Callable[[], None]] = Mailbox()
        self._unstarted = _thread.allocate_lock()
        self._busy = 0  # dialogues that have the terminal, or want it
        self._dialogue: Dialogue | None = None

    @property
    def promptable(self) -> bool:
        """Whether somebody is there; at the moment of asking it may still be that they can't be asked."""
        return bool(self._promptability)

    def warm(self) -> None:
        """Load what a menu is shown with. Any thread."""
        import jp.ask.lent
        import jp.prompt.choice
        import jp.prompt.terminal_prompts  # noqa: F401

    def state(self) -> Asking:
        """What this moment allows."""
        from jp.terminal.modes import in_use_by_another

        tty = self._printer.tty
        if tty is None and self._scripted:
            return ask_state(self._promptability, foreground=True)
        return ask_state(
            self._promptability,
            terminal=tty is not None and tty.is_there(),
            foreground=tty is not None and tty.foreground(),
            in_use=tty is not None and in_use_by_another(tty.fd),
        )

    def ask(self, question: "Question", *, about: str = "", hints: "Sequence[str]" = ()) -> "Outcome":
        """Ask one question and wait for the outcome. Main thread.

        `about` names what is to be known and `hints` what would decide it instead, for the error. Raises
        NotPromptable, NotPromptableNow and Shutdown. Ctrl-C swaps to the menu and may come back.
        """
        return self.run(lambda dialogue: dialogue.ask(question), about=about or question.message, hints=hints)

    def run(
        self,
        dialogue: "Callable[[Dialogue], T]",
        *,
        about: str = "",
        hints: "Sequence[str]" = (),
        opens: "Opening | None" = None,
    ) -> "T":
        """Run a dialogue on the prompt thread and wait for what it returns. On the main thread, or one that works not.

        Raises what it raises, NotPromptable, NotPromptableNow and, on the main thread, Shutdown.
        """
        checkpoint()
        if not self.promptable:
            require(self._promptability, Asking.UNATTENDED, question=about, hints=hints)
        done: Mailbox[Any] = Mailbox()

        def job() -> None:
            done.post(self._hold(dialogue, about, hints, opens))

        self._start()
        self._jobs.post(job)
        unsubscribe = self._router.token.subscribe(lambda: done.post(_ENDING))
        try:
            result = done.get()
            if result is _ENDING:
                result = self._await_end(done)
            elif self._router.ending:
                self._await_end(done)  # the prompt was told first; who asked is to hear of it from the checkpoint
        finally:
            unsubscribe()
        checkpoint()
        if isinstance(result, _Raised):
            raise result.error
        answer: T = result
        return answer

    def decide(self, handle: "ScopeHandle", interruption: Interruption) -> Decision:
        """Answer the press that the scope of `handle` was notified of, by its menu or by its fixed action.

        As `answer`; where nothing was decided the work goes on.
        """
        fixed = interruption.fixed
        if fixed is not None and handle.pending and self.state() is Asking.NOW:
            handle.read()
            return fixed
        return self.answer(handle, interruption.run, interruption.kind) or Decision(What.CONTINUE)

    def answer(self, handle: "ScopeHandle", dialogue: "Callable[[Dialogue], T]", kind: str = ladder.UP) -> "T | None":
        """Answer the press that the scope of `handle` was notified of by a dialogue, which opens in a scope of `kind`.

        On the main thread, or on one that does not work. Raises Shutdown on the main thread. Where nobody can be asked
        now the scope declines; a menu that fails is a graceful shutdown, never a choice. None where nothing was
        decided, and where the press has been answered already.
        """
        if not handle.pending:
            return None
        try:
            if self.state() is Asking.NOW:
                return self.run(dialogue, about="what to do now", opens=Opening(handle, kind))
        except _AnsweredError:
            return None
        except NotPromptable:
            pass
        except Exception as error:
            log.log(log.ERROR, "ask", "the interrupt menu failed", error=repr(error))
            self._router.shutdown(Cause.PRESS)
            checkpoint()
            return None
        handle.decline()
        return None

    def hand_over(self) -> "AbstractContextManager[int | None]":
        """The terminal for an external editor, in the middle of a dialogue: its descriptor, None without one."""
        return _HandOver(self._dialogue)

    # --- the prompt thread

    def _start(self) -> None:
        if self._unstarted.acquire(blocking=False):
            at_wind_down(self._wind_down)
            _thread.start_new_thread(self._serve, ())

    def _wind_down(self, deadline: float) -> None:
        """Nothing of a prompt is to stay on the screen: wait a moment for the one that main does not wait for."""
        until = min(deadline, time.monotonic() + ERASE_SECS)
        while self._busy and time.monotonic() < until:
            time.sleep(0.001)

    def _serve(self) -> None:
        from jp.interrupt.signals import alone

        alone()
        while True:
            self._jobs.get()()

    def _hold(
        self, dialogue: "Callable[[Dialogue], Any]", about: str, hints: "Sequence[str]", opens: "Opening | None"
    ) -> "Any":
        began = self._clock()
        go_on = standing.stand()
        self._busy += 1
        try:
            with _Turn(self._printer, self._router):
                if self._router.ending:
                    raise _EndingError
                if opens is not None and not opens.handle.pending:
                    raise _AnsweredError
                require(self._promptability, self.state(), question=about, hints=hints)
                with self._lent() as terminal, Dialogue(self._show, terminal, self._router, opens) as opened:
                    self._dialogue = opened
                    try:
                        return dialogue(opened)
                    finally:
                        self._dialogue = None
                        self._router.stood(self._clock() - began)
        except OSError as error:  # too few descriptors, a terminal that was taken away
            return _Raised(UnaskableError(about, error))
        except BaseException as error:  # main raises it
            return _Raised(error)
        finally:
            self._busy -= 1
            go_on()

    def _lent(self) -> "LentTerminal | NoTerminal":
        from jp.ask.lent import LentTerminal, NoTerminal

        printer = self._printer
        if printer.tty is None:
            return NoTerminal()
        escapes = printer.caps(Target.TTY).escapes
        return LentTerminal(
            printer.tty, printer.lend(), self._router, escapes=escapes, colour=printer.colour(Target.TTY)
        )

    def _await_end(self, done: "Mailbox[Any]") -> "Any":
        from jp.interrupt import end

        left = GIVE_UP_SECS if end.deadline is None else min(GIVE_UP_SECS, end.deadline - time.monotonic())
        try:
            return done.get(max(0.0, left))
        except EmptyError:
            return _Raised(_EndingError())  # wedged: the watchdog's affair

    def _show(self, question: "Question", terminal: "LentTerminal | NoTerminal") -> "Outcome":
        """Have the backend show one question."""
        if self._backend is None:
            from jp.prompt.terminal_prompts import TerminalPrompts

            self._backend = TerminalPrompts()
        return self._backend.ask(question, terminal)


class _Raised:
    """An exception on its way to the main thread."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _HandOver:
    def __init__(self, dialogue: Dialogue | None) -> None:
        self._dialogue = dialogue

    def __enter__(self) -> int | None:
        if self._dialogue is None:
            return None
        self._dialogue.terminal.give()
        return self._dialogue.terminal.fd

    def __exit__(self, *_: object) -> None:
        if self._dialogue is not None:
            self._dialogue.terminal.retake()


class _Turn:
    """The terminal's lock: one question at a time, over processes too. Waits its turn; a shutdown ends the wait."""

    def __init__(self, printer: "Printer", router: "Router") -> None:
        self._tty = printer.tty
        self._router = router
        self._fd: int | None = None

    def __enter__(self) -> None:
        if self._tty is None:
            return
        self._fd = self._tty.lock_fd()
        while self._fd is not None and not self._tty.take_turn():
            if self._router.token.cancelled:
                raise _EndingError
            if not self._tty.foreground():
                return  # the check that follows says so
            time.sleep(TURN_SECS)

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        if self._tty is not None:
            self._tty.give_turn()


class UnaskableError(JpError):
    """The system does not let the question be asked."""

    code = "system"

    def __init__(self, about: str, error: OSError) -> None:
        reason = error.strerror or str(error)
        super().__init__(
            f"can't ask for {about or 'an answer'}: {reason}",
            hints=["Raise the limit on open files (`ulimit -n 256`), or end what has so many open."],
            metadata={"errno": error.errno},
        )


class _AnsweredError(Exception):
    """The press that a menu was to answer has been answered by another."""


class _EndingError(JpError):
    """The run is ending while its question waited for another's; main raises Shutdown instead."""

    code = "ending"

    def __init__(self) -> None:
        super().__init__("the run is ending")


__all__ = ["Asker", "Asking", "Dialogue", "NotPromptable"]
