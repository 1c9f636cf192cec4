"""The plugin host without a command line or a terminal: a scripted person, a Printer in memory, real plugins."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jp.ask.asker import Asker
from jp.config.kinds import MISSING
from jp.config.load import Config
from jp.config.schema import root
from jp.interrupt.router import Router
from jp.plugin import messages
from jp.plugin.conversations import Conversations
from jp.plugin.host import Host
from jp.plugin.link import Link
from jp.plugin.printing import Printing
from jp.plugin.prompts import Prompts
from jp.plugin.settings import at, whole
from jp.prompt.scripted import ScriptedPrompts
from jp.storage.store import Store
from jp.storage.workspace import Workspace
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
from jp.terminal.promptability import Promptability, Request, Why
from tests.support.plugins import Notes, write

ASKABLE = Promptability(True, Request.AUTO, Why.TERMINAL)
UNATTENDED = Promptability(False, Request.AUTO, Why.TERMINAL)


class Hosting:
    """Runs plugins. `prompts` answers; `notes` is what the last plugin has noted (by `note(value)` in its script)."""

    def __init__(self, place: Path, promptability: Promptability = ASKABLE, shape: Format = Format.TEXT) -> None:
        self.place = place
        self.workspace = place / "work"
        (self.workspace / ".jp").mkdir(parents=True, exist_ok=True)
        self.environ = {**os.environ, "NOTES": str(place / "notes")}
        self.promptability = promptability
        self.router = Router()
        self.router.promptable = bool(promptability)
        self.printer, self.out, self.err = Printer.memory(shape)
        self.prompts = ScriptedPrompts()
        self.said: list[str] = []
        self.grace_secs = 5.0

    def plugin(self, body: str) -> Path:
        """A plugin in Python; `init` has been read."""
        return write(self.place / "jp-it", body)

    def host(self, path: Path, args: Sequence[str] = ()) -> Host:
        """The host of it, not run yet."""
        config = Config(root().final(MISSING), [])
        found = Workspace.find(str(self.workspace), self.environ)
        store = Store(found, self.environ)
        self.store = store
        asker = Asker(self.printer, self.promptability, self.router, self.prompts)
        asked = lambda request: messages.Config(data=at(whole(config), request.path) if request.path else whole(config))
        return Host(
            "jp-it",
            start=lambda post, say: Link([str(path)], post=post, say=say, cwd=str(self.place), environ=self.environ),
            init=messages.Init(
                version=1,
                workspace=messages.Workspace(root=str(self.workspace), storage=str(self.workspace / ".jp"), id="abcde"),
                paths=messages.Paths(),
                config=whole(config),
                options={},
                args=list(args),
                log_level=0,
            ),
            data=Conversations(lambda: store, "test", config.as_partial),
            config=asked,
            output=Printing(self.printer, config.root.style, self.environ, "it"),
            prompts=lambda post: Prompts(asker, post, "it"),
            asker=asker,
            promptability=self.promptability,
            router=self.router,
            flush=self.printer.flush,
            note=self.said.append,
            grace_secs=self.grace_secs,
        )

    def run(self, body: str, outcomes: Iterable[Any] = (), args: Sequence[str] = ()) -> int:
        """Run a plugin with this body; the status."""
        self.prompts = ScriptedPrompts(outcomes)
        return self.host(self.plugin(body), args).run()

    @property
    def notes(self) -> list[Any]:
        """What the plugin has noted."""
        return Notes(self.place / "notes").now

    def noted(self, count: int = 1) -> list[Any]:
        """The notes once there are so many."""
        return Notes(self.place / "notes").of(count)
