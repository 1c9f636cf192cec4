"""The tools of a turn: what is known of them, how they are started and stopped, how the person is asked about them."""

import time

from jp.ask.pending import Pending
from jp.errors import JpError
from jp.turn import call_events as c
from jp.turn.inquiry import Inquiry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.interruption import Decision
    from jp.config.sections.assistant import AssistantOverride
    from jp.tool.definition import Definition
    from jp.tool.executor import Executor, Run
    from jp.turn.calls import Tools
    from jp.turn.loop import Model, Turn

    Ask = Callable[[Pending], "c.Answered | c.Unattended | Decision | None"]


class Tooling:
    """Carries out what the machine wants of tools.

    `ask` puts a prompt to the person: what they answered, that nobody can be asked, what a menu over the prompt has
    decided, or None when the run is ending. `asked_of` gives the model that answers a tool's question. `cancelled` is
    what a model is told of a cancelled call of a tool that is not known.
    """

    def __init__(
        self,
        tools: "Tools",
        executor: "Callable[[Definition], Executor]",
        ask: "Ask",
        asked_of: "Callable[[AssistantOverride | None], Model]",
        cancelled: str,
    ) -> None:
        self.tools = tools
        self.ask = ask
        self.cancelled = cancelled
        self._executor = executor
        self._asked_of = asked_of
        self._runs: dict[int, Run] = {}
        self._all: list[Run] = []
        self._begun: dict[int, float] = {}

    def carry_out(self, effect: c.Effect, turn: "Turn") -> None:
        """Do what is to be done about a call."""
        match effect:
            case c.Record(event):
                turn.record(event)
            case c.Busy(names):
                turn.screen.running(names)
            case c.Said(text):
                turn.screen.answered()
                turn.screen.note(text)
            case c.Announce(tool, arguments, formatted):
                turn.screen.answered()  # also where the call is not shown: what comes behind it is another text
                turn.screen.call(tool, arguments, formatted)
            case c.ShowResult(call, tool, content, is_error):
                seconds = time.monotonic() - self._begun.pop(call, time.monotonic())
                turn.screen.result(tool, content, is_error=is_error, seconds=seconds)
            case c.Start(call, run, invocation):
                self._begun.setdefault(call, time.monotonic())
                post = turn.inbox.post
                self._keep(
                    call,
                    self._executor(invocation.tool).start(
                        invocation, lambda outcome: post(c.ToolEnded(call, run, outcome)), after=self._runs.get(call)
                    ),
                )
            case c.Inquire(call, run, by=by):
                try:
                    model = self._asked_of(by)
                except JpError as error:  # no key, no such provider
                    turn.inbox.post(c.Inquired(call, run, error=error.message))
                    return
                inquiry = Inquiry(model, turn.thread, effect, turn.inbox.post)
                self._keep(call, inquiry)
                inquiry.start()
            case c.Kill(call, now):
                if call in self._runs:
                    self._runs[call].cancel(now=now)

    def _keep(self, call: int, run: "Run") -> None:
        self._runs[call] = run
        self._all.append(run)

    def begin(self) -> None:
        """Another answer, whose calls are counted anew."""
        self._runs.clear()
        self._begun.clear()

    def stop(self) -> None:
        """The turn is over: nothing of a tool is to run on."""
        for run in self._all:
            run.cancel()
