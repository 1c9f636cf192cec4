"""The tools of a turn: what is known of them, how they are started and stopped, how the person is asked about them."""

from jp import log
from jp.ask.pending import Pending
from jp.interrupt.standing import clock
from jp.tool.outcome import Failure
from jp.turn import call_events as c
from jp.turn.inquiry import Inquiry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.interruption import Decision
    from jp.config.sections.assistant import AssistantOverride
    from jp.tool.definition import Definition
    from jp.tool.executor import Executor, Run
    from jp.tool.outcome import Outcome
    from jp.turn.calls import Tools
    from jp.turn.loop import Model, Turn

    Ask = Callable[[Pending], "c.Answered | c.Unattended | Decision | None"]


class Tooling:
    """Carries out what the machine wants of tools.

    `ask` puts a prompt to the person: what they answered, that nobody can be asked, what a menu over the prompt has
    decided, or None when the run is ending. `asked_of` gives the model that answers a tool's question. `keep(name,
    content)` puts a result into a file and returns its path, empty without one. `cancelled` is what a model is told of
    a cancelled call of a tool that is not known.
    """

    def __init__(
        self,
        tools: "Tools",
        executor: "Callable[[Definition], Executor]",
        ask: "Ask",
        asked_of: "Callable[[AssistantOverride | None], Model]",
        keep: "Callable[[str, str], str]",
        cancelled: str,
    ) -> None:
        self.tools = tools
        self.ask = ask
        self.cancelled = cancelled
        self._executor = executor
        self._asked_of = asked_of
        self._keep_result = keep
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
                seconds = clock() - self._begun.pop(call, clock())
                file = self._keep_result(tool.name, content) if turn.screen.cuts(tool, content, is_error) else None
                turn.screen.result(tool, content, is_error=is_error, seconds=seconds, file=file)
            case c.Start():
                self._start(effect, turn.inbox.post)
            case c.Inquire():
                self._inquire(effect, turn)
            case c.Kill(call, now):
                if call in self._runs:
                    self._runs[call].cancel(now=now)

    def _start(self, effect: c.Start, post: "Callable[[object], object]") -> None:
        call, run, tool = effect.call, effect.run, effect.invocation.tool

        def done(outcome: "Outcome") -> None:
            post(c.ToolEnded(call, run, outcome))

        self._begun.setdefault(call, clock())
        try:
            self._keep(call, self._executor(tool).start(effect.invocation, done, after=self._runs.get(call)))
        except Exception as error:  # a call must have a response, whatever goes wrong with it
            log.log(log.ERROR, "tool", "a run could not be started", tool=tool.name, error=repr(error))
            done(Failure(f"{tool.name} could not be started: {error}"))

    def _inquire(self, effect: c.Inquire, turn: "Turn") -> None:
        try:
            inquiry = Inquiry(self._asked_of(effect.by), turn.thread, effect, turn.inbox.post)
            self._keep(effect.call, inquiry)
            inquiry.start()
        except Exception as error:  # no key, no such provider, a question that can't be put into a request
            turn.inbox.post(c.Inquired(effect.call, effect.run, error=str(error)))

    def _keep(self, call: int, run: "Run") -> None:
        self._runs[call] = run
        self._all = [each for each in self._all if not each.over(0)]
        self._all.append(run)

    def begin(self) -> None:
        """Another answer, whose calls are counted anew."""
        self._runs.clear()
        self._begun.clear()

    def stop(self) -> None:
        """The turn is over: nothing of a tool is to run on."""
        for run in self._all:
            run.cancel()
