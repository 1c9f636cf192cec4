"""A connected socket on the thread that waits for it: sends and receives with time limits, and says failures in words.

Waiting is counted in slices of at most a second, each of which counts for two at most: a process that was stopped for
an hour has not waited for an hour.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping

from jp.interrupt.standing import clock
from jp.llm.address import Address
from jp.llm.connect import Lifeline, connect
from jp.llm.errors import ConnectionLost, LlmError, Stopped, Timeout

SLICE = 1.0
READ_SIZE = 64 * 1024
_RESET = struct.pack("ii", 1, 0)  # linger: on, for no time
_IDLE_HINT = "A longer wait can be set in `assistant.request.stream_idle_timeout_secs`."


class Wire:
    """One connection to `at`, made at once. All limits are seconds, 0 is for ever.

    Everything raises leaves of NetworkError, and Stopped when the lifeline was cut. `server` is whom to name in errors:
    the address that is meant, behind a proxy too.
    """

    def __init__(self, at: Address, lifeline: Lifeline, *, server: Address, timeout: float) -> None:
        self._lifeline = lifeline
        self.server = server
        self._sock = connect(at, lifeline, timeout=timeout)

    def secure(self, environ: Mapping[str, str], *, limit: float) -> None:
        """Shake hands for TLS. Raises TlsError too."""
        from jp.llm import tls  # 30 ms, and most local models do without

        with self._translated("the TLS handshake", limit):
            self._sock.settimeout(limit or None)
            self._sock = tls.wrap(self._sock, self.server.host, self.server, environ)

    def send(self, data: bytes, *, limit: float) -> None:
        """Send everything; `limit` is for the time without progress."""
        view = memoryview(data)
        waited = 0.0
        with self._translated("sending the request", limit):
            self._sock.settimeout(SLICE)
            while view:
                begun = clock()
                try:
                    view = view[self._sock.send(view) :]
                    waited = 0.0
                except TimeoutError:
                    waited += min(clock() - begun, 2 * SLICE)
                    if waited >= (limit or float("inf")):
                        raise

    def receive(self, *, limit: float, size: int = READ_SIZE) -> bytes:
        """At most `size` bytes as soon as there are some, b"" at the end."""
        waited = 0.0
        limit = limit or float("inf")
        with self._translated("waiting for the answer", limit):
            while True:
                slice_ = max(min(SLICE, limit - waited), 0.001)
                self._sock.settimeout(slice_)
                begun = clock()
                try:
                    data = self._sock.recv(size)
                except TimeoutError:
                    waited += min(clock() - begun, 2 * SLICE)
                    if waited >= limit:
                        raise
                    continue
                if not data:
                    self._lifeline.check()
                return data

    def close(self, *, abandoned: bool = False) -> None:
        """Let go of the socket; `abandoned`: in the middle of an answer.

        That is then said with a reset: after a mere end, a server whose peer had stopped reading finds out only when
        its next probe of the closed window goes out, and goes on until then (seen in 1 of 250 under load).
        """
        if abandoned:
            try:
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            except OSError:
                pass  # it has gone already
        self._sock.close()

    def _translated(self, doing: str, limit: float) -> _Translated:
        return _Translated(self.server, self._lifeline, doing, limit)


class _Translated:
    """The one place where errors of the system become ours."""

    __slots__ = ("_doing", "_lifeline", "_limit", "_server")

    def __init__(self, server: Address, lifeline: Lifeline, doing: str, limit: float) -> None:
        self._server = server
        self._lifeline = lifeline
        self._doing = doing
        self._limit = limit

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError | LlmError):
            return
        if self._lifeline.was_cut:
            raise Stopped("stopped") from None
        if isinstance(error, LlmError):
            return
        origin, shown = self._server.origin, self._server.shown
        if isinstance(error, TimeoutError):
            raise Timeout(
                f"nothing came from {origin} for {self._limit:g} s while {self._doing}",
                address=shown,
                hints=[] if "TLS" in self._doing else [_IDLE_HINT],
            ) from error
        why = "the connection was reset" if isinstance(error, ConnectionResetError) else said(error)
        raise ConnectionLost(
            f"the connection to {origin} broke while {self._doing}: {why}",
            address=shown,
            hints=["Check the network connection, and try again."],
        ) from error


def said(error: OSError) -> str:
    """The system's words for an error."""
    return error.strerror or str(error) or type(error).__name__
