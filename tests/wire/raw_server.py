"""A server that is a list of byte strings and verbs.

    RawServer([[b"HTTP/1.1 200 OK\\r\\n\\r\\n", b"data: half", RESET], [b"Wait, this isn't HTTP!"]])

Each inner list is what one connection gets, in order; the last one is used for every further connection. A server
reads a whole request first (unless it begins with `AT_ONCE`), and closes politely when its list is used up.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

DEADLINE = 30.0


class Verb(str):
    """Something a server does that is not sending bytes."""

    __slots__ = ()


AT_ONCE = Verb("at once")  # do not read the request first
RESET = Verb("reset")  # end with a TCP reset
HANG = Verb("hang")  # keep the connection open and say nothing


@dataclass(frozen=True)
class Pause:
    """Say nothing for this many seconds."""

    secs: float


@dataclass
class Recorded:
    """One request as it arrived; times are `time.monotonic()`."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    accepted_at: float
    complete_at: float = 0.0
    raw_head: bytes = b""


@dataclass
class Connection:
    """The server's end of one connection."""

    sock: socket.socket
    accepted_at: float
    stopped: threading.Event
    buffer: bytearray = field(default_factory=bytearray)

    def read_request(self) -> Recorded | None:
        """The next request on this connection, or None when the client is gone."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._more():
                return None
        head, _, _ = bytes(self.buffer).partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        del self.buffer[: len(head) + 4]
        length = int(headers.get("content-length", "0"))
        while len(self.buffer) < length:
            if not self._more():
                return None
        body = bytes(self.buffer[:length])
        del self.buffer[:length]
        return Recorded(method, path, headers, body, self.accepted_at, time.monotonic(), head)

    def _more(self) -> bool:
        try:
            data = self.sock.recv(65536)
        except OSError:
            return False
        self.buffer += data
        return bool(data)

    def take(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises ConnectionError when the client is gone."""
        while len(self.buffer) < count:
            if not self._more():
                raise ConnectionAbortedError
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def send(self, data: bytes) -> None:
        """Send; raises OSError when the client is gone."""
        self.sock.sendall(data)

    def pause(self, secs: float) -> None:
        """Wait, but no longer than the server lives."""
        self.stopped.wait(secs)

    def client_gone(self, within: float = DEADLINE) -> bool:
        """Whether the client ends the connection before the deadline."""
        self.sock.settimeout(within)
        try:
            while data := self.sock.recv(65536):
                self.buffer += data
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

    def reset(self) -> None:
        """Close so that the client sees a reset, not an end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class ThreadedServer:
    """Accepts on a loopback port; each connection is handled by `handle` on a thread of its own."""

    def __init__(
        self,
        handle: Callable[[Connection], None],
        *,
        family: int = socket.AF_INET,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._handle = handle
        self._tls = tls
        self._stopped = threading.Event()
        self._changed = threading.Condition()
        self._open: set[socket.socket] = set()
        self.requests: list[Recorded] = []
        self.connections = 0
        self._listener = socket.socket(family)
        self._listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]
        host = "127.0.0.1" if family == socket.AF_INET else "[::1]"
        self.base_url = f"{'https' if tls else 'http'}://{host}:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True, name="server").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop accepting and end every connection."""
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            for sock in list(self._open):
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def record(self, request: Recorded) -> None:
        """Remember a request and wake whoever waits for it."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def wait_for_requests(self, count: int, timeout: float = DEADLINE) -> list[Recorded]:
        """The requests so far, once there are `count` of them; raises AssertionError at the deadline."""
        with self._changed:
            got = self._changed.wait_for(lambda: len(self.requests) >= count, timeout)
            assert got, f"{len(self.requests)} of {count} requests after {timeout} s"
            return list(self.requests)

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            with self._changed:
                self._open.add(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True, name="connection").start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            if self._tls is not None:
                sock = self._shake_hands(sock)
            self._handle(Connection(sock, time.monotonic(), self._stopped))
        except OSError:
            pass  # the client is gone: many tests are about exactly that
        finally:
            with self._changed:
                self._open.discard(sock)
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_WR)
            sock.close()

    def _shake_hands(self, sock: socket.socket) -> socket.socket:
        assert self._tls is not None
        self._tls.sslsocket_class = _ServerSide
        wrapped = self._tls.wrap_socket(sock, server_side=True)
        with self._changed:
            self._open.discard(sock)
            self._open.add(wrapped)
        return wrapped


class _ServerSide(ssl.SSLSocket):
    """A client may be gone before the handshake begins: the standard library leaves the socket open then."""

    def getpeername(self) -> Any:
        try:
            return super().getpeername()
        except OSError:
            self.close()
            raise ConnectionResetError("the client is gone") from None


Step = bytes | Verb | Pause


class RawServer(ThreadedServer):
    """Plays a literal list of steps to each connection."""

    def __init__(
        self,
        connections: Sequence[Iterable[Step]],
        *,
        family: int = socket.AF_INET,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._scripts = [list(steps) for steps in connections]
        self._next = 0
        super().__init__(self._play, family=family, tls=tls)

    def _play(self, connection: Connection) -> None:
        with self._changed:
            steps = self._scripts[min(self._next, len(self._scripts) - 1)]
            self._next += 1
        if steps[:1] != [AT_ONCE]:
            request = connection.read_request()
            if request is None:
                return
            self.record(request)
        for step in steps:
            if isinstance(step, Pause):
                connection.pause(step.secs)
            elif isinstance(step, bytes):
                connection.send(step)
            elif step is RESET:
                connection.reset()
                return
            elif step is HANG:
                connection.client_gone()
                return


def chunked(*parts: bytes, end: bool = True) -> list[bytes]:
    """The parts as chunks of a chunked body; without `end` the last chunk is missing."""
    out = [b"%x\r\n%s\r\n" % (len(part), part) for part in parts]
    return [*out, b"0\r\n\r\n"] if end else out


def head(status: str = "200 OK", **headers: str) -> bytes:
    """A response head; underscores in names become dashes."""
    lines = [f"HTTP/1.1 {status}", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


SSE_HEAD = head(content_type="text/event-stream", transfer_encoding="chunked")


class ProxyServer(ThreadedServer):
    """An HTTP proxy: CONNECT makes a tunnel, an absolute URL is fetched. `refuse` answers everything with a head."""

    def __init__(self, *, refuse: bytes | None = None) -> None:
        self._refuse = refuse
        super().__init__(self._relay)

    def _relay(self, connection: Connection) -> None:
        request = connection.read_request()
        if request is None:
            return
        self.record(request)
        if self._refuse is not None:
            connection.send(self._refuse)
            return
        where = request.path.removeprefix("http://").partition("/")[0]
        host, _, port = where.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            if request.method == "CONNECT":
                connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = request.path.removeprefix(f"http://{where}")
                lines = request.raw_head.decode("latin-1").split("\r\n")[1:]
                upstream.sendall(
                    "\r\n".join([f"{request.method} {path} HTTP/1.1", *lines, "", ""]).encode() + request.body
                )
            back = threading.Thread(target=_pump, args=(upstream, connection.sock), daemon=True)
            back.start()
            _pump(connection.sock, upstream)
            back.join(DEADLINE)


class SocksServer(ThreadedServer):
    """A SOCKS 5 proxy; with `credentials` it wants them, with `status` it refuses every connection so."""

    def __init__(
        self, *, credentials: tuple[bytes, bytes] | None = None, status: int = 0, greeting: bytes = b""
    ) -> None:
        self._credentials = credentials
        self._status = status
        self._greeting = greeting
        self.asked: list[tuple[bytes, int]] = []
        super().__init__(self._relay)

    def _relay(self, connection: Connection) -> None:
        take = connection.take
        _, count = take(2)
        methods = take(count)
        if self._greeting:
            connection.send(self._greeting)
            return
        wanted = 2 if self._credentials else 0
        if wanted not in methods:
            connection.send(b"\x05\xff")
            return
        connection.send(bytes([5, wanted]))
        if self._credentials is not None:
            take(1)
            got = take(take(1)[0]), take(take(1)[0])
            connection.send(b"\x01\x00" if got == self._credentials else b"\x01\x01")
        _, _, _, kind = take(4)
        assert kind == 3
        host, port = take(take(1)[0]), int.from_bytes(take(2), "big")
        self.asked.append((host, port))
        bound = b"\x03\x05bound" if self._credentials else b"\x01\x7f\x00\x00\x01"
        connection.send(bytes([5, self._status, 0]) + bound + b"\x00\x50")
        if self._status:
            return
        with socket.create_connection((host.decode(), port)) as upstream:
            back = threading.Thread(target=_pump, args=(upstream, connection.sock), daemon=True)
            back.start()
            _pump(connection.sock, upstream)
            back.join(DEADLINE)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
