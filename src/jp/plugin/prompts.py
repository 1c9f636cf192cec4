"""The prompts of a running plugin: one after the other, in the order in which they came (RFD D60).

They are asked on a thread of their own, so that the host goes on with other requests; no lock is held meanwhile. A
press ends the whole run (the graceful shutdown): no menu, and no SIGINT to the plugin.
"""

import _thread
from collections import deque

from jp.ask.dialogue import again
from jp.errors import JpError
from jp.interrupt import ladder
from jp.interrupt.mailbox import Mailbox
from jp.plugin import asking
from jp.plugin.errors import RequestError
from jp.plugin.messages import Prompt, PromptResponse
from jp.prompt import backend as notice
from jp.prompt.outcomes import Broken, Cancelled, Interrupted, ShowWhole, Submitted
from jp.prompt.questions import Choice, Edit
from jp.terminal.promptability import NotPromptable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.asker import Asker
    from jp.ask.compose import Composition
    from jp.ask.dialogue import Dialogue
    from jp.prompt.outcomes import Outcome
    from jp.prompt.questions import Question

    Compose = Callable[[Edit, Callable[[], object]], Composition]


class Answered:
    """What came of a prompt. `response` is None where nobody has decided; `error` is why it could not be asked.

    `sent` is to be called once the plugin has been given the response: its draft may go.
    """

    __slots__ = ("error", "request", "response", "sent")

    def __init__(
        self,
        request: Prompt,
        response: PromptResponse | None,
        error: JpError | None = None,
        sent: "Callable[[], object]" = lambda: None,
    ) -> None:
        self.request = request
        self.response = response
        self.error = error
        self.sent = sent


class Prompts:
    """Asks what the plugin `name` wants to know; `post` gets an `Answered` for each prompt.

    `compose` makes what a text is written with, of its question and of what prints all of it; None is a plain line.
    `show` prints on the terminal in the middle of a dialogue; `mode` is the keys of the inline editor.
    """

    def __init__(
        self,
        asker: "Asker",
        post: "Callable[[object], object]",
        name: str,
        *,
        compose: "Compose | None" = None,
        show: "Callable[[str], object]" = lambda _: None,
        mode: str = "emacs",
    ) -> None:
        self._asker = asker
        self._post = post
        self._name = name
        self._compose = compose
        self._show = show
        self._mode = mode
        self._queue: deque[Prompt] = deque()  # the first is being asked
        self._jobs: Mailbox[Prompt] = Mailbox()
        self._started = False
        self._over = False
        self._dialogue: Dialogue | None = None

    @property
    def waiting(self) -> int:
        """How many are up, or wait their turn."""
        return len(self._queue)

    @property
    def shown(self) -> bool:
        """Whether one is on the screen."""
        return self._dialogue is not None

    def add(self, request: Prompt) -> None:
        """Have it asked. Raises RequestError where it is wrong, or too many wait."""
        asking.checked(request)
        if self.waiting >= asking.MAX_WAITING:
            raise RequestError(f"{self.waiting} prompts wait already; wait for their answers")
        self._queue.append(request)
        if not self._started:
            self._started = True
            _thread.start_new_thread(self._serve, ())
        if len(self._queue) == 1:
            self._jobs.post(request)

    def done(self) -> None:
        """What came of the first has been seen to: its draft is gone where it was answered. Now the next."""
        self._queue.popleft()
        if self._queue:
            self._jobs.post(self._queue[0])

    def withdraw(self) -> None:
        """Take the prompt that is up off the screen, unanswered, and ask no other. Any thread."""
        self._over = True
        dialogue = self._dialogue
        if dialogue is not None:
            dialogue.terminal.notify(notice.END)

    # --- the thread

    def _serve(self) -> None:
        while True:
            request = self._jobs.get()
            try:
                answered = self._ask(request)
            except Exception as error:  # whatever it is, the plugin must hear of it, and not what was typed
                reason = f"the prompt failed ({type(error).__name__})"
                answered = Answered(request, asking.unavailable(reason))
            self._post(answered)

    def _ask(self, request: Prompt) -> Answered:
        if self._over:
            return Answered(request, None)
        about = f"{self._name} asks"
        try:
            return self._asker.run(lambda dialogue: self._run(dialogue, request), about=about)
        except NotPromptable as error:
            return Answered(request, asking.unavailable(error.message.removesuffix(f": {about}")), error)
        except JpError as error:  # no descriptors left, the run is ending
            return Answered(request, asking.unavailable(error.message), error)

    # --- the prompt thread

    def _run(self, dialogue: "Dialogue", request: Prompt) -> Answered:
        dialogue.become(ladder.UP)  # a press climbs: the shutdown begins, also where the prompt is stuck
        self._dialogue = dialogue
        try:
            if self._over:
                return Answered(request, None)
            wanted = asking.question(request, self._name, mode=self._mode)
            reveal = lambda: self._show(asking.whole(request, self._name))
            if isinstance(wanted, Edit) and self._compose is not None:
                return self._written(dialogue, request, self._compose(wanted, reveal))
            return Answered(request, asking.answered(request, self._asked(dialogue, request, wanted)))
        finally:
            self._dialogue = None

    def _asked(self, dialogue: "Dialogue", request: Prompt, wanted: "Question") -> "Outcome":
        while True:
            outcome = dialogue.ask(wanted, swaps=False)
            if isinstance(outcome, Interrupted):
                dialogue.quit()
                return Broken()
            printed = isinstance(wanted, Choice) and outcome == Submitted(asking.SHOW_ALL)
            if isinstance(outcome, ShowWhole):
                wanted = again(wanted, Interrupted(outcome.text, outcome.cursor))
            elif not printed:
                return outcome
            self._show(asking.whole(request, self._name))

    def _written(self, dialogue: "Dialogue", request: Prompt, composition: "Composition") -> Answered:
        default = request.default if isinstance(request.default, str) else ""
        composed = composition.edit(dialogue, default)
        if composed.pressed:
            dialogue.quit()
        if dialogue.over:
            return Answered(request, None)
        if composed.text is None:
            return Answered(request, asking.answered(request, Cancelled()))
        return Answered(request, asking.answered(request, Submitted(composed.text)), sent=composition.sent)
