"""What a command needs to run tools: the toolbox of the configuration, who runs which, who is asked about them."""

import os

from jp.errors import JpError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from jp.ask.compose import Composition
    from jp.ask.interruption import Decision
    from jp.ask.pending import Pending, Permission
    from jp.ask.tool_prompts import Wanted
    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.config.sections.assistant import AssistantOverride
    from jp.llm.provider import Tool as Offered
    from jp.render.tool import Look
    from jp.storage.conversation import Conversation
    from jp.tool.definition import Definition
    from jp.tool.executor import Executor
    from jp.tool.mcp.servers import Servers
    from jp.turn.call_events import Answered, Unattended
    from jp.turn.loop import Model
    from jp.turn.tooling import Tooling

Directive = tuple[str, str]


class UnknownToolError(UsageError):
    """A tool is named that is not there."""

    code = "unknown_tool"


class FixedToolError(UsageError):
    """A tool is named that is always on."""

    code = "fixed_tool"


class Workshop:
    """The tools of one run, in a workspace and for the conversation `conversation_id` (empty: for none)."""

    def __init__(self, ctx: "Context", config: "Config", *, offer: bool = True) -> None:
        from jp.tool.toolbox import Toolbox
        from jp.turn.inbox import Inbox

        self.conversation_id = ""
        self._ctx = ctx
        self._config = config
        self._inbox = Inbox()
        self._executors: dict[str, Executor] = {}
        self._servers: Servers | None = None
        self._unknown: list[str] = []  # servers that tools come from and that are not configured
        self.box = Toolbox(config.root.conversation.tools, offer=offer)

    # --- MCP servers

    def start_servers(self, names: "Iterable[str] | None" = None, earlier: "Workshop | None" = None) -> None:
        """Start the MCP servers that tools come from, in the background; those that `earlier` has started are taken."""
        waiting, configs = self._waiting(), self._config.root.providers.mcp
        # One of the user's own starts as he has configured it, whatever the workspace adds to it that waits.
        own = self._config.own_servers
        named = [name for name in self.box.servers(names) if name in own or ("providers", "mcp", name) not in waiting]
        wanted = [name for name in named if name in configs]
        self._unknown = [name for name in named if name not in configs]
        if earlier is not None and earlier._config.root.providers.mcp == self._config.root.providers.mcp:
            self._servers, self._inbox, earlier._servers = earlier._servers, earlier._inbox, None
        if not wanted:
            return
        if self._servers is None:
            from jp.tool.mcp.servers import Servers

            root = self._ctx.workspace.root
            own = self._config.own_servers
            self._servers = Servers(configs, self._ctx.environ, self.hidden, root, self._inbox.post, own)
        self._servers.start(wanted)

    def await_servers(self) -> None:
        """Wait until every MCP server is there or has failed. Main thread; raises Shutdown."""
        servers = self._servers
        if servers is None or not servers.pending:
            return
        from jp.interrupt.checkpoint import checkpoint

        progress = self._config.root.style.mcp_startup
        status = None
        if progress.show:
            interval = progress.interval_ms / 1000
            status = self._ctx.printer.status("Starting MCP servers…", delay=progress.delay_secs, interval=interval)
        ended = self._inbox.attend(self._ctx.router)
        try:
            while servers.pending:
                if status is not None:
                    status.detail(", ".join(servers.pending))
                self._inbox.get()
                checkpoint()
        finally:
            ended()
            if status is not None:
                status.end()

    def settle(self, names: "Iterable[str] | None" = None) -> None:
        """Make the definitions, once every server is there or has failed.

        Main thread; raises McpStartError and Shutdown.
        """
        self.await_servers()
        find = None
        failed = set(self._unknown)
        for server in self._unknown:
            tools = [name for name in self.box.enabled() if self._servers_of(name) == [server]]
            self._ctx.printer.note(
                f"the MCP server {server} is not configured; without it there is no {' and no '.join(tools)} "
                f"(`--no-tools={','.join(tools)}` turns that off)"
            )
        if self._servers is not None:
            for error in self._servers.errors:
                raise error
            for notice in self._servers.notices:
                self._ctx.printer.note("; ".join((notice.message, *notice.hints[:-1])))  # the last is on `optional`
                failed.add(str(notice.metadata.get("server")))
            for left_out in self._servers.left_out:
                self._ctx.printer.note(left_out)
            find = self._servers.find
        self.box.build(names, find)
        waiting = {path[2] for path in self._waiting() if path[:2] == ("conversation", "tools")}
        for name, problem in self.box.problems.items():
            if name not in waiting and not failed.intersection(self._servers_of(name)):
                self._ctx.printer.note(problem)

    def _servers_of(self, name: str) -> "list[str]":
        return self.box.servers([name]) if name in self.box.all() else []

    def _waiting(self) -> "set[tuple[str, ...]]":
        """What is not in effect until the workspace is trusted, tool by tool and server by server."""
        from jp.config.schema import split_key

        return {split_key(held.key)[:3] for held in self._config.withheld}

    def close(self) -> None:
        """End the servers."""
        if self._servers is not None:
            self._servers.close()

    # --- running

    @property
    def hidden(self) -> "frozenset[str]":
        """Variables that no tool inherits: where providers have their keys."""
        return key_variables(self._config)

    def executor(self, tool: "Definition") -> "Executor":
        """Who runs a tool."""
        if tool.origin not in self._executors:
            self._executors[tool.origin] = self._make(tool.origin)
        return self._executors[tool.origin]

    def _make(self, origin: str) -> "Executor":
        from jp.tool.definition import BUILTIN, LOCAL

        ctx = self._ctx
        root = ctx.workspace.root
        if origin == BUILTIN:
            from jp.tool.builtin.executor import BuiltinTools

            return BuiltinTools(root, ctx.environ, self.box.definitions, self.hidden, spill_directory(ctx))
        if origin == LOCAL:
            from jp.tool.local import LocalTools

            return LocalTools(
                root,
                workspace_id=ctx.workspace.id or "",
                conversation_id=self.conversation_id,
                environ=ctx.environ,
                hidden=self.hidden,
                spill_dir=spill_directory(ctx),
            )
        from jp.tool.mcp.executor import McpTools

        assert self._servers is not None
        return McpTools(self._servers, spill_directory(ctx))

    # --- a turn

    def offered(self) -> "list[Offered]":
        """The tools as the model is told of them."""
        return self.box.offered()

    def tooling(self, conversation: "Conversation", model: "Callable[[AssistantOverride | None], Model]") -> "Tooling":
        """What a turn runs its tools with."""
        from jp.turn.tooling import Tooling
        from jp.turn.toolkit import Toolkit

        defaults = self._config.root.conversation.tools.defaults
        kit = Toolkit(self.box, self.executor, lambda: look(self._ctx, self._config))
        asking = Asking(self._ctx, self._config, conversation.id, kit.faults, kit.whole)
        return Tooling(
            kit,
            self.executor,
            asking.ask,
            model,
            self._kept,
            defaults.cancellation_response,
        )

    def _kept(self, name: str, content: str) -> str:
        from jp.tool.output import Spill

        spill = Spill(spill_directory(self._ctx), name)
        spill.write(content.encode("utf-8", "replace"))
        spill.end()
        return spill.path


