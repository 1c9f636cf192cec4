"""The weights from the publisher's hub: one file, by HTTP range requests.

Goes on at the byte where the file stands. A cut is tried again as long as bytes keep coming; a file of another size, or
a server without ranges, is no source.
"""

import http.client
import urllib.error
import urllib.request

from jp.llm.embedded.part import SourceError, WrongPieceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.llm.embedded.part import PartFile
    from jp.llm.embedded.work import Stop

BLOCK = 1 << 18
TIMEOUT = 10.0
TRIES = 4


def fetch(url: str, part: "PartFile", stop: "Stop", step: "Callable[[int], None]") -> None:
    """Append to `part` until it is whole; `step` is told the bytes there.

    Raises SourceError, OSError (disk), Stopped.
    """
    fruitless = 0
    while not part.whole:
        before = part.offset
        try:
            _stream(url, part, stop, step)
        except (WrongPieceError, _Cut) as error:
            fruitless = 0 if part.offset > before else fruitless + 1
            if fruitless >= TRIES:
                raise SourceError(str(error)) from error
        stop.check()


class _Cut(Exception):
    """The connection ended early."""


def _stream(url: str, part: "PartFile", stop: "Stop", step: "Callable[[int], None]") -> None:
    with _open(url, part) as response:
        _check(response, part)
        while not part.whole:
            stop.check()
            block = _read(response)
            if not block:
                raise _Cut("the connection was cut")
            if part.offset + len(block) > part.size:
                raise SourceError("it sends more bytes than the model has")
            part.write(block)
            step(part.offset)


def _open(url: str, part: "PartFile") -> http.client.HTTPResponse:
    """The answer, from where `part` stands; here alone, because an OSError elsewhere is the disk's."""
    if not url.lower().startswith(("https://", "http://")):
        raise SourceError("its address does not begin with https:// (HF_ENDPOINT names a mirror of the hub)")
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "jp", "Accept-Encoding": "identity"})
        if part.offset:
            request.add_header("Range", f"bytes={part.offset}-")
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
        return response
    except urllib.error.HTTPError as error:
        if error.code in (429, 500, 502, 503, 504) and part.offset:
            raise _Cut(f"it answers {error.code} {error.reason}") from error
        raise SourceError(f"it answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if part.offset and not isinstance(reason, OSError):
            raise _Cut(_words(reason)) from error
        raise SourceError(f"it can't be reached: {_words(reason)}") from error
    except ValueError as error:  # of the address, or of the one that an answer sends us on to
        raise SourceError(f"its address is malformed: {error}") from error


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise _Cut(_words(error)) from error


def _check(response: http.client.HTTPResponse, part: "PartFile") -> None:
    if part.offset and response.status != 206:
        raise SourceError("it can't go on in the middle of a file")
    length = response.headers.get("Content-Length")
    if length is None:
        return
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        raise SourceError(f"it does not say how long its file is (Content-Length: {length[:40]})")
    if int(length) != part.size - part.offset:
        raise SourceError(f"its file has {part.offset + int(length)} bytes instead of {part.size}")


def _words(reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return "it does not answer"
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text)
