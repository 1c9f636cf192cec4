"""`read_file`: lines of a text file with their numbers, bounded, whatever the size of the file."""

import os

from jp.tool.confined import ConfinedError
from jp.tool.outcome import Failure, Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from jp.tool.builtin.work import Work
    from jp.tool.outcome import Outcome

MAX_LINES = 2000
MAX_BYTES = 128 * 1024
MAX_LINE = 2000  # characters
SNIFFED = 8192
_PIECE = 256 * 1024
_KEPT = 4 * MAX_LINE  # bytes of a line: enough for its characters


def read_file(work: "Work") -> "Outcome":
    """The lines from `start_line` to `end_line`, as `cat -n` shows them, and a note on what is left out."""
    path = work.text("path")
    start = work.number("start_line", 1, least=1, most=10**9)
    end = work.number("end_line", 10**9, least=1, most=10**9)
    if end < start:
        return Failure(f"end_line ({end}) is before start_line ({start})")
    fd = work.place.opened(path)
    try:
        size = os.fstat(fd).st_size
        if is_binary(os.pread(fd, SNIFFED, 0)):
            return Failure(f"{path} is not a text file ({size} bytes)")
        page = _Page(start, end)
        lines = _Lines(work, fd, start)
        for number, line, cut in lines:
            if not page.add(number, line, cut):
                break
    except OSError as error:
        raise ConfinedError(f"{path}: {os.strerror(error.errno or 0).lower()}") from error
    finally:
        os.close(fd)
    return Success(page.text(path, size, lines.count))


def is_binary(beginning: bytes) -> bool:
    """Whether a file that begins like this is no text, by what git goes by, too."""
    return b"\0" in beginning


class _Page:
    """What is shown of a file."""

    def __init__(self, start: int, end: int) -> None:
        self._start = start
        self._end = end
        self._shown: list[str] = []
        self._size = 0
        self._more = False
        self._cut = 0
        self._crlf = 0
        self._broken = False

    def add(self, number: int, line: bytes, cut: bool) -> bool:
        """Take a line, without its end; `cut` when it is only the beginning. False when no more are wanted."""
        if number < self._start:
            return True
        if number > self._end:
            return False
        if not cut and line.endswith(b"\r"):
            self._crlf += 1
            line = line[:-1]
        text = line.decode("utf-8", "replace")
        self._broken = self._broken or (not cut and "\ufffd" in text and b"\xef\xbf\xbd" not in line)
        if number == 1:
            text = text.removeprefix("\ufeff")
        if cut or len(text) > MAX_LINE:
            self._cut += 1
            text = text[:MAX_LINE] + " … (line cut)"
        row = f"{number:6}\t{text}\n"
        self._size += len(row.encode("utf-8", "replace"))
        if self._shown and (self._size > MAX_BYTES or len(self._shown) >= MAX_LINES):
            self._more = True
            return False
        self._shown.append(row)
        return True

    def text(self, path: str, size: int, count: int) -> str:
        """The page with its notes; `count` is the number of lines of a file that ends before `start`."""
        notes = []
        if not self._shown:
            return f"({path} has {count} lines: none from {self._start} on)" if count else f"({path} is empty)"
        if self._more:
            following = self._start + len(self._shown)
            notes.append(f"there is more: read on with start_line={following} (the file has {size} bytes)")
        if self._cut:
            notes.append(f"{self._cut} long lines were cut")
        if self._crlf:
            notes.append("lines end with CRLF" if self._crlf == len(self._shown) else "some lines end with CRLF")
        if self._broken:
            notes.append("not all of it is UTF-8; what is not is shown as \ufffd")
        return "".join(self._shown) + (f"({'; '.join(notes)})\n" if notes else "")


class _Lines:
    """Numbered lines without their ends, and whether a line is longer than what is given of it.

    Lines before `start` are counted, and given only as far as that costs nothing. `count` is right at the end.
    """

    def __init__(self, work: "Work", fd: int, start: int) -> None:
        self._work = work
        self._fd = fd
        self._start = start
        self.count = 0

    def __iter__(self) -> "Iterator[tuple[int, bytes, bool]]":
        held, cut = b"", False
        while piece := os.read(self._fd, _PIECE):
            self._work.checkpoint()
            ends = piece.count(b"\n")
            if self.count + ends + 1 < self._start:  # none of these lines is wanted
                self.count += ends
                held = piece[-1:].strip(b"\n")
                continue
            *whole, rest = piece.split(b"\n")
            for line in whole:
                self.count += 1
                yield self.count, held + line[:_KEPT], cut or len(line) > _KEPT
                held, cut = b"", False
            cut = cut or len(held) + len(rest) > _KEPT
            held += rest[: max(_KEPT - len(held), 0)]
        if held or cut:
            self.count += 1
            yield self.count, held, cut
