"""How soon a Ctrl-C acts: press to menu while an answer streams, second press to its message, third to the end."""

import os
import re
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from benchmarks import fixtures, tty
from benchmarks.measure import BARE, JP, Table, times, wall

MENU_MS = 50.0
GRACEFUL_MS = 30.0
END_MS = 50.0
ARMED_LIMIT = 1.3  # times the bare interpreter
PER_SECOND = 200
MENU, GRACEFUL = b"Interrupted:", "gracefully shutting down…".encode()
ERASED = re.compile(rb"\x1b\[[0-9]*J")

# What the main thread is in; none of it ever looks at a checkpoint.
BUSY = {
    "in pure Python": "while True: sum(range(100))",
    "in re, which holds the interpreter": 're.match(r"(a+)+$", "a" * 64 + "b")',
    "in pbkdf2, which lets it go": 'hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1 << 30)',
    "blocked in a read": "os.read(os.pipe()[0], 1)",
}
PROGRAM = """
import argparse, hashlib, os, re, sys
import jp.boot
from types import ModuleType

def run(argv, router):
    from jp.cli.channels import open_channels
    args = argparse.Namespace(
        interactive=False, no_interactive=False, log_file=None, verbose=0, format="auto", quiet=False
    )
    context = open_channels(args, argv, os.environ, router)
    context.hold_terminal()
    context.asker.warm()
    context.printer.note("up")
    context.printer.flush(5)
    {busy}

sys.modules["jp.cli.main"] = ModuleType("jp.cli.main")
sys.modules["jp.cli.main"].run = run
jp.boot.main()
"""


class Pressed(tty.Session):
    """A program on a terminal, and the finger on its Ctrl-C."""

    def press(self, text: bytes) -> float:
        """Milliseconds from Ctrl-C to `text`."""
        before = len(self.output)
        began = time.perf_counter()
        os.write(self.master, b"\x03")
        self.until(text, before)
        return 1000 * (time.perf_counter() - began)

    def press_to_the_end(self) -> float:
        """Milliseconds from Ctrl-C until the process is gone. Raises RuntimeError when it does not end of SIGINT."""
        began = time.perf_counter()
        os.write(self.master, b"\x03")
        _, status = os.waitpid(self.child, 0)
        taken = 1000 * (time.perf_counter() - began)
        self.child = 0
        if os.waitstatus_to_exitcode(status) != -2:
            raise RuntimeError(f"ended with {status}: {self.output[-300:]!r}")
        return taken

    def choose(self, key: bytes) -> None:
        """Answer the menu, and wait until it is gone."""
        before = len(self.output)
        os.write(self.master, key)
        while not ERASED.search(self.output, before):
            self.output += os.read(self.master, 65536)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child:
            os.kill(self.child, 9)
            os.waitpid(self.child, 0)
        os.close(self.master)


def run(table: Table, home: Path, rounds: int) -> None:
    """Measure and print."""
    first, later, graceful = [], [], []
    for number in range(rounds):
        one, more, message = _streaming(home / str(number))
        first.append(one)
        later += more
        graceful.append(message)
    armed = [sys.executable, "-c", "from jp.interrupt.router import Router; Router().arm(); import os; os._exit(0)"]
    env = fixtures.environment(home)
    taken = times({"bare": lambda: wall(BARE, env=env), "armed": lambda: wall(armed, env=env)}, rounds)
    table.head("Ctrl-C")
    ratio = taken["armed"].median / taken["bare"].median
    table.at_most("exec to a press that counts, to `python -c pass`", ratio, ARMED_LIMIT, "x")
    table.row("the same, beyond it, median", f"{1000 * (taken['armed'].median - taken['bare'].median):.1f} ms")
    shown = sorted(first + later)
    table.at_most("press to menu while an answer streams, 95th percentile", _late(shown), MENU_MS, "ms")
    table.row("the same, median", f"{statistics.median(shown):.2f} ms")
    table.row("the same, the first in its process, median", f"{statistics.median(first):.2f} ms")
    table.at_most("second press to its message, streaming, 95th percentile", _late(graceful), GRACEFUL_MS, "ms")
    for name, body in BUSY.items():
        seconds, thirds, menus = [], [], []
        for _ in range(rounds):
            menu, second, third = _busy(home, body)
            seconds.append(second)
            thirds.append(third)
            menus += [menu] if menu is not None else []
        if menus:
            table.row(f"main {name}: press to menu, 95th percentile", f"{_late(menus):.2f} ms")
        table.at_most(f"main {name}: second press to its message, 95th percentile", _late(seconds), GRACEFUL_MS, "ms")
        table.at_most(f"main {name}: third press to the end, 95th percentile", _late(thirds), END_MS, "ms")


def _late(found: Sequence[float]) -> float:
    """The 95th percentile."""
    return sorted(found)[min(len(found) - 1, int(0.95 * len(found)))]


def _streaming(home: Path) -> tuple[float, list[float], float]:
    """Press to menu for the first time and ten times more, and the second press to its message."""
    home.mkdir(parents=True)
    options = ["--stamps", "4000", "--per-second", str(PER_SECOND), "--think", "300"]
    with fixtures.instant(home / "requests.jsonl", *options) as url:
        root = fixtures.workspace(home / "project", url)
        with Pressed([JP, "q", "-n", "hi"], fixtures.environment(home), str(root)) as program:
            program.until(b"]")
            time.sleep(0.1)
            found = []
            for _ in range(11):
                found.append(program.press(MENU))
                program.choose(b"c")
                program.until(b"]", len(program.output))
            program.press(MENU)
            return found[0], found[1:], program.press(GRACEFUL)


def _busy(home: Path, body: str) -> tuple[float | None, float, float]:
    """Press to menu (None where it can't be drawn meanwhile), second press to message, third to the end."""
    # A teardown that hangs, so that there is a third press to make.
    code = PROGRAM.format(busy=body)
    with Pressed([sys.executable, "-c", code], fixtures.environment(home), str(home)) as program:
        program.until(b"up")
        time.sleep(0.05)
        menu: float | None = None
        if "re.match" in body:
            os.write(program.master, b"\x03")
            time.sleep(0.1)
        else:
            menu = program.press(MENU)
        return menu, program.press(GRACEFUL), program.press_to_the_end()
