"""Lines of the protocol: bytes from a plugin to messages, and messages to bytes.

Bytes and `\\n` alone, never text lines: Python's own splitting takes a lone CR and U+2028 for line ends, and a plugin's
strings may hold both.
"""

from typing import Any, get_args

import msgspec

from jp.plugin import messages
from jp.plugin.messages import Id, Message, type_of

MAX_LINE = 16 * 1024 * 1024  # bytes


class MalformedError(ValueError):
    """What a plugin wrote is no message at all: the run can't go on. `what` is what it says without its beginning."""

    def __init__(self, what: str, line: bytes | None = None) -> None:
        super().__init__(what if line is None else f"{what}: {_excerpt(line)}")
        self.what = what


class Faulty(msgspec.Struct):
    """A message that is wrong, or of a type that nobody knows: it is answered with an `error`."""

    request: str
    message: str
    id: Id | None = None


class _Head(msgspec.Struct):
    type: Any = None
    id: Any = None


def _types() -> dict[str, type[Message]]:
    return {type_of(each): each for each in get_args(messages.PluginMessage)}


_decode_head = msgspec.json.Decoder(_Head).decode
_decoders: dict[str, msgspec.json.Decoder[Any]] = {kind: msgspec.json.Decoder(each) for kind, each in _types().items()}
_encode = msgspec.json.Encoder().encode


class Lines:
    """Cuts what comes from a plugin into lines."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._begun = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their ends. Raises MalformedError for one beyond the limit."""
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = bytes(self._begun) + whole[0]
            self._begun.clear()
        self._begun += rest
        if len(self._begun) > self._limit or any(len(line) > self._limit for line in whole):
            self._begun.clear()
            raise MalformedError(f"wrote a line of more than {self._limit:,} bytes")
        return whole

    @property
    def unfinished(self) -> bytes:
        """What stands behind the last line end."""
        return bytes(self._begun)


def decode(line: bytes) -> Message | Faulty | None:
    """The message on a line; None for an empty line. Raises MalformedError where there is no JSON object."""
    if not line.strip():
        return None
    try:
        if not line.isascii():
            line.decode()
        head = _decode_head(line)
    except UnicodeDecodeError:
        raise MalformedError("wrote a line that is no UTF-8", line) from None
    except (msgspec.DecodeError, RecursionError) as error:
        if (mended := _mended(line)) is not None:
            return decode(mended)
        raise MalformedError(f"wrote a line that is no JSON object ({error})", line) from None
    kind, ident = head.type, head.id
    if not isinstance(kind, str):
        what = "a message has no `type`" if kind is None else "the `type` of a message is no string"
        return Faulty("", what, ident if _is_id(ident) else None)
    decoder = _decoders.get(kind)
    if decoder is None:
        known = ", ".join(f"`{each}`" for each in _decoders)
        return Faulty(kind, f"unknown message type: `type` is one of {known}", ident if _is_id(ident) else None)
    try:
        message: Message = decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return Faulty(kind, f"a wrong `{kind}` message: {_said(error)}", ident if _is_id(ident) else None)
    return message


def _mended(line: bytes) -> bytes | None:
    """The line with U+FFFD for halves of surrogate pairs, which JSON can spell and no text has; None without such."""
    import re

    if not re.search(rb"\\u[dD][89a-fA-F]", line):
        return None
    import json

    try:
        return json.dumps(_clean(json.loads(line)), allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None


def encode(message: Message) -> bytes:
    """A message as its line. What is no text (half of a surrogate pair) is replaced."""
    try:
        return _encode(message) + b"\n"
    except UnicodeEncodeError:
        return _encode(_clean(msgspec.to_builtins(message))) + b"\n"


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _said(error: BaseException) -> str:
    """What msgspec says, in the protocol's words: the path of a field without its `$.`."""
    return str(error).replace(" - at `$.", " at `").replace("$.", "")


def _excerpt(line: bytes) -> str:
    text = line[:60].decode("utf-8", "replace")
    shown = "".join(char if char.isprintable() else "�" for char in text)
    return f"`{shown}`" + ("…" if len(line) > 60 else "")
