"""One tool without a model: found, its MCP server started, run with its questions answered."""

import time

import msgspec
from msgspec import UNSET

from jp.ask import pending
from jp.cli.known_tools import UnusableToolError, compact, known_tools
from jp.cli.tools import Asking, UnknownToolError, Workshop
from jp.errors import JpError, UsageError, nearest
from jp.interrupt.checkpoint import checkpoint
from jp.tool.definition import MCP, RUN, Definition, Invocation
from jp.tool.outcome import Failure, NeedsInput, Outcome, Question, Success
from jp.turn.call_events import Answered, Unattended
from jp.turn.calls import MAX_QUESTIONS, DeniedError, shown_name
from jp.turn.inbox import Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from jp.cli.context import Context
    from jp.cli.known_tools import Known
    from jp.cli.tool_words import Word
    from jp.config.load import Config
    from jp.tool.executor import Run

CALL = "jp_tool_run"  # what a call is known by where a model makes none
GRACE_SECS = 1.0  # that a tool gets to end when the run does; the end of the process kills what is left

_BOOLEANS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


class UnansweredError(JpError):
    """A tool's question was left without an answer."""

    code = "unanswered"


def find(known: "Sequence[Known]", name: str) -> "Known":
    """A tool by its name. Raises UnknownToolError with the nearest."""
    for each in known:
        if each.name == name:
            return each
    near = nearest(name, [each.name for each in known])
    hints = [f"did you mean {near}?"] if near else []
    raise UnknownToolError(
        f"there is no tool {name}",
        hints=[*hints, "`jp tool ls` lists them"],
        metadata={"tool": name, "nearest": near},
    )


class Bench(Workshop):
    """The tools as for a turn, but for one of them: what stands in its way is an error and not a notice."""

    def __init__(self, ctx: "Context", config: "Config") -> None:
        super().__init__(ctx, config)
        self.ctx = ctx
        self.config = config

    def known(self, name: str) -> "Known":
        """A tool that can be run, as far as that is known without its MCP server.

        Raises UnknownToolError and UnusableToolError.
        """
        known = find(known_tools(self.config), name)
        if known.problem:
            raise UnusableToolError(
                f"{name} can't be run: {known.problem}",
                hints=known.hints or [f"`jp tool show {name}` tells what is known"],
                metadata={"tool": name},
            )
        return known

    def definition(self, known: "Known") -> Definition:
        """The tool, with its MCP server started. Main thread. Raises UnusableToolError, McpStartError and Shutdown."""
        name = known.name
        lookup = None
        if known.origin == MCP:
            self.start_servers([name])
            self.await_servers()
            assert self._servers is not None
            for error in (*self._servers.errors, *self._servers.notices):
                raise error  # an optional one, too: here it is all that is wanted
            lookup = self._servers.find
        self.box.build(dict.fromkeys([*self.box.enabled(), name]), lookup)
        tool = self.box.find(name)
        if tool is None:
            raise self._not_there(name, known.server)
        return tool

    def _not_there(self, name: str, server: str) -> UnusableToolError:
        assert self._servers is not None
        offered = [tool.name for tool in self._servers.tools() if tool.server == server]
        there = f"it has: {', '.join(sorted(offered))}" if offered else "it has none"
        return UnusableToolError(
            self.box.problems.get(name, f"the tool {name} is not there"),
            hints=[there, f"conversation.tools.{name}.source names the server and the tool"],
            metadata={"tool": name, "server": server, "offered": offered},
        )


