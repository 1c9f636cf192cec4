"""What tools cost: many calls of one answer, and how soon a Ctrl-C acts while they run."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import fixtures
from benchmarks.ladder import MENU, Pressed
from benchmarks.measure import JP, Table, times, wall
from tests.wire.model_server import ModelServer, text, tool_calls

CALLS = 50
CALLS_LIMIT_S = 0.5  # beyond one call
RUNNING = 20
MENU_MS = 50.0
PRESSES = 11

CONFIG = """\
[conversation.tools.nap]
source = "local"
command = "sleep 0.01"
run = "unattended"

[conversation.tools.stay]
source = "local"
command = {{ program = "sh", args = ["-c", "echo >> {begun}; exec sleep 600"] }}
run = "unattended"
"""


def run(table: Table, home: Path, rounds: int, presses: int) -> None:
    """Measure and print."""
    begun = home / "begun"
    settings = home / ".config" / "jp" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(CONFIG.format(begun=begun))
    env = fixtures.environment(home)
    with ModelServer() as server:
        root = str(fixtures.workspace(home / "project", server.base_url))

        def turn(calls: int) -> Callable[[], float]:
            def taken() -> float:
                server.then(tool_calls(*[("nap", {})] * calls), text())
                return wall([JP, "q", "-n", "hi"], env=env, cwd=root)

            return taken

        taken = times({"one": turn(1), "many": turn(CALLS)}, rounds)
        table.head("tools")
        beyond = taken["many"].median - taken["one"].median
        table.at_most(f"{CALLS} calls of 10 ms in one answer, beyond one such call", beyond, CALLS_LIMIT_S, "s")
        cpu = taken["many"].cpu - taken["one"].cpu
        table.row("the same, CPU of JP and of the tools", f"{cpu:.2f} s")
        found = []
        for _ in range(presses):
            begun.unlink(missing_ok=True)
            server.then(tool_calls(*[("stay", {})] * RUNNING))
            found += _pressed(env, root, begun)
        table.at_most(
            f"press to menu while {RUNNING} tools run, 95th percentile",
            statistics.quantiles(found, n=20)[-1],
            MENU_MS,
            "ms",
        )
        table.row("the same, median", f"{statistics.median(found):.2f} ms")


def _pressed(env: dict[str, str], root: str, begun: Path) -> list[float]:
    """Milliseconds from each press to its menu, the first of the process included."""
    with Pressed([JP, "q", "-n", "hi"], env, root) as program:
        end = time.monotonic() + 20
        while not begun.exists() or begun.read_bytes().count(b"\n") < RUNNING:
            if time.monotonic() > end:
                raise RuntimeError(f"the tools did not begin: {program.output[-300:]!r}")
            time.sleep(0.01)
        found = []
        for _ in range(PRESSES):
            found.append(program.press(MENU))
            program.choose(b"c")
        program.press(MENU)
        os.write(program.master, b"s")
        _, status = os.waitpid(program.child, 0)
        program.child = 0
        if status:
            raise RuntimeError(f"ended with {status}: {program.output[-300:]!r}")
        return found
