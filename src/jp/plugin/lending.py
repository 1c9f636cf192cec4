"""The terminal, lent to a plugin that reads it itself (RFD 092, plugin scope; decisions, "Plugins").

A plugin's group is in the background, so the system stops it at its first read of `/dev/tty`. It then gets the
foreground: presses are its own, SIGTERM and SIGQUIT to JP still work. The loan runs as a dialogue, so that the Printer,
the modes and the lock of one question at a time are as with an editor; whatever ends it, the foreground comes back
first, then the modes.
"""

import _thread
import os

from jp.interrupt import end, ladder
from jp.interrupt.mailbox import Mailbox
from jp.interrupt.router import Scope
from jp.interrupt.signals import take_foreground
from jp.terminal.promptability import Asking, NotPromptable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable

    from jp.ask.asker import Asker
    from jp.ask.dialogue import Dialogue
    from jp.interrupt.children import Child
    from jp.interrupt.router import Router
else:
    import _signal

_CONT, _TSTP = int(getattr(_signal, "SIGCONT", 0)), int(getattr(_signal, "SIGTSTP", 0))
_WANTS_TERMINAL = (int(getattr(_signal, "SIGTTIN", 0)), int(getattr(_signal, "SIGTTOU", 0)))


class Returned:
    """The terminal is back. `refused` is why it could not be lent at all."""

    __slots__ = ("refused",)

    def __init__(self, refused: NotPromptable | None = None) -> None:
        self.refused = refused


class Lender:
    """Gives a plugin the terminal when it wants to read it, and takes it back.

    `post` gets `Returned` from other threads; whoever reads that calls `returned`. `press` is what a signal to JP means
    meanwhile. `fail(reason)` is called where the plugin can't have the terminal; `note` says something to the person.
    """

    def __init__(
        self,
        asker: "Asker",
        router: "Router",
        child: "Child",
        *,
        post: "Callable[[object], object]",
        press: "Callable[[], object]",
        fail: "Callable[[str], object]",
        note: "Callable[[str], object]",
    ) -> None:
        self._asker = asker
        self._router = router
        self._child = child
        self._post = post
        self._press = press
        self._fail = fail
        self._note = note
        self._loan: _Loan | None = None
        self._suspended = False  # the plugin was stopped by Ctrl-Z while it had the terminal

    @property
    def lent(self) -> bool:
        """Whether the plugin has the terminal."""
        return self._loan is not None

    def stopped(self, signal: int, *, asking: bool) -> None:
        """The plugin was stopped; `asking`: a prompt of it is up, or waits, which is seen to first."""
        if self._child.stopped is None:
            return  # it goes on already
        if self.lent and signal == _TSTP:
            self._suspended = True
            self.take_back()
        elif signal not in _WANTS_TERMINAL:
            self._note(f"it is stopped; `kill -CONT {self._child.pid}` lets it go on")
        elif not self.lent and not asking:
            self._lend()

    def take_back(self) -> None:
        """End the loan, if there is one; `Returned` follows."""
        if self._loan is not None:
            self._loan.take_back()

    def returned(self, event: Returned) -> None:
        """The terminal is back."""
        self._loan = None
        if event.refused is not None:
            self._fail(event.refused.message)
        elif self._suspended:
            self._router.suspend()

    def look(self) -> None:
        """Lend again where the plugin has stopped for the terminal meanwhile."""
        if self._loan is None and self._child.stopped in _WANTS_TERMINAL:
            self._lend()

    def continued(self) -> None:
        """The job goes on after a stop: the plugin has the terminal again if it had it then."""
        if self._suspended:
            self._suspended = False
            self._lend()

    def _lend(self) -> None:
        state = self._asker.state()
        if state is not Asking.NOW:
            self._fail(_WHY[state])
            return
        self._loan = _Loan(self._asker, self._router, self._child, self._post, self._press)
        _thread.start_new_thread(self._loan.run, ())


_WHY = {
    Asking.UNATTENDED: "nobody may be asked in this run",
    Asking.BACKGROUND: "JP is in the background",
    Asking.IN_USE: "another program is reading it",
    Asking.LOST: "it is gone",
}


class _Loan:
    """Lends the terminal to `child` until `take_back`; `post` gets `Returned`. `press` is what a signal to JP means."""

    def __init__(
        self,
        asker: "Asker",
        router: "Router",
        child: "Child",
        post: "Callable[[object], object]",
        press: "Callable[[], object]",
    ) -> None:
        self._asker = asker
        self._router = router
        self._child = child
        self._post = post
        self._press = press
        self._back: Mailbox[None] = Mailbox()

    def run(self) -> None:
        """On a thread of its own: until the terminal is back."""
        try:
            self._asker.run(self._lend, about="for a program that reads the terminal itself")
        except NotPromptable as error:
            self._post(Returned(error))
            return
        except Exception as error:
            self._post(Returned(NotPromptable(f"the terminal can't be lent: {error}")))
            return
        self._post(Returned())

    def take_back(self) -> None:
        """End the loan. Any thread, also a signal handler; `Returned` follows."""
        self._back.post(None)

    def _lend(self, dialogue: "Dialogue") -> None:
        child, fd = self._child, dialogue.terminal.fd
        ended = self._router.token.subscribe(self.take_back)
        with self._asker.hand_over(), self._router.push(Scope(ladder.MENU, self._press, "plugin")):
            try:
                end.lent_foreground.append(fd)
                os.tcsetpgrp(fd, child.pgid)
                child.kill_group(_CONT)
                self._back.get()
            except OSError:
                pass  # its group is gone, or the terminal is
            finally:
                take_foreground(fd)
                end.lent_foreground.remove(fd)
                ended()
