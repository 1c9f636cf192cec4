"""The prompts on a terminal: which one shows which question."""

from typing import assert_never

from jp.prompt.backend import PromptTerminal
from jp.prompt.outcomes import Outcome
from jp.prompt.questions import Choice, Edit, Question, Secret, Select


class TerminalPrompts:
    """A `PromptBackend` that draws: with escapes where the terminal has them, else line by line."""

    def ask(self, question: Question, terminal: PromptTerminal) -> Outcome:
        """Show `question` and wait for what comes of it."""
        if not terminal.escapes:
            from jp.prompt.lines import ask

            return ask(question, terminal)
        match question:
            case Choice():
                from jp.prompt.choice import choose

                return choose(question, terminal)
            case Select():
                from jp.prompt.select import select

                return select(question, terminal)
            case Secret():
                from jp.prompt.secret import hidden

                return hidden(question, terminal)
            case Edit():
                from jp.prompt.inline import edit

                return edit(question, terminal)
            case _:
                assert_never(question)
