"""JSON lines, from bytes cut anywhere."""

from jp.llm.errors import BadResponse

MAX_LINE = 16 * 1024 * 1024


class LineDecoder:
    """Feed bytes, get complete lines without their ends; empty ones are dropped. Raises BadResponse over `max_line`."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max = max_line
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def pending(self) -> bool:
        """Whether half a line is held."""
        return bool(self._size)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete with this chunk."""
        if b"\n" not in chunk:
            self._hold(chunk)
            return []
        first, *rest = chunk.split(b"\n")
        lines = [b"".join([*self._parts, first]), *rest]
        self._parts, self._size = [], 0
        self._hold(lines.pop())
        return [line for line in lines if line.strip()]

    def _hold(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
            if self._size > self._max:
                raise BadResponse(f"one line of the stream is over {self._max} bytes long")

    def end(self) -> list[bytes]:
        """The stream is over: a last line without its newline."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return [line] if line.strip() else []
