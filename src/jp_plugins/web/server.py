"""The server: http.server with bounds on everything that a client may make last, grow or pile up."""

from __future__ import annotations

import io
import socket
import socketserver
import threading
import time
import traceback
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jp.plugin.sdk import ShuttingDown
from jp_plugins.plain import one_line
from jp_plugins.web.access import ADDRESS, Asked
from jp_plugins.web.answer import HEADERS, Answer, plain

CONNECTIONS = 64  # at a time; a browser opens six
REQUEST_BYTES = 32 << 10  # of a request line and its headers
REQUEST_SECONDS = 10.0  # for all of them together
ANSWER_SECONDS = 30.0  # without a byte taken
_LINGER = 1.0  # seconds to let a client read the answer to a request that was not read to its end

Answers = Callable[[Asked], Answer]
Log = Callable[[str, str], object]


class Server(ThreadingHTTPServer):
    """Listens on 127.0.0.1 from the start on; `port` 0 takes a free one. `log` gets a level and a line.

    Raises OSError where it can't listen.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_port = False
    request_queue_size = 64

    def __init__(self, port: int, log: Log) -> None:
        self.log = log
        self.answers: Answers = lambda _: plain("Not yet.\n", HTTPStatus.SERVICE_UNAVAILABLE)
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__((ADDRESS, port), _Handler)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind, without the look-up of this machine's name that http.server makes."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.port

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give the connection a thread, or turn it away where there are too many."""
        if not self._free.acquire(blocking=False):
            _turn_away(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection."""
        try:
            super().process_request_thread(request, client_address)
        except ShuttingDown:
            pass  # nobody reads the log any more
        finally:
            self._free.release()

    def shutdown_request(self, request: Any) -> None:
        """Close, but let the client read the answer first: closing on unread bytes would take it back."""
        end = time.monotonic() + _LINGER
        try:
            request.shutdown(socket.SHUT_WR)
            while (left := end - time.monotonic()) > 0:
                request.settimeout(left)
                if not request.recv(1 << 16):
                    break
        except OSError:
            pass
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log what went wrong in a thread."""
        self.log("warn", f"a connection failed: {traceback.format_exc(limit=-3)}")


class _TooMuch(HTTPException):
    """The request is larger than anything a browser sends."""


class _Bounded(io.RawIOBase):
    """What a connection sends, so much of it and for so long."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left = REQUEST_BYTES
        self._end = time.monotonic() + REQUEST_SECONDS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left <= 0:
            raise _TooMuch
        self._connection.settimeout(max(self._end - time.monotonic(), 0.001))
        count = self._connection.recv_into(memoryview(buffer)[: self._left])
        self._left -= count
        return count


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_Bounded(self.connection), 4096)

    def handle(self) -> None:
        """One request a connection: nothing to keep alive, nothing to smuggle in."""
        try:
            self.handle_one_request()
        except _TooMuch:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
        except ConnectionError:
            pass

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        headers: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            headers.setdefault(name.lower(), []).append(str(value))
        try:
            answer = self.server.answers(Asked(self.command, path, query, headers))
        except ShuttingDown:
            answer = plain("JP is ending.\n", HTTPStatus.SERVICE_UNAVAILABLE)
        except Exception:
            self.server.log("warn", f"{path[:200]} could not be answered: {traceback.format_exc(limit=-3)}")
            answer = plain("That went wrong; JP's log says how.\n", HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(answer)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """`do_` and any method: which of them there are is decided behind the question who asks."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What http.server refuses by itself."""
        self.command = getattr(self, "command", None) or "GET"
        self.request_version = "HTTP/1.1"
        self._send(plain(f"{HTTPStatus(code).phrase}.\n", HTTPStatus(code)))

    def _send(self, answer: Answer) -> None:
        self.close_connection = True
        self.connection.settimeout(ANSWER_SECONDS)
        self.send_response(answer.status)
        for name, value in (HEADERS | dict(answer.headers)).items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def version_string(self) -> str:
        return "jp"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002
        # The query is left out: it may be a token, and what somebody looks for is theirs.
        path = getattr(self, "path", "").partition("?")[0]
        status = code.value if isinstance(code, HTTPStatus) else code
        self.server.log("debug", one_line(f"{self.command} {path[:200]} {status}"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        self.server.log("debug", one_line(format % args))


def _turn_away(connection: socket.socket) -> None:
    try:
        connection.setblocking(False)
        connection.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    except OSError:
        pass
    connection.close()
