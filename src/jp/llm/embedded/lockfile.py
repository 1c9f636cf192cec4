"""One installer a model: a lock that a kill -9 releases and that is never unlinked."""

import os
import sys
from typing import Self

from jp.llm.embedded.errors import BusyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.llm.embedded.catalogue import Model


class ModelLock:
    """Held from `__enter__` to `__exit__`.

    Raises BusyError, naming the holder, when another process has it, and OSError where the file can't be made or
    locked; nothing is held then.
    """

    def __init__(self, path: str, model: "Model") -> None:
        self._path = path
        self._model = model
        self._fd = -1

    def __enter__(self) -> Self:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                _lock(fd)
            except BlockingIOError:
                raise self._busy(fd) from None
            try:
                os.ftruncate(fd, 0)
                os.write(fd, f"{os.getpid()}\n".encode())
            except OSError:
                pass  # for the message only; on a full disk removing a model is what makes room
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return self

    def _busy(self, fd: int) -> BusyError:
        holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() if hasattr(os, "pread") else ""
        who = f" (process {holder})" if holder.isdigit() else ""
        return BusyError(
            f"another process{who} is installing or removing {self._model.name}",
            hints=["wait for it, or stop it; what it has fetched is kept"],
            metadata={"model": self._model.id, "pid": int(holder) if holder.isdigit() else None},
        )

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        self._fd = -1


if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> None:
        # past the holder's number, so that the holder can be read while the lock is held
        os.lseek(fd, 64, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # how it says that somebody else has it
            raise BlockingIOError(error.errno, error.strerror) from error
        os.lseek(fd, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
