"""The MCP servers of a run: one thread with an event loop of its own, on which all of them are started and spoken to.

Importing the SDK takes about a second, so that happens on the thread too, after the servers' programs were started:
they get ready meanwhile. The main thread hears of each change by `post` and never waits.
"""

import threading
from collections import deque
from functools import partial
from typing import Any

import msgspec

from jp.interrupt import signals
from jp.tool.mcp.errors import McpStartError, not_started
from jp.tool.mcp.server import FAILED, GONE, READY, STARTING, Remote, Server, Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Collection, Iterable, Mapping

    from jp.config.sections.providers import McpServer

CLOSE_SECS = 0.2
END_SECS = 2.0  # that the thread gives servers at the end; the end of the process is not kept waiting by it


class Changed(msgspec.Struct, frozen=True):
    """A server has entered a state: READY, FAILED, or GONE after it was ready."""

    server: str
    state: str


class Servers:
    """Nothing is imported, started or connected to before `start`.

    `configs` are the configured servers by name; `hidden_variables` are kept from them unless they name them; `root`
    is what they are told the workspace is, and where they run unless they are among `own`, the user's own;
    `post(Changed)` is called on the servers' thread.
    """

    def __init__(
        self,
        configs: "Mapping[str, McpServer]",
        environ: "Mapping[str, str]",
        hidden_variables: "Collection[str]",
        root: str,
        post: "Callable[[Changed], object]",
        own: "Collection[str]" = (),
    ) -> None:
        self._configs = configs
        self._surroundings = Surroundings(dict(environ), frozenset(hidden_variables), root, frozenset(own))
        self._post = post
        self._servers: dict[str, Server] = {}
        self._unknown: list[McpStartError] = []
        self._errands: deque[Callable[[], object]] = deque()  # for the loop, once there is one
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._dead = False

    def start(self, names: "Iterable[str]") -> None:
        """Start those of `names` that were not yet, side by side and in the background; returns at once."""
        fresh = []
        for name in dict.fromkeys(names):
            if name in self._servers or self._closed:
                continue
            config = self._configs.get(name)
            if config is None:
                known = f"configured servers: {', '.join(sorted(self._configs))}" if self._configs else ""
                self._unknown.append(not_started(name, "", "is not configured", hint=known))
                continue
            fresh.append(Server(name, config, self._surroundings, self._tell))
        self._servers |= {server.name: server for server in fresh}
        if not fresh:
            return
        if self._thread is not None:
            for server in fresh:
                self.errand(partial(self._begin, server, launched=False))
            return
        self._thread = threading.Thread(target=self._run, args=(fresh,), name="mcp", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads
            self._dead = True
            for server in fresh:
                server.fail(f"has not started: {error}")

    @property
    def pending(self) -> tuple[str, ...]:
        """The servers that are still starting."""
        return tuple(name for name, server in self._servers.items() if server.state == STARTING)

    @property
    def errors(self) -> tuple[McpStartError, ...]:
        """Why servers are not there that are needed: the first is a reason not to go on."""
        return (*self._unknown, *self._failures(optional=False))

    @property
    def notices(self) -> tuple[McpStartError, ...]:
        """Why servers are not there that are optional: their tools are left out."""
        return self._failures(optional=True)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is left out of what the servers offer, in sentences."""
        return tuple(
            f'the MCP server "{server.name}" {reason}'
            for server in self._servers.values()
            for reason in server.left_out
        )

    def _failures(self, optional: bool) -> tuple[McpStartError, ...]:
        failed = [each for each in self._servers.values() if each.state == FAILED and each.config.optional == optional]
        return tuple(server.error for server in failed if server.error is not None)

    def tools(self) -> tuple[Remote, ...]:
        """The tools of all servers that have become ready."""
        servers = [server for server in self._servers.values() if server.state in (READY, GONE)]
        return tuple(tool for server in servers for tool in server.tools)

    def find(self, server: str, tool: str) -> Remote | None:
        """A tool of a server; None where the server is not there, or has none of that name."""
        known = self._servers.get(server)
        found = known.tools if known is not None and known.state in (READY, GONE) else ()
        return next((each for each in found if each.name == tool), None)

    def get(self, name: str) -> Server | None:
        """A server that was started, whatever came of it."""
        return self._servers.get(name)

    def close(self) -> None:
        """Tell all servers to end, by closing their stdin; waits for that, 0.2 seconds at most.

        What does not end then is killed a second later, or with this process.
        """
        if self._closed:
            return
        self._closed = True
        self.errand(self._shut)
        if self._thread is not None and self._loop is not None:
            self._thread.join(CLOSE_SECS)

    def submit(
        self, work: "Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any]]", refused: "Callable[[], object]"
    ) -> None:
        """Have `work` make a task on the loop, once there is one; `refused` is called when there will be none."""
        if self._closed or self._thread is None:
            refused()
        else:
            self.errand(lambda: self._keep(work) or refused())

    def errand(self, call: "Callable[[], object]") -> None:
        """Have `call` called on the loop; on any thread when there will be none any more. Any thread."""
        self._errands.append(call)
        loop = self._loop
        try:
            if loop is not None:
                loop.call_soon_threadsafe(self._go)
            elif self._dead:
                self._go()
        except RuntimeError:  # closed meanwhile
            self._go()

    def _go(self) -> None:
        while True:
            try:
                errand = self._errands.popleft()
            except IndexError:
                return
            errand()

    def _tell(self, server: Server) -> None:
        if not self._closed:
            self._post(Changed(server.name, server.state))

    def _run(self, fresh: "list[Server]") -> None:
        signals.alone()
        try:
            for server in fresh:
                server.launch()
            import asyncio

            from jp.tool.mcp.session import log_to_ours

            log_to_ours()
            loop = asyncio.SelectorEventLoop()
        except Exception as error:  # an installation without the SDK, or with a broken one; no descriptors left
            self._dead = True
            for server in fresh:
                if server.state == STARTING:
                    server.fail(f"can't be spoken to: {type(error).__name__}: {error}")
                server.kill()
            self._go()
            return
        try:
            self._closing = asyncio.Event()
            for server in fresh:
                loop.call_soon(self._begin, server)
            self._loop = loop
            loop.call_soon(self._go)
            loop.run_forever()
        finally:
            self._loop = None
            self._dead = True
            loop.close()
            self._go()

    def _begin(self, server: Server, launched: bool = True) -> None:
        closing = self._closing
        if closing is None or self._dead:
            server.fail("can't be spoken to, as those before it")
            return
        from jp.tool.mcp.connection import serve

        if not launched:
            server.launch()
        if server.state == STARTING:
            self._keep(lambda loop: loop.create_task(serve(server, closing), name=server.name), server)

    def _keep(
        self, work: "Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any]]", server: Server | None = None
    ) -> bool:
        if self._loop is None:
            return False
        task = work(self._loop)
        self._tasks.add(task)  # the loop itself holds them weakly
        task.add_done_callback(partial(self._ended, server))
        return True

    def _ended(self, server: Server | None, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if server is not None and server.state == STARTING:  # a mistake of ours must not keep the query waiting
            error = None if task.cancelled() else task.exception()
            server.fail(f"can't be spoken to: {error!r}")

    def _shut(self) -> None:
        if self._closing is not None and self._loop is not None:
            self._closing.set()
            self._loop.create_task(self._end(self._loop))

    async def _end(self, loop: "asyncio.AbstractEventLoop") -> None:
        import asyncio

        tasks = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=END_SECS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=END_SECS)
        for server in self._servers.values():
            server.kill()
        loop.stop()
