"""A tool that floods both of its streams is run; prints how much memory that took at its peak, in KiB."""

import os
import resource
import sys
import threading

from jp.config.sections.tools import Command, Tool
from jp.tool.definition import LOCAL, Definition, Invocation
from jp.tool.local import LocalTools
from jp.tool.outcome import Outcome, Success


def run(tools: LocalTools, text: str) -> Outcome:
    came = threading.Event()
    outcomes: list[Outcome] = []
    tool = Definition("t", LOCAL, Tool(command=Command(text, [], True)))
    tools.start(Invocation(tool, "1", {}), lambda outcome: (outcomes.append(outcome), came.set()))
    came.wait()
    return outcomes[0]


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    tools = LocalTools(sys.argv[1], environ=dict(os.environ), spill_dir=sys.argv[2])
    run(tools, "echo x; echo x >&2")
    before = peak()
    outcome = run(tools, sys.argv[3])
    assert isinstance(outcome, Success), outcome
    print(peak() - before, len(outcome.content))
