"""A file that appears whole or not at all, and never in the place of another one unless that was said."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable


class NotWritten(Exception):
    """The file is not there, or as it was; the message says why, for a person."""


class Exists(NotWritten):
    """There is one already."""


def write(path: str, pieces: Iterable[str], *, replace: bool) -> None:
    """Write `pieces` to `path`; with `replace` in the place of what is there. Raises NotWritten."""
    path = os.path.realpath(path) if os.path.islink(path) else path
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        _check(path, replace)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(fd, "wb", buffering=1 << 18) as file:
                for piece in pieces:
                    file.write(piece.encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
            if replace:
                os.replace(temporary, path)
            else:
                _put(temporary, path)
        finally:
            _remove(temporary)
        _sync(folder or ".")
    except OSError as error:
        raise NotWritten(f"can't write {path}: {(error.strerror or str(error)).lower()}") from error


def _check(path: str, replace: bool) -> None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise NotWritten(f"can't write {path}: it is no regular file")
    if not replace:
        raise Exists(f"{path} is there already")


def _put(temporary: str, path: str) -> None:
    """Give the file its name unless another one has got it meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise Exists(f"{path} is there already") from None
    except (OSError, AttributeError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        _check(path, replace=False)
        os.rename(temporary, path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _sync(folder: str) -> None:
    """Make the name last; not every system can."""
    try:
        fd = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)
