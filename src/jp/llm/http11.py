"""HTTP/1.1 as far as a client of streaming APIs needs it; pure, bytes in, values out.

Rejected: `http.client`. It costs 27 ms of import (the e-mail parser, ssl) where the whole request of a one-word
question has to leave within a hundred or so, and `read1` reports a body that was cut off between two chunks as a normal
end. Chosen: a decoder of our own with hard bounds, fed by whoever owns the socket.

Not here, because no model server needs it: trailers (skipped), upgrade, pipelining, keep-alive (one exchange a
connection), multipart.
"""

from __future__ import annotations

from jp.llm.errors import BadHeaderError, BadResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zlib import _Decompress as Inflater

USER_AGENT = "jean-pierre"
MAX_HEAD = 128 * 1024
MAX_CHUNK_LINE = 4096
_BODYLESS = (204, 304)


def encode_head(method: str, target: str, headers: list[tuple[str, str]]) -> bytes:
    """The request line and headers, in UTF-8, the target's odd characters percent-encoded.

    Raises BadHeaderError for a header that would break out of its line.
    """
    lines = [f"{method} {_quoted(target)} HTTP/1.1"]
    for name, value in headers:
        if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
            raise BadHeaderError(f"{name!r} is no name for a header; nothing was sent")
        if any(c in value for c in "\r\n\0"):
            raise BadHeaderError(f"the header {name} contains a line break; nothing was sent")
        lines.append(f"{name}: {value}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def _quoted(target: str) -> str:
    return "".join(chr(b) if 0x20 < b < 0x7F else f"%{b:02X}" for b in target.encode("utf-8", "replace"))


class ResponseDecoder:
    """Feed bytes; `status` and `headers` (names in lower case) are there once the head is complete.

    `complete` says that the body ended as it announced. After the end of the connection, `eof()` tells whether that
    was an end or a cut. Raises BadResponse for a head that is not HTTP/1.x; what is wrong later is in `error`, so that
    the body before it is not lost.
    """

    def __init__(self, method: str = "POST", *, max_inflated: int = 256 * 1024 * 1024) -> None:
        self.status = 0
        self.reason = ""
        self.headers: dict[str, str] = {}
        self.complete = False
        self.error: BadResponse | None = None
        self._method = method
        self._buffer = bytearray()
        self._in_body = False
        self._remaining: int | None = None  # of the body or of the chunk; None: until the end of the connection
        self._chunked = False
        self._chunk_state = "size"
        self._inflater: Inflater | None = None
        self._budget = max_inflated

    def feed(self, data: bytes) -> bytes:
        """The body bytes that these bytes bring, decompressed."""
        if not self._in_body:
            self._buffer += data
            if not self._head():
                return b""
            data = bytes(self._buffer)
            self._buffer.clear()
        if self.error is not None:
            return b""
        body = self._chunks(data) if self._chunked else self._plain(data)
        return self._inflate(body) if self._inflater is not None and body else body

    @property
    def head_complete(self) -> bool:
        """Whether status and headers are there."""
        return self._in_body

    def eof(self) -> bool:
        """The connection has ended; True when the response had, too."""
        if self._in_body and not self._chunked and self._remaining is None:
            self.complete = True
        return self.complete

    def _head(self) -> bool:
        if self._buffer and not self._buffer.startswith(b"HTTP/1."[: len(self._buffer)]):
            raise BadResponse(f"the server does not speak HTTP: it said {_quote(self._buffer)}")
        end, skip = self._buffer.find(b"\r\n\r\n"), 4
        if end < 0:
            end, skip = self._buffer.find(b"\n\n"), 2
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise BadResponse("the server's response head does not end")
            return False
        lines = self._buffer[:end].decode("latin-1").replace("\r\n", "\n").split("\n")
        del self._buffer[: end + skip]
        self._status_line(lines[0])
        if self.status // 100 == 1 and self.status != 101:
            return self._head()
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                self.headers[name.strip().lower()] = value.strip()
        self._framing()
        self._in_body = True
        return True

    def _status_line(self, line: str) -> None:
        parts = line.split(" ", 2)
        if len(parts) < 2 or not (parts[1].isascii() and parts[1].isdecimal() and len(parts[1]) == 3):
            raise BadResponse(f"the server's status line makes no sense: {_quote(line.encode())}")
        self.status = int(parts[1])
        self.reason = parts[2] if len(parts) > 2 else ""

    def _framing(self) -> None:
        length = self.headers.get("content-length")
        if self.status in _BODYLESS or self._method == "HEAD":
            self._remaining, self.complete = 0, True
        elif "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._chunked, self._remaining = True, 0
        elif length is not None:
            if not (length.isascii() and length.isdecimal()):
                raise BadResponse(f"the server's Content-Length is not a number: {_quote(length.encode())}")
            self._remaining = int(length)
            self.complete = self._remaining == 0
        encoding = self.headers.get("content-encoding", "identity").lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            import zlib

            self._inflater = zlib.decompressobj(wbits=47)  # a gzip or a zlib header, whichever comes
        elif encoding not in ("identity", ""):
            raise BadResponse(f"the server compressed its answer with {encoding}, which nobody asked for")

    def _plain(self, data: bytes) -> bytes:
        if self._remaining is None:
            return data
        data = data[: self._remaining]
        self._remaining -= len(data)
        self.complete = self._remaining == 0
        return data

    def _chunks(self, data: bytes) -> bytes:
        out: list[bytes] = []
        if self._buffer:
            data = bytes(self._buffer) + data
            self._buffer.clear()
        at = 0
        while not self.complete and self.error is None and at < len(data):
            if self._chunk_state == "data":
                assert self._remaining is not None
                piece = data[at : at + self._remaining]
                out.append(piece)
                at += len(piece)
                self._remaining -= len(piece)
                if not self._remaining:
                    self._chunk_state = "end"
                continue
            newline = data.find(b"\n", at)
            if newline < 0:
                if len(data) - at > MAX_CHUNK_LINE:
                    self.error = BadResponse("the server's chunked encoding makes no sense")
                self._buffer += data[at:]
                break
            self._chunk_line(data[at:newline].rstrip(b"\r"))
            at = newline + 1
        return out[0] if len(out) == 1 else b"".join(out)

    def _chunk_line(self, line: bytes) -> None:
        if self._chunk_state == "end" and not line:
            self._chunk_state = "size"
        elif self._chunk_state == "trailer":
            self.complete = not line
        elif self._chunk_state == "size":
            digits = line.partition(b";")[0].strip()
            try:
                size = int(digits, 16) if digits and len(digits) < 16 and digits[:1] not in (b"-", b"+") else -1
            except ValueError:
                size = -1
            if size < 0:
                self.error = BadResponse(f"the server's chunked encoding makes no sense: {_quote(line)} for a size")
                return
            self._remaining = size
            self._chunk_state = "data" if size else "trailer"
        else:
            self.error = BadResponse(f"the server's chunked encoding makes no sense: {_quote(line)} after a chunk")

    def _inflate(self, body: bytes) -> bytes:
        import zlib

        assert self._inflater is not None
        try:
            out = self._inflater.decompress(body, self._budget)
        except zlib.error:
            self.error = BadResponse("the server said its answer is compressed, but it can't be decompressed")
            return b""
        self._budget -= len(out)
        if self._budget <= 0 or self._inflater.unconsumed_tail:
            self.error = BadResponse("the server's compressed answer grows without bound")
        return out


def _quote(data: bytes | bytearray, limit: int = 60) -> str:
    text = bytes(data[:limit]).decode("utf-8", "replace")
    return repr(text) + ("…" if len(data) > limit else "")
