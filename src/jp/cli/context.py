"""What a command is given: the channels, the environment, and the workspace, store and configuration on first use."""

import os

from jp import log
from jp.errors import JpError
from jp.interrupt.checkpoint import checkpoint
from jp.places import config_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from jp.ask.asker import Asker
    from jp.ask.drafts import Drafts
    from jp.cli.fallback import Fallback
    from jp.config.load import Config, Layer
    from jp.interrupt.router import Router
    from jp.storage.store import Store
    from jp.storage.workspace import Workspace
    from jp.terminal.printer import Printer
    from jp.terminal.promptability import Promptability


_FLUSH_STEP_SECS = 0.1


class MissingDirectoryError(JpError):
    """The current directory does not exist any more."""

    code = "missing_directory"


class Context:
    """One run of one command. Built by the shell; commands read it, nothing below `cli` sees it."""

    __slots__ = (
        "_asker",
        "_holding",
        "_store",
        "_wind_down",
        "_workspace",
        "args",
        "argv",
        "drafts",
        "environ",
        "fallback",
        "printer",
        "promptability",
        "router",
    )

    def __init__(
        self,
        *,
        args: "argparse.Namespace",
        argv: "Sequence[str]",
        environ: "Mapping[str, str]",
        printer: "Printer",
        promptability: "Promptability",
        router: "Router",
        wind_down: "Callable[[], None]",
    ) -> None:
        self.args = args
        self.argv = argv
        self.environ = environ
        self.printer = printer
        self.promptability = promptability
        self.router = router
        self._wind_down = wind_down
        self.drafts: Drafts | None = None  # made by `jp.cli.asking.drafts`
        self.fallback: Fallback | None = None
        self._asker: dict[str, Asker] = {}
        self._holding = False
        self._workspace: Workspace | None = None
        self._store: Store | None = None

    def hold_terminal(self) -> None:
        """Hold the terminal while the command writes to it (decisions, "While a turn has the terminal"); once.

        The end of the process puts its modes back, in order with what a prompt may still have changed.
        """
        from jp.terminal.modes import Streaming
        from jp.terminal.target import Target

        if self.printer.tty is not None and self.printer.caps(Target.OUT).addressable and not self._holding:
            self._holding = True
            Streaming(self.printer.tty.fd, self.router).resume()

    def close(self) -> None:
        """The command is over: write what is queued, however long that takes; a press still asks, and may end it."""
        checkpoint()
        while not self.printer.flush(_FLUSH_STEP_SECS):
            checkpoint()
        if self.fallback is not None:
            self.fallback.close()
            checkpoint()  # the menu that a press has just opened
        self.printer.close(0)
        self._wind_down()
        if self.printer.fault is not None:
            log.log(log.ERROR, "printer", "the worker failed", error=repr(self.printer.fault))

    @property
    def cwd(self) -> str:
        """The current directory; raises MissingDirectoryError."""
        try:
            return os.getcwd()
        except OSError as error:
            raise MissingDirectoryError(
                "the current directory does not exist any more", hints=["`cd` somewhere else and try again"]
            ) from error

    @property
    def command_line(self) -> str:
        """What others are told is running, cut to a line's length."""
        return " ".join(("jp", *self.argv))[:200]

    @property
    def workspace(self) -> "Workspace":
        """The workspace named by `--workspace` or found around the cwd; raises NoWorkspaceError."""
        if self._workspace is None:
            from jp.storage.workspace import Workspace

            if self.args.workspace and not os.path.isdir(self.args.workspace):
                raise JpError(
                    f"there is no directory {self.args.workspace}", hints=["`--workspace` names the one to start from"]
                )
            self._workspace = Workspace.find(self.args.workspace or self.cwd, self.environ)
        return self._workspace

    def _need_workspace(self) -> None:
        """Where there is none around, the person picks one that was used before; raises NoWorkspaceError."""
        from jp.storage.errors import NoWorkspaceError

        try:
            bool(self.workspace)
        except NoWorkspaceError:
            from jp.cli.known import known_workspaces

            known = known_workspaces(self.environ) if self.promptability and not self.args.workspace else []
            if not known:
                raise
            from jp.cli.pick import workspace
            from jp.storage.workspace import Workspace

            chosen = workspace(self, known)
            if chosen is None:
                raise
            self._workspace = Workspace.find(chosen, self.environ)

    @property
    def asker(self) -> "Asker":
        """Who asks the person at the terminal. Any thread."""
        if not self._asker:
            from jp.ask.asker import Asker

            # One step, so that the thread of a menu and the main thread get the same one.
            self._asker.setdefault("asker", Asker(self.printer, self.promptability, self.router))
        return self._asker["asker"]

    @property
    def store(self) -> "Store":
        """The conversations of the workspace."""
        if self._store is None:
            from jp.storage.store import Store

            self._need_workspace()

            self._store = Store(self.workspace, self.environ)
        return self._store

    def load_config(
        self,
        *,
        conversation: "Sequence[Layer]" = (),
        flags: "Mapping[str, object] | None" = None,
        workspace: bool = True,
    ) -> "Config":
        """The configuration with the command line's `--cfg` and `flags` on top; raises ConfigError."""
        from jp.cli.lean import import_msgspec

        import_msgspec()
        from jp.config.load import Paths, load

        if workspace:
            self._need_workspace()
        space = self.workspace if workspace else None
        paths = Paths(
            user_dir=user_config_dir(self.environ),
            workspace_root=space.root if space else None,
            cwd=self.cwd,
            user_workspace_dir=space.user_dir if space else None,
        )
        config = load(paths, self.environ, cfg=self.args.cfg, conversation=conversation, flags=flags or {})
        interrupt, router = config.root.interrupt, self.router
        router.cooldown_secs = max(1.0, float(interrupt.escalation_cooldown_secs))
        router.shutdown_timeout_secs = float(interrupt.shutdown.timeout_secs)
        router.shutdown_show = interrupt.shutdown.show
        router.shutdown_delay_secs = float(interrupt.shutdown.delay_secs)
        router.shutdown_interval_secs = interrupt.shutdown.interval_ms / 1000
        checkpoint()
        return config


def user_config_dir(environ: "Mapping[str, str]") -> str:
    """Where the user's own configuration is; a directory that can't be there where no place for it is known."""
    return config_home(environ) or os.path.join(os.devnull, "jp")
