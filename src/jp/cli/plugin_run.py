"""Running a command plugin: what the host is built of, from the configuration at hand."""

import os

from jp.places import data_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jp.ask.compose import Composition
    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.plugin import messages
    from jp.plugin.discovery import Found
    from jp.plugin.fingerprint import Stamp
    from jp.plugin.prompts import Prompts
    from jp.prompt.questions import Edit

MAX_LOG_LEVEL = 4


def run_plugin(
    ctx: "Context", config: "Config", found: "Found", args: "Sequence[str]", judged: "Stamp | None" = None
) -> int:
    """Run the command of a plugin that has been admitted; the status that it asks for.

    `judged` is the stamp of the file that was (`jp.cli.plugins.admit`). Raises PluginError where it fails,
    NotPromptable, and Shutdown.
    """
    from jp.cli.lean import import_msgspec

    import_msgspec()
    from jp.cli.plugins import still
    from jp.plugin.conversations import Conversations
    from jp.plugin.host import Host
    from jp.plugin.link import Link
    from jp.plugin.printing import Printing

    run = _Run(ctx, config, found)

    def start(post: "Callable[[object], object]", say: "Callable[[str], object]") -> Link:
        still(found, judged)
        return Link([found.path], post=post, say=say, cwd=ctx.cwd, environ=ctx.environ)

    root = config.root
    host = Host(
        f"jp-{found.name}",
        start=start,
        init=run.init(args),
        data=Conversations(lambda: ctx.store, ctx.command_line, config.as_partial, run.created),
        config=run.config_at,
        output=Printing(ctx.printer, root.style, ctx.environ, found.name),
        prompts=run.prompts,
        asker=ctx.asker,
        promptability=ctx.promptability,
        router=ctx.router,
        flush=ctx.printer.flush,
        note=ctx.printer.note,
        grace_secs=float(root.plugins.shutdown_timeout_secs),
    )
    return host.run()


class _Run:
    """One run of a plugin, as far as it depends on the command line and the configuration."""

    def __init__(self, ctx: "Context", config: "Config", found: "Found") -> None:
        from jp.plugin.settings import whole

        self._ctx = ctx
        self._config = config
        self._values = whole(config)
        self._found = found

    def init(self, args: "Sequence[str]") -> "messages.Init":
        """The first message."""
        from jp.cli.context import user_config_dir
        from jp.plugin import messages
        from jp.terminal.target import Target

        ctx, workspace = self._ctx, self._ctx.workspace
        directories = {
            "user_data": data_home(ctx.environ),
            "user_config": user_config_dir(ctx.environ),
            "user_workspace": workspace.user_dir,
        }
        command = self._config.root.plugins.command.get(self._found.name)
        printer = ctx.printer
        text = "text-pretty" if printer.caps(Target.OUT).escapes else "text"
        return messages.Init(
            version=messages.VERSION,
            workspace=messages.Workspace(
                root=os.path.abspath(workspace.root),
                storage=os.path.abspath(os.path.join(workspace.root, ".jp")),
                id=workspace.id or "",
            ),
            paths=messages.Paths(**{name: path for name, path in directories.items() if path}),
            config=self._values,
            options=command.options if command is not None else {},
            args=list(args),
            log_level=min(ctx.args.verbose, MAX_LOG_LEVEL),
            output_format=printer.format.value if printer.format.is_json else text,  # type: ignore[arg-type]
        )

    def config_at(self, request: "messages.ReadConfig") -> "messages.Config":
        """The answer to `read_config`. Raises RequestError for a path that is not there."""
        from jp.plugin import messages
        from jp.plugin.settings import at

        if not isinstance(request.path, str):
            return messages.Config(data=self._values)
        return messages.Config(path=request.path, data=at(self._values, request.path))

    def created(self, conversation_id: str) -> None:
        """A conversation was made, and has recorded the configuration. Raises as `remember_recorded`."""
        from jp.cli.trusting import remember_recorded

        remember_recorded(self._ctx, self._config, conversation_id)

    def prompts(self, post: "Callable[[object], object]") -> "Prompts":
        """What asks the plugin's prompts."""
        from jp.plugin.prompts import Prompts

        ctx = self._ctx
        mode = self._config.root.editor.inline.edit_mode
        return Prompts(ctx.asker, post, self._found.name, compose=self._compose, show=ctx.printer.show, mode=mode)

    def _compose(self, question: "Edit", reveal: "Callable[[], object]") -> "Composition":
        from hashlib import sha256

        from jp.ask.policy import Context as Wanted
        from jp.cli.asking import composition

        about = sha256(f"{question.message}\0{question.body}".encode("utf-8", "replace")).hexdigest()[:12]
        return composition(
            self._ctx,
            self._config,
            Wanted.PLUGIN,
            message=question.message,
            cancel=question.cancel,
            compose=False,
            key=f"plugin-{self._found.name}-{about}",
            body=question.body,
            more=question.more,
            reveal=reveal,
        )
