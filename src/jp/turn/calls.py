"""The tool calls of one answer as a state machine: what happened goes in, what to do comes out (see `jp.turn.machine`).

A call is prepared (known? arguments valid? formatted, approved), runs, may ask, and ends with exactly one response.
Prompts are data in one queue; the one at its head is asked, and stays there until it is answered, so that it can be
shown again. Where nobody can be asked, the detached policy of the tool decides (contracts, section 9).
"""

from typing import Any, Protocol

from msgspec import UNSET

from jp.ask import pending
from jp.conversation.events import InquiryRequest, InquiryResponse, ToolCallResponse
from jp.errors import DENIED, JpError
from jp.terminal.sanitize import one_line
from jp.tool.definition import FORMAT, Definition, Invocation
from jp.tool.naming import shown_name as shown_name  # noqa: PLC0414 - part of this interface
from jp.tool.outcome import Failure, NeedsInput, Outcome, Question, Success
from jp.turn.call import PREPARING, Call, State
from jp.turn.call_events import (
    Announce,
    Answered,
    Busy,
    Effect,
    Happening,
    Inquire,
    Inquired,
    Kill,
    Record,
    Said,
    ShowResult,
    Start,
    ToolEnded,
    Unattended,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.conversation.events import ToolCallRequest

MAX_QUESTIONS = 50  # of one call: a tool that asks without end must not go on for ever
_LONGEST_NAME = 100
REDACTED = "[redacted]"
SKIPPED = "The tool was not run: it is configured to be skipped."
WITHHELD = "The tool ran. Its result was kept from you by the user."
NOT_DELIVERED = "The tool ran. It is configured to keep its result from you."


class DeniedError(JpError):
    """A tool needed a person, and there was none."""

    code = "tool_denied"
    status = DENIED


class Tools(Protocol):
    """What is known of tools. Pure: the same answer each time within a turn."""

    def find(self, name: str) -> Definition | None:
        """The tool that a model calls by this name, if it may."""

    def names(self) -> list[str]:
        """All of them."""

    def checked(self, tool: Definition, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The arguments with defaults filled in, and what is wrong with them."""

    def formats(self, tool: Definition) -> bool:
        """Whether the tool itself says how its arguments look."""

    def approval(self, tool: Definition, arguments: dict[str, Any], formatted: str | None) -> str:
        """What is shown of a call that is to be approved."""

    def always_asks(self, tool: Definition) -> bool:
        """Whether every call needs an approval of its own."""


class Memory:
    """What holds for all calls of a turn: what the person has decided for further ones, by the tool's name."""

    def __init__(self) -> None:
        self.run: set[str] = set()
        self.skip: set[str] = set()
        self._runs = 0

    def next_run(self) -> int:
        """A number for a run: none of the turn has it, so that what comes late of an earlier one is known as such."""
        self._runs += 1
        return self._runs


class Calls:
    """The calls of one answer. `default` is what the model is told of a cancelled call of no known tool.

    Where no tools are offered (None) whatever is called has a response all the same.
    """

    def __init__(self, tools: Tools | None, memory: Memory, default: str) -> None:
        self._offered = tools
        self._memory = memory
        self._default = default
        self._calls: list[Call] = []
        self._queue: list[pending.Pending] = []
        self._running = False
        self.restarted = False
        self.denied: DeniedError | None = None
        self.helped = False  # one of them at least has not failed

    def __repr__(self) -> str:
        return f"<Calls {self._calls}>"

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def prepared(self) -> bool:
        """Whether nothing more has to be known before the calls run."""
        return not any(call.state in PREPARING for call in self._calls)

    @property
    def done(self) -> bool:
        """Whether every call has its response."""
        return all(call.state is State.DONE for call in self._calls)

    # --- from outside

    def add(self, request: "ToolCallRequest") -> list[Effect]:
        """The model has made a call, which is recorded."""
        call = Call(len(self._calls), request)
        self._calls.append(call)
        return self._prepare(call)

    def refuse(self, requests: "list[ToolCallRequest]") -> list[Effect]:
        """Calls that are recorded and come too late to be run."""
        effects: list[Effect] = []
        for request in requests:
            call = Call(len(self._calls), request)
            call.tool = self._find(call.name)
            self._calls.append(call)
            effects.append(self._response(call, call.cancelled or self._default))
        return effects

    def begin(self) -> list[Effect]:
        """Everything is prepared: run what may run."""
        self._running = True
        effects: list[Effect] = []
        for call in self._calls:
            if call.state is State.READY:
                effects += self._run(call)
        return [*effects, self._busy()]

    def step(self, happening: Happening) -> list[Effect]:
        """What follows from something that has happened."""
        match happening:
            case Answered(answer):
                return self._answered(answer)
            case Unattended(error, broken):
                return self._unattended(error, broken=broken)
            case ToolEnded(number, run, outcome):
                call = self._calls[number] if number < len(self._calls) else None
                return self._ended(call, outcome) if call is not None and call.run == run else []
            case Inquired(number, run, answer, error):
                call = self._calls[number] if number < len(self._calls) else None
                if call is None or call.run != run or call.state is not State.INQUIRING:
                    return []
                return self._inquired(call, answer, error)

    def cancel(self, text: str = "") -> list[Effect]:
        """End every call that has no response yet; each gets `text`, or what its tool says of a cancelled call."""
        effects: list[Effect] = []
        for call in self._calls:
            if call.state is not State.DONE:
                effects += [Kill(call.number), self._response(call, text or call.cancelled or self._default)]
        self._queue.clear()
        return [*effects, self._busy()] if effects else []

    def restart(self) -> list[Effect]:
        """Run every call that has no response yet once more, from the beginning: approved anew."""
        self.restarted, self._running, self.denied = True, False, None
        self._queue.clear()
        again = [call for call in self._calls if call.state is not State.DONE]
        effects: list[Effect] = [Kill(call.number, now=True) for call in again]
        effects.append(self._busy())
        for call in again:
            call.run = self._memory.next_run()
            call.answers, call.secret, call.asked = {}, set(), 0
            call.formatted = None
            call.failed = call.plain = False
            effects += self._prepare(call)
        return effects

    # --- preparing

    @property
    def _tools(self) -> Tools:
        assert self._offered is not None  # a tool has been found among them
        return self._offered

    def _find(self, name: str) -> Definition | None:
        return self._offered.find(name) if self._offered is not None else None

    def _prepare(self, call: Call) -> list[Effect]:
        tool = call.tool = self._find(call.name)
        if tool is None:
            known = ", ".join(self._offered.names() if self._offered is not None else ()) or "none"
            return [
                Said(f"the model called {shortened(call.name)}, which is no tool that it was offered"),
                self._response(call, f"There is no tool {call.name}. The tools are: {known}.", is_error=True),
            ]
        call.arguments, errors = self._tools.checked(tool, call.requested)
        if errors:
            said = f"The arguments are not valid: {'; '.join(errors)}"
            return [Announce(tool, call.requested), *self._fail(call, said)]
        asked = self._mode(tool) not in ("skip", "unattended")
        if asked and self._tools.formats(tool) and tool.settings.format == "unattended":
            return self._format(call, State.FORMATTING)
        return self._by_mode(call)

    def _by_mode(self, call: Call) -> list[Effect]:
        match self._mode(call.known):
            case "skip":
                skipped = self._response(call, self._skip_text(call.known))
                return [self._skipped(call), skipped]
            case "unattended":
                return self._approve(call)
            case _:
                return self._ask_permission(call)

    def _mode(self, tool: Definition) -> str:
        if tool.name in self._memory.skip:
            return "skip"
        mode = tool.settings.run or "ask"
        if tool.name in self._memory.run and not self._tools.always_asks(tool):
            return "unattended" if mode in ("ask", "edit") else mode
        return "ask" if mode == "unattended" and self._tools.always_asks(tool) else mode

    def _skipped(self, call: Call) -> Said:
        return Said(f"{shown_name(call.known)} was skipped")

    def _skip_text(self, tool: Definition) -> str:
        return SKIPPED if tool.settings.run == "skip" else tool.settings.cancellation_response or self._default

    def _format(self, call: Call, state: State) -> list[Effect]:
        call.state = state
        call.run = self._memory.next_run()
        return [Start(call.number, call.run, Invocation(call.known, call.id, call.arguments, action=FORMAT))]

    def _formatted(self, call: Call, outcome: Outcome) -> list[Effect]:
        match outcome:
            case Success(content):
                call.formatted = content
            case Failure() if call.known.origin == "builtin":
                # It could not do what is asked, and says so already.
                return [Announce(call.known, call.arguments), *self._fail(call, outcome.content)]
            case _:
                call.plain = True
        return self._by_mode(call) if call.state is State.FORMATTING else self._announce(call)

    def _ask_permission(self, call: Call) -> list[Effect]:
        call.state = State.ASKED
        prompt = self._permission(call, call.arguments, call.formatted)
        later = (
            n for n, one in enumerate(self._queue) if isinstance(one, pending.Permission) and one.call > call.number
        )
        self._queue.insert(next(later, len(self._queue)), prompt)
        return []

    def _permission(self, call: Call, arguments: dict[str, Any], formatted: str | None) -> pending.Permission:
        tool = call.known
        body = self._tools.approval(tool, arguments, formatted)
        edit = tool.settings.run == "edit"
        may_remember = not self._tools.always_asks(tool)
        return pending.Permission(call.number, shown_name(tool), arguments, body, tool.name, edit, may_remember)

    def _approve(self, call: Call) -> list[Effect]:
        if self._tools.formats(call.known) and call.formatted is None and not call.plain:
            return self._format(call, State.ANNOUNCING)
        return self._announce(call)

    def _announce(self, call: Call) -> list[Effect]:
        call.state = State.READY
        effects: list[Effect] = [Announce(call.known, call.arguments, call.formatted)]
        if self._running:
            effects += [*self._run(call), self._busy()]
        return effects

    # --- running

    def _run(self, call: Call) -> list[Effect]:
        call.state = State.RUNNING
        call.run = self._memory.next_run()
        answers, secret = dict(call.answers), frozenset(call.secret)
        return [Start(call.number, call.run, Invocation(call.known, call.id, call.arguments, answers, secret))]

    def _busy(self) -> Busy:
        running = [call for call in self._calls if call.state in (State.RUNNING, State.INQUIRING)]
        return Busy(tuple(shown_name(call.known) for call in running) if self._running else ())

    def _ended(self, call: Call, outcome: Outcome) -> list[Effect]:
        if call.state in (State.FORMATTING, State.ANNOUNCING):
            return self._formatted(call, outcome)
        if call.state is not State.RUNNING:
            return []
        match outcome:
            case NeedsInput(question):
                return self._asks(call, question)
            case Success(content):
                return [*self._result(call, content, is_error=False), self._busy()]
            case Failure():
                return [*self._result(call, outcome.content, is_error=True), self._busy()]

    def _result(self, call: Call, content: str, *, is_error: bool) -> list[Effect]:
        show = ShowResult(call.number, call.known, content, is_error)
        mode = call.known.settings.result or "unattended"
        if mode == "skip":
            return [show, self._response(call, NOT_DELIVERED, is_error=is_error)]
        if mode in ("ask", "edit"):
            call.state = State.DELIVERING
            prompt = pending.Delivery(call.number, shown_name(call.known), content, mode == "edit")
            self._queue.append(prompt)
            call.failed = is_error
            return []  # the prompt shows it
        return [show, self._response(call, content, is_error=is_error)]

    def _fail(self, call: Call, content: str) -> list[Effect]:
        return [
            ShowResult(call.number, call.known, content, True),
            self._response(call, content, is_error=True),
            self._busy(),
        ]

    def _response(self, call: Call, content: str, *, is_error: bool = False) -> Record:
        call.state = State.DONE
        self.helped = self.helped or not is_error
        return Record(ToolCallResponse(id=call.id, content=content, is_error=is_error))

    # --- a tool's questions

    def _asks(self, call: Call, question: Question) -> list[Effect]:
        call.asked += 1
        if call.asked > MAX_QUESTIONS:
            return self._fail(call, f"The tool has asked {MAX_QUESTIONS} questions and is not done.")
        call.state = State.INQUIRING
        call.question = question
        asked = InquiryRequest(
            id=f"{call.id}.{question.id}", source={"source": "tool", "name": call.name}, question=stored(question)
        )
        settings = call.known.settings.questions.get(question.id)
        if settings is not None and settings.answer is not None and question.kind != "secret":
            return [Record(asked), *self._answer(call, settings.answer)]
        target = settings.target if settings is not None else "user"
        if target == "user" or question.kind == "secret" or self._exclusive(call, question):
            prompt = pending.Inquiry(
                call.number,
                shown_name(call.known),
                question.text,
                question.kind,
                tuple(question.options),
                None if question.default is UNSET else question.default,
                question.pre_amble,
            )
            self._queue.append(prompt)
            return [Record(asked), self._busy()]
        return [Record(asked), self._inquire(call, question), self._busy()]

    def _exclusive(self, call: Call, question: Question) -> bool:
        settings = call.known.settings.questions.get(question.id)
        said = settings.exclusive if settings is not None else None
        return question.exclusive if said is None else said

    def _inquire(self, call: Call, question: Question) -> Inquire:
        settings = call.known.settings.questions.get(question.id)
        by = settings.target if settings is not None and not isinstance(settings.target, str) else None
        return Inquire(call.number, call.run, call.known, call.arguments, question, by)

    def _inquired(self, call: Call, answer: Any, error: str) -> list[Effect]:
        if error or answer is UNSET:
            return self._fail(call, f"The question {call.question and call.question.id} was not answered: {error}")
        return self._answer(call, answer)

    def _answer(self, call: Call, answer: Any) -> list[Effect]:
        question = call.question
        assert question is not None
        call.answers[question.id] = answer
        secret = question.kind == "secret"
        if secret:
            call.secret.add(question.id)
        shown = REDACTED if secret else answer
        response = InquiryResponse(id=f"{call.id}.{question.id}", answer=shown)
        said = f"{shown_name(call.known)} asked: {shortened(question.text)} → {shortened(str(shown))}"
        return [Record(response), Said(said), *self._run(call), self._busy()]

    # --- prompts

    @property
    def asking(self) -> "pending.Pending | None":
        """What the person is to be asked now: what has waited longest, permissions in the order of the calls."""
        first = self._queue[0] if self._queue else None
        if isinstance(first, pending.Permission):
            earlier = self._calls[: first.call]
            return None if any(call.state is State.FORMATTING for call in earlier) else first
        return first

    def _answered(self, answer: pending.Answered) -> list[Effect]:
        if not self._queue:
            return []
        call = self._calls[self._queue.pop(0).call]
        return self._decided(call, answer)

    def _decided(self, call: Call, answer: pending.Answered) -> list[Effect]:
        match answer:
            case pending.Run(arguments, remember):
                return self._permitted(call, arguments, remember=remember)
            case pending.Skip(reason, remember):
                said = f"The user did not let the tool run, and says: {reason}" if reason else ""
                skipped = self._response(call, said or call.cancelled or self._default)
                effects: list[Effect] = [self._skipped(call), skipped]
                return [*effects, *self._remember(self._memory.skip, call)] if remember else effects
            case pending.Answer(value):
                return self._answer(call, value)
            case pending.Deliver(content):
                return self._delivered(call, content)
            case pending.Withhold():
                return [Said(f"the result of {shown_name(call.known)} is kept from the model"), self._withheld(call)]
            case pending.Unanswered():
                return [self._response(call, call.cancelled or self._default), self._busy()]

    def _delivered(self, call: Call, content: str) -> list[Effect]:
        show = ShowResult(call.number, call.known, content, call.failed)
        return [show, self._response(call, content, is_error=call.failed)]

    def _withheld(self, call: Call) -> Record:
        return self._response(call, WITHHELD, is_error=call.failed)

    def _permitted(self, call: Call, arguments: dict[str, Any], *, remember: bool) -> list[Effect]:
        if repr(arguments) != repr(call.arguments):  # 1 and true are equal, but not the same
            _, errors = self._tools.checked(call.known, arguments)
            if errors:
                # Asked again rather than refused: the words are the person's. They are the call's only once they fit.
                self._queue.insert(0, self._permission(call, arguments, None))
                return [Said(f"the arguments do not fit {call.name}: {'; '.join(errors)}")]
            call.arguments, call.formatted = arguments, None  # nothing is added to what the person has agreed to
            call.plain = False
        approved = self._approve(call)
        return [*approved, *self._remember(self._memory.run, call)] if remember else approved

    def _remember(self, names: set[str], call: Call) -> list[Effect]:
        """What is decided for further calls of a tool is decided for those that wait to be asked about, too."""
        names.add(call.known.name)
        effects: list[Effect] = []
        for prompt in [one for one in self._queue if isinstance(one, pending.Permission)]:
            waiting = self._calls[prompt.call]
            if self._mode(waiting.known) in ("skip", "unattended"):
                self._queue.remove(prompt)
                effects += self._by_mode(waiting)
        return effects

    # --- nobody there

    def _unattended(self, error: JpError, *, broken: bool) -> list[Effect]:
        if not self._queue:
            return []
        prompt = self._queue.pop(0)
        call = self._calls[prompt.call]
        policy = None if broken else call.known.settings.detached
        policies = {kind: getattr(policy, kind, "deny") for kind in ("run", "deliver", "tool")}
        return self._by_policy(call, prompt, policies, error)

    def _by_policy(self, call: Call, prompt: pending.Pending, policies: dict[str, str], error: JpError) -> list[Effect]:
        match prompt:
            case pending.Permission(arguments=arguments):
                # What a person has begun to change is not approved by anybody else.
                if policies["run"] == "auto" and repr(arguments) == repr(call.arguments):
                    return self._approve(call)
                return [Announce(call.known, call.arguments), *self._deny(call, "run", "needs approval", error)]
            case pending.Delivery(content=content):
                if policies["deliver"] == "auto":
                    return self._delivered(call, content)
                return self._deny(call, "deliver", "wants its result looked at", error)
            case pending.Inquiry():
                question = call.question
                assert question is not None
                if policies["tool"] == "defaults" and question.default is not UNSET:
                    return self._answer(call, question.default)
                if policies["tool"] == "auto" and question.kind != "secret" and not self._exclusive(call, question):
                    return [self._inquire(call, question), self._busy()]
                return self._deny(call, "tool", f"asks a question ({question.id})", error)

    def _deny(self, call: Call, kind: str, what: str, error: JpError) -> list[Effect]:
        key = f"conversation.tools.{call.name}.detached.{kind}"
        hints = [f"`-c {key}=auto` decides it without anybody (or set the key in a config file)"]
        question = call.question if kind == "tool" else None
        if question is not None:
            if question.kind == "secret" or self._exclusive(call, question):
                hints = []  # no model may answer it
            if question.kind != "secret":
                hints.append(f"`conversation.tools.{call.name}.questions.{question.id}.answer` answers")
        denied = DeniedError(
            f"the tool {shown_name(call.known)} {what}, and nobody can be asked: {error.message}",
            hints=[*hints, *error.hints],
            metadata={"tool": call.name, "kind": kind, "key": key},
        )
        self.denied = self.denied or denied
        return self._fail(call, f"Denied: {denied.message}.")


def shortened(name: str) -> str:
    """A name that anybody may have chosen, for a line."""
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_NAME else shown[:_LONGEST_NAME] + "…"


def stored(question: Question) -> dict[str, Any]:
    """A question as it stands in the conversation (contracts, section 6)."""
    kind: dict[str, Any] = {"type": question.kind}
    if question.kind == "select":
        kind["options"] = question.options
    out: dict[str, Any] = {"text": question.text, "answer_type": kind}
    if question.default is not UNSET and question.kind != "secret":
        out["default"] = question.default
    return out
