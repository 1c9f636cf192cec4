"""The markdown renderer by itself: what a chunk costs, what the first words wait for, and text made to be expensive.

    python -m benchmarks.render [--quick]

How long whole answers take is in `benchmarks.answer`.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Table
from benchmarks.prose import document

PIECE = 4  # characters: what a model sends at a time
GROWTH = 6.0  # four times the text: linear is 4, quadratic 16

# What a fresh process waits for between the first chunk and its words: modules, a theme, the first look at a lexer.
_FIRST = """
import time
from jp.config.kinds import MISSING
from jp.config.resolved import Config
from jp.config.schema import root
from jp.render.chat import Chat
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
printer, out, err = Printer.memory(Format.AUTO)
chat = Chat(printer, Config(root().final(MISSING), []).root.style)
if {warm}: chat.warm()
start = time.perf_counter()
chat.message({text!r})
print((time.perf_counter() - start) * 1000)
assert out.text
"""


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


HOSTILE: dict[str, Callable[[int], str]] = {
    "one line of words": _repeated("word "),
    "emphasis that nothing closes": _repeated("*a "),
    "brackets": _repeated("["),
    "links in links": _repeated("[a]("),
    "backticks of all lengths": _repeated("".join("`" * length + " " for length in range(1, 200))),
    "quotes in quotes": _repeated("> "),
    "lists in lists, and empty lines": lambda size: "- - - - - - - - a\n" + "\n" * size,
    "rows of one table": lambda size: "| a | b |\n|---|---|\n" + _repeated("| one | *two* |\n")(size),
    "one line of code without end": lambda size: "```python\n" + "a" * size,
    "code that its lexer is slow at": lambda size: "```c\n" + _repeated("x" + " " * 150 + "\n")(size),
    "text without spaces": _repeated("你好世界，"),
}


def run(table: Table, home: Path, size: int) -> None:  # noqa: ARG001 (every benchmark gets one)
    """Measure with documents of `size` characters, and print."""
    table.head(f"The renderer: a document of {size // 1000} kB in pieces of {PIECE} characters")
    chunks = _chunks(document(size))
    table.row("a chunk, mean", f"{statistics.fmean(chunks) * 1e6:.0f} us")
    table.at_most("a chunk, 99th percentile", statistics.quantiles(chunks, n=100)[98] * 1e3, 1, "ms")
    table.at_most("a chunk, the longest (a table at its end)", max(chunks) * 1e3, 50, "ms", digits=1)
    for name, text in (("words", "Hello world "), ("code", "```python\nx = 1\n")):
        for warm in (False, True):
            taken = statistics.median(_first(text, warm=warm) for _ in range(5))
            table.row(f"first {name} of a process{', loaded while waiting' if warm else ''}", f"{taken:.1f} ms")
    table.head("The renderer: text made to be expensive, CPU seconds a megabyte, growth with four times the text")
    for name, make in HOSTILE.items():
        small, whole = _cpu(make(size // 4)), _cpu(make(size))
        growth = whole / max(small, 5e-3)
        table.row(name, f"{whole * 1e6 / size:.2f} s, {growth:.1f} x", f"{GROWTH:g} x", growth <= GROWTH)


def _chunks(text: str) -> list[float]:
    """Seconds of each chunk."""
    from jp.render.markdown import MarkdownStream
    from jp.render.style import MarkdownStyle

    warm = MarkdownStream(MarkdownStyle())
    warm.feed(document(20_000))
    stream = MarkdownStream(MarkdownStyle())
    taken = []
    for at in range(0, len(text), PIECE):
        start = time.thread_time()
        stream.feed(text[at : at + PIECE])
        taken.append(time.thread_time() - start)
    return taken


def _cpu(text: str) -> float:
    from jp.render.markdown import MarkdownStream
    from jp.render.style import MarkdownStyle

    stream = MarkdownStream(MarkdownStyle())
    start = time.thread_time()
    for at in range(0, len(text), 400):
        stream.feed(text[at : at + 400])
    stream.end()
    return time.thread_time() - start


def _first(text: str, *, warm: bool) -> float:
    code = _FIRST.format(warm=warm, text=text)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Run it by itself."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.render")
    parser.add_argument("--quick", action="store_true", help="a tenth of the text")
    table = Table()
    run(table, Path(), 100_000 if parser.parse_args().quick else 1_000_000)
    return bool(table.failed)


if __name__ == "__main__":
    sys.exit(main())
