"""The directory with whole outputs of tools: nobody's but the person's, and not larger than it may be.

Its path may be known to others, in a directory that is everybody's. So it is used where it is a directory, no link to
one, that belongs to this user and that nobody else can look into; else nothing is kept.
"""

import contextlib
import os
import stat
import time

KEPT_DAYS = 7
KEPT_BYTES = 1 << 30  # of all of them; the oldest go first
SUFFIX = ".txt"

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def opened(path: str, *, make: bool = False) -> int:
    """A descriptor of the directory, which the caller closes. Raises OSError where it can't be trusted."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.mkdir(path, 0o700)
    fd = os.open(path, _DIRECTORY)
    found = os.fstat(fd)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        os.close(fd)
        raise PermissionError(f"{path} is open to others than its owner, or not yours")
    return fd


def new_file(directory: str, name: str) -> tuple[int, str]:
    """A descriptor to write a new file, and its path. Raises OSError."""
    fd = opened(directory, make=True)
    try:
        unique = f"{name}-{os.urandom(6).hex()}{SUFFIX}"
        file = os.open(unique, _NEW, 0o600, dir_fd=fd)
        _sweep(fd)
    finally:
        os.close(fd)
    return file, os.path.join(directory, unique)


def sweep(directory: str) -> None:
    """Remove the outputs that nobody will ask for any more: those of last week, and the oldest where there are many."""
    with contextlib.suppress(OSError):
        fd = opened(directory)
        try:
            _sweep(fd)
        finally:
            os.close(fd)


def _sweep(fd: int) -> None:
    oldest = time.time() - KEPT_DAYS * 86400
    with contextlib.suppress(OSError):
        with os.scandir(fd) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(SUFFIX)]
        found = []
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                known = os.stat(name, dir_fd=fd, follow_symlinks=False)
                found.append((known.st_mtime, known.st_size, name))
        left = KEPT_BYTES
        for modified, size, name in sorted(found, reverse=True):
            left -= size
            if modified < oldest or left < 0:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=fd)
