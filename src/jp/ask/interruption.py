"""What one scope does with a press: its menu, the reply that is written from it, or a fixed action (RFD 092, RFD 088).

Runs on the prompt thread, in a dialogue; what follows is told as a decision and is the scope's own affair.
"""

from typing import NamedTuple

from jp.ask.menus import Menu, What
from jp.ask.policy import Context, Next
from jp.interrupt import ladder
from jp.prompt.outcomes import Cancelled, Submitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.compose import Composed, Composition
    from jp.ask.dialogue import Dialogue

PROMPT = "prompt"
RESPOND = "respond"  # what a reply is called where tools run


def _nothing() -> None:
    pass


class Decision(NamedTuple):
    """What follows, with the text of a reply; an empty one (to tools alone) is the canned one.

    `sent` is to be called once that is stored: its draft may go.
    """

    what: What
    text: str = ""
    sent: "Callable[[], None]" = _nothing


class Reply(NamedTuple):
    """How a scope's replies are written: from its menu, and where a fixed action has opened them."""

    menu: Context
    action: Context
    compose: "Callable[[Context], Composition]"


class Interruption:
    """A press in one scope. `action` is the scope's setting; anything but `prompt` takes the place of the menu."""

    def __init__(self, menu: Menu, action: str = PROMPT, reply: Reply | None = None) -> None:
        self._menu = menu
        self._action = What.REPLY.value if action == RESPOND else action
        self._reply = reply

    @property
    def fixed(self) -> Decision | None:
        """What follows without a question, if that is configured."""
        return None if self._action in (PROMPT, What.REPLY.value) else Decision(What(self._action))

    @property
    def kind(self) -> str:
        """The scope that the dialogue opens with: that of a menu, or of a reply without one."""
        return ladder.LOCAL if self._action == What.REPLY.value else ladder.UP

    def run(self, dialogue: "Dialogue") -> Decision:
        """Ask for the decision."""
        if self._action == What.REPLY.value:
            return self._menuless(dialogue)
        return self._ask(dialogue, over_prompt=False)

    def over_prompt(self, dialogue: "Dialogue") -> Decision:
        """The menu over a prompt: also where the scope has a fixed action."""
        return self._ask(dialogue, over_prompt=True)

    def _ask(self, dialogue: "Dialogue", *, over_prompt: bool) -> Decision:
        while True:
            outcome = dialogue.menu(self._menu.question(over_prompt=over_prompt))
            if isinstance(outcome, Submitted):
                what = self._menu.decided(outcome.value)
            elif isinstance(outcome, Cancelled):
                what = What.CONTINUE
            else:
                what = What.QUIT
            if what is What.REPLY and self._reply is not None:
                written, composed = self._write(dialogue, self._reply.menu)
                if composed.text is None and composed.next is Next.MENU:
                    continue
                dialogue.deliberate()
                return Decision(what, composed.text or "", written.sent)
            if what is What.QUIT:
                dialogue.quit()
            elif what in (What.CONTINUE, What.BACK, What.RESTART):
                dialogue.deliberate()
            return Decision(what)

    def _menuless(self, dialogue: "Dialogue") -> Decision:
        assert self._reply is not None
        written, composed = self._write(dialogue, self._reply.action)
        if composed.text is not None:
            dialogue.deliberate()
            return Decision(What.REPLY, composed.text, written.sent)
        if not composed.pressed:
            dialogue.deliberate()
        return Decision(What.REPLY, sent=written.sent) if composed.next is Next.CANNED else Decision(What.CONTINUE)

    def _write(self, dialogue: "Dialogue", context: Context) -> "tuple[Composition, Composed]":
        assert self._reply is not None
        dialogue.become(ladder.LOCAL)
        written = self._reply.compose(context)
        return written, written.run(dialogue)
