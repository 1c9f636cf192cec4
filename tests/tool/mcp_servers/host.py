"""The main thread's side of MCP servers, for tests: starts them, waits for conditions, calls tools."""

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from jp.config.sections.providers import Checksum, McpServer
from jp.config.sections.tools import Tool
from jp.tool.definition import Definition, Invocation
from jp.tool.mcp.executor import McpRun, McpTools
from jp.tool.mcp.servers import Changed, Servers
from jp.tool.outcome import Outcome

HERE = Path(__file__).parent
DEADLINE = 60.0


def stdio(
    *arguments: str,
    command: str = sys.executable,
    variables: Sequence[str] = (),
    optional: bool = False,
    secs: int | None = None,
    checksum: Checksum | None = None,
) -> McpServer:
    """A server that is a program, Python where nothing else is said."""
    return McpServer("stdio", list(arguments), list(variables), optional, command, secs, checksum)


def python(**more: Any) -> McpServer:
    """The server that is made with the official SDK."""
    return stdio(str(HERE / "python_server.py"), **more)


def raw(mode: str, *arguments: str, **more: Any) -> McpServer:
    """The server that does one thing wrong."""
    return stdio("-S", str(HERE / "raw_server.py"), mode, *arguments, **more)


def http(url: str, headers: Mapping[str, str] | None = None, **more: Any) -> McpServer:
    """A server at a URL."""
    given = {"variables": [], "optional": False, "startup_timeout_secs": 20, **more}
    return McpServer("http", arguments=[], url=url, headers=dict(headers or {}), **given)


def wait(condition: Callable[[], object], what: str = "", deadline: float = DEADLINE) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + deadline
    while not condition():
        assert time.monotonic() < end, f"not within {deadline} s: {what}"
        time.sleep(0.005)


class Call:
    """One started call; `outcome()` waits for what comes of it."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.run: McpRun
        self._done = threading.Event()

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._done.set()

    def outcome(self, deadline: float = DEADLINE) -> Outcome:
        assert self._done.wait(deadline), "no outcome"
        return self.outcomes[0]


class Host:
    """Servers and their tools, closed at the end of the block."""

    def __init__(
        self,
        tmp: Path,
        configs: Mapping[str, McpServer],
        environ: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        self.events: list[Changed] = []
        self.root = tmp
        self.servers = Servers(configs, dict(environ or os.environ), hidden, str(tmp), self.events.append)
        self.tools = McpTools(self.servers, str(tmp / "spill"))
        self._calls = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.servers.close()
        thread = self.servers._thread
        if thread is not None:
            thread.join(DEADLINE)
            assert not thread.is_alive(), "the servers' thread has not ended"

    def ready(self, *names: str) -> Self:
        """Start these and wait until each of them is ready or has failed."""
        self.servers.start(names)
        wait(lambda: not self.servers.pending, f"{names} started")
        return self

    def start(self, server: str, tool: str, settings: Tool | None = None, **arguments: Any) -> Call:
        """Start a call."""
        self._calls += 1
        call = Call()
        definition = Definition(tool, "mcp", settings or Tool(timeout_secs=60), server=server, remote=tool)
        call.run = self.tools.start(Invocation(definition, f"call-{self._calls}", arguments), call.done)
        return call

    def call(self, server: str, tool: str, settings: Tool | None = None, **arguments: Any) -> Outcome:
        """Call a tool and wait for what comes of it."""
        return self.start(server, tool, settings, **arguments).outcome()