class Trial:
    """Runs one tool until there is a result. `answers` are given beforehand, by the ids of questions.

    `seconds` is how long it ran, without the time for answers; `asked` are the questions it had.
    """

    def __init__(self, bench: Bench, tool: Definition, answers: "Mapping[str, Word]") -> None:
        self._ctx = bench.ctx
        self._config = bench.config
        self._executor = bench.executor(tool)
        self._tool = tool
        self._answers = answers
        self._last: Run | None = None
        self.seconds = 0.0
        self.asked: list[str] = []

    def run(self, arguments: "dict[str, Any]", action: str = RUN) -> Success | Failure:
        """Main thread. Raises DeniedError, UnansweredError, UsageError for an answer that is none, and Shutdown."""
        invocation = Invocation(self._tool, CALL, arguments, action=action)
        while True:
            outcome = self._once(invocation)
            if not isinstance(outcome, NeedsInput):
                return outcome
            question = outcome.question
            if len(self.asked) == MAX_QUESTIONS:
                return Failure(f"{self._tool.name} has asked {MAX_QUESTIONS} questions and is not done")
            self.asked.append(question.id)
            secret = {question.id} if question.kind == "secret" else set()
            invocation = msgspec.structs.replace(
                invocation,
                answers={**invocation.answers, question.id: self._answer(question)},
                secret=invocation.secret | secret,
            )

    def _once(self, invocation: Invocation) -> Outcome:
        inbox, outcomes = Inbox(), list[Outcome]()

        def done(outcome: Outcome) -> None:  # on a thread of the tool's
            outcomes.append(outcome)
            inbox.post(None)

        ended = inbox.attend(self._ctx.router)
        began = time.monotonic()
        run = self._executor.start(invocation, done, after=self._last)
        self._last = run
        try:
            with self._status():
                while not outcomes:
                    inbox.get()
                    checkpoint()
        finally:
            ended()
            self.seconds += time.monotonic() - began
            if not outcomes:
                run.cancel()
                run.over(GRACE_SECS)
        return outcomes[0]

    def _status(self) -> "AbstractContextManager[object]":
        progress = self._config.root.style.tool_call.progress
        if not progress.show:
            from contextlib import nullcontext

            return nullcontext()
        subject = f"Running {shown_name(self._tool)}…"
        return self._ctx.printer.status(subject, delay=progress.delay_secs, interval=progress.interval_ms / 1000)

    # --- its questions

    def _answer(self, question: Question) -> "Any":
        """What was given beforehand, else what is configured, else what the person says."""
        if question.id in self._answers:
            return answer_of(self._tool.name, question, self._answers[question.id])
        settings = self._tool.settings.questions.get(question.id)
        if settings is not None and settings.answer is not None and question.kind != "secret":
            return settings.answer
        default = None if question.default is UNSET else question.default
        prompt = pending.Inquiry(
            0,
            shown_name(self._tool),
            question.text,
            question.kind,
            tuple(question.options),
            default,
            question.pre_amble,
        )
        match Asking(self._ctx, self._config, "").ask(prompt):
            case Answered(pending.Answer(value)):
                return value
            case Unattended(error):
                return self._by_policy(question, error)
        checkpoint()  # the run may be ending
        raise UnansweredError(
            f"{self._tool.name} was not given an answer ({question.id}), so it has not gone on",
            metadata={"tool": self._tool.name, "question": question.id},
        )

    def _by_policy(self, question: Question, error: JpError) -> "Any":
        """What is answered where nobody can be asked: the default, if that is what the tool's policy says."""
        policy = getattr(self._tool.settings.detached, "tool", "deny")
        if policy == "defaults" and question.default is not UNSET:
            return question.default
        name = self._tool.name
        hints = [f"`--answer {question.id}=VALUE` answers it"]
        if question.default is not UNSET:
            hints.append(f"`-c conversation.tools.{name}.detached.tool=defaults` takes its default")
        raise DeniedError(
            f"the tool {shown_name(self._tool)} asks a question ({question.id}), and nobody can be asked: "
            f"{error.message}",
            hints=[*hints, *error.hints],
            metadata={"tool": name, "question": question.id, "flag": "--answer"},
        )


def answer_of(name: str, question: Question, word: "Word") -> "Any":
    """What was given for a question, as the question wants it. Raises UsageError."""
    value = word.value
    if question.kind == "boolean":
        found = value if isinstance(value, bool) else _BOOLEANS.get(str(value).strip().lower())
        if found is not None:
            return found
        wanted = "true or false"
    elif question.kind == "select":
        for option in question.options:
            if option == value or (not word.exact and compact(option) == str(value).removesuffix("\n")):
                return option
        wanted = "one of " + ", ".join(compact(option) for option in question.options)
    else:
        return compact(value).removesuffix("\n")
    raise UsageError(
        f"--answer {question.id}: {name} asks for {wanted}",
        hints=[f"it asks: {question.text}"],
        metadata={"tool": name, "question": question.id},
    )
