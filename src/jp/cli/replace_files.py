"""Replacing several files together: nothing is replaced before all that is new is on the disk."""

import os

from jp.errors import JpError
from jp.storage import files
from jp.storage.errors import WriteError, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def replace_files(contents: "Mapping[str, bytes]", aside: "Sequence[str]" = ()) -> list[str]:
    """Give each path its new content; `aside` are files to be set aside first, and the paths of those are returned.

    When this raises `WriteError` every file is as it was. A kill between two of the renames leaves whole files, some
    old and some new.
    """
    staged: dict[str, str] = {}
    moved: dict[str, str] = {}
    done: list[str] = []
    path = ""
    try:
        for path, data in contents.items():
            staged[path] = os.path.join(os.path.dirname(path), files.temp_name(os.path.basename(path)))
            _stage(staged[path], data, path)
        for path in aside:
            moved[path] = files.set_aside(path)
        before = {path: _content(path) for path in contents}
        for path, temp in staged.items():
            os.replace(temp, path)
            done.append(path)
        for folder in sorted({os.path.dirname(path) for path in staged}):
            files.sync_directory(folder)
    except BaseException as error:
        for temp in staged.values():
            files.discard(temp)
        if isinstance(error, OSError | JpError):
            _take_back({path: before[path] for path in done}, moved)
        if isinstance(error, OSError):
            raise WriteError(path, reason_of(error), kept=True) from error
        raise
    return list(moved.values())


def _stage(temp: str, data: bytes, path: str) -> None:
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.BINARY | files.NOFOLLOW, 0o666)
    try:
        if os.path.isfile(path) and not os.path.islink(path):
            os.chmod(temp, os.stat(path).st_mode & 0o7777)
        files.write_all(fd, [data])
        files.sync(fd)
    finally:
        os.close(fd)


def _content(path: str) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


def _take_back(done: "Mapping[str, bytes | None]", moved: "Mapping[str, str]") -> None:
    """Put back what was replaced and set aside before one failed."""
    for path, before in done.items():
        if before is None:
            files.discard(path)
        else:
            files.write_atomic(path, before)
    for path, aside in moved.items():
        os.rename(aside, path)
