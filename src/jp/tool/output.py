"""What a program prints, read with a bound: some of it in memory, more of it in a file, and the rest only counted.

A program is never held up: what is read from its pipe goes somewhere or nowhere. The file has the bytes as they came
(but for secrets), is readable by its owner alone, is made when it is needed, and goes after a week
(`jp.tool.kept`).
"""

import os
import re
import time

from jp.tool.kept import new_file, sweep
from jp.tool.redaction import Redactor, redacted, redacted_head, redacted_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MAX_REPLY = 4 * 1024 * 1024  # bytes kept in memory
MAX_FILE = 64 * 1024 * 1024  # bytes kept in the file
MAX_CONTENT = 128 * 1024  # bytes (UTF-8) of what a model is given
TAIL = 32 * 1024  # of these from the end
_RING = 2 * TAIL
_LINE = 2048  # bytes within which a cut looks for the end of a line
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # bytes that begin no character

MAX_LINE = 2000  # characters of a line of stderr in the log
_HELD = 8 * MAX_LINE  # bytes of a line that are kept until its end
MAX_LINES = 1000  # lines of a run in the log
KEPT_ERRORS = 64 * 1024  # bytes of stderr kept, the last ones


class Spill:
    """The file with the whole of one output; none where it can't be written, which is no reason to fail.

    `path` is empty until there is one; `error` says why there is none.
    """

    def __init__(self, directory: str, name: str, secrets: "Collection[str]" = ()) -> None:
        self._directory = directory
        self._name = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64]
        self._redactor = Redactor(secrets)
        self._fd = -1
        self._room = MAX_FILE
        self.path = ""
        self.error = ""

    def write(self, data: bytes) -> None:
        """Append `data`, as far as there is room."""
        self._write(self._redactor.feed(data))

    def end(self) -> None:
        """All is written: close the file."""
        self._write(self._redactor.end())
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            sweep(self._directory)

    def _write(self, data: bytes) -> None:
        data = data[: self._room]
        if not data or self.error:
            return
        try:
            if self._fd < 0:
                self._fd, self.path = new_file(self._directory, self._name)
            view = memoryview(data)
            while view:
                view = view[os.write(self._fd, view) :]
            self._room -= len(data)
        except OSError as error:
            self.error = error.strerror or str(error)


class Captured:
    """One program's stdout as it comes: `feed` it, then look at it."""

    def __init__(self, spill: Spill) -> None:
        self._kept = bytearray()
        self._tail = b""
        self.spill = spill
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self.total += len(data)
        if self.total <= MAX_REPLY:
            self._kept += data
            return
        if not self._tail:
            self.spill.write(bytes(self._kept))
            self._tail = bytes(self._kept[-_RING:])
            del self._kept[MAX_CONTENT:]
        self.spill.write(data)
        self._tail = data[-_RING:] if len(data) >= _RING else (self._tail + data)[-_RING:]

    @property
    def whole(self) -> bytes | None:
        """All of it; None where it was too much to keep."""
        return bytes(self._kept) if self.total <= MAX_REPLY else None

    def text(self, secrets: "Collection[str]" = ()) -> str:
        """It as a model is given it: all, or head and tail and where the whole is. Ends the file."""
        if self.total <= MAX_CONTENT:
            return redacted(self._kept.decode("utf-8", "replace"), secrets)
        if self.total <= MAX_REPLY:
            self.spill.write(bytes(self._kept))
            self._tail = bytes(self._kept[-_RING:])
        self.spill.end()
        head = _decodable(redacted_head(bytes(self._kept[: MAX_CONTENT - TAIL]), secrets))
        tail = _decodable(redacted_tail(self._tail, secrets))
        return _joined(head[: MAX_CONTENT - TAIL], tail[-TAIL:], self.total, self.spill)


