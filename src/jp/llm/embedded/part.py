"""The weights as far as they have come: one file that only grows, held to account piece by piece.

A separate record of what is done does not work: it and the file part company at a kill -9 or a power cut. So the
file is the record. The catalogue knows the hash of every piece; whatever stands before the first piece that is wrong
counts, and a source goes on from there, from any byte (hub) or from the piece (packages). Nothing is ever copied.
"""

import hashlib
import os
from bisect import bisect_right
from itertools import accumulate
from typing import Self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jp.llm.embedded.pieces import Piece

BLOCK = 1 << 20


class SourceError(Exception):
    """A source can't give the weights; the message is a clause that says why."""


class WrongPieceError(Exception):
    """A piece came whole and is not the right one; it has been cut off the file again."""

    def __init__(self, index: int) -> None:
        super().__init__(f"piece {index + 1} is not what it should be")
        self.index = index


class PartFile:
    """The growing file at `path`. Use as a context manager; bytes are taken in order by `write`.

    Raises OSError where the disk does, WrongPieceError when a completed piece has the wrong hash.
    """

    def __init__(self, path: str, pieces: "Sequence[Piece]") -> None:
        self.path = path
        self.pieces = pieces
        self.ends = list(accumulate(piece.size for piece in pieces))
        self.offset = 0
        self._hash = hashlib.sha256()
        self._fd = -1

    def __enter__(self) -> Self:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        self._fd = -1

    @property
    def size(self) -> int:
        """Bytes that the whole file will have."""
        return self.ends[-1]

    @property
    def index(self) -> int:
        """The piece that `offset` lies in; the number of pieces when all are there."""
        return bisect_right(self.ends, self.offset)

    @property
    def whole(self) -> bool:
        """Whether all bytes are there, every piece checked."""
        return self.offset == self.size

    def start_of(self, index: int) -> int:
        """Where piece `index` begins, in bytes."""
        return self.ends[index] - self.pieces[index].size

    def recover(self, step: "Callable[[int], None]") -> None:
        """Read what is there and keep all that stands before the first wrong piece; `step` is told the bytes read."""
        self._cut(0, truncate=False)
        there = min(os.fstat(self._fd).st_size, self.size)
        while self.offset < there:
            block = os.read(self._fd, min(BLOCK, there - self.offset, self.ends[self.index] - self.offset))
            if not block:
                break
            try:
                self._count(block)
            except WrongPieceError:
                return
            step(self.offset)
        os.ftruncate(self._fd, self.offset)

    def write(self, data: bytes) -> None:
        """Append `data`; raises WrongPieceError once a piece is whole and wrong, ValueError past the end."""
        view = memoryview(data)
        if self.offset + len(view) > self.size:
            raise ValueError("more bytes than the weights have")
        while view:
            room = self.ends[self.index] - self.offset
            written = os.write(self._fd, view[:room])
            self._count(view[:written])
            view = view[written:]

    def rewind(self) -> None:
        """Drop the piece that is not whole, for a source that can only begin at a piece."""
        self._cut(self.start_of(self.index) if not self.whole else self.offset)

    def sync(self) -> None:
        """Have the bytes on the disk before the file gets its name."""
        os.fsync(self._fd)

    def _count(self, data: "bytes | memoryview") -> None:
        index = self.index
        self._hash.update(data)
        self.offset += len(data)
        if self.offset == self.ends[index]:
            right = self._hash.hexdigest() == self.pieces[index].sha256
            self._hash = hashlib.sha256()
            if not right:
                self._cut(self.start_of(index))
                raise WrongPieceError(index)

    def _cut(self, offset: int, *, truncate: bool = True) -> None:
        """Go on at `offset`, the start of a piece."""
        if truncate:
            os.ftruncate(self._fd, offset)
        os.lseek(self._fd, offset, os.SEEK_SET)
        self.offset = offset
        self._hash = hashlib.sha256()


def digest(path: str, step: "Callable[[int], None]") -> str:
    """The hexadecimal SHA-256 of the file at `path`; `step` is told the bytes read."""
    whole = hashlib.sha256()
    done = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            whole.update(block)
            done += len(block)
            step(done)
    return whole.hexdigest()
