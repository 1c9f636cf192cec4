"""One HTTP request and its answer, on a socket of its own, in the thread that waits for it.

The design and what was rejected: `jp.llm.http11` (the bytes), `jp.llm.connect` (the socket, how it is given up).

Waiting is counted in slices of at most a second, each of which counts for two at most: a process that was stopped for
an hour has not waited for an hour.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from jp.llm.address import Address, parse, resolve
from jp.llm.connect import Lifeline, connect
from jp.llm.errors import (
    BadResponse,
    ConnectionLost,
    LlmError,
    ProxyError,
    Redirected,
    Stopped,
    StreamCut,
    Timeout,
)
from jp.llm.http11 import ResponseDecoder, encode_head
from jp.llm.provider import Request
from jp.llm.proxy import proxy_for
from jp.llm.status import said_by

SLICE = 1.0
READ_SIZE = 64 * 1024
SEND_SIZE = 256 * 1024
MAX_REDIRECTS = 3
USER_AGENT = "jean-pierre"


class Limits(Struct, frozen=True):
    """Seconds to wait for the connection, between bytes, and for the first byte (None: as idle); 0 is for ever."""

    connect_secs: float = 30
    idle_secs: float = 60
    first_byte_secs: float | None = None


class Exchange:
    """Open it, then `read()` until b"". Raises leaves of LlmError; Stopped when its lifeline was cut."""

    def __init__(
        self, request: Request, lifeline: Lifeline, *, limits: Limits, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._request = request
        self._lifeline = lifeline
        self._limits = limits
        self._environ = environ
        self._sock: socket.socket | None = None
        self._decoder = ResponseDecoder(request.method)
        self._early = b""  # of the body, came with the head
        self._early_wire = b""  # of the answer, came while the request was being sent
        self.address = parse(request.url, name="the provider's base_url")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def status(self) -> int:
        """The status of the answer; 0 before it has come."""
        return self._decoder.status

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer, names in lower case."""
        return self._decoder.headers

    @property
    def complete(self) -> bool:
        """Whether the body has come as it was announced."""
        return self._decoder.complete

    def send(self) -> None:
        """Connect and send the request."""
        self.close()
        self._decoder = ResponseDecoder(self._request.method)
        proxy = proxy_for(self.address, self._environ)
        self._sock = connect(proxy or self.address, self._lifeline, timeout=self._limits.connect_secs)
        target, extra = self.address.path, []
        if proxy is not None and self.address.scheme == "http":
            target = self.address.origin + self.address.path
            extra = _authorization(proxy, "Proxy-Authorization")
        elif proxy is not None:
            self._tunnel(proxy)
        if self.address.scheme == "https":
            self._secure()
        headers = [
            ("Host", self.address.authority),
            ("User-Agent", USER_AGENT),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            *extra,
            *([] if "Authorization" in self._request.headers else _authorization(self.address, "Authorization")),
            *self._request.headers.items(),
        ]
        if self._request.method != "GET":
            headers.append(("Content-Length", str(self._request.size)))
        self._send_all(encode_head(self._request.method, target, headers))

    def head(self) -> None:
        """Wait for the head of the answer; follows redirects within the origin, refuses others."""
        for _ in range(MAX_REDIRECTS + 1):
            self._early = self._read_head()
            location = self.headers.get("location")
            if self.status not in (301, 302, 303, 307, 308) or location is None:
                return
            self._redirect(location)
            self.send()
        raise Redirected(
            f"{self.address.origin} redirects in circles", address=self.address.shown, status_code=self.status
        )

    def read(self, limit: float | None = None) -> bytes:
        """Body bytes as soon as there are some, within `limit` seconds (None: as idle); b"" when the body is over.

        Raises Timeout, ConnectionLost, StreamCut, BadResponse.
        """
        if self._early:
            early, self._early = self._early, b""
            return early
        while not self._decoder.complete and self._decoder.error is None:
            data = self._receive(self._limits.idle_secs if limit is None else limit)
            if not data:
                if self._decoder.eof():
                    return b""
                raise StreamCut(
                    f"the answer was cut off: {self.address.origin} closed the connection in the middle of it",
                    address=self.address.shown,
                )
            body = self._decode(data)
            if body:
                return body
        if self._decoder.error is not None:
            raise self._at(self._decoder.error)
        return b""

    def read_all(self, limit: int) -> bytes:
        """What is left of the body, at most `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        while size < limit and (part := self.read()):
            parts.append(part)
            size += len(part)
        return b"".join(parts)[:limit]

    def close(self) -> None:
        """Let go of the socket."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        self._lifeline.close()

    # --- the parts ---

    def _tunnel(self, proxy: Address) -> None:
        where = f"{self.address.host}:{self.address.port}"
        if ":" in self.address.host:
            where = f"[{self.address.host}]:{self.address.port}"
        headers = [("Host", where), ("User-Agent", USER_AGENT), *_authorization(proxy, "Proxy-Authorization")]
        self._send_all(encode_head("CONNECT", where, headers), body=False)
        answer = ResponseDecoder("HEAD")  # the body of a success is the tunnel
        while not answer.head_complete:
            data = self._receive(self._limits.connect_secs, one=True)
            if not data:
                raise ProxyError(f"the proxy {proxy.origin} closed the connection", address=proxy.origin)
            answer.feed(data)
        if answer.status // 100 != 2:
            hints = ["Put user and password into the proxy's URL."] if answer.status == 407 else []
            raise ProxyError(
                f"the proxy {proxy.origin} refused to connect to {where}: {answer.status} {answer.reason}".rstrip(),
                address=proxy.origin,
                hints=hints,
            )

    def _secure(self) -> None:
        from jp.llm import tls

        assert self._sock is not None
        self._sock.settimeout(self._limits.connect_secs)
        with _Translated(self, "the TLS handshake"):
            self._sock = tls.wrap(self._sock, self.address.host, self.address, self._environ)

    def _send_all(self, head: bytes, *, body: bool = True) -> None:
        assert self._sock is not None
        batch, size = [head], len(head)
        try:
            with _Translated(self, "sending the request"):
                for piece in self._request.body if body else ():
                    batch.append(piece)
                    size += len(piece)
                    if size >= SEND_SIZE:
                        self._send(b"".join(batch) if len(batch) > 1 else batch[0])
                        batch, size = [], 0
                self._send(b"".join(batch))
        except ConnectionLost as error:
            # A server that refuses a request may close before it has read it; what it said is worth more.
            self._answer_before_loss(error)

    def _send(self, data: bytes) -> None:
        assert self._sock is not None
        view = memoryview(data)
        waited = 0.0
        while view:
            self._sock.settimeout(SLICE)
            begun = time.monotonic()
            try:
                view = view[self._sock.send(view) :]
                waited = 0.0
            except TimeoutError:
                waited += min(time.monotonic() - begun, 2 * SLICE)
                if waited >= (self._limits.idle_secs or float("inf")):
                    raise

    def _answer_before_loss(self, error: LlmError) -> None:
        try:
            data = self._receive(SLICE)
        except LlmError:
            raise error from None
        if not data.startswith(b"HTTP/1."):
            raise error
        self._early_wire = data

    def _read_head(self) -> bytes:
        body = b""
        first = self._limits.idle_secs if self._limits.first_byte_secs is None else self._limits.first_byte_secs
        while not self._decoder.head_complete:
            data, self._early_wire = self._early_wire or self._receive(first), b""
            if not data:
                raise ConnectionLost(
                    f"{self.address.origin} closed the connection without an answer", address=self.address.shown
                )
            body = self._decode(data)
            first = self._limits.idle_secs
        return body

    def _decode(self, data: bytes) -> bytes:
        try:
            return self._decoder.feed(data)
        except BadResponse as error:
            raise self._at(error) from None

    def _at(self, error: BadResponse) -> BadResponse:
        return BadResponse(
            f"{self.address.origin}: {error.message}",
            address=self.address.shown,
            hints=["Check the provider's `base_url`."],
        )

    def _receive(self, limit: float, *, one: bool = False) -> bytes:
        """Bytes from the wire, b"" at its end; `one` takes a byte at a time, so as not to read into a tunnel."""
        assert self._sock is not None
        waited = 0.0
        limit = limit or float("inf")
        with _Translated(self, "waiting for the answer", limit):
            while True:
                slice_ = min(SLICE, limit - waited)
                self._sock.settimeout(max(slice_, 0.001))
                begun = time.monotonic()
                try:
                    data = self._sock.recv(1 if one else READ_SIZE)
                except TimeoutError:
                    waited += min(max(time.monotonic() - begun, slice_), 2 * SLICE)
                    if waited >= limit:
                        raise
                    continue
                if not data:
                    self._lifeline.check()
                return data

    def _redirect(self, location: str) -> None:
        where = resolve(self.address, location)
        safe = self._request.method == "GET" or self.status in (307, 308)
        if where.origin != self.address.origin or not safe:
            raise Redirected(
                f"{self.address.origin} redirects to {where.shown}; JP does not follow, since the request would carry "
                f"the key along",
                address=self.address.shown,
                status_code=self.status,
                hints=[f"If that is right, set the provider's `base_url` to {where.origin}."],
            )
        self.address = where


