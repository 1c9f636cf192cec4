"""Messages on a server's stdout: one JSON object a line, from a program that may write anything.

What a line costs is bounded, since parsing holds the interpreter, and with it the main thread: a second for 8 MiB of
small values. So a long answer is turned into the text that is made of it anyway before the SDK sees it, and what is
too long for that is refused. Where the id of the request can be made out, whoever waits for it hears of that.
"""

import json
import re

import msgspec

from jp.tool.mcp.content import answered

LINE_LIMIT = 8 * 1024 * 1024
PLAIN_LIMIT = 1024 * 1024  # what is no answer of a tool, such as the list of the tools
SMALL = 64 * 1024
_ENDS = 512

_ID = rb'"id"\s*:\s*([0-9]{1,18})\s*'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb",")
_ID_LAST = re.compile(rb",\s*" + _ID + rb'(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Refusal(msgspec.Struct, frozen=True):
    """A line that is no message for us. `id` is that of the request which it would have answered, else None."""

    why: str
    id: int | None = None


class Overlong(msgspec.Struct, frozen=True):
    """A line of more than LINE_LIMIT bytes: its ends."""

    head: bytes
    tail: bytes


class Lines:
    """Cuts what comes into lines; keeps no more than LINE_LIMIT bytes of one."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._line = bytearray()
        self._over = b""  # the head of a line that is too long

    def feed(self, chunk: bytes) -> list[bytes | Overlong]:
        """The lines that end in `chunk`."""
        done: list[bytes | Overlong] = []
        *ending, rest = chunk.split(b"\n")
        for piece in ending:
            self._add(piece)
            done.append(self._take())
        self._add(rest)
        return done

    def end(self) -> bytes:
        """What came after the last line."""
        return b"" if self._over else bytes(self._line)

    def _add(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) > self._limit:
            self._over = self._over or bytes(self._line[:_ENDS])
            del self._line[:-_ENDS]

    def _take(self) -> bytes | Overlong:
        line: bytes | Overlong = Overlong(self._over, bytes(self._line[-_ENDS:])) if self._over else bytes(self._line)
        self._line.clear()
        self._over = b""
        return line


class _Envelope(msgspec.Struct):
    id: int | str | None = None
    method: str | None = None
    result: msgspec.Raw = msgspec.Raw(b"")


class _HasContent(msgspec.Struct):
    content: msgspec.Raw


def message(line: bytes | Overlong) -> bytes | Refusal:
    """The JSON of a message that is cheap enough to be parsed, whatever line it came in."""
    if isinstance(line, Overlong):
        return Refusal(f"a message of more than {LINE_LIMIT >> 20} MiB", _id(line.head, line.tail))
    if not line.lstrip().startswith(b"{"):
        return Refusal("no JSON object")
    try:
        return line if len(line) <= SMALL else _long(line)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        again = mended(line)
        if again is None or again == line:
            return refused(line)
        return message(again)


def mended(line: bytes) -> bytes | None:
    """A line that the SDK has not taken, with what is no Unicode replaced; None where it is no JSON anyway."""
    if len(line) > PLAIN_LIMIT:
        return None
    try:
        return json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None


def refused(line: bytes) -> Refusal:
    """What a line is that looked like a message."""
    return Refusal("no message", _id(line[:_ENDS], line[-_ENDS:]))


def _long(line: bytes) -> bytes | Refusal:
    envelope = msgspec.json.decode(line, type=_Envelope)
    if envelope.method is None and envelope.id is not None and _has_content(bytes(envelope.result)):
        text, is_error = answered(bytes(envelope.result))
        result = {"content": [{"type": "text", "text": text}], "isError": is_error}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": envelope.id, "result": result})
    if len(line) > PLAIN_LIMIT:
        ours = envelope.id if envelope.method is None and isinstance(envelope.id, int) else None
        return Refusal(f"a message of more than {PLAIN_LIMIT >> 20} MiB", ours)
    return line


def _has_content(result: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(result, type=_HasContent))
    except msgspec.DecodeError:
        return False


def _id(head: bytes, tail: bytes) -> int | None:
    if b'"method"' in head:
        return None
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    return int(found[1]) if found else None
