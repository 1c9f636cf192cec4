"""The walk from an open directory to a file below it, one component a step (why: `jp.tool.confined`)."""

import errno
import os
import stat
from typing import NamedTuple

from jp.errors import JpError
from jp.storage.files import NOFOLLOW, sync

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

MAX_LINKS = 40
MAX_PATH = 4096
_PROTECTED = {
    ".git": "it belongs to git, which runs programs that files in there name",
    ".jp": "it holds JP's own configuration and conversations",
    ".jp.": "it is JP's own configuration, which names programs",  # .jp.toml and its likes
}
CLOEXEC = getattr(os, "O_CLOEXEC", 0)
DIRECTORY = os.O_RDONLY | NOFOLLOW | CLOEXEC | getattr(os, "O_DIRECTORY", 0)
EXCHANGED = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENOENT, errno.ENXIO)

Version = tuple[int, ...]


class ConfinedError(JpError):
    """A file can't be used; the message says which and why, for a person and for a model.

    `missing`: there is none. `changed`: it is no longer the version that was to be replaced.
    """

    code = "confined"

    def __init__(self, message: str, *, missing: bool = False, changed: bool = False) -> None:
        super().__init__(message)
        self.missing = missing
        self.changed = changed


class Ground(NamedTuple):
    """Where walks begin: an open directory, its path, and which components an absolute path has below it."""

    fd: int
    path: str
    components: "Callable[[str], list[str] | None]"


class Walk:
    """The way to one file: `fd` is the directory that it is in, `name` its name there, `found` what is there.

    `names` is the whole way from the root. For the root itself `name` is ".". Where a directory is missing, `beyond` is
    the way that there would be.
    """

    def __init__(self, ground: "Ground", path: str, *, writing: bool = False, parents: bool = False) -> None:
        self.ground = ground
        self.path = path or "."
        self.writing = writing
        self.parents = parents
        self.fd = -1
        self.name = "."
        self.names: list[str] = []
        self.beyond: list[str] = []
        self.found: os.stat_result | None = None
        self._left: list[str] = []  # the next one last
        self._turns = MAX_LINKS
        self._link = ""  # the last one that was followed

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the directory."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def run(self) -> None:
        """Go the whole way. Raises ConfinedError and OSError."""
        self._begin(self._parts(checked(self.path)))
        while self._left:
            name = self._left.pop()
            if name == "..":
                if not self.names:
                    raise self._outside()
                self._begin(self.names[:-1] + self._left[::-1])
                continue
            self._guard(name)
            found = self._look(name)
            if found is not None and stat.S_ISLNK(found.st_mode):
                self._follow(name)
            elif not self._left:
                self.name, self.found = name, found
                self.names.append(name)
                return
            elif found is not None and not stat.S_ISDIR(found.st_mode):
                raise ConfinedError(f"{self._shown(name)} is {described(found.st_mode)}, not a directory")
            else:
                self._enter(name, exists=found is not None)
        self.name, self.found = ".", os.fstat(self.fd)

    def must_exist(self) -> os.stat_result:
        """What is there; raises ConfinedError when nothing is."""
        if self.found is None:
            raise missing(self.path)
        return self.found

    def must_be_writable(self) -> os.stat_result | None:
        """The regular file that is there, None for none; raises ConfinedError for what must not be replaced."""
        if self.found is None:
            return None
        mode = self.found.st_mode
        if not stat.S_ISREG(mode):
            raise ConfinedError(f"{self.path} is {described(mode)}, not a regular file")
        if not mode & 0o222:
            raise ConfinedError(f"{self.path} is read-only; whoever made it so does not want it to be changed")
        return self.found

    def unchanged(self) -> bool:
        """Whether the name still leads to what the walk found."""
        now = self._look(self.name)
        return (now and version(now)) == (self.found and version(self.found))

    def _begin(self, parts: list[str]) -> None:
        self.close()
        self.fd = os.dup(self.ground.fd)
        self.names = []
        self._left = parts[::-1]

    def _parts(self, path: str) -> list[str]:
        if not path.startswith("/"):
            return split(path)
        parts = self.ground.components(path)
        if parts is None:
            raise self._outside(path)
        return parts

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _follow(self, name: str) -> None:
        self._turn()
        try:
            target = os.readlink(name, dir_fd=self.fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):
                raise
            self._left.append(name)  # exchanged since it was looked at
            return
        self._link = f"{self._shown(name)} is a symbolic link to {target!r}"
        parts = self._parts(target)
        if target.startswith("/"):
            self._begin(parts + self._left[::-1])
        else:
            self._left += parts[::-1]

    def _enter(self, name: str, *, exists: bool) -> None:
        if not exists:
            for later in self._left:  # before anything is made
                self._guard(later)
            if ".." not in self._left:
                self.beyond = [*self.names, name, *self._left[::-1]]
            if not self.parents or not self.beyond:
                raise missing(self.path)
            try:
                os.mkdir(name, dir_fd=self.fd)
                sync_directory(self.fd)
            except FileExistsError:
                self._turn()
                self._left.append(name)
                return
        try:
            fd = os.open(name, DIRECTORY, dir_fd=self.fd)
        except OSError as error:
            if error.errno not in EXCHANGED:
                raise
            self._turn()
            self._left.append(name)
            return
        os.close(self.fd)
        self.fd = fd
        self.names.append(name)

    def _turn(self) -> None:
        self._turns -= 1
        if self._turns < 0:
            raise ConfinedError(f"{self.path}: too many symbolic links, or they lead in circles")

    def _guard(self, name: str) -> None:
        if self.writing:
            # As file systems that ignore case or invisible characters see it.
            seen = "".join(filter(str.isprintable, name)).casefold()
            why = _PROTECTED.get(".jp." if seen.startswith(".jp.") else seen)
            if why:
                raise ConfinedError(f"{self._shown(name)} is not written to by tools: {why}")

    def _shown(self, name: str) -> str:
        return "/".join([*self.names, name])

    def _outside(self, target: str = "") -> ConfinedError:
        if self._link:
            return ConfinedError(f"{self.path} leads out of the workspace: {self._link}")
        what = f"{target or self.path} is outside of the workspace"
        return ConfinedError(f"{what}; only what is below {self.ground.path} can be used")


def version(found: os.stat_result) -> Version:
    """What tells one content of a file from another, short of reading it."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def checked(path: str) -> str:
    """`path`; raises ConfinedError for what no file can be called."""
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        raise ConfinedError(f"{path!r} can't be the name of a file") from None
    if b"\0" in raw or len(raw) > MAX_PATH:
        raise ConfinedError(f"{path[:60]!r}{'…' * (len(path) > 60)} can't be the path of a file")
    return path


def split(path: str) -> list[str]:
    """The components of a path; those that lead nowhere are left out."""
    return [part for part in path.split("/") if part not in ("", ".")]


def described(mode: int) -> str:
    """What kind of file a mode is of, in words."""
    kinds = (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((words for test, words in kinds if test(mode)), "a device")


def missing(path: str) -> ConfinedError:
    """There is nothing at `path`."""
    return ConfinedError(f"{path}: there is no such file or directory", missing=True)


def sync_directory(fd: int) -> None:
    """Make renames in an open directory durable; file systems that can't are left alone."""
    try:
        sync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
