"""Drafts: what somebody has written and not sent yet, on disk, so that no end of the process takes it.

A file for each composition in the user's own directory. Writing at every key must not be felt: the file is replaced by
a rename, which a kill can't cut in half, and synced only once the keys are quiet (a power cut may cost 300 ms).
"""

import os
import re

from jp.errors import JpError
from jp.places import temporary_directory
from jp.storage import files
from jp.storage.errors import WriteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.storage.lock import Lock

SUFFIX = ".md"
_LONGEST_NAME = 100
_OLD_SECS = 3600.0


class Drafts:
    """The drafts in one directory. `failed` is what the system said to the last write, None when that went well.

    `notices` are sentences for the user.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.failed: OSError | None = None
        self.notices: list[str] = []
        self._made = False
        self._claims: dict[str, Lock] = {}

    def path(self, key: str) -> str:
        """Where the draft of `key` is, whether there is one or not."""
        return os.path.join(self.directory, _name(key) + SUFFIX)

    def claim(self, key: str) -> str:
        """The key to write under: `key`, or where another process is just writing there, one beside it.

        Held until this process ends. What a dead one has left beside it is taken over when `key` has no draft.
        """
        from jp.storage.lock import Holder, try_acquire

        for name in (key, f"{key}.{os.getpid()}"):
            if name in self._claims:
                return name
            try:
                lock = try_acquire(os.path.join(self.directory, f".{_name(name)}.lock"), Holder.this_process(""))
            except JpError:
                return key  # nothing can be written there at all, which the writing will find out
            if lock is not None:
                self._claims[name] = lock
                if name == key:
                    self._take_over(key)
                return name
        return key

    def _take_over(self, key: str) -> None:
        from jp.storage.lock import Holder, try_acquire

        pattern = re.compile(rf"{re.escape(_name(key))}\.[0-9]+{re.escape(SUFFIX)}")
        try:
            beside = [name for name in os.listdir(self.directory) if pattern.fullmatch(name)]
        except OSError:
            return
        for name in sorted(beside):
            guard = os.path.join(self.directory, f".{name.removesuffix(SUFFIX)}.lock")
            try:
                lock = try_acquire(guard, Holder.this_process(""))
                if lock is not None and not os.path.lexists(self.path(key)):
                    os.rename(os.path.join(self.directory, name), self.path(key))
            except (JpError, OSError):
                continue
            if lock is not None:
                files.discard(guard)
                lock.release()

    def load(self, key: str) -> str | None:
        """The draft, or None. A file that can't be read is set aside, with a notice, before anything replaces it."""
        path = self.path(key)
        try:
            return _decoded(files.read(path))
        except FileNotFoundError:
            return None
        except (JpError, UnicodeDecodeError) as error:
            reason = error.message if isinstance(error, JpError) else f"the draft {path} is not valid UTF-8"
            try:
                self.notices.append(f"{reason}; it was set aside as {files.set_aside(path)}")
            except JpError as fault:
                self.notices.append(f"{reason}; {fault.message}")
            return None

    def keep(self, key: str, text: str) -> None:
        """Make `text` the draft: at once or not at all, not yet synced. Never raises; see `failed`."""
        self._write(key, text, durable=False)

    def settle(self, key: str, text: str) -> None:
        """Make `text` the draft so that it survives a power cut. Never raises; see `failed`."""
        self._write(key, text, durable=True)

    def add(self, key: str, text: str) -> None:
        """Put `text` in front of the draft that may be there. Never raises; see `failed`."""
        key = self.claim(key)
        kept = self.load(key) or ""
        self.settle(key, text if not kept.strip() or kept == text else f"{text.rstrip()}\n\n{kept}")

    def drop(self, key: str) -> None:
        """Remove the draft: its text was sent, stored, or emptied on purpose. Never raises; see `failed`."""
        try:
            os.unlink(self.path(key))
        except FileNotFoundError:
            pass
        except OSError as error:
            self.failed = error
            return
        self.failed = None

    def done(self, key: str) -> None:
        """Remove the draft, and let others write one of that key."""
        self.drop(key)
        lock = self._claims.pop(key, None)
        if lock is not None:
            files.discard(os.path.join(self.directory, f".{_name(key)}.lock"))
            lock.release()

    def rescue(self, text: str, environ: "Mapping[str, str]") -> str | None:
        """Write `text` to a file of its own wherever there is room; its path, None when there is none anywhere.

        Tried are the directory of the drafts, the one for temporary files and the home.
        """
        for folder in (self.directory, temporary_directory(), environ.get("HOME")):
            if not folder:
                continue
            path = os.path.join(folder, f"jp-draft-{os.getpid()}-{os.urandom(3).hex()}{SUFFIX}")
            try:
                _create(path, text, durable=True)
            except OSError:
                continue
            return path
        return None

    def _write(self, key: str, text: str, *, durable: bool) -> None:
        path = self.path(key)
        temp = os.path.join(self.directory, files.temp_name(os.path.basename(path)))
        try:
            self._make()
            _create(temp, text, durable=durable)
            try:
                os.replace(temp, path)
            except OSError:
                files.discard(temp)
                raise
            if durable:
                files.sync_directory(self.directory)
        except (OSError, WriteError) as error:
            cause = error.__cause__ if isinstance(error, WriteError) else error
            self.failed = cause if isinstance(cause, OSError) else OSError(str(error))
            self._made = False
            return
        self.failed = None

    def _make(self) -> None:
        if not self._made:
            files.make_directory(self.directory, 0o700)
            files.sweep(self.directory, older_than=_OLD_SECS)
            self._made = True


def _create(path: str, text: str, *, durable: bool) -> None:
    """A new file for nobody else's eyes; there as a whole or not at all."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.BINARY | files.NOFOLLOW, 0o600)
    try:
        try:
            files.write_all(fd, [text.encode("utf-8", "surrogatepass")])
            if durable:
                files.sync(fd)
        finally:
            os.close(fd)
    except OSError:
        files.discard(path)
        raise


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogatepass")


def _name(key: str) -> str:
    """A file name for a key; keys that differ get names that differ."""
    safe = re.sub(r"[^A-Za-z0-9_.-]", "-", key).lstrip(".-")
    if safe and safe == key and len(safe) <= _LONGEST_NAME:
        return safe
    from hashlib import sha256

    digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{safe[:_LONGEST_NAME]}~{digest}" if safe else f"draft~{digest}"
