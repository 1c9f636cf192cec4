"""What a command needs to run tools: the toolbox of the configuration, who runs which, who is asked about them."""

import os

from jp.errors import JpError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from jp.ask.compose import Composition
    from jp.ask.dialogue import Dialogue
    from jp.ask.interruption import Decision
    from jp.ask.pending import Answered as Answer
    from jp.ask.pending import Pending
    from jp.ask.policy import Context as Wanted
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
    from jp.turn.loop import Model, Turn
    from jp.turn.tooling import Tooling

Directive = tuple[str, str]


class UnknownToolError(UsageError):
    """A tool is named that is not there."""

    code = "unknown_tool"


class FixedToolError(UsageError):
    """A tool is named that is always on."""

    code = "fixed_tool"


class Workshop:
    """The tools of one run, in a workspace and for a conversation (None: for no one in particular)."""

    def __init__(self, ctx: "Context", config: "Config", *, offer: bool = True, conversation_id: str = "") -> None:
        from jp.tool.toolbox import Toolbox

        self._ctx = ctx
        self._config = config
        self._conversation_id = conversation_id
        self._executors: dict[str, Executor] = {}
        self._servers: Servers | None = None
        self.box = Toolbox(config.root.conversation.tools, offer=offer)

    # --- MCP servers

    def start_servers(self, post: "Callable[[object], object]", names: "Iterable[str] | None" = None) -> bool:
        """Start the MCP servers that tools come from, in the background; whether there are any."""
        wanted = [name for name in self.box.servers(names) if ("providers", "mcp", name) not in self._waiting()]
        if not wanted:
            return False
        from jp.tool.mcp.servers import Servers

        configs = self._config.root.providers.mcp
        self._servers = Servers(configs, self._ctx.environ, self.hidden, self._ctx.workspace.root, post)
        self._servers.start(wanted)
        return True

    @property
    def starting(self) -> "list[str]":
        """The servers that are not there yet."""
        return list(self._servers.pending) if self._servers is not None else []

    def settle(self, names: "Iterable[str] | None" = None) -> None:
        """Make the definitions, now that every server is there or has failed. Raises McpStartError."""
        find = None
        if self._servers is not None:
            for error in self._servers.errors:
                raise error
            for notice in self._servers.notices:
                self._ctx.printer.note(notice.message)
            find = self._servers.find
        self.box.build(names, find)
        waiting = {path[2] for path in self._waiting() if path[:2] == ("conversation", "tools")}
        for name, problem in self.box.problems.items():
            if name not in waiting:
                self._ctx.printer.note(problem)

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
                conversation_id=self._conversation_id,
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
        asking = Asking(self._ctx, self._config, conversation.id)
        return Tooling(
            Toolkit(self.box, self.executor, lambda: look(self._ctx, self._config)),
            self.executor,
            asking.ask,
            model,
            defaults.cancellation_response,
        )


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
    """Asks the person about tools, on the terminal; says so where nobody can be asked."""

    def __init__(self, ctx: "Context", config: "Config", conversation_id: str) -> None:
        self._ctx = ctx
        self._config = config
        self._conversation_id = conversation_id

    def ask(self, prompt: "Pending") -> "Answered | Unattended | Decision | None":
        """Put a prompt to the person. Main thread; raises Shutdown."""
        from jp.terminal.promptability import NotPromptable
        from jp.turn.call_events import Answered, Unattended

        try:
            answer, dropped = self._ctx.asker.run(lambda dialogue: self._asked(dialogue, prompt))
        except NotPromptable as error:
            return Unattended(error)
        return Answered(answer) if answer is not None else dropped

    def _asked(self, dialogue: "Dialogue", prompt: "Pending") -> "tuple[Answer | None, Decision | None]":
        from jp.ask.tool_prompts import ToolPrompts
        from jp.cli.asking import say

        mode = self._config.root.editor.inline.edit_mode
        answer = ToolPrompts(self._compose, say(self._ctx), mode).ask(dialogue, prompt)
        return answer, dialogue.dropped

    def _compose(self, wanted: "Wanted", message: str, placeholder: str) -> "Composition":
        from jp.ask.compose import Composition, TextEditing
        from jp.cli.asking import drafts, editor_for, missing_editor, rescue, say

        ctx, config = self._ctx, self._config
        editor = editor_for(ctx, config)
        return Composition(
            wanted,
            message=message,
            cancel="menu",
            compose=config.root.interrupt.tool_call.compose_in_editor,
            mode=config.root.editor.inline.edit_mode,
            editing=TextEditing(editor) if editor is not None else None,
            missing=missing_editor(ctx, config),
            drafts=drafts(ctx),
            key=f"{wanted.name.lower()}-{self._conversation_id}",
            say=say(ctx),
            rescue=lambda text: rescue(ctx, text),
            swaps=True,
            placeholder=placeholder,
        )


def await_servers(workshop: Workshop, turn: "Turn", ctx: "Context") -> None:
    """Wait until every MCP server is there or has failed. Main thread; raises Shutdown."""
    from jp.interrupt.checkpoint import checkpoint

    if not workshop.starting:
        return
    ended = turn.inbox.attend(ctx.router)
    status = turn.screen.starting(workshop.starting)
    try:
        while workshop.starting:
            turn.inbox.get()
            checkpoint()
            if status is not None:
                status.detail(", ".join(workshop.starting))
    finally:
        ended()
        if status is not None:
            status.end()


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