class _Translated:
    """The one place where errors of the system become ours."""

    def __init__(self, exchange: Exchange, doing: str, limit: float | None = None) -> None:
        self._exchange = exchange
        self._doing = doing
        self._limit = limit

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, LlmError):
            if isinstance(error, LlmError):
                self._exchange._lifeline.check()
            return
        if not isinstance(error, OSError):
            return
        if self._exchange._lifeline.was_cut:
            raise Stopped("stopped") from None
        origin = self._exchange.address.origin
        shown = self._exchange.address.shown
        if isinstance(error, TimeoutError):
            limit = self._limit if self._limit is not None else self._exchange._limits.idle_secs
            raise Timeout(
                f"nothing came from {origin} for {limit:g} s while {self._doing}",
                address=shown,
                hints=["A longer wait can be set in `assistant.request.stream_idle_timeout_secs`."],
            ) from error
        why = "the connection was reset" if isinstance(error, ConnectionResetError) else said(error)
        raise ConnectionLost(
            f"the connection to {origin} broke while {self._doing}: {why}",
            address=shown,
            hints=["Check the network connection, and try again."],
        ) from error


def said(error: OSError) -> str:
    """The system's words for an error."""
    return error.strerror or said_by(str(error).encode()) or type(error).__name__


def _authorization(address: Address, name: str) -> list[tuple[str, str]]:
    if not address.userinfo:
        return []
    import binascii

    decoded = _unquoted(address.userinfo)
    return [(name, "Basic " + binascii.b2a_base64(decoded, newline=False).decode())]


def _unquoted(text: str) -> bytes:
    """Percent-decoding of a URL's user and password."""
    first, *rest = text.encode().split(b"%")
    out = [first]
    for part in rest:
        try:
            out.append(bytes([int(part[:2], 16)]) + part[2:])
        except ValueError:
            out.append(b"%" + part)
    return b"".join(out)