def look(ctx: "Context", config: "Config") -> "Look":
    """How the terminal shows what is to be approved."""
    from jp.render.style import markdown_style
    from jp.render.tool import Look
    from jp.terminal.target import Target

    printer, style = ctx.printer, config.root.style
    width = printer.width(Target.TTY)
    markdown = None
    if printer.colour(Target.TTY):
        markdown = markdown_style(style, environ=ctx.environ, width=width, colour=True)
    return Look(markdown, width, style.sanitize)


def key_variables(config: "Config") -> "frozenset[str]":
    """The variables that hold keys of providers."""
    from jp.llm.registry import key_variables as known

    return frozenset(known(config.root.providers))


def spill_directory(ctx: "Context") -> str:
    """Where output is kept that is too long for a model."""
    try:
        return os.path.join(ctx.workspace.ensure_user_dir(), "tool-output")
    except JpError:
        import tempfile

        return os.path.join(tempfile.gettempdir(), f"jp-tool-output-{os.getuid() if hasattr(os, 'getuid') else 0}")


class Asking:
    """Asks the person about tools, on the terminal; says so where nobody can be asked.

    `check` says what is wrong with a call's arguments, `whole` is all of what is to be approved.
    """

    def __init__(
        self,
        ctx: "Context",
        config: "Config",
        conversation_id: str,
        check: "Callable[[Permission, dict[str, Any]], list[str]]" = lambda *_: [],
        whole: "Callable[[Permission], str]" = lambda prompt: prompt.body,
    ) -> None:
        self._ctx = ctx
        self._config = config
        self._conversation_id = conversation_id
        self._check = check
        self._whole = whole

    def ask(self, prompt: "Pending") -> "Answered | Unattended | Decision | None":
        """Put a prompt to the person. Main thread; raises Shutdown."""
        from jp.ask.tool_prompts import ToolPrompts
        from jp.terminal.promptability import NotPromptable
        from jp.turn.call_events import Answered, Unattended

        prompts = ToolPrompts(self._compose, self._check, self._whole, self._ctx.printer.show)
        try:
            answer, dropped = self._ctx.asker.run(
                lambda dialogue: (prompts.ask(dialogue, prompt), dialogue.dropped), about=prompt.name
            )
        except NotPromptable as error:
            return Unattended(error)
        except JpError as error:  # no descriptors left, a terminal that was taken away: nobody has agreed to anything
            return Unattended(error, broken=True)
        return Answered(answer, prompts.sent) if answer is not None else dropped

    def _compose(self, wanted: "Wanted") -> "Composition":
        from hashlib import sha256

        from jp.cli.asking import composition

        about = sha256(f"{wanted.message}\0{wanted.seed}".encode("utf-8", "replace")).hexdigest()[:12]
        return composition(
            self._ctx,
            self._config,
            wanted.context,
            message=wanted.message,
            cancel="menu",
            compose=self._config.root.interrupt.tool_call.compose_in_editor,
            key=f"{wanted.context.name.lower()}-{self._conversation_id}-{about}",
            swaps=True,
            placeholder=wanted.placeholder,
            body=wanted.body,
        )


def flags(config: "Config", directives: "Sequence[Directive]") -> "dict[str, Any]":
    """`--tool` and `--no-tools` as configuration, by dotted key. Raises UnknownToolError, FixedToolError."""
    from jp.config.schema import join_key
    from jp.errors import nearest
    from jp.tool.toolbox import Toolbox, changes

    box = Toolbox(config.root.conversation.tools)
    try:
        states = changes(box, directives)
    except PermissionError as error:
        raise FixedToolError(f'the tool {error} is always as it is configured (allow_toggle = "never")') from None
    except ValueError as error:
        from jp.cli.trusting import hints_for, waiting_notice

        name = str(error)
        near = nearest(name, box.all())
        hints = [f"did you mean {near}?"] if near else ["a question that is one word comes before `-t`"]
        if waiting := hints_for(config, "conversation", "tools", name):
            hints = [waiting_notice(len(waiting))]
        raise UnknownToolError(
            f"there is no tool {name}",
            hints=[*hints, "`jp tool ls` lists them"],
            metadata={"tool": name, "nearest": near},
        ) from None
    return {join_key(("conversation", "tools", name, "enable")): state for name, state in states.items()}
