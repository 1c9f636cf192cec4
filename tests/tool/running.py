"""Runs local tools for a test: starts them, waits for what came of them, and for the end of all they started."""

import os
import threading
from pathlib import Path
from typing import Any

from jp.config.sections.tools import Command, Tool
from jp.tool.definition import LOCAL, RUN, Definition, Invocation
from jp.tool.local import LocalRun, LocalTools
from jp.tool.outcome import Failure, NeedsInput, Outcome, Success

DEADLINE = 30


def shell(text: str) -> Command:
    return Command(text, [], True)


def invocation(command: str | Command | None, arguments: dict[str, Any] | None = None, **more: Any) -> Invocation:
    """A call of the tool `t`; what an Invocation does not know is a setting of the tool."""
    own = {name: more.pop(name) for name in ("answers", "secret", "action") if name in more}
    tool = Definition("t", LOCAL, Tool(command=command, **more))
    return Invocation(tool, "call-1", arguments or {}, **{"action": RUN, **own})


class Started:
    """One run."""

    def __init__(self, tools: LocalTools, call: Invocation, after: LocalRun | None = None) -> None:
        self._came = threading.Event()
        self.outcomes: list[Outcome] = []
        self.run = tools.start(call, self._done, after=after)

    def _done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._came.set()

    def outcome(self, within: float = DEADLINE) -> Outcome:
        assert self._came.wait(within), "nothing came of it"
        assert len(self.outcomes) == 1
        return self.outcomes[0]


class Runner:
    """An Executor in a directory of its own, and what it logs."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.logged: list[str] = []
        self.spill_dir = root / "spill" / "tools"
        options.setdefault("environ", dict(os.environ))
        self.tools = LocalTools(str(root), spill_dir=str(self.spill_dir), log=self._log, **options)

    def _log(self, level: int, target: str, message: str, **fields: object) -> None:
        assert target == "tool"
        self.logged.append(message)

    def start(self, command: str | Command | None, arguments: dict[str, Any] | None = None, **more: Any) -> Started:
        after = more.pop("after", None)
        return Started(self.tools, invocation(command, arguments, **more), after)

    def outcome(self, command: str | Command | None, arguments: dict[str, Any] | None = None, **more: Any) -> Outcome:
        """What comes of a run, once nothing of it runs any more."""
        started = self.start(command, arguments, **more)
        outcome = started.outcome()
        assert started.run.over(DEADLINE)
        return outcome

    def content(self, command: str | Command | None, arguments: dict[str, Any] | None = None, **more: Any) -> str:
        outcome = self.outcome(command, arguments, **more)
        assert isinstance(outcome, Success), str(outcome)[:1000]
        return outcome.content

    def failure(self, command: str | Command | None, arguments: dict[str, Any] | None = None, **more: Any) -> str:
        outcome = self.outcome(command, arguments, **more)
        assert isinstance(outcome, Failure), str(outcome)[:1000]
        return outcome.content

    def question(self, command: str | Command, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
        outcome = self.outcome(command, arguments, **more)
        assert isinstance(outcome, NeedsInput), str(outcome)[:1000]
        return outcome.question

    def spilled(self) -> list[Path]:
        return sorted(self.spill_dir.glob("*")) if self.spill_dir.exists() else []
