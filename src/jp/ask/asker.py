"""The one place that asks: a thread of its own, the lend of the terminal, one question at a time (RFD 104, RFD 092).

What is asked is a dialogue: a function that runs on the prompt thread and asks one question after the other, with the
terminal lent to it from its first to its last. Main waits for what it returns and for nothing else; when a shutdown
begins, the prompt is told, gives the person's words back, and main goes on ending.

What does not work: asking on the main thread (a stuck terminal would hold up everything); a lend a question (the modes
would go back between a menu and the editor it opens); `/dev/tty` as the file to lock (one inode for all terminals).
"""

import _thread
import time

from jp.errors import JpError
from jp.interrupt import ladder
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.interrupt.router import Scope
from jp.prompt import backend as notice
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, Submitted
from jp.prompt.questions import Choice, Edit, Option, Select
from jp.terminal.promptability import Asking, NotPromptable, ask_state, require
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Self, TypeVar

    from jp.ask.lent import LentTerminal
    from jp.interrupt.router import Router
    from jp.prompt.backend import PromptBackend
    from jp.prompt.outcomes import Outcome
    from jp.prompt.questions import Question
    from jp.terminal.printer import Printer
    from jp.terminal.promptability import Promptability

    T = TypeVar("T")

GIVE_UP_SECS = 4.0  # for a dialogue to end when a shutdown begins: its editor gets 2 s after a TERM
TURN_SECS = 0.05  # how often it is looked whether the other JP on this terminal has got its answer
BACK = "b"

# The menu where no scope has a better one (RFD 092, "Generic fallback menu").
FALLBACK = Choice(
    "Interrupted:", (Option("c", "Continue"), Option("q", "Quit gracefully"), Option(BACK, "Back to the prompt")),
    guarded=False,
)  # fmt: skip

_ENDING = object()


class Asker:
    """Asks the person at the terminal. `backend` shows the questions; None is the terminal's own."""

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
        self._clock = clock
        self._jobs: Mailbox[Callable[[], None]] = Mailbox()
        self._started = False
        self._dialogue: Dialogue | None = None

    @property
    def promptable(self) -> bool:
        """Whether somebody is there; at the moment of asking it may still be that they can't be asked."""
        return bool(self._promptability)

    def state(self) -> Asking:
        """What this moment allows."""
        from jp.terminal.modes import in_use_by_another

        tty = self._printer.tty
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

    def run(self, dialogue: "Callable[[Dialogue], T]", *, about: str = "", hints: "Sequence[str]" = ()) -> "T":
        """Run a dialogue on the prompt thread and wait for what it returns. Main thread.

        Raises what it raises, NotPromptable, NotPromptableNow and Shutdown.
        """
        checkpoint()
        if not self.promptable:
            require(self._promptability, Asking.UNATTENDED, question=about, hints=hints)
        done: Mailbox[Any] = Mailbox()

        def job() -> None:
            done.post(self._hold(dialogue, about, hints))

        self._start()
        self._jobs.post(job)
        unsubscribe = self._router.token.subscribe(lambda: done.post(_ENDING))
        try:
            result = done.get()
            if result is _ENDING:
                self._await_end(done)
        finally:
            unsubscribe()
        checkpoint()
        if isinstance(result, _Raised):
            raise result.error
        answer: T = result
        return answer

    def hand_over(self) -> "AbstractContextManager[int | None]":
        """The terminal for an external editor, in the middle of a dialogue: its descriptor, None without one."""
        return _HandOver(self._dialogue)

    # --- the prompt thread

    def _start(self) -> None:
        if not self._started:
            self._started = True
            _thread.start_new_thread(self._serve, ())

    def _serve(self) -> None:
        from jp.interrupt.signals import alone

        alone()
        while True:
            self._jobs.get()()

    def _hold(self, dialogue: "Callable[[Dialogue], Any]", about: str, hints: "Sequence[str]") -> "Any":
        began = self._clock()
        try:
            with _Turn(self._printer, self._router):
                require(self._promptability, self.state(), question=about, hints=hints)
                with self._lent() as terminal, Dialogue(self, terminal) as opened:
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

    def _lent(self) -> "LentTerminal":
        from jp.ask.lent import LentTerminal

        printer = self._printer
        assert printer.tty is not None
        escapes = printer.caps(Target.TTY).escapes
        return LentTerminal(
            printer.tty, printer.lend(), self._router, escapes=escapes, colour=printer.colour(Target.TTY)
        )

    def _await_end(self, done: "Mailbox[Any]") -> None:
        from jp.interrupt import end

        left = GIVE_UP_SECS if end.deadline is None else min(GIVE_UP_SECS, end.deadline - time.monotonic())
        try:
            while done.get(max(0.0, left)) is _ENDING:
                pass
        except EmptyError:
            pass  # wedged: the watchdog's affair

    def show(self, question: "Question", terminal: "LentTerminal") -> "Outcome":
        """Have the backend show one question."""
        if self._backend is None:
            from jp.prompt.terminal_prompts import TerminalPrompts

            self._backend = TerminalPrompts()
        return self._backend.ask(question, terminal)


