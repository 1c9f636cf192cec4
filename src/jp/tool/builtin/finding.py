"""Which files of a workspace are meant by a path and a pattern; and `list_files`."""

import os
import stat

from jp.tool.builtin.walking import CONVERSATIONS, MAX_FILES, walk
from jp.tool.confined import ConfinedError
from jp.tool.outcome import Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

MAX_SHOWN = 500


def list_files(work: "Work") -> "Outcome":
    """Paths, one a line, from the workspace; directories end with a slash."""
    where = work.text("path", ".")
    pattern = work.text("pattern", "")
    depth = work.number("depth", 10**6, least=1, most=10**6)
    found, all_of_them = files(work, where)
    base = work.root.resolve(where)
    paths: dict[str, None] = {}
    for path in work.steps(found):
        below = path if base == "." else path.removeprefix(base + "/")
        if not pattern or matches(path, pattern) or matches(below, pattern):
            parts = below.split("/")
            above = path[: len(path) - len(below)]
            paths[path if len(parts) <= depth else above + "/".join(parts[:depth]) + "/"] = None
    shown: list[str] = []
    for path in work.steps(paths, 1):
        if len(shown) == MAX_SHOWN:
            break
        if sign := _sign(work, path):
            shown.append(as_text(path.rstrip("/")) + sign.strip())
    notes = []
    if not shown:
        notes.append(f"no files match {pattern}" if pattern and found else "no files")
    if len(paths) > MAX_SHOWN:
        notes.append(f"{MAX_SHOWN} of {len(paths)} are shown; narrow it down with path, pattern or depth")
    if not all_of_them:
        notes.append("there are too many files; not all were looked at")
    return Success("".join(f"{row}\n" for row in [*shown, *(f"({note})" for note in notes)]))


def files(work: "Work", where: str) -> tuple[list[str], bool]:
    """The files at or below `where`, by their paths in the workspace, sorted; and whether these are all.

    A file that is named itself is one of them, ignored or not. Raises ConfinedError.
    """
    base = work.root.resolve(where)
    mode = work.root.stat(base).st_mode
    if not stat.S_ISDIR(mode):
        return [base], True
    found, whole = walk(work, base)
    keep = base == CONVERSATIONS or base.startswith(CONVERSATIONS + "/")
    names = sorted(path for path in found if keep or not path.startswith(CONVERSATIONS + "/"))
    return names[:MAX_FILES], whole and len(names) <= MAX_FILES


def matches(path: str, pattern: str) -> bool:
    """Whether a path is meant by a pattern: one without a slash is for names; `**` is any number of directories."""
    parts = path.split("/")
    wanted = pattern.removeprefix("./").strip("/").split("/")
    if len(wanted) == 1 and wanted != ["**"]:
        return _same(parts[-1], wanted[0])
    # `reached` are the numbers of parts that what has been read of the pattern can stand for.
    reached = {0}
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(parts) and _same(parts[n], part)}
        if not reached:
            return False
    return len(parts) in reached


def as_text(path: str) -> str:
    """A path on one line, as text that can be encoded."""
    name = os.fsencode(path).decode("utf-8", "replace")
    return name if name.isprintable() else repr(name)


def _same(name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def _sign(work: "Work", path: str) -> str:
    """A slash for a directory, a space for a file, nothing for what is gone."""
    if path.endswith("/"):
        return "/"
    try:
        return "/" if stat.S_ISDIR(work.root.stat(path).st_mode) else " "
    except ConfinedError as error:
        return "" if error.missing else " "
