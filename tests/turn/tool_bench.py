"""The calls of an answer without anything that runs: tools from a configuration, and what has become of each call."""

from collections.abc import Iterable
from typing import Any

from jp.ask import pending
from jp.config.sections.tools import Detached, EnableState, Tool, ToolDefaults, Tools, ToolStyle
from jp.conversation.events import Event, InquiryRequest, InquiryResponse, ToolCallRequest, ToolCallResponse
from jp.errors import JpError
from jp.render.tool import Look
from jp.tool.definition import FORMAT, Definition
from jp.tool.outcome import NeedsInput, Outcome, Question
from jp.tool.toolbox import Toolbox
from jp.turn import call_events as c
from jp.turn.calls import Calls, Memory
from jp.turn.toolkit import Toolkit

CANCELLED = "what everyone says of a cancelled call"
OWN = "what this tool says of a cancelled call"
NOBODY = JpError("nobody is there", hints=["open a terminal"])


class Formatting:
    """An executor that is asked whether it formats, and nothing else."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)

    def formats(self, tool: Definition) -> bool:
        return tool.name in self._names

    def start(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("nothing is run here")


def local(run: str = "unattended", **settings: Any) -> Tool:
    """A tool that is a command."""
    return Tool(source="local", command="true", run=run, **settings)


def configured(named: dict[str, Tool], *, detached: str | Detached = "deny", run: str = "ask") -> Tools:
    """The configuration of tools."""
    style = ToolStyle(hidden=False, inline_results=10, results_file_link="full", parameters="json")
    return Tools(ToolDefaults(run, "unattended", CANCELLED, style, detached), named)


def toolkit(
    named: dict[str, Tool], *, formats: Iterable[str] = (), detached: str | Detached = "deny", offer: bool = False
) -> Toolkit:
    """What a turn knows of these tools."""
    box = Toolbox(configured(named, detached=detached), offer=offer)
    box.build()
    assert set(named) <= set(box.names())
    executor = Formatting(formats)
    return Toolkit(box, lambda _: executor, Look)


def builtin(run: str | None = None, **settings: Any) -> Tool:
    """A built-in tool's settings; only `run_command` always asks."""
    return Tool(enable=EnableState(True), run=run, **settings)


class Bench:
    """Calls, and everything that they have wanted so far."""

    def __init__(
        self,
        *tool: Tool,
        formats: Iterable[str] = (),
        detached: str | Detached = "deny",
        memory: Memory | None = None,
        **named: Tool,
    ) -> None:
        self.kit = toolkit(
            {f"t{n or ''}": one for n, one in enumerate(tool)} | named, formats=formats, detached=detached
        )
        self.memory = memory or Memory()
        self.calls = Calls(self.kit, self.memory, CANCELLED)
        self.effects: list[c.Effect] = []

    # --- what happens

    def call(self, name: str = "t", arguments: dict[str, Any] | None = None) -> list[c.Effect]:
        """The model calls; the call's id is c0, c1, …"""
        request = ToolCallRequest(id=f"c{len(self.calls)}", name=name, arguments=arguments or {})
        return self.keep(self.calls.add(request))

    def begin(self) -> list[c.Effect]:
        return self.keep(self.calls.begin())

    def answer(self, answer: pending.Answered) -> list[c.Effect]:
        return self.keep(self.calls.step(c.Answered(answer)))

    def nobody(self) -> list[c.Effect]:
        return self.keep(self.calls.step(c.Unattended(NOBODY)))

    def ended(self, outcome: Outcome, start: c.Start | None = None) -> list[c.Effect]:
        """The newest run is over, or that of `start`."""
        start = start or self.starts()[-1]
        return self.keep(self.calls.step(c.ToolEnded(start.call, start.run, outcome)))

    def asks(self, kind: str = "text", id_: str = "q", **question: Any) -> list[c.Effect]:
        """The newest run has a question."""
        return self.ended(NeedsInput(Question(id=id_, text="What?", kind=kind, **question)))

    def inquired(self, answer: Any = None, error: str = "") -> list[c.Effect]:
        """The model has answered the newest question that it was asked."""
        asked = self.inquiries()[-1]
        return self.keep(self.calls.step(c.Inquired(asked.call, asked.run, answer, error)))

    def cancel(self, text: str = "") -> list[c.Effect]:
        return self.keep(self.calls.cancel(text))

    def restart(self) -> list[c.Effect]:
        return self.keep(self.calls.restart())

    def keep(self, effects: list[c.Effect]) -> list[c.Effect]:
        self.effects += effects
        return effects

    # --- what has become of it

    def starts(self, *, formatting: bool = False) -> list[c.Start]:
        """Every run so far; with `formatting` those too that only format."""
        found = [effect for effect in self.effects if isinstance(effect, c.Start)]
        return found if formatting else [one for one in found if one.invocation.action != FORMAT]

    def inquiries(self) -> list[c.Inquire]:
        return [effect for effect in self.effects if isinstance(effect, c.Inquire)]

    def of(self, kind: type) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def events(self) -> list[Event]:
        return [effect.event for effect in self.effects if isinstance(effect, c.Record)]

    @property
    def responses(self) -> list[tuple[str, str, bool]]:
        """Call, content, is_error."""
        return [(one.id, one.content, one.is_error) for one in self.events if isinstance(one, ToolCallResponse)]

    @property
    def response(self) -> tuple[str, bool] | None:
        """The only response, if there is one."""
        assert len(self.responses) <= 1
        return self.responses[0][1:] if self.responses else None

    @property
    def questions(self) -> list[tuple[str, Any]]:
        """Questions and answers as they are recorded."""
        out: list[tuple[str, Any]] = []
        for event in self.events:
            if isinstance(event, InquiryRequest):
                out.append((event.id, event.question))
            elif isinstance(event, InquiryResponse):
                out.append((event.id, event.answer))
        return out

    @property
    def asking(self) -> pending.Pending | None:
        return self.calls.asking
