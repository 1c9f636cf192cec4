"""The file in which a text is edited: private, readable by name, and deleted only when its text has safely arrived.

Each has a directory of its own, which also holds what editors put beside a file (swap files, backups). The file holds
exactly the text; a final newline that an editor adds is taken off again when the text had none.
"""

import os
import stat

LIMIT_BYTES = 64 << 20
_BOM = "\ufeff"
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class UnusableError(Exception):
    """The text cannot be written or not be read back; the message says why."""


class Draft:
    """One text on its way through an editor; `path` is where the editor finds it."""

    def __init__(self, content: str, suffix: str, folder: str | None = None) -> None:
        """Write `content` to a new file below `folder`, by default the system's temporary directory.

        Raises UnusableError; nothing is left behind then.
        """
        self.content = content
        try:
            self._given = content.encode("utf-8")
            self.path = os.path.join(_private(folder), f"edit{suffix}")
        except (OSError, ValueError) as error:
            raise UnusableError(f"its file cannot be made: {_reason(error)}") from error
        try:
            self._write()
        except OSError as error:
            self.discard()
            raise UnusableError(f"its file cannot be written: {_reason(error)}") from error

    def _write(self) -> None:
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        with open(fd, "wb") as file:
            file.write(self._given)

    def read(self) -> str:
        """The text that is now at the path, whatever file that is. Raises UnusableError; never blocks on a pipe."""
        try:
            text = self._bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnusableError(f"its file is not UTF-8 text (byte {error.start})") from error
        if "\0" in text and "\0" not in self.content:
            raise UnusableError("its file is not UTF-8 text (it holds NUL bytes)")
        if not self.content.startswith(_BOM):
            text = text.removeprefix(_BOM)
        if not self.content.endswith("\n") and text.endswith("\n"):
            text = text[:-2] if text.endswith("\r\n") else text[:-1]
        return text

    def left(self) -> bool:
        """Whether there is something at the path that differs from what was given."""
        try:
            mode = os.stat(self.path).st_mode
            if stat.S_ISREG(mode):
                return self._bytes() != self._given
        except FileNotFoundError:
            return False
        except (OSError, UnusableError):
            return True
        return stat.S_ISDIR(mode)

    def discard(self) -> None:
        """Delete the file and what editors leave beside it under its name; anything else stays."""
        folder, name = os.path.split(self.path)
        try:
            for entry in os.listdir(folder):
                if name in entry:
                    os.unlink(os.path.join(folder, entry))
            os.rmdir(folder)
        except OSError:
            pass  # somebody still uses it

    def _bytes(self) -> bytes:
        try:
            fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _FLAGS)
            with open(fd, "rb") as file:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode):
                    raise UnusableError("its file has been replaced by something that is no file")
                data = b"" if found.st_size > LIMIT_BYTES else file.read(LIMIT_BYTES + 1)
        except OSError as error:
            raise UnusableError(f"its file cannot be read back: {_reason(error)}") from error
        if found.st_size > LIMIT_BYTES or len(data) > LIMIT_BYTES:
            raise UnusableError(f"its file is larger than {LIMIT_BYTES >> 20} MiB")
        return data


def _private(folder: str | None) -> str:
    import tempfile

    if folder is not None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.abspath(tempfile.mkdtemp(prefix="jp-edit-", dir=folder))


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "the text holds what UTF-8 cannot"
    return (getattr(error, "strerror", None) or str(error)).lower()
