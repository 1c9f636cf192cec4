"""The process behind `grep_files`: a question on stdin, what is found as JSON lines on stdout.

The question is one line of JSON, followed by the paths to search with zeros between them. The lines of the answer:
{"at": path} before a file is searched, {"groups": [[[number, text, whether it matches], …], …]} for what is in it,
{"full": true} when no more was looked for, {"large": count} at the end, {"error": why}.
"""

import json
import re
import sys

from jp.tool.builtin.reading import SNIFFED, is_binary
from jp.tool.confined import ConfinedError, Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = tuple[int, str, bool]

MAX_FILE = 16 << 20
MAX_LINE = 500
LIFE_SECS = 60


def main() -> None:
    """Answer the one question."""
    _live_no_longer_than(LIFE_SECS)
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    question = json.loads(head)
    paths = [path.decode("utf-8", "surrogateescape") for path in rest.split(b"\0") if path]
    try:
        for record in answers(question, paths):
            sys.stdout.write(json.dumps(record) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()


def answers(question: "dict[str, Any]", paths: list[str]) -> "Iterator[dict[str, Any]]":
    """The records of the answer."""
    try:
        pattern = re.compile(question["pattern"], re.IGNORECASE if question["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        yield {"error": f"the pattern is not a regular expression that can be used: {error}"}
        return
    left, large = question["matches"], 0
    with Root(question["root"], identity=tuple(question["identity"])) as root:
        for path in paths:
            try:
                with open(root.opened(path), "rb") as file:
                    data = file.read(MAX_FILE + 1)
            except (ConfinedError, OSError):
                continue
            large += len(data) > MAX_FILE
            if len(data) > MAX_FILE or is_binary(data[:SNIFFED]):
                continue
            yield {"at": path}
            found, matches = _search(pattern, data, left, question["context"])
            if found:
                yield {"groups": found}
            left -= matches
            if not left:
                yield {"full": True}
                break
    if large:
        yield {"large": large}


def _search(pattern: "re.Pattern[str]", data: bytes, most: int, context: int) -> "tuple[list[list[Row]], int]":
    """The groups of rows that belong together, and how many of them match."""
    lines = [line.removesuffix("\r") for line in data.decode("utf-8", "replace").split("\n")]
    if not lines[-1]:
        lines.pop()
    columns: dict[int, int] = {}
    for at, line in enumerate(lines):
        match = pattern.search(line)
        if match is not None:
            columns[at] = match.start()
            if len(columns) == most:
                break
    groups: list[list[Row]] = []
    shown = 0  # the line after the last one that is in a group
    for at in columns:
        if not groups or shown < at - context or not context:
            groups.append([])
            shown = max(0, at - context)
        stop = min(at + context + 1, len(lines))
        groups[-1] += [(n + 1, _cut(lines[n], columns.get(n, 0)), n in columns) for n in range(shown, stop)]
        shown = stop
    return groups, len(columns)


def _cut(line: str, around: int) -> str:
    """A line that can be shown; a long one, of minified code, as far as it is near what was found."""
    if len(line) <= MAX_LINE:
        return line
    start = max(0, min(around - MAX_LINE // 4, len(line) - MAX_LINE))
    return ("…" if start else "") + line[start : start + MAX_LINE] + ("…" if start + MAX_LINE < len(line) else "")


def _live_no_longer_than(secs: int) -> None:
    """Should nobody be left to kill this process, the system does; the interpreter may be held by the pattern."""
    import signal

    if hasattr(signal, "alarm"):
        signal.alarm(secs)


if __name__ == "__main__":
    main()
