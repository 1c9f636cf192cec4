"""What a dialogue asks with: one question after the other on the lent terminal, and what a press means meanwhile.

On the prompt thread. Ctrl-C over a question swaps to the menu of the scope that is below it (RFD 092, "Ctrl-C inside
active prompts"); what is decided there is the scope's own affair, and the question comes back as it was unless that has
ended what asks it.
"""

from jp import log
from jp.ask.interruption import Decision, Interruption
from jp.ask.menus import FALLBACK, What
from jp.interrupt import ladder
from jp.interrupt.end import Cause
from jp.interrupt.router import Scope
from jp.prompt import backend as notice
from jp.prompt.outcomes import Broken, Interrupted
from jp.prompt.questions import Edit, Select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from jp.ask.lent import LentTerminal, NoTerminal
    from jp.interrupt.router import Router, ScopeHandle
    from jp.prompt.outcomes import Outcome
    from jp.prompt.questions import Choice, Question

    Show = Callable[[Question, LentTerminal | NoTerminal], Outcome]


ENDING = "what asks is ending"


class Opening:
    """How an interrupt menu's dialogue begins: in a scope of `kind`, with the press that `handle` has not read yet."""

    __slots__ = ("handle", "kind")

    def __init__(self, handle: "ScopeHandle", kind: str) -> None:
        self.handle = handle
        self.kind = kind


class Dialogue:
    """What a dialogue asks with. On the prompt thread; the terminal is lent for as long as it lasts.

    A press while it lasts is its own: the scope is replaced in one step when a menu opens and closes.
    """

    def __init__(
        self, show: "Show", terminal: "LentTerminal | NoTerminal", router: "Router", opens: Opening | None = None
    ) -> None:
        self.terminal = terminal
        self.dropped: Decision | None = None  # what a menu over a question has decided: the question is not answered
        self._ask = show
        self._router = router
        self._opens = opens
        self._kind = ladder.MENU if opens is None else opens.kind
        self._over = False

    def __enter__(self) -> "Self":
        self._scope = self._router.push(self._scope_of(self._kind))
        if self._opens is not None:
            self._opens.handle.read()
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.release()

    def ask(self, question: "Question", *, swaps: bool = True) -> "Outcome":
        """Ask one question. Ctrl-C swaps to the scope's menu, and `[b]`, ESC and `c` come back to it as it was.

        With `swaps` false the caller gets Interrupted, and the press counts as answered. `q` in the menu, and Ctrl-C on
        it, begin the shutdown; then, when the terminal is lost, and when the menu has decided to end what asks (see
        `dropped`), the outcome is Broken.
        """
        if self._kind == ladder.MENU and not self._earlier_press():
            return Broken(reason=ENDING)
        while True:
            outcome = self._show(question)
            if not isinstance(outcome, Interrupted):
                return outcome
            if not swaps:
                self._scope.read()
                return outcome
            question = again(question, outcome)
            if not self._goes_on(self._interruption().over_prompt):
                return Broken(outcome.text, ENDING)
            self.become(ladder.MENU)

    @property
    def over(self) -> bool:
        """Whether no question can be asked any more: the run is ending, or what asks is."""
        return self._over or self._router.ending

    def menu(self, question: "Choice") -> "Outcome":
        """Ask an interrupt menu. A press while it is up climbs; the outcome is then Broken."""
        self.become(ladder.UP)
        outcome = self._show(question)
        if isinstance(outcome, Interrupted):  # a press behind a key that was none of the menu's
            self.quit()
            return Broken(reason=ENDING)
        return outcome

    def become(self, kind: str) -> None:
        """Make the dialogue's scope one of `kind`, in one step; a press not read yet goes with it."""
        if kind != self._kind or kind == ladder.LOCAL:
            self._kind = kind
            self._scope = self._scope.replace(self._scope_of(kind))

    def deliberate(self) -> None:
        """The person has chosen to go on: the next press is a first one."""
        self._router.reset()

    def quit(self) -> None:
        """Begin the graceful shutdown; the terminal goes back first, so that there is room for its words."""
        self._leave()
        self._router.shutdown(Cause.PRESS)

    def _earlier_press(self) -> bool:
        """Answer a press that was made before this dialogue had its scope; whether it is to go on."""
        below = self._router.below(self._scope)
        if below is None or not below.pending:
            return True
        self.become(ladder.UP)
        below.read()
        goes_on = self._goes_on(self._interruption().run)
        self.become(ladder.MENU)
        return goes_on

    def _goes_on(self, menu: "Callable[[Dialogue], Decision]") -> bool:
        """Whether a menu leaves what asks alone; one that fails is a graceful shutdown, never a choice."""
        try:
            decision = menu(self)
        except Exception as error:
            log.log(log.ERROR, "ask", "the interrupt menu failed", error=repr(error))
            self.quit()
            return False
        if decision.what in (What.CONTINUE, What.BACK):
            return True
        if decision.what is not What.QUIT:
            self.dropped = decision
        self._over = True
        return False

    def _interruption(self) -> Interruption:
        below = self._router.below(self._scope)
        menu = below.scope.menu() if below is not None and below.scope.menu is not None else None
        return menu if isinstance(menu, Interruption) else Interruption(FALLBACK)

    def _show(self, question: "Question") -> "Outcome":
        if self.over:
            self._leave()
            return Broken(reason=ENDING)
        self.terminal.showing(True)
        try:
            outcome = self._ask(question, self.terminal)
        finally:
            self.terminal.showing(False)
        if isinstance(outcome, Broken):
            self._leave()  # now: the end has something to say there
        return outcome

    def _leave(self) -> None:
        self._over = True
        self.terminal.leave()

    def _scope_of(self, kind: str) -> Scope:
        press = lambda: self.terminal.notify(notice.PRESS)
        ahead = self.terminal.keys_ahead if kind == ladder.UP else None
        return Scope(kind, press, "prompt", ahead=ahead)


def again(question: "Question", left: Interrupted) -> "Question":
    """The question as it was when it was left: with what had been typed, and the cursor where it stood."""
    if isinstance(question, Edit):
        return question._replace(seed=left.text, cursor=left.cursor)
    if isinstance(question, Select):
        return question._replace(filter=left.text)
    return question
