"""How a tool is run, whatever kind it is: started on threads of its own, heard of once, stopped without waiting."""

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.tool.definition import Definition, Invocation
    from jp.tool.outcome import Outcome


class Run(Protocol):
    """A tool that has been started."""

    def cancel(self, *, now: bool = False) -> None:
        """Stop it: abandon what it does, end what it has started. Never blocks; any thread; may come more than once.

        `now`: at once, without the grace that it otherwise gets for putting things in order.
        """

    def over(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until nothing of it runs any more; whether that is so."""


class Executor(Protocol):
    """Runs the tools of one origin."""

    def formats(self, tool: "Definition") -> bool:
        """Whether the arguments of a call are shown as the tool itself formats them (an invocation that FORMATs)."""

    def start(self, invocation: "Invocation", done: "Callable[[Outcome], object]", *, after: Run | None = None) -> Run:
        """Start a run; `done` is called once, from any thread, with what came of it: every failure is an outcome.

        Once cancelled, whether `done` is called is left open: who cancels does not listen any more. `after` is an
        earlier run of the same call, which is over before this one begins.
        """
