"""`grep_files`: a regular expression looked for in the files of the workspace, by a child process.

A pattern of a model's can take for ever (`(a+)+$`), and Python's `re` holds the interpreter for as long. In a child it
holds nobody up and can be killed. What it has found by then is kept.
"""

import json
from contextlib import closing

from jp.tool.builtin.finding import as_text, files
from jp.tool.builtin.helper import TooSlow, answer, module
from jp.tool.outcome import Failure, Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

MAX_MATCHES = 200
MAX_CONTEXT = 10
MAX_BYTES = 128 * 1024
SECS = 10.0
_LOOK_SECS = 0.1
WORKER = "jp.tool.builtin.grep_worker"


def grep_files(work: "Work") -> "Outcome":
    """Matches as `grep -n` prints them, and a note on what is left out."""
    pattern = work.text("pattern")
    context = work.number("context", 0, least=0, most=MAX_CONTEXT)
    names: dict[str, None] = {}
    whole = True
    for where in work.texts("paths") or ["."]:
        found, all_of_them = files(work, where)
        whole = whole and all_of_them
        names.update(dict.fromkeys(found))
    question = {
        "pattern": pattern,
        "ignore_case": work.flag("ignore_case"),
        "context": context,
        "matches": MAX_MATCHES,
        "root": work.root.path,
        "identity": work.root.identity,
    }
    paths = "\0".join(name for name in names if not name.endswith("/"))
    request = json.dumps(question).encode() + b"\n" + paths.encode("utf-8", "surrogateescape")
    report = _Report(context)
    while not work.place.searches.acquire(timeout=_LOOK_SECS):
        work.checkpoint()
    try:
        with closing(answer(work, module(WORKER), request, secs=SECS)) as output:
            for record in _records(output):
                report.add(record)
                if report.full:
                    break
    except TooSlow:
        given_up = f"the search was given up after {SECS:g} s, in {report.at or 'the first file'}"
        if not report.matches:
            return Failure(f"{given_up}, and had found nothing: use a simpler pattern or fewer files")
        report.notes.append(f"{given_up}; the files after that were not searched")
    finally:
        work.place.searches.release()
    if report.error:
        return Failure(report.error)
    if not whole:
        report.notes.append("there are too many files; not all were searched")
    return Success(report.text(pattern, len(names)))


class _Report:
    """What the worker has said so far."""

    def __init__(self, context: int) -> None:
        self._context = context
        self._rows: list[str] = []
        self._size = 0
        self.matches = 0
        self.at = ""
        self.error = ""
        self.full = False
        self.notes: list[str] = []

    def add(self, record: "dict[str, Any]") -> None:
        """Take one record (see the worker)."""
        self.error = record.get("error", self.error)
        if "at" in record:
            self.at = as_text(record["at"])
        for rows in record.get("groups", ()):
            if self._context and self._rows:
                self._row("--")
            for number, text, is_match in rows:
                self.matches += is_match
                sign = ":" if is_match else "-"
                self._row(f"{self.at}{sign}{number}{sign}{text}")
        if record.get("full"):
            self.notes.append(f"the first {self.matches} matches are shown, and there may be more; narrow it down")
        if record.get("large"):
            self.notes.append(f"{record['large']} files are too large and were not searched")

    def text(self, pattern: str, count: int) -> str:
        """Everything, with its notes."""
        if not self.matches:
            self.notes.insert(0, f"nothing matches {pattern} in {count} files")
        return "".join(f"{row}\n" for row in [*self._rows, *(f"({note})" for note in self.notes)])

    def _row(self, row: str) -> None:
        if self.full:
            return
        self._size += len(row.encode("utf-8", "replace")) + 1
        if self._size > MAX_BYTES:
            self.full = True
            self.notes.append("there is more, which is too much to show; narrow it down")
        else:
            self._rows.append(row)


def _records(output: "Iterable[bytes]") -> "Iterator[dict[str, Any]]":
    held = b""
    for piece in output:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            yield json.loads(line)
