"""Server-sent events, from bytes cut anywhere.

Rejected: splitting on lines with `readline` (a line without end would be held without bound, and a CR at the end of a
read can't be told from half a CRLF); decoding the stream first with an incremental decoder (an invalid byte moves the
place where the next event begins, and costs twice). Chosen: lines are found on bytes, whose ends are ASCII, and each
`data` field is decoded whole, with U+FFFD for what is not UTF-8, so no character is ever cut.
"""

from jp.llm.errors import BadResponse

MAX_FIELD = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Feed bytes, get `(event, data)` pairs; `event` is "message" where the stream names none.

    Lines end with LF, CRLF or CR. `comments` counts comment lines and `comment_bytes` those since the last event: an
    endless storm of them is for the caller to end. Raises BadResponse for a line or an event over `max_field` bytes.
    """

    def __init__(self, max_field: int = MAX_FIELD) -> None:
        self._max = max_field
        self._line: list[bytes] = []  # the parts of a line whose end has not come
        self._line_size = 0
        self._after_cr = False
        self._begun = False
        self._data: list[bytes] = []
        self._data_size = 0
        self._event = b""
        self.comments = 0
        self.comment_bytes = 0

    @property
    def pending(self) -> bool:
        """Whether half a line or half an event is held."""
        return bool(self._line or self._data)

    def feed(self, chunk: bytes) -> list[tuple[str, str]]:
        """The events that are complete with this chunk."""
        if not self._begun:
            chunk = self._take_line() + chunk
            if len(chunk) < 3 and BOM.startswith(chunk):
                self._hold(chunk)
                return []
            self._begun = True
            chunk = chunk.removeprefix(BOM)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        has_cr = b"\r" in chunk
        if not has_cr and b"\n" not in chunk:
            self._hold(chunk)
            return []
        if has_cr:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        lines[0] = self._take_line() + lines[0]
        rest = lines.pop()
        out: list[tuple[str, str]] = []
        for line in lines:
            if line:
                self._field(line)
            elif self._data or self._event:
                self._dispatch(out)
        self._hold(rest)
        return out

    def _hold(self, part: bytes) -> None:
        if part:
            self._line.append(part)
            self._line_size += len(part)
            if self._line_size > self._max:
                raise _too_long(self._line_size)

    def _take_line(self) -> bytes:
        line = b"".join(self._line)
        self._line = []
        self._line_size = 0
        return line

    def _field(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
            self._data.append(value)
            self._data_size += len(value)
            if self._data_size > self._max:
                raise _too_long(self._data_size)
        elif line.startswith(b":"):
            self.comments += 1
            self.comment_bytes += len(line)
        elif line == b"data":
            self._data.append(b"")
        elif line.startswith(b"event:"):
            self._event = line[6:].strip()
        # id and retry mean nothing here; other fields are ignored by the standard

    def _dispatch(self, out: list[tuple[str, str]]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            name = self._event.decode("utf-8", "replace") if self._event else "message"
            out.append((name, data.decode("utf-8", "replace")))
            self._data = []
            self._data_size = 0
            self.comment_bytes = 0
        self._event = b""

    def end(self) -> list[tuple[str, str]]:
        """The stream is over: what a final blank line was missing for.

        The standard drops it; several servers end with `data: [DONE]` and one newline, so a complete line counts.
        """
        line = self._take_line()
        if line:
            self._field(line)
        out: list[tuple[str, str]] = []
        self._dispatch(out)
        return out


def _too_long(size: int) -> BadResponse:
    return BadResponse(f"one event of the stream is over {size} bytes long")
