"""The command plugins on this machine: executables named `jp-…`, and which of them answers to a command.

Nothing is run or read here: a plugin answers by its file name (`jp-serve-web`: `jp serve web` and `jp serve-web`) until
somebody who may has asked it to describe itself; a `command` in that description replaces both.
"""

import os
import stat
import sys

from jp.places import data_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jp.plugin.messages import Description

    Words = tuple[str, ...]
    Free = Callable[[Words], Words | None]

INSTALLED, ON_PATH, BUNDLED = "installed", "path", "bundled"
PREFIX = "jp-"

# What comes with JP and is listed without being run: the command, and the line of help.
OWN: "dict[str, tuple[Words, str]]" = {
    "export": (("export",), "Write conversations as documents"),
    "serve-web": (("serve", "web"), "Show conversations in a browser, on this machine alone"),
}


class Found:
    """A plugin. `name` is its file name without `jp-`; `origin` INSTALLED, ON_PATH or BUNDLED.

    `description` is None until it is known; `problem` is why it could not be had, or what is wrong with it.
    """

    __slots__ = ("description", "name", "origin", "path", "problem")

    def __init__(
        self, name: str, path: str, origin: str, description: "Description | None" = None, problem: str = ""
    ) -> None:
        self.name = name
        self.path = path
        self.origin = origin
        self.description = description
        self.problem = problem

    def __repr__(self) -> str:
        return f"Found({self.name!r}, {self.path!r}, {self.origin!r})"

    @property
    def claims(self) -> "tuple[Words, ...]":
        """The commands that it answers to, the one to show first."""
        declared = self.description.command if self.description is not None else None
        if isinstance(declared, list) and is_command(declared):
            return (tuple(declared),)
        if self.origin == BUNDLED:
            return (OWN[self.name][0],)
        parts = tuple(self.name.split("-"))
        return (parts, (self.name,)) if len(parts) > 1 and all(parts) else ((self.name,),)

    @property
    def summary(self) -> str:
        """What it says of itself in a line, as it said it; of JP's own what is known without asking."""
        if self.description is not None:
            return self.description.description
        return OWN[self.name][1] if self.origin == BUNDLED else ""

    def described(self, description: "Description | None", problem: str) -> "Found":
        """The same with what it said, or why it did not."""
        if description is not None and isinstance(description.command, list) and not is_command(description.command):
            problem = "the command that it declares can't be typed, so it answers to its file name"
        return Found(self.name, self.path, self.origin, description, problem)


def is_word(word: str) -> bool:
    """Whether a word of a command can be typed as such, and be seen as it is."""
    return word.isprintable() and not any(char.isspace() for char in word) and word[:1] not in ("", "-")


def is_command(words: "Sequence[str]") -> bool:
    """Whether the words can be a command."""
    return bool(words) and all(is_word(word) for word in words)


def install_directory(environ: "Mapping[str, str]") -> str | None:
    """Where `jp plugin install` puts plugins; None where the user has no directory for data."""
    home = data_home(environ)
    return os.path.join(home, "plugins", "command") if home else None


def find(environ: "Mapping[str, str]") -> list[Found]:
    """All plugins: those installed, those on `$PATH` in its order, JP's own. The first of a name wins.

    What is no regular file or can't be executed is none, nor is what has a name that can't be typed. Relative entries
    of `$PATH`, an empty one included, are left out: what they lead to is up to whoever made the current directory.
    BUNDLED is what is JP's own file, and its path JP's own path: nobody is asked about it, and where a link to it leads
    can change before it is run.
    """
    directory = _own_directory()
    own = {name: os.path.join(directory, PREFIX + name) for name in OWN} if directory is not None else {}
    places = [(install_directory(environ), INSTALLED)]
    places += [(entry, ON_PATH) for entry in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    found: dict[str, Found] = {}
    for directory, origin in places:
        for name in _names(directory):
            path = os.path.join(directory or "", PREFIX + name)
            if name not in found and _is_program(path):
                bundled = name in own and _is_same(path, own[name])
                found[name] = Found(name, own[name], BUNDLED) if bundled else Found(name, path, origin)
    for name, path in own.items():
        if name not in found and _is_program(path):
            found[name] = Found(name, path, BUNDLED)
    return list(found.values())


def route(words: "Sequence[str]", found: "Iterable[Found]", free: "Free") -> tuple[Found, int] | None:
    """The plugin that answers to the beginning of `words` and how many of them it takes; None where none does.

    The longest command wins, then the plugin that was found first. `free` gives a command by the names of the built-in
    groups that it is in (they have aliases), None where a built-in answers to it.
    """
    best: tuple[Found, int] | None = None
    for each in found:
        for claim in each.claims:
            wanted = free(claim)
            if wanted is None or (best is not None and len(wanted) <= best[1]):
                continue
            if tuple(words[: len(wanted)]) == wanted:
                best = (each, len(wanted))
    return best


def _names(directory: str | None) -> list[str]:
    try:
        entries = os.listdir(directory) if directory else []
    except OSError:
        return []
    names = [entry.removeprefix(PREFIX) for entry in entries if entry.startswith(PREFIX)]
    return sorted(name for name in names if is_word(name))


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _own_directory() -> str | None:
    """Where JP's own programs are: beside the interpreter that runs it, if its `jp` is there."""
    directory = os.path.dirname(sys.executable)
    return directory if os.path.isabs(directory) and os.path.exists(os.path.join(directory, "jp")) else None
