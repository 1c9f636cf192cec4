"""Which file it is and what is in it: what approvals, pinned checksums and remembered descriptions hang on.

A hash is of the file as it was read; a stamp says later, without reading it again, whether the path still leads to it.
It has the moment of the last change to the inode in it, which no program can set, so that what is written into the file
or put in its place in the meantime is noticed.
"""

import os
import stat
from typing import NamedTuple

from jp.interrupt.checkpoint import checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CHUNK = 1 << 20


class Stamp(NamedTuple):
    """What the system says of a file."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Fingerprint(NamedTuple):
    """The hashes of a file in hexadecimal by algorithm, and its stamp when it was read."""

    digests: "Mapping[str, str]"
    stamp: Stamp

    @property
    def sha256(self) -> str:
        """The hash that approvals have."""
        return self.digests["sha256"]


def stamp(path: str) -> Stamp | None:
    """The stamp of what is at `path` now, links followed; None where there is nothing."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def fingerprint(path: str, algorithms: "Iterable[str]" = ("sha256",)) -> Fingerprint:
    """The file at `path`, links followed. Raises OSError, also where it is no regular file, and Shutdown."""
    import hashlib

    # Opening a named pipe must not wait for somebody to write into it.
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(0, "not a regular file", path)
        hashes = {name: hashlib.new(name) for name in algorithms}
        while data := os.read(fd, _CHUNK):
            for each in hashes.values():
                each.update(data)
            checkpoint()
        if _stamp(os.fstat(fd)) != _stamp(before):
            raise OSError(0, "it was written to while it was read", path)
    finally:
        os.close(fd)
    return Fingerprint({name: each.hexdigest() for name, each in hashes.items()}, _stamp(before))


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
