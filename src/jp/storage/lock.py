"""One writer a conversation: `flock` on a file that is never removed.

What does not work: a lock file that is created and deleted (a kill leaves it, and its pid may be somebody else's by
now), and `flock` with an unlink at the end, as the original does it: one process locks the old file, the next one makes
a new file, and both "hold" the lock (22,268 of 72,005 acquisitions in a test). We never unlink, and since the original
may have, the path must still name the file that was locked once the lock is had.

The kernel lets go when the holder dies, however it dies. The descriptor is closed on exec, so no child keeps the lock.
The file's content says who holds it, for the error message alone.
"""

import json
import os
import sys

from jp.storage import files
from jp.storage.errors import LockedError, WriteError, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

if sys.platform != "win32":
    import fcntl

    def _lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

else:  # pragma: no cover - Windows
    import msvcrt

    # Byte-range locks there forbid reading, so the locked byte lies far behind the text.
    def _lock(fd: int) -> bool:
        os.lseek(fd, 0x7FFF0000, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True


class Holder:
    """Who holds a lock: process id, command line as it should be shown, session key, start in UTC (RFC 3339)."""

    __slots__ = ("acquired_at", "command", "pid", "session")

    def __init__(self, pid: int, command: str = "", session: str = "", acquired_at: str = "") -> None:
        self.pid = pid
        self.command = command
        self.session = session
        self.acquired_at = acquired_at

    @classmethod
    def this_process(cls, command: str, session: str = "") -> "Holder":
        """This process, from now on."""
        from datetime import UTC, datetime

        return cls(os.getpid(), command, session, datetime.now(UTC).isoformat())

    def state(self) -> str:
        """`running`, `stopped` (by Ctrl-Z or SIGSTOP), `dead`, or `unknown` where the system can't be asked."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                letter = file.read().rpartition(b")")[2].split()[0]
        except FileNotFoundError:
            return "dead" if os.path.isdir("/proc/self") else "unknown"
        except (OSError, IndexError):
            return "unknown"
        return "stopped" if letter in b"Tt" else "dead" if letter in b"ZX" else "running"


class Lock:
    """A lock that is held until `release`, or until the process ends."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    @property
    def held(self) -> bool:
        """Whether it still is."""
        return self._fd >= 0

    def release(self) -> None:
        """Lets go; the file stays. Doing it twice does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            try:
                os.ftruncate(fd, 0)
            except OSError:
                pass  # opened for reading only
            try:
                os.close(fd)
            except OSError:
                pass  # it is closed all the same

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        self.release()


def acquire(path: str, holder: Holder, *, what: str = "the conversation") -> Lock:
    """The lock on `path`, now or not at all.

    Raises `LockedError` naming who holds it (`what` is the thing that is locked, for the message), and `WriteError`
    when the lock file can't be made.
    """
    lock = try_acquire(path, holder)
    if lock is None:
        raise locked_error(read_holder(path), what)
    return lock


def try_acquire(path: str, holder: Holder) -> Lock | None:
    """The lock on `path`, or None when somebody else holds it. Raises `WriteError` when it can't be tried."""
    files.make_directory(os.path.dirname(path), 0o700)
    while True:
        try:
            fd = _open(path)
        except OSError as error:
            raise WriteError(path, reason_of(error)) from error
        try:
            if not _lock(fd):
                os.close(fd)
                return None
            if _still_named(path, fd):
                _write_holder(fd, holder)
                return Lock(path, fd)
        except OSError as error:
            os.close(fd)
            raise WriteError(path, reason_of(error)) from error
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | files.NOFOLLOW, 0o600)
    except PermissionError:
        # A lock that exists can be taken even where nothing can be written.
        return os.open(path, os.O_RDONLY | files.NOFOLLOW)


def _still_named(path: str, fd: int) -> bool:
    mine = os.fstat(fd)
    try:
        named = os.stat(path)
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino)


def _write_holder(fd: int, holder: Holder) -> None:
    fields = {
        "pid": holder.pid,
        "session": holder.session,
        "acquired_at": holder.acquired_at,
        "command": holder.command,
    }
    text = json.dumps({key: value for key, value in fields.items() if value}).encode()
    try:
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, text)
    except OSError:
        pass  # for the message only: a full disk or a read-only lock is no reason not to go on


def read_holder(path: str) -> Holder | None:
    """Who wrote the lock file last, or None when it does not say. Holds no promise that they still hold it."""
    try:
        fields = json.loads(files.read(path))
        return Holder(
            int(fields["pid"]),
            str(fields.get("command") or ""),
            str(fields.get("session") or ""),
            str(fields.get("acquired_at") or ""),
        )
    except Exception:  # whatever is wrong with it, it is only for a message
        return None


def locked_error(holder: Holder | None, what: str) -> LockedError:
    """The error that names the holder, and what can be done about one that does not go on."""
    if holder is None:
        return LockedError(f"{what} is being written by another process", hints=["Try again when it is done."])
    state = holder.state()
    # A command line may hold a whole question, line breaks and all.
    command = " ".join("".join(c if c.isprintable() else " " for c in holder.command).split())
    who = f"process {holder.pid}" + (f" ({command})" if command else "")
    since = f" since {holder.acquired_at[:19].replace('T', ' ')} UTC" if holder.acquired_at else ""
    hints = ["Try again when it is done."]
    if state == "stopped":
        hints = [f"Bring it back with `fg`, or end it with `kill {holder.pid}; kill -CONT {holder.pid}`."]
    return LockedError(
        f"{what} is being written by {who}{since}" + (", which is stopped" if state == "stopped" else ""),
        hints=hints,
        metadata={
            "pid": holder.pid,
            "command": holder.command or None,
            "session": holder.session or None,
            "since": holder.acquired_at or None,
            "state": state,
        },
    )
