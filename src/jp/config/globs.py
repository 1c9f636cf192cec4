"""The files that a glob names (in `extends`, among attachments), looked for within bounds.

Not `glob.glob`: of `/**/*` it walks the whole file system without a word, follows a link to a directory above for forty
rounds, and returns only then. This one looks at a limited number of entries, lets an interrupt in at each, and does
not go down into a directory that it is in already. What matches is the same: `*`, `?` and `[…]` within a name, `**` for
any number of directories, names with a leading dot only where the pattern has one.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jp.config.paths import is_below
from jp.interrupt.checkpoint import checkpoint

MOST_ENTRIES = 100_000
MOST_MATCHES = 4096
MAGIC = re.compile(r"[*?[]")


class Budget:
    """How much one expansion may still look at; all globs of a file and of those it extends share it."""

    def __init__(self, most_entries: int = MOST_ENTRIES, most_matches: int = MOST_MATCHES) -> None:
        self.most_entries = self.entries = most_entries
        self.most_matches = self.matches = most_matches


class TooMuch(Exception):
    """A glob takes more than its budget; the message says of what."""


class _Search(NamedTuple):
    """One glob and what it may look at."""

    budget: Budget

    def look(self, directory: str) -> list[os.DirEntry[str]]:
        """What is in a directory, sorted; nothing where it cannot be read."""
        found = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    checkpoint()
                    self.budget.entries -= 1
                    if self.budget.entries < 0:
                        raise TooMuch(f"more than {self.budget.most_entries:,} files and directories to look at")
                    found.append(entry)
        except (OSError, ValueError):
            return []
        return sorted(found, key=lambda entry: entry.name)

    def match(self) -> None:
        """Count one more match."""
        self.budget.matches -= 1
        if self.budget.matches < 0:
            raise TooMuch(f"more than {self.budget.most_matches:,} files")


def find(full: str, suffixes: tuple[str, ...], budget: Budget, base: str = "") -> list[str]:
    """The files with one of `suffixes` that `full` (an absolute glob, normalised) names, sorted.

    What it begins with of the directory `base` is meant as it is, also where it has a `*`. Raises `TooMuch` when that
    takes more than `budget`.
    """
    search = _Search(budget)
    drive, below = os.path.splitdrive(full)
    parts: list[str] = []
    for part in below.split(os.sep):
        if part and not (part == "**" and parts[-1:] == ["**"]):
            parts.append(part)
    fixed = len([part for part in os.path.splitdrive(base)[1].split(os.sep) if part]) if is_below(full, base) else 0
    while fixed < len(parts) and not MAGIC.search(parts[fixed]):
        fixed += 1
    top = os.path.join(drive + os.sep, *parts[:fixed])
    found: set[str] = set()
    for path in _below(top, parts[fixed:], search, frozenset()):
        if path not in found and path.endswith(suffixes) and os.path.isfile(path):
            search.match()
            found.add(path)
    return sorted(found)


def _below(place: str, parts: Sequence[str], search: _Search, above: frozenset[object]) -> Iterator[str]:
    """The paths below the directory `place` that `parts` lead to; `above` are the directories that `**` is inside."""
    if not parts:
        yield place
        return
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _anywhere(place, parts, search, above)
    elif not MAGIC.search(head):
        yield from _below(os.path.join(place, head), rest, search, above)
    else:
        import fnmatch

        fits = re.compile(fnmatch.translate(os.path.normcase(head)))
        for entry in search.look(place):
            hidden = entry.name.startswith(".") and not head.startswith(".")
            if not hidden and fits.match(os.path.normcase(entry.name)):
                yield from _below(entry.path, rest, search, above)


def _anywhere(place: str, parts: Sequence[str], search: _Search, above: frozenset[object]) -> Iterator[str]:
    """`**`: what the rest of the pattern finds here and in every directory below."""
    try:
        here = os.stat(place)
    except (OSError, ValueError):
        return
    identity = (here.st_dev, here.st_ino)
    if identity in above:
        return
    inside = above | {identity}
    rest = parts[1:]
    if rest:
        yield from _below(place, rest, search, frozenset())
    for entry in search.look(place):
        if entry.name.startswith("."):
            continue
        if _is_directory(entry):
            yield from _anywhere(entry.path, parts, search, inside)
        elif not rest:
            yield entry.path


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
