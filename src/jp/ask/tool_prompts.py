"""How a tool's permission, question and result are asked (RFD 088, "Tool argument editing, skip reasoning, result
editing"; contracts, section 9).

Runs in a dialogue, on the prompt thread. Returns None where nothing was answered: the run is ending, or the menu over
the prompt has decided what becomes of the tool (`Dialogue.dropped`).
"""

import json
from typing import Any

from jp.ask.compose import Composed
from jp.ask.pending import (
    Answer,
    Answered,
    Deliver,
    Delivery,
    Inquiry,
    Pending,
    Permission,
    Run,
    Skip,
    Unanswered,
    Withhold,
)
from jp.ask.policy import Context, Next
from jp.prompt.outcomes import Cancelled, Submitted
from jp.prompt.questions import Choice, Edit, Item, Option, Secret, Select, confirm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.compose import Composition
    from jp.ask.dialogue import Dialogue

    Compose = Callable[[Context, str, str], Composition]

SKIP_PLACEHOLDER = "Why should it not run? The model is told; empty gives no reason."
_PERMISSION = (
    Option("y", "run it"),
    Option("Y", "run it, and every further call of this tool in this turn"),
    Option("n", "skip it"),
    Option("N", "skip it, and every further call of this tool in this turn"),
    Option("p", "print the arguments"),
    Option("r", "skip it and tell the model why"),
    Option("e", "edit the arguments first"),
)
_DELIVERY = (
    Option("y", "give the result to the model"),
    Option("n", "keep it from the model"),
    Option("e", "edit the result first"),
)


class ToolPrompts:
    """Asks what a turn's tools want to know.

    `compose(context, message, placeholder)` gives the inline editor with its escape, `mode` its keys; `say` prints in
    the middle of a dialogue.
    """

    def __init__(self, compose: "Compose", say: "Callable[[str], object]", mode: str) -> None:
        self._compose = compose
        self._say = say
        self._mode = mode
        self._left: dict[Context, str] = {}  # what was written about this prompt and not sent
        self._begun: list[Composition] = []

    def ask(self, dialogue: "Dialogue", prompt: Pending) -> Answered | None:
        """Ask one."""
        self._left, self._begun = {}, []
        answer = self._asked(dialogue, prompt)
        if answer is not None:
            for composition in self._begun:
                composition.sent()
        return answer

    def _asked(self, dialogue: "Dialogue", prompt: Pending) -> Answered | None:
        match prompt:
            case Permission():
                return self._permission(dialogue, prompt)
            case Inquiry():
                return self._inquiry(dialogue, prompt)
            case Delivery():
                return self._delivery(dialogue, prompt)

    # --- permission

    def _permission(self, dialogue: "Dialogue", prompt: Permission) -> Run | Skip | None:
        editing = prompt.edit
        while True:
            if editing:
                editing = False
                edited = self._arguments(dialogue, prompt)
                if edited is not None:
                    return Run(edited)
            outcome = dialogue.ask(permission(prompt))
            match outcome:
                case Submitted("y" | "Y" as key):
                    return Run(prompt.arguments, key == "Y")
                case Submitted("n" | "N" as key):
                    return Skip(remember=key == "N")
                case Submitted("p"):
                    self._say(prompt.whole or as_json(prompt.arguments))
                case Submitted("r"):
                    reason = self._reason(dialogue, prompt)
                    if reason is not None:
                        return Skip(reason)
                case Submitted("e"):
                    editing = True
                case Cancelled():
                    return Skip()
                case _:
                    return None

    def _reason(self, dialogue: "Dialogue", prompt: Permission) -> str | None:
        """The reason for a skip, empty without one; None: back to the question."""
        message = f"Skip {prompt.name}:"
        composed = self._written(dialogue, Context.SKIP_REASON, message, "", placeholder=SKIP_PLACEHOLDER)
        if composed is None:
            return None
        if composed.text is None:
            return "" if composed.next is Next.CANNED else None
        return composed.text.strip()

    def _arguments(self, dialogue: "Dialogue", prompt: Permission) -> dict[str, Any] | None:
        """The arguments as edited, asked for again until they are JSON; None: back to the question, nothing changed."""
        text, error = as_json(prompt.arguments), ""
        while True:
            composed = self._written(dialogue, Context.ARGUMENTS, f"Arguments of {prompt.name}:", text, error)
            if composed is None or composed.text is None:
                return None
            text = composed.text
            try:
                return parsed_arguments(text)
            except ValueError as reason:
                error = str(reason)

    # --- a tool's question

    def _inquiry(self, dialogue: "Dialogue", prompt: Inquiry) -> Answer | Unanswered | None:
        outcome = dialogue.ask(inquiry(prompt, self._mode))
        match outcome:
            case Submitted(value):
                return Answer(answer_of(prompt, value))
            case Cancelled():
                return Unanswered()
            case _:
                return None

    # --- a result

    def _delivery(self, dialogue: "Dialogue", prompt: Delivery) -> Deliver | Withhold | None:
        editing = prompt.edit
        while True:
            if editing:
                editing = False
                composed = self._written(dialogue, Context.RESULT, f"Result of {prompt.name}:", prompt.content)
                if composed is not None and composed.text is not None:
                    return Deliver(composed.text)
            outcome = dialogue.ask(delivery(prompt))
            match outcome:
                case Submitted("y"):
                    return Deliver(prompt.content)
                case Submitted("e"):
                    editing = True
                case Submitted("n") | Cancelled():
                    return Withhold()
                case _:
                    return None

    def _written(
        self,
        dialogue: "Dialogue",
        context: Context,
        message: str,
        text: str,
        error: str = "",
        *,
        placeholder: str = "",
    ) -> Composed | None:
        """What was written, beginning with what was left the last time; None where the dialogue is at its end.

        Until the prompt is answered the text is kept as a draft.
        """
        composition = self._compose(context, message, placeholder)
        self._begun.append(composition)
        composed = composition.edit(dialogue, self._left.get(context) or text, error)
        self._left[context] = composed.left
        return None if dialogue.over else composed


