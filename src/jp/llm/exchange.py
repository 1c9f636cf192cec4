"""One HTTP request and its answer, on a connection of its own, in the thread that waits for it.

The design and what was rejected: `jp.llm.http11` (the bytes), `jp.llm.connect` (the socket, how it is given up).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from jp.llm.address import parse, resolve
from jp.llm.connect import Lifeline
from jp.llm.errors import BadResponse, ConnectionLost, LlmError, Redirected, StreamCut
from jp.llm.http11 import USER_AGENT, ResponseDecoder, encode_head
from jp.llm.provider import Request
from jp.llm.proxy import Proxy, proxy_for
from jp.llm.wire import SLICE, Wire

SEND_SIZE = 256 * 1024
MAX_REDIRECTS = 3


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
        self._wire: Wire | None = None
        self._proxy: Proxy | None = None
        self._decoder = ResponseDecoder(request.method)
        self._early = b""  # of the body, came with the head
        self._early_wire = b""  # of the answer, came while the request was being sent
        self.address = parse(request.url, name="the provider's base_url")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, LlmError):
            self.explained(error)

    def explained(self, error: LlmError) -> LlmError:
        """`error`, of this exchange, with a hint at the proxy where that may be the cause; what is raised gets it."""
        if self._proxy is not None:
            self._proxy.explain(error)
        return error

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
        target, limits = self.address.path, self._limits
        headers = [
            ("Host", self.address.authority),
            ("User-Agent", USER_AGENT),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            *([] if "Authorization" in self._request.headers else self.address.basic("Authorization")),
            *self._request.headers.items(),
        ]
        if self._request.method != "GET":
            headers.append(("Content-Length", str(self._request.size)))
        proxy = self._proxy = proxy_for(self.address, self._environ)
        if proxy is None:
            self._wire = Wire(self.address, self._lifeline, server=self.address, timeout=limits.connect_secs)
        else:
            from jp.llm.tunnel import through

            self._wire = through(proxy, self.address, self._lifeline, limit=limits.connect_secs)
            if not proxy.socks and self.address.scheme == "http":
                target = self.address.origin + self.address.path
                headers += proxy.address.basic("Proxy-Authorization")
        if self.address.scheme == "https":
            self._wire.secure(self._environ, limit=limits.connect_secs)
        self._send_all(self._wire, encode_head(self._request.method, target, headers))

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
        """Let go of the connection."""
        if self._wire is not None:
            self._wire.close(abandoned=not self._decoder.complete)
            self._wire = None
        self._lifeline.close()

    # --- the parts ---

    def _send_all(self, wire: Wire, head: bytes) -> None:
        batch, size = [head], len(head)
        limit = self._limits.idle_secs
        try:
            for piece in self._request.body:
                batch.append(piece)
                size += len(piece)
                if size >= SEND_SIZE:
                    wire.send(b"".join(batch), limit=limit)
                    batch, size = [], 0
            wire.send(b"".join(batch), limit=limit)
        except ConnectionLost as error:
            # A server that refuses a request may close before it has read it; what it said is worth more.
            self._answer_before_loss(error)

    def _answer_before_loss(self, error: LlmError) -> None:
        try:
            data = self._receive(SLICE)
        except LlmError:
            raise error from None
        if not data.startswith(b"HTTP/1."):
            raise error
        self._early_wire = data

    def _receive(self, limit: float) -> bytes:
        assert self._wire is not None
        return self._wire.receive(limit=limit)

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
