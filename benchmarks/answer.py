"""A long markdown answer, pretty: CPU seconds of the renderer alone and of the whole program on a terminal.

The server sends the answer as fast as it is taken, in pieces of 24 characters (43,000 events for 1 MB).
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import fixtures, prose, tty
from benchmarks.measure import JP, Table

PIECE = 24
SECONDS = 2.0  # of CPU, for 1 MB
GROWTH = 5.0  # a quarter of the text, times this, may cost what the whole costs; linear is 4

# In a process of its own, for its own imports and garbage; a small document first, for what loads lazily.
_RENDERER = """
import json, sys, time
from benchmarks.prose import document
from jp.render.markdown import MarkdownStream
from jp.render.style import MarkdownStyle

def render(text):
    stream = MarkdownStream(MarkdownStyle(width=100))
    start = time.process_time()
    for at in range(0, len(text), 24):
        stream.feed(text[at : at + 24])
    stream.end()
    return time.process_time() - start

render(document(20_000))
print(json.dumps(render(document(int(sys.argv[1])))))
"""


def run(table: Table, home: Path, rounds: int, size: int) -> None:
    """Measure answers of a quarter of `size` characters, half of it and the whole, and print."""
    sizes = [size // 4, size // 2, size]
    alone: dict[int, list[float]] = {each: [] for each in sizes}
    whole: dict[int, list[float]] = {each: [] for each in sizes}
    for _ in range(rounds):
        for each in sizes:
            alone[each].append(renderer(each))
            whole[each].append(program(home, each))
    scale = size / 1_000_000
    table.head(f"A markdown answer of {_megabytes(size)}, pretty, in pieces of {PIECE} characters: CPU seconds")
    for name, taken in (("renderer alone", alone), ("whole program on a terminal", whole)):
        seconds = {each: statistics.median(taken[each]) for each in sizes}
        for each in sizes[:2]:
            table.row(f"{name}, {_megabytes(each)}", f"{seconds[each]:.2f} s")
        table.at_most(f"{name}, {_megabytes(size)}", seconds[size], SECONDS * scale, "s")
        growth = seconds[size] / seconds[sizes[0]]
        table.at_most(f"{name}: {_megabytes(size)} / {_megabytes(sizes[0])} (linear: 4)", growth, GROWTH, "x")


def renderer(size: int) -> float:
    """CPU seconds of the renderer for a document of `size` characters."""
    command = [sys.executable, "-c", _RENDERER, str(size)]
    done = subprocess.run(command, cwd=fixtures.REPOSITORY, check=True, capture_output=True)
    return float(json.loads(done.stdout))


def program(home: Path, size: int) -> float:
    """CPU seconds of `jp query` on a terminal, its answer a document of `size` characters."""
    answer = home / f"answer-{size}.md"
    if not answer.exists():
        answer.write_text(prose.document(size), encoding="utf-8")
    with fixtures.instant(home / "requests.jsonl", "--answer", str(answer), "--piece", str(PIECE)) as url:
        root = fixtures.workspace(home / f"project-{size}", url)
        ask = [JP, "q", "-n", "-c", "assistant.request.max_response_bytes=0", "hi"]
        ended = tty.run(ask, env=fixtures.environment(home), cwd=str(root))
    if ended.size < size:
        raise RuntimeError(f"only {ended.size} bytes of {size} arrived on the terminal")
    return ended.cpu


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:g} MB"
