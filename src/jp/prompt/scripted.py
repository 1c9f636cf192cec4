"""A backend whose outcomes are written down: whole flows run without a terminal."""

from collections import deque
from collections.abc import Callable, Iterable

from jp.prompt.backend import PromptTerminal
from jp.prompt.outcomes import Broken, Outcome
from jp.prompt.questions import Question


class ScriptedPrompts:
    """Yields `outcomes` in order, each for one question; one that is a function is called with the question.

    `asked` holds the questions so far. A question for which nothing is written is Broken.
    """

    def __init__(self, outcomes: Iterable[Outcome | Callable[[Question], Outcome]] = ()) -> None:
        self._outcomes = deque(outcomes)
        self.asked: list[Question] = []

    def ask(self, question: Question, terminal: PromptTerminal) -> Outcome:  # noqa: ARG002 (the protocol's)
        """The next outcome."""
        self.asked.append(question)
        if not self._outcomes:
            return Broken(reason="nothing is scripted for this question")
        outcome = self._outcomes.popleft()
        return outcome(question) if callable(outcome) else outcome
