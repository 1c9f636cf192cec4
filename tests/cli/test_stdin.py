"""What is piped in, from descriptors of every kind."""

import os
import socket
import struct
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.process import Process
from tests.wire.model_server import ModelServer, echo


@pytest.fixture(autouse=True)
def echoing(server: ModelServer) -> None:
    server.then(echo())


def ask(workspace: Path, stdin: int, *words: str) -> Process:
    return Process([*program(), "q", *words], cwd=workspace, stdin=stdin)


def test_a_write_only_stdin_is_none(workspace: Path):
    """What `nohup` gives to a command that was on a terminal."""
    fd = os.open(os.devnull, os.O_WRONLY)
    with ask(workspace, fd, "hello") as running:
        os.close(fd)
        assert running.wait() == "exited 0"
        assert running.out == b"hello\n"


@pytest.mark.parametrize("words", [("about",), ()])
def test_a_pipe_that_does_not_block_is_waited_for(workspace: Path, words):
    """What a Node.js parent hands on."""
    read, write = os.pipe()
    os.set_blocking(read, False)

    def slowly() -> None:
        for piece in (b"one ", b"two ", b"three"):
            os.write(write, piece)
            time.sleep(0.15)
        os.close(write)

    with ask(workspace, read, *words) as running:
        os.close(read)
        threading.Thread(target=slowly).start()
        assert running.wait() == "exited 0"
        assert b"one two three" in running.out


def broken_file() -> int:
    return os.open("/proc/self/mem", os.O_RDONLY)  # nothing is mapped at 0


def broken_socket() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    near.send(b"the beginning")
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    far.close()  # with what was not read: a reset
    return near.detach()


@pytest.mark.parametrize(
    ("broken", "why"), [(broken_file, b"Input/output error"), (broken_socket, b"Connection reset by peer")]
)
def test_what_cannot_be_read_is_said_and_nothing_sent(workspace: Path, server: ModelServer, broken, why):
    if broken is broken_file and not os.path.exists("/proc/self/mem"):
        pytest.skip("no file here that cannot be read")
    fd = broken()
    with ask(workspace, fd, "hello") as running:
        os.close(fd)
        assert running.wait() == "exited 1"
        assert b"stdin cannot be read: " + why in running.err
    assert not server.requests
