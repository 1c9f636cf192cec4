"""The terminal as a prompt has it: lent by the Printer, in modes of its own, woken by whatever the router has to say.

One showing after the other uses the same; what happens meanwhile (a press, another size, a stop) is left here as a
notice, from any thread and from signal handlers, and the prompt looks at it when it is ready.
"""

import _thread
import os
from collections import deque

from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.prompt import backend as notice
from jp.terminal import modes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from jp.interrupt.router import Router
    from jp.terminal.loan import Loan
    from jp.terminal.tty import Tty

_ERASE_SECS = 0.1  # how long a stop of the job waits for the prompt to be erased
_LOOK_SECS = 1.0
_DISCARDED = 1 << 16  # more than a terminal holds

# What an editor may have left switched on: another screen; margins, character sets and insert mode (the soft reset);
# mouse, focus reports, paste mode, keypad and cursor keys, a style.
AFTER_EDITOR = (
    "\x1b[?1047l\x1b[!p\x1b(B\x0f\x1b[20l"
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?2004l"
    "\x1b[?1l\x1b>\x1b[?7h\x1b[?25h\x1b[0m\r"
)


class LentTerminal:
    """A `PromptTerminal` from the moment it is entered until it is left.

    `escapes` and `colour` are what the prompt channel can carry.
    """

    def __init__(self, tty: "Tty", loan: "Loan", router: "Router", *, escapes: bool, colour: bool) -> None:
        self.fd = tty.fd
        self.escapes = escapes
        self.colour = colour
        self.idle = True
        self._clean = True  # whatever was drawn has been erased
        self._tty = tty
        self._loan = loan
        self._router = router
        self._notices: deque[str] = deque()
        self.wake_fd, self._wake = os.pipe()
        os.set_blocking(self.wake_fd, False)
        os.set_blocking(self._wake, False)
        self._lend = modes.Lend(tty.fd, modes.keys if escapes else modes.lines, router)
        self._parked = _thread.allocate_lock()  # held while nobody waits for the prompt to be erased
        self._parked.acquire()
        self._go_on: Mailbox[None] = Mailbox()
        self._away = False
        self._showing = False
        self._stopped = False
        self._unlisten: list[Callable[[], None]] = []

    def __enter__(self) -> "Self":
        self._loan.begin()
        self._lend.resume()
        router = self._router
        # After the lend of the modes: a stop undoes what came last first, so the prompt is erased in its own modes.
        self._unlisten = [
            router.on_resize(lambda: self.notify(notice.RESIZE)),
            router.on_stop(self._stopping),
            router.on_continue(self._continued),
            router.stay_stopped_while(lambda: not (self._away or self._tty.foreground()) and self._tty.is_there()),
            router.on_ending(lambda: self.notify(notice.END)),
        ]
        if router.ending:  # it has begun before we listened
            self.notify(notice.END)
        return self

    def leave(self) -> None:
        """Give the terminal back now: nothing more is shown, though what asked may still have something to do."""
        for unlisten in reversed(self._unlisten):
            unlisten()
        self._unlisten = []
        self._lend.end()
        self._loan.end(clean=self._clean and self.escapes)

    def __exit__(self, *_: object) -> None:
        self.leave()
        wake, self._wake = self._wake, -1  # first: a notice on its way must not be written to whoever gets the number
        for fd in (self.wake_fd, wake):
            os.close(fd)

    # --- what prompts use

    def write(self, text: str) -> None:
        """Draw; in order, without blocking."""
        self._loan.write(text)

    def size(self) -> tuple[int, int]:
        """Columns, and lines but one: what fills the window is kept by some terminals when it is erased."""
        columns, lines = self._tty.size() or (80, 24)
        return columns, max(1, lines - 1)

    def notices(self) -> set[str]:
        """What has happened since the last look."""
        try:
            os.read(self.wake_fd, 4096)
        except OSError:
            pass
        found = set()
        while self._notices:
            found.add(self._notices.popleft())
        return found

    def park(self) -> None:
        """The prompt is erased: let the job be stopped, and wait until it goes on in the foreground."""
        self._clean = False
        self._parked.release()
        while self._stopped and not self._router.token.cancelled:
            try:
                self._go_on.get(_LOOK_SECS)
            except EmptyError:
                continue
        self._lend.resume()

    def press(self) -> None:
        """A Ctrl-C that came as a byte."""
        self._router.press()

    def suspend(self) -> None:
        """A Ctrl-Z that came as a sequence."""
        self._router.suspend()

    def quit(self) -> None:
        """A Ctrl-\\ that came as a sequence."""
        self._router.quit()

    def undo_with(self, escapes: str) -> None:
        """What an end in the middle of the prompt has to write; nothing once what was switched on is off again."""
        if not escapes:
            self._loan.drawn()
        self._lend.undo_with(escapes.encode())

    def discard_input(self) -> None:
        """Throw away what was typed and not read.

        By reading, key by key: a flush would throw away a Ctrl-C, too, that the system has taken and not looked at.
        """
        if not self.escapes:
            modes.discard_input(self.fd)  # a line that is half typed can't be read
            return
        try:
            if self.waiting():
                os.read(self.fd, _DISCARDED)
        except OSError:
            pass  # in the background; nothing is asked there

    def waiting(self) -> int:
        """How many bytes were typed and not read."""
        return modes.waiting(self.fd)

    def keys_ahead(self) -> bool:
        """Whether keys were typed that the prompt has not acted on. Any thread, also a signal handler."""
        return self.escapes and (not self.idle or self.waiting() > 0)

    def echo(self, shown: bool) -> None:
        """In line mode: whether what is typed is shown."""
        if not self.escapes:
            self._lend.use(modes.lines if shown else modes.hidden)

    def lost(self) -> bool:
        """Whether the terminal is gone; that is an event of the whole run, too."""
        if self._tty.is_there():
            return False
        from jp.interrupt.end import Cause

        self._router.shutdown(Cause.HUP)
        return True

    # --- what the asker uses

    def notify(self, what: str) -> None:
        """Leave a notice. Any thread, also a signal handler."""
        self._notices.append(what)
        if self._wake >= 0:
            try:
                os.write(self._wake, b"\0")
            except OSError:
                pass  # full: it is awake

    def give(self) -> None:
        """Another program has the terminal from now on."""
        self._away = True
        self._clean = False
        self._lend.give()

    def retake(self) -> None:
        """It has ended: what it may have left on the terminal is undone, and ours is set again."""
        self._tty.reclaim()
        if self.escapes:
            self.write(AFTER_EDITOR)
        self._lend.retake()
        self._away = False

    def showing(self, shown: bool) -> None:
        """Whether a prompt is on the screen, which would have to be erased before a stop."""
        self._showing = shown

    # --- hooks of the router, on the main thread in a handler

    def _stopping(self) -> None:
        if self._away or not self._showing:
            return
        self._stopped = True
        self._parked.acquire(False)  # one that came too late for an earlier stop
        self.notify(notice.STOP)
        self._parked.acquire(timeout=_ERASE_SECS)

    def _continued(self) -> None:
        if self._away:
            return
        if not self._tty.foreground():
            if self._tty.is_there():
                self._router.suspend()
            return
        if self._stopped:
            self._stopped = False
            self._go_on.post(None)
        else:
            self.notify(notice.CONTINUE)


class NoTerminal:
    """What a scripted backend is given where there is no terminal: it shows nothing and says only what has happened."""

    fd = wake_fd = -1
    escapes = colour = False
    idle = True

    def __init__(self) -> None:
        self._notices: deque[str] = deque()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def notify(self, what: str) -> None:
        """Leave a notice. Any thread."""
        self._notices.append(what)

    def notices(self) -> set[str]:
        """What has happened since the last look."""
        found = set(self._notices)
        self._notices.clear()
        return found

    def size(self) -> tuple[int, int]:
        """That of a terminal that does not know."""
        return 80, 23

    def keys_ahead(self) -> bool:
        """Nobody types."""
        return False

    def waiting(self) -> int:
        """Nobody types."""
        return 0

    def lost(self) -> bool:
        """There was none."""
        return False

    def nothing(self, *_: object) -> None:
        """Whatever a prompt would do to a terminal."""

    write = park = press = suspend = quit = undo_with = discard_input = echo = nothing
    leave = give = retake = showing = nothing
