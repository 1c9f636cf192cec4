"""`jp-serve-web` as JP runs it, on pipes, with a workspace that is made up; and a client for it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from jp.plugin import messages, wire
from jp.plugin.exchange import Exchange
from jp.plugin.fake import Conversation, Workspace

DEADLINE = 20.0

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "connection": "close",
}
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


class Served:
    """The running plugin. `conversations` may be changed while it runs; its address is `url`, without token `base`."""

    def __init__(self, conversations: Mapping[str, Conversation], *args: str, root: str = "/home/me/project") -> None:
        self.workspace = Workspace(dict(conversations), {}, lambda _: None, root=root)
        self.asked: Counter[str] = Counter()
        self.messages: list[Any] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jp_plugins.web"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        streams = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._exchange = Exchange(*(os.dup(each.fileno()) for each in streams if each))
        for each in streams:
            if each:
                each.close()
        self._exchange.send(wire.encode(self.workspace.init(list(args))))
        self._stop = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.url = ""

    @property
    def base(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self.url.partition("/?")[0]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.base.rpartition(":")[2])

    @property
    def pid(self) -> int:
        """Of the plugin, which leads a group."""
        return self._process.pid

    @property
    def exit(self) -> messages.Exit | None:
        """The `exit` that it sent."""
        return next((each for each in self.messages if isinstance(each, messages.Exit)), None)

    @property
    def stderr(self) -> str:
        """What it wrote there."""
        return self._exchange.errors.decode("utf-8", "replace")

    def logged(self) -> list[str]:
        """The messages that it logged."""
        return [each.message for each in self.messages if isinstance(each, messages.Log)]

    def shutdown(self) -> None:
        """JP ends."""
        self._exchange.send(wire.encode(messages.Shutdown()))

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.killpg(self.pid, signal.SIGINT)

    def wait(self, deadline: float = DEADLINE) -> int:
        """Wait for its end; its exit status."""
        return self._process.wait(deadline)

    def cookie(self) -> str:
        """A session's cookie, for the header."""
        answer = ask(self.port, f"GET {self.url.removeprefix(self.base)} HTTP/1.1", f"Host: 127.0.0.1:{self.port}")
        assert answer.status == 303, answer
        return answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, cookie: str, *headers: str, method: str = "GET") -> Answer:
        """The answer to somebody who was let in."""
        host = f"Host: 127.0.0.1:{self.port}"
        return ask(self.port, f"{method} {path} HTTP/1.1", host, f"Cookie: {cookie}", *headers)

    def _serve(self) -> None:
        while not self._exchange.over and not self._stop:
            for line in self._exchange.step(0.02):
                message = wire.decode(line)
                assert not isinstance(message, wire.Faulty), message
                self.messages.append(message)
                if isinstance(message, messages.Request):
                    self.asked[messages.type_of(message)] += 1
                    response = self.workspace.respond(message)
                    if response is not None:
                        self._exchange.send(wire.encode(response))

    def __enter__(self) -> Self:
        end = time.monotonic() + DEADLINE
        while not (self.url or self.exit):
            said = [each for each in list(self.messages) if isinstance(each, messages.Print)]
            self.url = said[0].text.strip() if said else ""
            if time.monotonic() > end or self._process.poll() is not None:
                self.__exit__()
                raise AssertionError(f"it does not listen: {self.messages} {self.stderr}")
            self._thread.join(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._stop = True
        self._thread.join()
        self._exchange.close()


class Answer(NamedTuple):
    """A response: header names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body."""
        return self.body.decode()


def ask(port: int, *lines: str) -> Answer:
    """The answer to a request of these lines."""
    return raw(port, ("\r\n".join(lines) + "\r\n\r\n").encode())


def raw(port: int, data: bytes) -> Answer:
    """The answer to these bytes."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(data)
        return read(connection)


def read(connection: socket.socket) -> Answer:
    """What comes on a connection until its end."""
    connection.settimeout(DEADLINE)
    came = b""
    while data := connection.recv(1 << 16):
        came += data
    head, _, body = came.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(first.split()[1]) if first else 0, headers, body)


def guarded(answer: Answer) -> Answer:
    """Every answer has the headers that keep it where it belongs."""
    assert HEADERS.items() <= answer.headers.items(), answer.headers
    assert set(answer.headers["content-security-policy"].split("; ")) == POLICY
    assert int(answer.headers["content-length"]) >= len(answer.body)
    assert "python" not in str(answer.headers).lower()
    return answer
