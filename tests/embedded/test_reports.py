"""What the model's process says, on a pipe of its own: whatever comes, whoever waits gets exactly one answer."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from jp.interrupt.children import PIPE, Child, spawn
from jp.llm.embedded.catalogue import find
from jp.llm.embedded.runtime import Failed, Ready, Running
from tests.support.process import Process

ROOT = Path(__file__).parents[2]
READY = json.dumps({"ready": {"port": 4711, "restored": 7, "seconds": 0.5}}).encode()


@pytest.fixture
def child() -> Iterator[Child]:
    """A process that lives as long as its stdin is open."""
    started = spawn([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=PIPE)
    yield started
    started.kill_group(signal.SIGKILL)
    assert started.exited.wait(30)


def listen(child: Child, said: bytes) -> tuple[Running, list[Ready | Failed]]:
    """All that is posted when `said` is what comes before the end of the reports."""
    assert child.stdin is not None
    running = Running(find("tiny"), child, child.stdin, "key", 512)
    reader, writer = os.pipe()
    posts: SimpleQueue[Ready | Failed] = SimpleQueue()
    thread = threading.Thread(target=running._listen, args=(reader, posts.put), daemon=True)
    thread.start()
    os.write(writer, said)
    os.close(writer)
    thread.join(30)
    assert not thread.is_alive()
    return running, [posts.get() for _ in range(posts.qsize())]


@pytest.mark.parametrize(
    "said",
    [
        b"ggml: a line of the runtime's own\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"5\n",
        b'{"ready": {}}\n',
        b'{"ready": 5}\n',
        b'{"ready": {"port": Infinity, "restored": 0, "seconds": 0}}\n',
        b"[" * 30_000 + b"\n",
    ],
)
def test_a_report_that_nobody_understands_is_a_failure(child: Child, said: bytes) -> None:
    running, posts = listen(child, said)
    (failed,) = posts
    assert isinstance(failed, Failed)
    assert failed.error.code == "model_load_failed"
    assert "its process says what nobody understands" in failed.error.message
    assert child.exited.is_set(), "a process that nobody understands runs on"
    running.stop()


def test_the_end_without_a_word_is_a_failure(child: Child) -> None:
    child.kill_group(signal.SIGTERM)
    running, posts = listen(child, b"")
    assert [type(post) for post in posts] == [Failed]
    running.stop()


def test_ready_is_posted_once(child: Child) -> None:
    running, posts = listen(child, READY + b"\n" + READY + b"\nnonsense\n")
    assert [type(post) for post in posts] == [Ready]
    assert (running.base_url, running.restored, running.seconds) == ("http://127.0.0.1:4711/v1", 7, 0.5)
    running.stop()


def test_a_shutdown_ends_the_wait_for_a_save(no_leftovers: None) -> None:
    with Process([sys.executable, "-m", "tests.embedded.driver", "save"], cwd=ROOT).until(b"saving") as process:
        process.kill(signal.SIGINT)
        assert process.wait() == "killed SIGINT"
        assert process.out == b"saving\nsaved 0\nshutdown PRESS\n", "the deadline of the shutdown ended it"


def test_nothing_wakes_while_the_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller looks at its checkpoint when something has come, and not by the clock."""
    from jp.llm.embedded import work

    looks: list[None] = []
    monkeypatch.setattr(work, "checkpoint", lambda: looks.append(None))
    silence = threading.Event()

    def silent(stop: work.Stop, post: object) -> str:
        silence.wait(0.5)  # longer than a tick would be
        return "done"

    assert work.run(silent, lambda event: None) == "done"
    assert len(looks) == 1