def permission(prompt: Permission) -> Choice:
    """The question whether a tool may run."""
    options = [one for one in _PERMISSION if prompt.may_remember or one.key not in "YN"]
    return Choice(f"Run {prompt.name}", tuple(options), body=prompt.body)


def delivery(prompt: Delivery) -> Choice:
    """The question whether the model gets a result."""
    return Choice(f"Give the result of {prompt.name} to the model", _DELIVERY, body=prompt.body)


def inquiry(prompt: Inquiry, mode: str) -> Choice | Select | Secret | Edit:
    """A tool's question."""
    body = f"{prompt.name} asks:" + (f"\n{prompt.pre_amble}" if prompt.pre_amble else "")
    match prompt.kind:
        case "boolean":
            default = {True: "y", False: "n"}.get(prompt.default, "") if isinstance(prompt.default, bool) else ""
            return confirm(prompt.text, body=body, default=default)
        case "select":
            items = tuple(Item(str(number), shown(one)) for number, one in enumerate(prompt.options))
            same = [item for item, one in zip(items, prompt.options, strict=True) if repr(one) == repr(prompt.default)]
            return Select(prompt.text, items, marked=same[0].value if same else "", body=body)
        case "secret":
            return Secret(prompt.text, body=body)
        case _:
            seed = "" if prompt.default is None else shown(prompt.default)
            return Edit(prompt.text, seed=seed, mode=mode, body=body)


def answer_of(prompt: Inquiry, value: str) -> Any:
    """The answer in the tool's own type."""
    if prompt.kind == "boolean":
        return value == "y"
    if prompt.kind == "select":
        return prompt.options[int(value)]
    return value


def shown(value: Any) -> str:
    """A JSON value for a person: a text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_json(arguments: dict[str, Any]) -> str:
    """Arguments to read and edit."""
    return json.dumps(arguments, indent=2, ensure_ascii=False)


def parsed_arguments(text: str) -> dict[str, Any]:
    """The arguments that a person has written. Raises ValueError with what is wrong and where."""
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character") from None
    except ValueError as error:  # what Python reads and JSON does not have: NaN, Infinity, thousands of digits
        raise ValueError(f"it is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("arguments are an object: { … }")
    return found
