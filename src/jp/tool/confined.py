"""Files of one directory tree, and of nothing outside it, whatever a path says and whoever changes the tree meanwhile.

What does not work, and why:

* Comparing `realpath(path)` with the root: between the comparison and the use a directory can become a link.
* `open(path, O_NOFOLLOW)`: looks at the last component only.
* Refusing every link: projects have them, and most stay inside.

Chosen: the root is opened once, and each path is walked from that descriptor one component a step, none of them
followed by the system. A link is read, and its target is walked by the same rules. What is opened in the end is what
was walked to; where something was exchanged on the way, the walk begins again.
"""

import errno
import os
import stat
from typing import NamedTuple

from jp.storage.files import BINARY, NOFOLLOW, NONBLOCK, sync, temp_name, write_all
from jp.tool.confined_walk import (
    CLOEXEC,
    DIRECTORY,
    EXCHANGED,
    MAX_LINKS,
    Ground,
    Version,
    Walk,
    described,
    split,
    sync_directory,
    version,
)
from jp.tool.confined_walk import ConfinedError as ConfinedError  # noqa: PLC0414 - part of this interface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

READ_LIMIT = 16 << 20
ANY: Version = (-1,)  # as the version to write over: whatever is there
ABSENT: Version = ()

_FILE = os.O_RDONLY | NONBLOCK | NOFOLLOW | CLOEXEC | BINARY | getattr(os, "O_NOCTTY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | CLOEXEC | BINARY
_NEEDED = (os.open, os.stat, os.readlink, os.mkdir, os.unlink, os.rename)


class Entry(NamedTuple):
    """One name in a directory; `kind` is "file", "directory", "link" or "other"."""

    name: str
    kind: str


class Root:
    """A directory, held open until `close`. Paths are relative to it, or absolute and below it.

    Everything raises ConfinedError and nothing else. Any thread; the methods share nothing but the descriptor.
    """

    def __init__(self, path: str, *, identity: "tuple[int, int] | None" = None) -> None:
        """Open `path`; `identity` (device and inode) is what must be found there, where that is known."""
        self.path = os.path.abspath(path)
        self._fd = -1
        if not all(call in os.supports_dir_fd for call in _NEEDED) or os.scandir not in os.supports_fd:
            raise ConfinedError(
                "this system can't keep a tool to one directory, so the built-in file tools do not work"
            )
        try:
            self._fd = os.open(self.path, DIRECTORY & ~NOFOLLOW)
            found = os.fstat(self._fd)
            self._known_as = {tuple(split(name)) for name in (self.path, os.path.realpath(self.path))}
        except OSError as error:
            self.close()
            raise _failed(self.path, error) from error
        self.identity = (found.st_dev, found.st_ino)
        if identity not in (None, self.identity):
            self.close()
            raise ConfinedError(f"{self.path} is no longer the directory that it was")

    def close(self) -> None:
        """Let go of the directory; nothing may be using it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- looking ---

    def resolve(self, path: str) -> str:
        """Where `path` really is, relative to the root and without links; "." for the root. It need not exist."""
        with self._walk(path) as walk:
            return "/".join(walk.names) or "."

    def stat(self, path: str) -> os.stat_result:
        """What the system says about what `path` leads to."""
        with self._walk(path) as walk:
            return walk.must_exist()

    def listing(self, path: str) -> list[Entry]:
        """What is in a directory, by name."""
        fd = self._open(path, stat.S_ISDIR, DIRECTORY)
        try:
            with os.scandir(fd) as entries:
                return sorted(Entry(entry.name, _kind(entry)) for entry in entries)
        except OSError as error:
            raise _failed(path, error) from error
        finally:
            os.close(fd)

    # --- reading ---

    def opened(self, path: str) -> int:
        """A descriptor to read a regular file from, which the caller closes."""
        return self._open(path, stat.S_ISREG, _FILE)

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """The content of a regular file of at most `limit` bytes."""
        return self.load(path, limit)[0]

    def load(self, path: str, limit: int = READ_LIMIT) -> tuple[bytes, Version]:
        """The content of a regular file, and which version of the file that is (see `write`)."""
        fd = self.opened(path)
        try:
            before = os.fstat(fd)
            pieces, size = [], 0
            while size <= limit and (piece := os.read(fd, min(1 << 20, limit + 1 - size))):
                pieces.append(piece)
                size += len(piece)
        except OSError as error:
            raise _failed(path, error) from error
        finally:
            os.close(fd)
        if size > limit:
            raise ConfinedError(f"{path} is too large: {max(size, before.st_size)} bytes, and the limit is {limit}")
        return b"".join(pieces), version(before)

    # --- writing ---

    def may_write(self, path: str) -> None:
        """Raises what `write` with `parents` would raise, as far as that can be told without writing."""
        try:
            with self._walk(path, writing=True) as walk:
                walk.must_be_writable()
        except ConfinedError as error:
            if not error.missing:
                raise

    def destination(self, path: str) -> str:
        """Where `write` with `parents` puts what is written to `path`: relative to the root, and without links."""
        walk = Walk(Ground(self._fd, self.path, self._components), path, writing=True)
        try:
            with walk:
                walk.run()
                return "/".join(walk.names) or "."
        except ConfinedError as error:
            if not error.missing or not walk.beyond:
                raise
            return "/".join(walk.beyond)
        except OSError as error:
            raise _failed(path, error) from error

    def write(
        self, path: str, content: "bytes | Iterable[bytes]", *, parents: bool = False, over: Version = ANY
    ) -> None:
        """Replace the content of a file, or make it, so that a reader sees the old content or the new.

        The file keeps its mode; a link stays, and what it leads to is written. `parents` makes missing directories.
        `over` is the version (from `load`) that is to be replaced, ABSENT for none: with another one there, this raises
        ConfinedError with `changed`, and nothing is written.
        """
        pieces = [content] if isinstance(content, bytes) else content
        with self._walk(path, writing=True, parents=parents) as walk:
            found = walk.must_be_writable()
            if over != ANY and over != (ABSENT if found is None else version(found)):
                raise _changed(path)
            try:
                _replace(walk, found, pieces)
            except OSError as error:
                raise _failed(path, error) from error

    # --- walking ---

    def _open(self, path: str, wanted: "Callable[[int], bool]", flags: int) -> int:
        path = path or "."
        for _ in range(MAX_LINKS):
            with self._walk(path) as walk:
                found = walk.must_exist()
                if not wanted(found.st_mode):  # before it is opened: opening a device may do something
                    raise ConfinedError(f"{path} is {described(found.st_mode)}, not {_expected(wanted)}")
                try:
                    fd = os.open(walk.name, flags, dir_fd=walk.fd)
                except OSError as error:
                    if error.errno in EXCHANGED:
                        continue
                    raise _failed(path, error) from error
                if wanted(os.fstat(fd).st_mode):
                    return fd
                os.close(fd)
        raise ConfinedError(f"{path} keeps changing while it is being opened")

    def _walk(self, path: str, *, writing: bool = False, parents: bool = False) -> "Walk":
        walk = Walk(Ground(self._fd, self.path, self._components), path, writing=writing, parents=parents)
        try:
            walk.run()
        except OSError as error:
            walk.close()
            raise _failed(path, error) from error
        except BaseException:
            walk.close()
            raise
        return walk

    def _components(self, path: str) -> list[str] | None:
        parts = split(path)
        for known in self._known_as:
            if tuple(parts[: len(known)]) == known:
                return parts[len(known) :]
        return None


def _replace(walk: Walk, found: os.stat_result | None, pieces: "Iterable[bytes]") -> None:
    """Temp, fsync, rename, fsync, as in `jp.storage.files`, all of it by the descriptor of the directory."""
    temp = temp_name("jp")
    mode = 0o666 if found is None else found.st_mode & 0o777
    fd = os.open(temp, _NEW, mode, dir_fd=walk.fd)
    try:
        try:
            if found is not None:
                _keep(fd, found)
            write_all(fd, pieces)
            sync(fd)
        finally:
            os.close(fd)
        if not walk.unchanged():
            raise _changed(walk.path)
        os.rename(temp, walk.name, src_dir_fd=walk.fd, dst_dir_fd=walk.fd)
    except BaseException:
        try:
            os.unlink(temp, dir_fd=walk.fd)
        except OSError:
            pass
        raise
    sync_directory(walk.fd)


def _keep(fd: int, found: os.stat_result) -> None:
    """Give the new file the owner and the mode of the old one; set-user-id does not survive a change of content."""
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.fchown(fd, found.st_uid, found.st_gid)
        except OSError:
            pass  # somebody else's file in a directory of ours
    os.fchmod(fd, stat.S_IMODE(found.st_mode) & 0o777)


def _kind(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _expected(wanted: "Callable[[int], bool]") -> str:
    return "a directory" if wanted is stat.S_ISDIR else "a regular file"


def _changed(path: str) -> ConfinedError:
    return ConfinedError(f"{path} was changed by somebody else in the meantime; nothing was written", changed=True)


def _failed(path: str, error: OSError) -> ConfinedError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return ConfinedError(f"{path}: {reason[:1].lower()}{reason[1:]}", missing=error.errno == errno.ENOENT)
