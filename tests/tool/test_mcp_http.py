"""MCP servers that are reached by streamable HTTP, on loopback."""

import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jp.tool.outcome import Failure, Outcome, Success
from tests.tool.mcp_servers.host import HERE, Host, http, wait

TOKEN = "Bearer s3cret"


class Served:
    """The Python server over HTTP, in a process of its own."""

    def __init__(self, notes: Path) -> None:
        environ = {**os.environ, "TOKEN": TOKEN, "NOTES": str(notes)}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "python_server.py"), "http"],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()
        self.notes = notes

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("http") / "notes")
    yield served
    served.end()


@pytest.fixture
def host(served: Served, tmp_path: Path) -> Iterator[Host]:
    config = http(served.url, {"Authorization": TOKEN})
    with Host(tmp_path, {"web": config}).ready("web") as host:
        assert host.servers.errors == ()
        yield host


def content(outcome: Outcome) -> str:
    assert isinstance(outcome, Success), outcome
    return outcome.content


def test_tools_are_found_and_called(host: Host) -> None:
    found = host.servers.find("web", "add")
    assert found is not None
    assert found.parameters["required"] == ["a"]
    assert content(host.call("web", "add", a=2, b=3)) == "5"
    assert content(host.call("web", "mixed")).startswith("a picture:\n[image image/png, 1234 bytes]")
    assert content(host.call("web", "roots")) == f"{host.root.as_uri()} {host.root.name}"
    assert isinstance(host.call("web", "add", a="x"), Failure)
    assert len(content(host.call("web", "long", size=500_000))) < 140_000


def test_an_answer_that_is_too_long_is_a_failure_and_the_server_stays(host: Host) -> None:
    outcome = host.call("web", "long", size=3_000_000)
    assert isinstance(outcome, Failure)
    assert "limit" in outcome.message
    assert content(host.call("web", "add", a=1)) == "2"


def test_a_cancelled_call_is_told_to_the_server(served: Served, host: Host) -> None:
    call = host.start("web", "sleep", seconds=60)
    wait(lambda: served.notes.exists() and "asleep" in served.notes.read_text())
    call.run.cancel()
    assert call.run.over(10)
    wait(lambda: "cancelled" in served.notes.read_text())
    assert call.outcomes == []


def test_a_header_may_hold_a_variable_that_is_named(served: Served, tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer ${KEY}"}
    configs = {
        "named": http(served.url, headers, variables=["KEY"]),
        "unnamed": http(served.url, headers, optional=True),
    }
    with Host(tmp_path, configs, {"KEY": "s3cret"}).ready("named", "unnamed") as host:
        assert host.servers.errors == ()
        (notice,) = host.servers.notices
        assert "it said: HTTP 401 Unauthorized" in notice.hints
        assert "s3cret" not in notice.message + "".join(notice.hints)


def test_a_server_that_goes_away_fails_the_call(tmp_path: Path) -> None:
    served = Served(tmp_path / "notes")
    try:
        config = http(served.url, {"Authorization": TOKEN})
        with Host(tmp_path, {"web": config}).ready("web") as host:
            assert host.servers.errors == ()
            call = host.start("web", "sleep", seconds=60)
            wait(served.notes.exists)
            served.end()
            assert isinstance(call.outcome(), Failure)
            after = host.call("web", "add", a=1)
            assert isinstance(after, Failure)
            assert 'the MCP server "web" can\'t be spoken to' in after.message
    finally:
        served.end()


def test_closing_does_not_wait_for_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with answering(lambda connection: None) as url, Host(tmp_path, {"web": http(url)}) as host:
        host.servers.start(["web"])
        wait(lambda: "mcp" in sys.modules)
        before = time.monotonic()
        host.servers.close()
        assert time.monotonic() - before < 0.5


def head(kind: str, more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}\r\n".encode()


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("has refused", head("text/html") + b"<p>hello</p>"),
        ("has refused", head("application/json") + b"not json"),
        ("has refused", head("application/json") + b'{"jsonrpc":"2.0","id":1,"result":{"x":"' + b"x" * 3_000_000),
        ("has refused", head("text/event-stream") + b"data: " + b"x" * 3_000_000 + b"\n\n"),
        ("compressed", head("application/json", "Content-Encoding: gzip\r\n") + b"\x1f\x8b"),
        ("can't be spoken to", b"what?\r\n\r\n"),
        ("has not answered within 1 seconds", b""),
    ],
)
def test_a_server_that_answers_nonsense_has_not_started(tmp_path: Path, what: str, answer: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        if answer:
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)

    with answering(serve) as url:
        config = http(url, startup_timeout_secs=20 if answer else 1)
        with Host(tmp_path, {"web": config}).ready("web") as host:
            (error,) = host.servers.errors
            assert what in error.message


@contextmanager
def answering(serve: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that does `serve` for each request, and leaves the connection open if that does."""
    listening = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []
    stop, stopped = os.pipe()

    def run() -> None:
        while stop not in (ready := select.select([listening, stop], [], [])[0]):
            assert ready
            connection, _ = listening.accept()
            connections.append(connection)
            connection.recv(65536)
            try:
                serve(connection)
            except OSError:
                pass  # it has read enough

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        os.close(stopped)
        thread.join()
        os.close(stop)
        for each in (listening, *connections):
            each.close()
