"""Runs built-in tools as the turn does, and waits for what comes of it."""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jp.config.sections.tools import Tool as Settings
from jp.tool.builtin.catalogue import CATALOGUE
from jp.tool.builtin.executor import BuiltinRun, BuiltinTools
from jp.tool.definition import BUILTIN, FORMAT, RUN, Definition, Invocation
from jp.tool.outcome import Failure, NeedsInput, Outcome, Success

DEADLINE = 30.0


def definition(name: str, settings: Settings | None = None) -> Definition:
    known = CATALOGUE[name]
    return Definition(
        name=name,
        origin=BUILTIN,
        settings=settings or Settings(),
        summary=known.summary,
        description=known.description,
        examples=known.examples,
        parameters=known.parameters,
    )


class Started:
    """A run on its way."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.told = threading.Event()
        self.run: BuiltinRun | None = None

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.told.set()

    def outcome(self) -> Outcome:
        assert self.run is not None
        assert self.told.wait(DEADLINE), "nothing came of the run"
        assert self.run.over(DEADLINE)
        assert len(self.outcomes) == 1
        return self.outcomes[0]


class Tools:
    """The built-in tools in one workspace."""

    def __init__(
        self,
        root: Path,
        environ: Mapping[str, str] | None = None,
        hidden: tuple[str, ...] = (),
        describe: Callable[[], list[Definition]] = lambda: [definition(name) for name in CATALOGUE],
    ) -> None:
        self.root = root
        self.spill = root.parent / "spill"
        self.executor = BuiltinTools(
            str(root), os.environ if environ is None else environ, describe, hidden, str(self.spill)
        )

    def start(self, name: str, arguments: dict[str, Any], **more: Any) -> Started:
        started = Started()
        after = more.pop("after", None)
        tool = definition(name, more.pop("settings", None))
        invocation = Invocation(tool, more.pop("call_id", "call"), arguments, **more)
        started.run = self.executor.start(invocation, started.done, after=after)
        return started

    def run(self, name: str, arguments: dict[str, Any], **more: Any) -> Outcome:
        return self.start(name, arguments, action=RUN, **more).outcome()

    def ok(self, name: str, /, **arguments: Any) -> str:
        outcome = self.run(name, arguments)
        assert isinstance(outcome, Success), outcome
        return outcome.content

    def fails(self, name: str, /, **arguments: Any) -> str:
        outcome = self.run(name, arguments)
        assert isinstance(outcome, Failure), outcome
        return outcome.message

    def asks(self, name: str, /, **arguments: Any) -> NeedsInput:
        outcome = self.run(name, arguments)
        assert isinstance(outcome, NeedsInput), outcome
        return outcome

    def shown(self, name: str, /, **arguments: Any) -> str:
        outcome = self.start(name, arguments, action=FORMAT).outcome()
        assert isinstance(outcome, Success), outcome
        return outcome.content
