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
from jp.interrupt.signals import CONT, STOP, TSTP, TTIN, TTOU, take_foreground
from jp.terminal.promptability import Asking, NotPromptable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.asker import Asker
    from jp.ask.dialogue import Dialogue
    from jp.interrupt.children import Child
    from jp.interrupt.router import Router

_WANTS_TERMINAL = (TTIN, TTOU)


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
        self._suspended = False  # the plugin was stopped with the job: by Ctrl-Z while it had the terminal
        self._noted = True  # that it is stopped
        self._pauses = 0  # stops that are our own doing, and not heard of yet
        self.has_lent = False
        # Brought back in the background, the job waits until it has the terminal again, as one with a prompt does.
        self._go_on = router.stay_stopped_while(lambda: self._suspended and asker.state() is Asking.BACKGROUND)

    @property
    def lent(self) -> bool:
        """Whether the plugin has the terminal."""
        return self._loan is not None

    def stopped(self, signal: int, *, asking: bool) -> None:
        """The plugin was stopped; `asking`: a prompt of it is up, or waits, which is seen to first."""
        if self._child.stopped is None:
            return  # it goes on already
        if signal == TSTP and self._pauses and not self.lent:
            self._pauses -= 1
            return
        self._noted = signal in _WANTS_TERMINAL
        if self.lent and self._noted:
            return  # that is what it is lent for
        if self.lent:
            # It must not keep the keyboard, however it was stopped; Ctrl-Z may come as SIGSTOP from its own handler.
            self._suspended = signal in (TSTP, STOP)
            self.take_back()
        elif not self._noted:
            self._note_stop()
        elif not asking:
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
        elif not self._noted and self._child.stopped is not None:
            self._note_stop()

    def look(self) -> None:
        """Lend again where the plugin has stopped for the terminal meanwhile."""
        if self._loan is None and self._child.stopped in _WANTS_TERMINAL:
            self._lend()

    def continued(self) -> None:
        """The job goes on after a stop: the plugin has the terminal again if it had it then."""
        if self._suspended:
            self._suspended = False
            self._lend()

    def pause(self) -> None:
        """The job is about to be stopped: so is the plugin. In a signal handler."""
        if self._child.stopped is None:
            self._pauses += 1
            self._child.kill_group(TSTP)

    def unpause(self) -> None:
        """The job goes on: so does the plugin, but for one that is to have the terminal first."""
        if not self._suspended:
            self._child.kill_group(CONT)

    def close(self) -> None:
        """The plugin is gone."""
        self.take_back()
        self._go_on()

    def _note_stop(self) -> None:
        self._noted = True
        self._note(f"it is stopped; `kill -CONT {self._child.pid}` lets it go on")

    def _lend(self) -> None:
        state = self._asker.state()
        if state is not Asking.NOW:
            self._fail(_WHY[state])
            return
        self.has_lent = True
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
        self._back: Mailbox[bool] = Mailbox()  # False: a press, which is to be read
        self._begun = False

    def run(self) -> None:
        """On a thread of its own: until the terminal is back."""
        refused: NotPromptable | None = None
        try:
            self._asker.run(self._lend, about="for a program that reads the terminal itself")
        except NotPromptable as error:
            refused = error
        except Exception as error:  # the host waits to hear of it
            refused = NotPromptable(f"the terminal can't be lent: {error}")
        if not self._begun:
            self._post(Returned(refused))

    def take_back(self) -> None:
        """End the loan. Any thread, also a signal handler; `Returned` follows."""
        self._back.post(True)

    def _pressed(self) -> None:
        self._press()
        self._back.post(False)

    def _lend(self, dialogue: "Dialogue") -> None:
        """On the prompt thread. A shutdown does not end it: the plugin has its grace to put the terminal in order."""
        self._begun = True
        child, fd = self._child, dialogue.terminal.fd
        try:
            with self._asker.hand_over(), self._router.push(Scope(ladder.MENU, self._pressed, "plugin")) as scope:
                try:
                    end.lent_foreground.append(fd)
                    os.tcsetpgrp(fd, child.pgid)
                    child.kill_group(CONT)
                    while not self._back.get():
                        scope.read()
                except OSError:
                    pass  # its group is gone, or the terminal is
                finally:
                    take_foreground(fd)
                    end.lent_foreground.remove(fd)
                    scope.read()
        finally:
            dialogue.terminal.leave()
            self._post(Returned())