def shortened(text: str, spill: Spill) -> str:
    """`text` as a model is given it; where that is not the whole, the whole is written to the file."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_CONTENT:
        return text
    spill.write(data)
    spill.end()
    return _joined(data[: MAX_CONTENT - TAIL], data[-TAIL:], len(data), spill)


def _joined(head: bytes, tail: bytes, total: int, spill: Spill) -> str:
    """Both (UTF-8 but for the cuts) cut at ends of lines near by, and a line in between about what is missing."""
    last = head.rfind(b"\n", len(head) - _LINE)
    head = head[: last + 1] if last >= 0 else _without_half_at_end(head)
    first = tail.find(b"\n", 0, _LINE)
    tail = tail[first + 1 :] if first >= 0 else tail.lstrip(_CONTINUATIONS)
    missing = f"{max(0, total - len(head) - len(tail)):,} of {total:,} bytes are left out here"
    if not spill.path:
        where = f"the whole could not be kept: {spill.error}"
    elif spill.error:
        where = f"what could be written ({spill.error}) is in {spill.path}"
    elif total > MAX_FILE:
        where = f"the first {MAX_FILE:,} bytes are in {spill.path}"
    else:
        where = f"the whole is in {spill.path}"
    gap = "" if last >= 0 else "\n"
    return f"{head.decode()}{gap}[… {missing}; {where} …]\n{tail.decode()}"


def _decodable(data: bytes) -> bytes:
    """`data` as UTF-8, without the halves of characters that cuts have made at both ends."""
    from codecs import getincrementaldecoder

    start = next((at for at in range(min(4, len(data))) if data[at] not in _CONTINUATIONS), 0)
    return getincrementaldecoder("utf-8")("replace").decode(data[start:]).encode()


def _without_half_at_end(data: bytes) -> bytes:
    return data.decode("utf-8", "ignore").encode()


class Errors:
    """One program's stderr as it comes: each line to `say`, and the last of it kept.

    At most `MAX_LINES` are said, or as many every `every_secs` for a program that runs on and on.
    """

    def __init__(
        self, say: "Callable[[str], object]", secrets: "Collection[str]" = (), *, every_secs: float | None = None
    ) -> None:
        self._say = say
        self._every = every_secs
        self._since = time.monotonic()
        self._secrets = secrets
        self._line = bytearray()
        self._lines = 0
        self._kept = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self.total += len(data)
        self._kept += data[-KEPT_ERRORS:]
        if len(self._kept) > 2 * KEPT_ERRORS:
            del self._kept[:-KEPT_ERRORS]
        if self._every is not None and time.monotonic() - self._since > self._every:
            self._since, self._lines = time.monotonic(), 0
        if self._lines > MAX_LINES:
            return
        *lines, rest = data.split(b"\n", MAX_LINES + 1)
        for line in lines:
            self._line += line[: max(0, _HELD - len(self._line))]
            self._tell()
        self._line += rest[: max(0, _HELD - len(self._line))]

    def end(self) -> None:
        """No more comes: a last line without an end is told."""
        if self._line:
            self._tell()

    def text(self) -> str:
        """The last of it, with a line above about what is missing."""
        if self.total <= KEPT_ERRORS:
            return redacted(self._kept.decode("utf-8", "replace"), self._secrets)
        kept = _decodable(redacted_tail(bytes(self._kept), self._secrets))[-KEPT_ERRORS:]
        first = kept.find(b"\n", 0, _LINE)
        kept = kept[first + 1 :] if first >= 0 else kept.lstrip(_CONTINUATIONS)
        return f"[… {self.total - len(kept):,} bytes are left out here …]\n{kept.decode()}"

    def _tell(self) -> None:
        line = redacted(self._line.decode("utf-8", "replace").rstrip("\r"), self._secrets)
        self._line.clear()
        self._lines += 1
        if self._lines <= MAX_LINES:
            self._say(line[:MAX_LINE] + "…" if len(line) > MAX_LINE else line)
        elif self._lines == MAX_LINES + 1:
            self._say(f"more than {MAX_LINES} lines; the rest is not logged")