class Dialogue:
    """What a dialogue asks with. On the prompt thread; the terminal is lent for as long as it lasts.

    A press while it lasts is its own: the scope is replaced in one step when a menu opens and closes.
    """

    def __init__(self, asker: Asker, terminal: "LentTerminal") -> None:
        self._asker = asker
        self._terminal = terminal
        self._router = asker._router
        self._over = False

    def __enter__(self) -> "Self":
        self._scope = self._router.push(self._waiting())
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.release()

    def ask(self, question: "Question", *, swaps: bool = True) -> "Outcome":
        """Ask one question. Ctrl-C swaps to the menu, and `[b]`, ESC and `c` come back to the question as it was.

        With `swaps` false the caller gets Interrupted, and the press counts as answered. `q` in the menu, and Ctrl-C on
        it, begin the shutdown; then and when the terminal is lost the outcome is Broken.
        """
        while True:
            outcome = self._show(question)
            if isinstance(outcome, Broken):
                self._leave()  # now: the end has something to say there
            if not isinstance(outcome, Interrupted):
                return outcome
            if not swaps:
                self._scope.read()
                return outcome
            question = again(question, outcome)
            if not self._menu():
                return Broken(outcome.text, "the run is ending")

    def _menu(self) -> bool:
        """The menu over a prompt; whether the prompt is to be shown again."""
        self._scope = self._scope.replace(Scope(ladder.UP, lambda: None, "menu"))
        outcome = self._show(FALLBACK)
        if isinstance(outcome, Broken) or outcome == Submitted("q"):
            self._leave()
        if outcome == Submitted("q"):
            from jp.interrupt.end import Cause

            self._router.shutdown(Cause.PRESS)
        back = isinstance(outcome, Cancelled) or outcome in (Submitted("c"), Submitted(BACK))
        if back:
            self._router.reset()
        self._scope = self._scope.replace(self._waiting())
        return back

    def _show(self, question: "Question") -> "Outcome":
        if self._over or self._router.token.cancelled:
            return Broken(reason="the run is ending")
        self._terminal.showing(True)
        try:
            return self._asker.show(question, self._terminal)
        finally:
            self._terminal.showing(False)

    def _leave(self) -> None:
        self._over = True
        self._terminal.leave()

    def _waiting(self) -> Scope:
        return Scope(ladder.MENU, lambda: self._terminal.notify(notice.PRESS), "prompt")


def again(question: "Question", left: Interrupted) -> "Question":
    """The question as it was when it was left: with what had been typed, and the cursor where it stood."""
    if isinstance(question, Edit):
        return question._replace(seed=left.text, cursor=left.cursor)
    if isinstance(question, Select):
        return question._replace(filter=left.text)
    return question


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
        self._dialogue._terminal.give()
        return self._dialogue._terminal.fd

    def __exit__(self, *_: object) -> None:
        if self._dialogue is not None:
            self._dialogue._terminal.retake()


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


class _EndingError(JpError):
    """The run is ending while its question waited for another's; main raises Shutdown instead."""

    code = "ending"

    def __init__(self) -> None:
        super().__init__("the run is ending")


__all__ = ["Asker", "Asking", "Dialogue", "NotPromptable"]
