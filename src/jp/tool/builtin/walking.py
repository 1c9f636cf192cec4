"""The files of a workspace without those that git would ignore, found without git.

What does not work: asking `git ls-files`. A repository's own configuration names programs that git runs (a file
system monitor; `uploadpack` of a remote that an index is completed from), and so may a repository that lies in
another one's files. No list of options closes all of these ways in every version.

Chosen: the directories are read through `Root`, and `.gitignore` files are nothing but text. What git alone knows is
not known here: a file that is tracked although it is ignored counts as ignored.
"""

import os
import stat
from typing import NamedTuple

from jp.interrupt.standing import clock
from jp.tool.builtin.ignore_rules import LIMIT, Rules
from jp.tool.confined import ConfinedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.tool.builtin.work import Work

MAX_FILES = 100_000
SECS = 10.0
IGNORE, GIT = ".gitignore", ".git"
EXCLUDE = ".git/info/exclude"
CONVERSATIONS = ".jp/conversations"
# Outside of a work tree: what tools make.
SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "target", ".venv", "__pycache__", ".mypy_cache", ".tox"))

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Known(NamedTuple):
    """Rules, and how many parts of an absolute path lead to the directory that they are for."""

    depth: int
    rules: Rules


class Ground(NamedTuple):
    """What holds in a directory: whether it is in a work tree, and the rules, the weakest first."""

    tree: bool
    known: tuple[Known, ...] = ()

    def ignores(self, parts: list[str], *, directory: bool) -> bool:
        """Whether something is ignored; `parts` are those of its absolute path."""
        for depth, rules in reversed(self.known):
            said = rules.ignored(parts[depth:], directory=directory)
            if said is not None:
                return said
        return False

    def skips(self, name: str) -> bool:
        """Whether a directory is nobody's, whatever the rules say."""
        return name == GIT if self.tree else name in SKIPPED

    def with_rules(self, depth: int, content: bytes) -> "Ground":
        """It, below a directory with rules of its own."""
        rules = Rules(content)
        return self._replace(known=(*self.known, Known(depth, rules))) if rules else self


class Found(NamedTuple):
    """Paths in the workspace, and whether these are all. A repository in a work tree is one path, with a slash."""

    paths: set[str]
    whole: bool


def walk(work: "Work", base: str) -> Found:
    """The files at or below a directory, which is without links. Raises ConfinedError when it can't be read."""
    above = _split(os.path.realpath(work.root.path))
    ground = _ground(work, above, [] if base == "." else base.split("/"))
    found: set[str] = set()
    left = [(base, ground)]
    until = clock() + SECS
    while left:
        if len(found) > MAX_FILES or clock() >= until:
            return Found(found, False)
        work.checkpoint()
        here, ground = left.pop()
        try:
            entries = work.root.listing(here)
        except ConfinedError:
            if here == base:
                raise
            continue  # gone, or not ours to look at
        kinds = {entry.name: entry.kind for entry in entries}
        if GIT in kinds and here != base:
            if ground.tree:
                found.add(f"{here}/")
                continue
            ground = Ground(True).with_rules(len(_split(here)) + len(above), _of_person(work.place.environ))
        parts = above if here == "." else [*above, *here.split("/")]
        if GIT in kinds:
            ground = ground.with_rules(len(parts), _content(work, _joined(here, EXCLUDE)))
        if kinds.get(IGNORE) == "file":
            ground = ground.with_rules(len(parts), _content(work, _joined(here, IGNORE)))
        for number, (name, kind) in enumerate(kinds.items()):
            if number % 256 == 0:
                work.checkpoint()
            path = _joined(here, name)
            directory = kind == "directory"
            if directory and (ground.skips(name) or path == CONVERSATIONS):
                continue
            if kind == "other" or ground.ignores([*parts, name], directory=directory):
                continue
            if directory:
                left.append((path, ground))
            else:
                found.add(path)
    return Found(found, True)


def _ground(work: "Work", above: list[str], below: list[str]) -> Ground:
    """What holds in the workspace's directory `below`, by all that is above it; not by its own rules.

    Where that directory is ignored itself, who asks means it all the same: nothing holds.
    """
    parts = above + below
    top = next((n for n in range(len(parts), -1, -1) if _is_repository(work, above, parts[:n])), None)
    if top is None:
        return Ground(False)
    ground = Ground(True).with_rules(top, _of_person(work.place.environ))
    for depth in range(top, len(parts)):
        here = parts[:depth]
        if depth == top:
            ground = ground.with_rules(depth, _anywhere(work, above, [*here, *EXCLUDE.split("/")]))
        ground = ground.with_rules(depth, _anywhere(work, above, [*here, IGNORE]))
        if ground.ignores(parts[: depth + 1], directory=True):
            return Ground(False)
    return ground


def _is_repository(work: "Work", above: list[str], parts: list[str]) -> bool:
    if len(parts) < len(above):
        return os.path.lexists("/" + "/".join([*parts, GIT]))
    try:
        return bool(work.root.stat("/".join([*parts[len(above) :], GIT])))
    except ConfinedError:
        return False


def _anywhere(work: "Work", above: list[str], parts: list[str]) -> bytes:
    """A file of the workspace, or above it: that is the person's, and nothing of it is shown."""
    if len(parts) > len(above) and parts[: len(above)] == above:
        return _content(work, "/".join(parts[len(above) :]))
    return _plain("/" + "/".join(parts))


def _content(work: "Work", path: str) -> bytes:
    try:
        fd = work.root.opened(path)
    except ConfinedError:
        return b""
    return _beginning(fd)


def _of_person(environ: "Mapping[str, str]") -> bytes:
    """What a person ignores in every repository, where git looks for it unless told otherwise."""
    directory = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", ""), ".config")
    return _plain(os.path.join(directory, "git", "ignore")) if os.path.isabs(directory) else b""


def _plain(path: str) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode):
            return b""
        fd = os.open(path, _READ)
    except OSError:
        return b""
    return _beginning(fd)


def _beginning(fd: int) -> bytes:
    with open(fd, "rb") as file:
        try:
            return file.read(LIMIT)
        except OSError:
            return b""


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _joined(directory: str, name: str) -> str:
    return name if directory == "." else f"{directory}/{name}"
