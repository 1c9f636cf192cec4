"""Where a conversation's files are edited: copies under their real names, in a private directory.

The conversation itself is never half edited, whatever ends the process, and what somebody wrote outlives it: the
directory is found by the next edit of the same conversation. A record beside the copies says what they were copied
from, so that words written in the meantime are not undone.
"""

import hashlib
import json
import os
import shutil

from jp.errors import JpError
from jp.storage import files
from jp.storage.errors import UnreadableFileError, WriteError, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_RECORD = ".copied-from.json"
_OLD_SECS = 3600.0


class Scratch:
    """Copies of files by name; `base` is the SHA-256 of what each was copied from."""

    def __init__(self, path: str, base: "Mapping[str, str]") -> None:
        self.path = path
        self.base = dict(base)

    @classmethod
    def make(cls, path: str, contents: "Mapping[str, bytes]") -> "Scratch":
        """A new directory with these files; it is there as a whole or not at all. Raises `WriteError`."""
        above, name = os.path.split(path)
        files.make_directory(above, 0o700)
        files.sweep(above, older_than=_OLD_SECS)
        staging = cls(os.path.join(above, files.temp_name(name)), {})
        try:
            os.mkdir(staging.path, 0o700)
            staging.put(contents)
            os.rename(staging.path, path)
        except OSError as error:
            staging.discard()
            raise WriteError(path, reason_of(error)) from error
        except WriteError:
            staging.discard()
            raise
        return cls(path, staging.base)

    @classmethod
    def left(cls, path: str) -> "Scratch | None":
        """The directory that an earlier edit left, or None. One whose record can't be read has an empty `base`."""
        if not os.path.lexists(path):
            return None
        try:
            base = json.loads(files.read(os.path.join(path, _RECORD)))
            return cls(path, {str(key): str(value) for key, value in base.items()})
        except (ValueError, AttributeError, OSError, JpError):
            return cls(path, {})

    def put(self, contents: "Mapping[str, bytes]") -> None:
        """Write files, and record that they are copies. Raises `WriteError`."""
        self.base |= {name: _digest(data) for name, data in contents.items()}
        record = json.dumps(self.base, indent=2).encode()
        for name, data in (*contents.items(), (_RECORD, record)):
            _write(self.file(name), data)

    def file(self, name: str) -> str:
        """The path of one of the files."""
        return os.path.join(self.path, name)

    def read(self, name: str) -> bytes:
        """What is in a file now. Raises `FileNotFoundError`, `UnreadableFileError`."""
        return files.read(self.file(name))

    def changed(self) -> set[str]:
        """The names of the files that are not what was copied, those that can't be read included."""
        found = set()
        for name, digest in self.base.items():
            try:
                if _digest(self.read(name)) != digest:
                    found.add(name)
            except FileNotFoundError:
                continue
            except UnreadableFileError:
                found.add(name)
        return found

    def copied_from(self, name: str, data: bytes) -> bool:
        """Whether the file was copied from `data`."""
        return self.base.get(name) == _digest(data)

    def discard(self) -> None:
        """Remove it, with what editors put beside the files."""
        shutil.rmtree(self.path, ignore_errors=True)

    def set_aside(self) -> str:
        """Move it out of the way of the next edit; the new path. Raises `WriteError`."""
        self.path = files.set_aside(self.path)
        return self.path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: str, data: bytes) -> None:
    files.discard(path)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.BINARY | files.NOFOLLOW, 0o600)
        try:
            files.write_all(fd, [data])
        finally:
            os.close(fd)
    except OSError as error:
        raise WriteError(path, reason_of(error)) from error
