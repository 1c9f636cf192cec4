"""The floor of the ladder: a press that nothing else answers opens the fallback menu (RFD 092).

The command is held at its next checkpoint while the menu is up; what has been started beside it goes on.
"""

import _thread

from jp.interrupt import ladder
from jp.interrupt.checkpoint import pause
from jp.interrupt.end import Cause
from jp.interrupt.router import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.cli.context import Context


class Fallback:
    """The scope below all others, for the whole run."""

    def __init__(self, ctx: "Context") -> None:
        self._ctx = ctx

    def open(self) -> None:
        """Take the presses that no other scope answers from here on."""
        self._handle = self._ctx.router.push(Scope(ladder.MENU, self._notified, "fallback"))

    def close(self) -> None:
        """Answer no more presses; from here on each is a graceful shutdown."""
        self._handle.release()

    def _notified(self) -> None:  # maybe in a signal handler: neither the asker nor its thread may be waited for here
        _thread.start_new_thread(self._answer, (pause(),))

    def _answer(self, go_on: "Callable[[], None]") -> None:
        try:
            from jp.ask.interruption import Interruption
            from jp.ask.menus import FALLBACK

            self._ctx.asker.decide(self._handle, Interruption(FALLBACK))
        except BaseException as error:  # nobody waits for this thread; a menu that fails ends the run
            from jp import log

            log.log(log.ERROR, "fallback", "the menu failed", error=repr(error))
            self._ctx.router.shutdown(Cause.PRESS)
        finally:
            go_on()
