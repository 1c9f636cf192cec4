"""Whole files, replaced so that a reader and a crash see the old content or the new, never half of either.

What does not work: writing in place (a full disk or a kill leaves a cut file), a temp file with a fixed name (two
writers share it: most reads fail), and no fsync (after a power cut the new name can point to nothing). Hence: unique
temp in the same directory, write, fsync, rename, fsync of the directory.
"""

import os
import stat
import sys
import time
from io import FileIO

from jp.storage.errors import UnreadableFileError, WriteError, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Piece = bytes | memoryview

NONBLOCK = getattr(os, "O_NONBLOCK", 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = 8 << 20
_serial = 0


def read(path: str) -> bytes:
    """The content of `path`, which is no link: a project that was cloned must not lead elsewhere.

    Raises `FileNotFoundError`, and `UnreadableFileError` for everything else.
    """
    with _opened(path) as file:
        try:
            return file.readall()
        except OSError as error:
            raise UnreadableFileError(path, reason_of(error)) from error


def chunks(path: str, size: int = 1 << 20) -> "Iterator[bytes]":
    """The content of `path` in pieces of at most `size` bytes. Raises like `read`."""
    with _opened(path) as file:
        while True:
            try:
                piece = file.read(size)
            except OSError as error:
                raise UnreadableFileError(path, reason_of(error)) from error
            if not piece:
                return
            yield piece


def _opened(path: str) -> FileIO:
    try:
        file = FileIO(path, "rb", opener=_opener)
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = "a symbolic link, not a regular file" if os.path.islink(path) else reason_of(error)
        raise UnreadableFileError(path, reason) from error
    if not regular:
        file.close()
        raise UnreadableFileError(path, "not a regular file")
    return file


def _opener(path: str, flags: int) -> int:
    # Opening a named pipe must not wait for somebody to write into it.
    return os.open(path, flags | NONBLOCK | NOFOLLOW)


def write_all(fd: int, pieces: "Iterable[Piece]") -> None:
    """Writes every byte; raises `OSError` as the system reports it."""
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(fd, view[:_AT_ONCE]) :]


def temp_name(name: str) -> str:
    """A name beside `name` that no other writer uses."""
    global _serial
    _serial += 1
    return f".{name}.{os.getpid()}-{_serial}-{os.urandom(3).hex()}.tmp"


def is_temp(name: str) -> bool:
    """Whether a file of this name is one that `temp_name` gave."""
    if not (name.startswith(".") and name.endswith(".tmp")):
        return False
    parts = name[1:-4].rpartition(".")[2].split("-")
    return len(parts) == 3 and parts[0].isdigit() and parts[1].isdigit() and len(parts[2]) == 6


def write_atomic(path: str, pieces: "bytes | Iterable[Piece]", *, follow: bool = False) -> None:
    """Replaces the content of `path`, or makes the file.

    A symbolic link is replaced, what it leads to stays as it is; with `follow`, for files of the user's own, the link
    stays and what it leads to is written. The file keeps its mode. When this raises `WriteError`, or the process dies
    anywhere in here, the old content is still there.
    """
    if follow and os.path.islink(path):
        path = os.path.realpath(path)
    folder, name = os.path.split(path)
    temp = os.path.join(folder, temp_name(name))
    kept = False
    try:
        mode = _mode(path)
        kept = mode is not None
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
        try:
            try:
                if mode is not None:
                    os.chmod(temp, mode)
                write_all(fd, [pieces] if isinstance(pieces, bytes) else pieces)
                sync(fd)
            finally:
                os.close(fd)
            os.replace(temp, path)
            kept = False
        except BaseException:
            discard(temp)
            raise
        sync_directory(folder)
    except OSError as error:
        raise WriteError(path, reason_of(error), kept=kept) from error


def _mode(path: str) -> int | None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    return None if stat.S_ISLNK(mode) else stat.S_IMODE(mode)


def sync(fd: int) -> None:
    """Makes what was written to `fd` survive a power cut; `fsync` alone does not say that on macOS."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(fd)
    else:
        os.fsync(fd)


def sync_directory(folder: str) -> None:
    """Makes renames and removals in `folder` durable. File systems that can't are left alone."""
    if sys.platform != "win32":
        fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            sync(fd)
        except OSError as error:
            import errno

            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(fd)


def discard(path: str) -> None:
    """Removes a file that nobody needs; one that can't be removed is left."""
    try:
        os.unlink(path)
    except OSError:
        pass


def sweep(folder: str, *, older_than: float = 0.0) -> None:
    """Removes temps, files and directories, that dead writers left in `folder`.

    Without `older_than` (an age in seconds) only for who holds the lock that guards the folder: a temp may be in use.
    """
    try:
        names = [name for name in os.listdir(folder) if is_temp(name)]
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            if older_than and time.time() - os.lstat(path).st_mtime < older_than:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                import shutil

                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        except OSError:
            continue


def set_aside(path: str) -> str:
    """Renames a file out of the way, never over another one; returns the new path. Raises `WriteError`."""
    n = 0
    while True:
        target = f"{path}.aside" if not n else f"{path}.aside-{n}"
        if not os.path.lexists(target):
            break
        n += 1
    try:
        os.rename(path, target)
        sync_directory(os.path.dirname(path))
    except OSError as error:
        raise WriteError(path, reason_of(error)) from error
    return target


def make_directory(path: str, mode: int = 0o777) -> None:
    """Makes `path` and what is missing above it, durably. Raises `WriteError`."""
    missing: list[str] = []
    at = path
    while not os.path.isdir(at) and at not in missing:
        missing.append(at)
        at = os.path.dirname(at)
    try:
        for one in reversed(missing):
            try:
                os.mkdir(one, mode)
            except FileExistsError:
                continue
            sync_directory(os.path.dirname(one))
        if not os.path.isdir(path):
            raise NotADirectoryError(20, os.strerror(20), path)
    except OSError as error:
        raise WriteError(path, reason_of(error)) from error
