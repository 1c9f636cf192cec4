"""Runs the tools of MCP servers."""

import threading

from jp.tool.definition import Invocation
from jp.tool.mcp.servers import Servers
from jp.tool.outcome import Failure, Outcome, Success
from jp.tool.output import Spill, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from jp.tool.definition import Definition
    from jp.tool.executor import Run

TIMEOUT_SECS = 600
AFTER_SECS = 2.0  # that an earlier run may take to be over
_LOOK_SECS = 0.02


class McpTools:
    """An Executor. The whole of a result that is too long for a model is kept in `spill_dir`."""

    def __init__(self, servers: Servers, spill_dir: str) -> None:
        self._servers = servers
        self._spill_dir = spill_dir

    def formats(self, tool: "Definition") -> bool:  # noqa: ARG002
        """They don't."""
        return False

    def start(
        self, invocation: Invocation, done: "Callable[[Outcome], object]", *, after: "Run | None" = None
    ) -> "McpRun":
        """Call the tool; see `Executor`."""
        run = McpRun(invocation, self._servers, self._spill_dir, done, after)
        run.begin()
        return run


class McpRun:
    """One call. Cancelled, the server is told and not listened to any more; what it does then is its own affair."""

    def __init__(
        self,
        invocation: Invocation,
        servers: Servers,
        spill_dir: str,
        done: "Callable[[Outcome], object]",
        after: "Run | None",
    ) -> None:
        self._invocation = invocation
        self._servers = servers
        self._spill_dir = spill_dir
        self._done = done
        self._after = after
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._over = threading.Event()

    def begin(self) -> None:
        """Have it begin on the servers' thread."""
        self._servers.submit(self._make, self._refuse)

    def _refuse(self) -> None:
        self._over.set()
        if not self._cancelled:
            self._done(Failure("no MCP server is running"))

    def cancel(self, *, now: bool = False) -> None:  # noqa: ARG002
        """See `Run`."""
        self._cancelled = True
        self._servers.errand(self._stop)

    def over(self, timeout: float) -> bool:
        """See `Run`."""
        return self._over.wait(timeout)

    def _make(self, loop: "asyncio.AbstractEventLoop") -> "asyncio.Task[None]":
        self._task = loop.create_task(self._go(), name=f"call {self._invocation.call_id}")
        self._task.add_done_callback(lambda _task: self._over.set())
        return self._task

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _go(self) -> None:
        if self._cancelled:
            return
        try:
            outcome = await self._outcome()
        except Exception as error:  # a mistake of ours must not leave a call without an answer
            outcome = Failure("the call has failed", [f"{type(error).__name__}: {error}"])
        if not self._cancelled:
            self._done(outcome)

    async def _outcome(self) -> Outcome:
        import asyncio

        from jp.tool.mcp.connection import call

        tool = self._invocation.tool
        looks = int(AFTER_SECS / _LOOK_SECS)
        while self._after is not None and not self._after.over(0) and looks:
            await asyncio.sleep(_LOOK_SECS)
            looks -= 1
        server = self._servers.get(tool.server)
        if server is None:
            return Failure(f'the MCP server "{tool.server}" is not running')
        while not server.settled.is_set():
            await asyncio.sleep(_LOOK_SECS)
        seconds = TIMEOUT_SECS if tool.settings.timeout_secs is None else tool.settings.timeout_secs
        outcome = await call(server, tool.remote or tool.name, self._invocation.arguments, seconds)
        return self._bounded(outcome)

    def _bounded(self, outcome: Success | Failure) -> Outcome:
        spill = Spill(self._spill_dir, self._invocation.call_id)
        if isinstance(outcome, Success):
            return Success(shortened(outcome.content, spill))
        return Failure(shortened(outcome.message, spill), outcome.trace, outcome.transient)
