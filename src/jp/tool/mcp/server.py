"""One MCP server as the main thread knows it, and the start of its program."""

import os
import re
import threading
from collections import deque
from typing import Any, NamedTuple

import msgspec

from jp.interrupt.children import PIPE, Child, spawn
from jp.interrupt.signals import name_of
from jp.log import DEBUG, INFO, log
from jp.tool.mcp.errors import RefusedError, not_started
from jp.tool.mcp.launch import ROOT_VARIABLE, environment, in_workspace, of_the_user, resolve, verify
from jp.tool.output import MAX_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from jp.config.sections.providers import McpServer
    from jp.tool.mcp.errors import McpStartError

STARTING, READY, FAILED, GONE = "starting", "ready", "failed", "gone"
START_SECS = 60
SAID_LINES = 20
LOGGED_LINES = 1000
_KILL = 9


class Remote(msgspec.Struct, frozen=True):
    """A tool that a server has: `parameters` is its JSON schema (the server's own, never looked into here)."""

    server: str
    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class Surroundings(NamedTuple):
    """What servers are started in: the environment, the variables of it that are hidden, the workspace's root.

    `own` are the servers that the user's own configuration defines: they are not started in the workspace.
    """

    environ: "Mapping[str, str]"
    hidden: "Collection[str]"
    root: str
    own: "Collection[str]" = ()


class Server:
    """A configured server. It is STARTING, then READY with its tools or FAILED with an error; GONE: it has ended since.

    Written by the servers' thread alone and read from any: each field is replaced as a whole, `state` last.
    """

    def __init__(
        self, name: str, config: "McpServer", surroundings: Surroundings, changed: "Callable[[Server], object]"
    ) -> None:
        self.name = name
        self.config = config
        self.surroundings = surroundings
        self.state = STARTING
        self.tools: tuple[Remote, ...] = ()
        self.left_out: tuple[str, ...] = ()  # of its tools: the ends of sentences
        self.error: McpStartError | None = None
        self.over = ""  # why it is GONE: the end of a sentence
        self.child: Child | None = None
        self.session: Any = None  # the SDK's, on the loop
        self.on_exit: Callable[[], object] = lambda: None
        self.settled = threading.Event()
        self._changed = changed
        self._said: deque[str] = deque(maxlen=SAID_LINES)
        self._lines = 0

    @property
    def shown(self) -> str:
        """What it is called beside its name: the program or the URL, without what may be a token in them."""
        if self.config.kind != "http":
            return self.config.command or ""
        return re.sub(r"//[^/@]*@", "//", re.sub(r"[?#].*", "", self.config.url or ""))

    @property
    def start_secs(self) -> int:
        """Seconds it may take to start; 0 is no limit."""
        given = self.config.startup_timeout_secs
        return START_SECS if given is None else given

    def launch(self) -> None:
        """Start its program, if it is one. What goes wrong is its state afterwards; blocks for milliseconds."""
        config, around = self.config, self.surroundings
        try:
            if config.kind == "http":
                if not config.url:
                    raise RefusedError("has no url", f"set providers.mcp.{self.name}.url to where it is reached")
                return
            if not config.command:
                raise RefusedError("has no command", f"set providers.mcp.{self.name}.command to the program")
            env = environment(around.environ, config.variables, around.hidden)
            for name in config.variables:
                if name not in env:
                    log(INFO, "mcp", "a variable of the server is not set", server=self.name, variable=name)
            path = env.get("PATH", os.defpath)
            if self.name in around.own:
                place = of_the_user(around.root, path, around.environ, config.arguments)
            else:
                place = in_workspace(around.root, path)
            env = {**place.variables, **env, ROOT_VARIABLE: around.root}
            file = resolve(config.command, place.path, place.base)
            if config.checksum is not None:
                verify(file, config.checksum)
            argv = [file, *config.arguments]
            self.child = spawn(
                argv,
                env=env,
                cwd=place.directory,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                session=True,
                on_exit=lambda _child: self.on_exit(),
            )
            log(DEBUG, "mcp", "started", server=self.name, file=file, pid=self.child.pid)
        except RefusedError as refused:
            self.fail(str(refused), refused.hint)
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the arguments
            self.fail(f"has not started: {getattr(error, 'strerror', None) or error}")

    def say(self, line: str) -> None:
        """Log a line that it has written to stderr, and keep it for an error."""
        self._said.append(line[:MAX_LINE])
        self.note(INFO, line)

    def note(self, level: int, text: str, **fields: object) -> None:
        """Log something about it; a server that makes a thousand lines and more is not heard further."""
        self._lines += 1
        if self._lines <= LOGGED_LINES:
            shown = text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"
            log(level, "mcp", shown, server=self.name, **fields)
        elif self._lines == LOGGED_LINES + 1:
            log(INFO, "mcp", f"more than {LOGGED_LINES} lines; the rest is not logged", server=self.name)

    def become(self, state: str) -> None:
        """Enter a state, and tell."""
        self.state = state
        if state != STARTING:
            self.settled.set()
        self._changed(self)

    def fail(self, reason: str, hint: str = "") -> None:
        """It has not started; `reason` follows its name in a sentence."""
        self.error = not_started(self.name, self.shown, reason, said=list(self._said), hint=hint)
        self.over = reason
        log(INFO, "mcp", "not started", server=self.name, reason=reason)
        self.become(FAILED)

    def kill(self) -> None:
        """End all of its program that is left."""
        if self.child is not None:
            self.child.kill_group(_KILL)

    @property
    def ended_how(self) -> str:
        """How its program has ended, or that it has not: the end of a sentence."""
        status = None if self.child is None else self.child.returncode
        if status is None:
            return "has closed its output"
        if status >= 0:
            return f"has exited with status {status}"
        import signal

        try:
            return f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"was killed by {name_of(-status)}"
