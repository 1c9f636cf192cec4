"""The inline editor of `jp query` on a terminal: how soon a key counts, how soon it is seen, how soon a paste is."""

import os
import select
import statistics
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Self

from benchmarks import fixtures, tty
from benchmarks.measure import BARE, JP, Table, times, wall

START_LIMIT = 20.0  # times the bare interpreter
KEY_LIMIT_MS = 10.0
PASTE_LIMIT_S = 0.5
AHEAD = b"typed ahead"
LINES = [f"line {number} of a text that somebody is writing" for number in range(2000)]
PASTES = {
    "one line": "words and " * 10_000,
    "2,000 lines": "\n".join(["a line of forty-nine characters in a long text.."] * 2000)[:100_000],
    "one line of wide characters": "漢字" * 50_000,
}
ANSWER = b"\x1b[?62;22c"  # to what a terminal is asked
_numbers = count()


class Prompt(tty.Session):
    """`jp query` on a terminal of its own, with this typed before it runs."""

    def __init__(self, env: Mapping[str, str], cwd: str, ahead: bytes = b"") -> None:
        session = f"bench-{next(_numbers)}"  # each with no draft
        super().__init__([JP, "query"], {**env, "JP_SESSION": session}, cwd)
        if ahead:
            os.write(self.master, ahead)

    def settle(self, seconds: float = 0.05) -> None:
        """Read until nothing comes any more."""
        while select.select([self.master], [], [], seconds)[0]:
            self.output += os.read(self.master, 65536)

    def shows(self, data: bytes, text: bytes) -> float:
        """Type `data`; seconds until `text` has been drawn."""
        before = len(self.output)
        began = time.perf_counter()
        os.set_blocking(self.master, False)
        while data:
            try:
                data = data[os.write(self.master, data) :]
            except BlockingIOError:
                select.select([self.master], [self.master], [])
                if select.select([self.master], [], [], 0)[0]:
                    self.output += os.read(self.master, 65536)
        os.set_blocking(self.master, True)
        self.until(text, before)
        return time.perf_counter() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ctrl-C."""
        os.write(self.master, b"\x03")
        while not os.waitpid(self.child, os.WNOHANG)[0]:
            if select.select([self.master], [], [], 0.01)[0]:
                try:
                    os.read(self.master, 65536)
                except OSError:
                    pass  # it has closed the terminal: its end comes now
        os.close(self.master)


def first_key(env: Mapping[str, str], cwd: str) -> float:
    """Seconds from exec until what was typed before it is in the prompt."""
    began = time.perf_counter()
    with Prompt(env, cwd, AHEAD) as prompt:
        prompt.until(b"Query:")
        prompt.until(AHEAD, prompt.output.index(b"Query:"))
        return time.perf_counter() - began


def pasted(text: str) -> bytes:
    """What a terminal sends for it."""
    return b"\x1b[200~" + text.encode() + b"\x1b[201~"


def run(table: Table, home: Path, rounds: int) -> None:
    """Measure and print."""
    env = fixtures.environment(home)
    with fixtures.instant(home / "requests.jsonl") as url:
        root = str(fixtures.workspace(home / "project", url))
        taken = times(
            {"bare": lambda: wall(BARE, env=env), "first key": lambda: first_key(env, root)},
            rounds,
        )
        ratio = taken["first key"].median / taken["bare"].median
        shown = {name: min(_paste(env, root, text) for _ in range(3)) for name, text in PASTES.items()}
        keys = _keys(env, root, 10 * rounds)
    table.head("Writing at the prompt of `jp query`")
    table.at_most("from exec to the first key in it, to `python -c pass`", ratio, START_LIMIT, "x", 1)
    milliseconds = [1000 * seconds for seconds in keys]
    table.at_most("a key in 2,000 lines, until drawn, median", statistics.median(milliseconds), KEY_LIMIT_MS, "ms")
    table.row("the same, 95th percentile", f"{statistics.quantiles(milliseconds, n=20)[18]:.2f} ms")
    for name, seconds in shown.items():
        table.at_most(f"100,000 characters pasted, {name}, until drawn", seconds, PASTE_LIMIT_S, "s", 3)


def _paste(env: Mapping[str, str], root: str, text: str) -> float:
    with Prompt(env, root) as prompt:
        prompt.until(b"Enter sends")
        os.write(prompt.master, ANSWER)
        prompt.settle()
        return prompt.shows(pasted(text + "THE END"), b"THE END")


def _keys(env: Mapping[str, str], root: str, number_of_keys: int) -> list[float]:
    """A key at the end of the buffer, then one in the middle of it, and so on."""
    with Prompt(env, root) as prompt:
        prompt.until(b"Enter sends")
        os.write(prompt.master, ANSWER)
        prompt.settle()
        prompt.shows(pasted("\n".join(LINES)), LINES[-1][-20:].encode())
        found = []
        for number in range(number_of_keys):
            if number == number_of_keys // 2:
                os.write(prompt.master, b"\x1b[5~" * 25)
            prompt.settle(0.02)
            found.append(prompt.shows(b"Z", b"Z"))
    return found
