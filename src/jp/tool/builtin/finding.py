"""Which files a workspace has, without those that nobody means; and `list_files`.

In a git work tree git knows: its index and what it does not ignore. Elsewhere, and where git finds nothing, every
directory is looked at but for the usual ones of tools. Names come from both; files are opened by `Root` alone.
"""

import os
import stat
from contextlib import closing

from jp.tool.builtin.helper import HelperFailed, TooSlow, answer
from jp.tool.confined import ConfinedError
from jp.tool.outcome import Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

MAX_SHOWN = 500
MAX_FILES = 100_000
GIT_SECS = 10.0
GIT_BYTES = 32 << 20
SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "target", ".venv", "__pycache__", ".mypy_cache", ".tox"))
CONVERSATIONS = ".jp/conversations"
# A repository's own configuration may name a program as its file system monitor.
GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")


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
        notes.append(f"there are more than {MAX_FILES} files; not all were looked at")
    return Success("".join(f"{row}\n" for row in [*shown, *(f"({note})" for note in notes)]))


def files(work: "Work", where: str) -> tuple[list[str], bool]:
    """The files at or below `where`, by their paths in the workspace, sorted; and whether these are all.

    A file that is named itself is one of them, whatever git says. Raises ConfinedError.
    """
    base = work.root.resolve(where)
    mode = work.root.stat(base).st_mode
    if not stat.S_ISDIR(mode):
        return [base], True
    found = _by_git(work, base) - {base, f"{base}/"} or _by_looking(work, base)  # but for itself: another repository
    keep = base == CONVERSATIONS or base.startswith(CONVERSATIONS + "/")
    names = sorted(path for path in found if keep or not path.startswith(CONVERSATIONS + "/"))
    return names[:MAX_FILES], len(names) <= MAX_FILES


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
    """A slash for a directory, a space for a file, nothing for what is not there: git lists what was deleted, too."""
    if path.endswith("/"):
        return "/"
    try:
        return "/" if stat.S_ISDIR(work.root.stat(path).st_mode) else " "
    except ConfinedError as error:
        return "" if error.missing else " "


def _by_git(work: "Work", base: str) -> set[str]:
    """What git lists below `base`; nothing where it can't be asked."""
    if not _in_work_tree(work.root.path):
        return set()
    env = {name: value for name, value in work.place.visible.items() if not name.startswith("GIT_")}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1"}
    pieces, size = [], 0
    try:
        with closing(answer(work, [*GIT, base], secs=GIT_SECS, env=env)) as output:
            for piece in output:
                pieces.append(piece)
                size += len(piece)
                if size > GIT_BYTES:
                    break
    except (HelperFailed, TooSlow):
        return set()
    names = b"".join(pieces).split(b"\0")
    return {os.fsdecode(name) for name in names[:-1]}  # nothing, or one that was cut, is behind the last zero


def _in_work_tree(path: str) -> bool:
    while True:
        if os.path.lexists(os.path.join(path, ".git")):
            return True
        above = os.path.dirname(path)
        if above == path:
            return False
        path = above


def _by_looking(work: "Work", base: str) -> set[str]:
    found: set[str] = set()
    left = [base]
    while left and len(found) <= MAX_FILES:
        work.checkpoint()
        here = left.pop()
        try:
            entries = work.root.listing(here)
        except ConfinedError:
            if here == base:
                raise
            continue  # gone, or not ours to look at
        for entry in entries:
            path = entry.name if here == "." else f"{here}/{entry.name}"
            if entry.kind == "directory":
                if entry.name not in SKIPPED and path != CONVERSATIONS:
                    left.append(path)
            elif entry.kind in ("file", "link"):
                found.add(path)
    return found
