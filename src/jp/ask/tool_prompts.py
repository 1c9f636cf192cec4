"""How a tool's permission, question and result are asked (RFD 088, "Tool argument editing, skip reasoning, result
editing"; contracts, section 9).

Runs in a dialogue, on the prompt thread. Returns None where nothing was answered: the run is ending, or the menu over
the prompt has decided what becomes of the tool (`Dialogue.dropped`).
"""

import json
from typing import Any, NamedTuple

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
from jp.prompt.questions import Choice, Item, Option, Secret, Select, confirm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.compose import Composition
    from jp.ask.dialogue import Dialogue

    Compose = Callable[["Wanted"], Composition]

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


class Wanted(NamedTuple):
    """A text that is wanted: for what, with which words before it, beginning with `seed`."""

    context: Context
    message: str
    seed: str = ""
    body: str = ""

    @property
    def placeholder(self) -> str:
        """Ghost text."""
        return SKIP_PLACEHOLDER if self.context is Context.SKIP_REASON else ""


class ToolPrompts:
    """Asks what a turn's tools want to know.

    `compose` gives the inline editor with its escape for a text; `check` says what is wrong with a call's arguments;
    `whole` is all of what is to be approved, for `p`, and `show` prints it where the question is.
    """

    def __init__(
        self,
        compose: "Compose",
        check: "Callable[[Permission, dict[str, Any]], list[str]]",
        whole: "Callable[[Permission], str]",
        show: "Callable[[str], object]",
    ) -> None:
        self._compose = compose
        self._check = check
        self._whole = whole
        self._show = show
        self._left: dict[Context, str] = {}  # what was written about this prompt and not sent
        self._begun: list[Composition] = []

    def ask(self, dialogue: "Dialogue", prompt: Pending) -> Answered | None:
        """Ask one."""
        self._left, self._begun = {}, []
        match prompt:
            case Permission():
                return self._permission(dialogue, prompt)
            case Inquiry():
                return self._inquiry(dialogue, prompt)
            case Delivery():
                return self._delivery(dialogue, prompt)

    def sent(self) -> None:
        """What was answered is stored: the drafts may go."""
        for composition in self._begun:
            composition.sent()

    # --- permission

    def _permission(self, dialogue: "Dialogue", prompt: Permission) -> Run | Skip | None:
        editing = unasked = prompt.edit
        while True:
            if editing:
                edited = self._arguments(dialogue, prompt, guarded=unasked)
                editing = unasked = False
                if edited is not None:
                    return Run(edited)
            outcome = dialogue.ask(permission(prompt))
            match outcome:
                case Submitted("y" | "Y" as key):
                    return Run(prompt.arguments, key == "Y")
                case Submitted("n" | "N" as key):
                    return Skip(remember=key == "N")
                case Submitted("p"):
                    self._show(self._whole(prompt))
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
        composed = self._written(dialogue, Context.SKIP_REASON, message, "")
        if composed is None:
            return None
        if composed.text is None:
            return "" if composed.next is Next.CANNED else None
        return composed.text.strip()

    def _arguments(self, dialogue: "Dialogue", prompt: Permission, *, guarded: bool) -> dict[str, Any] | None:
        """The arguments as edited, asked for again until they fit; None: back to the question, nothing changed."""
        text, error = as_json(prompt.arguments), ""
        while True:
            message = f"Arguments of {prompt.name}:"
            composed = self._written(dialogue, Context.ARGUMENTS, message, text, error, guarded=guarded)
            if composed is None or composed.text is None:
                return None
            text, guarded = composed.text, False
            try:
                arguments = parsed_arguments(text)
                faults = self._check(prompt, arguments) if arguments != prompt.arguments else []
                if not faults:
                    return arguments
                error = "; ".join(faults)
            except ValueError as reason:
                error = str(reason)

    # --- a tool's question

    def _inquiry(self, dialogue: "Dialogue", prompt: Inquiry) -> Answer | Unanswered | None:
        question = inquiry(prompt)
        if question is None:
            return self._text(dialogue, prompt)
        outcome = dialogue.ask(question)
        match outcome:
            case Submitted(value):
                return Answer(answer_of(prompt, value))
            case Cancelled():
                return Unanswered()
            case _:
                return None

    def _text(self, dialogue: "Dialogue", prompt: Inquiry) -> Answer | Unanswered | None:
        default = "" if prompt.default is None else shown(prompt.default)
        composed = self._written(dialogue, Context.ANSWER, prompt.text, default, guarded=True, body=about(prompt))
        if composed is None:
            return None
        if composed.text is not None:
            return Answer(composed.text)
        return Answer("") if composed.next is Next.CANNED else Unanswered()

    # --- a result

    def _delivery(self, dialogue: "Dialogue", prompt: Delivery) -> Deliver | Withhold | None:
        editing = unasked = prompt.edit
        while True:
            if editing:
                message = f"Result of {prompt.name}:"
                composed = self._written(dialogue, Context.RESULT, message, prompt.content, guarded=unasked)
                editing = unasked = False
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
        guarded: bool = False,
        body: str = "",
    ) -> Composed | None:
        """What was written, beginning with what was left the last time; None where the dialogue is at its end.

        The text is kept as a draft until what is answered is stored.
        """
        composition = self._compose(Wanted(context, message, text, body))
        self._begun.append(composition)
        composed = composition.edit(dialogue, self._left.get(context) or text, error, guarded=guarded)
        self._left[context] = composed.left
        return None if dialogue.over else composed


def permission(prompt: Permission) -> Choice:
    """The question whether a tool may run."""
    options = [one for one in _PERMISSION if prompt.may_remember or one.key not in "YN"]
    return Choice(f"Run {prompt.name}", tuple(options), body=prompt.body, more="; p prints all")


def delivery(prompt: Delivery) -> Choice:
    """The question whether the model gets a result."""
    return Choice(f"Give the result of {prompt.name} to the model", _DELIVERY, body=prompt.content)


def about(prompt: Inquiry) -> str:
    """Who asks, and what it says before the question."""
    return f"{prompt.name} asks:" + (f"\n{prompt.pre_amble}" if prompt.pre_amble else "")


def inquiry(prompt: Inquiry) -> Choice | Select | Secret | None:
    """A tool's question; None where a text is to be written."""
    body = about(prompt)
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
            return None


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
