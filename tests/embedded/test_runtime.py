"""The real runtime with the smallest weights: asked, remembered, stopped, killed."""

import http.client
import importlib.util
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jp.errors import JpError
from jp.interrupt.children import spawn
from jp.llm.embedded import runtime, shelf, slots
from jp.llm.embedded.catalogue import Model, find
from jp.llm.embedded.errors import (
    LoadError,
    NotInstalledError,
    OutOfMemoryError,
    PromptTooLongError,
    RuntimeMissingError,
)
from jp.llm.embedded.runtime import Options, Running, start
from jp.llm.errors import ConnectionLost
from tests.support.marked import marked
from tests.support.process import Process

ROOT = Path(__file__).parents[2]
CONVERSATION = "17800836875"
OPTIONS = Options(threads=1, context=512)


@pytest.fixture
def started() -> Iterator[Callable[..., Running]]:
    """Starts models, and stops them after the test."""
    running: list[Running] = []

    def begin(model: Model, options: Options = OPTIONS) -> Running:
        running.append(start(model, os.environ, options))
        return running[-1]

    yield begin
    for one in running:
        one.stop()
    wait_for(lambda: not marked())


def wait_for(condition: Callable[[], object], deadline: float = 30) -> None:
    from threading import Event

    end = time.monotonic() + deadline
    while not condition():
        assert time.monotonic() < end, f"not within {deadline} s; still running: {marked()}"
        Event().wait(0.02)


def request(running: Running, body: dict[str, Any], *, key: str | None = None) -> tuple[int, bytes]:
    host = running.base_url.split("/")[2]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key or running.api_key}"}
    with closing(http.client.HTTPConnection(host, timeout=60)) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.read()


def ask(running: Running, *words: str) -> dict[str, Any]:
    """Ask with a history of user and assistant messages in turn."""
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(words)]
    status, answer = request(running, {"messages": messages, "max_tokens": 12, "temperature": 0})
    assert status == 200, answer
    return dict(json.loads(answer))


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


@pytest.mark.slow
@pytest.mark.network
def test_two_turns_in_two_processes_with_the_slot_between(smallest: Model, started: Callable[..., Running]) -> None:
    options = OPTIONS._replace(conversation=CONVERSATION)
    question = "Write one sentence about each of the seven colours of the rainbow, please. " * 4
    first = started(smallest, options)
    assert first.restored == 0
    answer = ask(first, question)
    assert text_of(answer).strip()
    saved = first.save()
    assert saved > 60
    first.stop()
    slot = Path(slots.root(os.environ), smallest.name, CONVERSATION + slots.SUFFIX)
    assert slot.stat().st_mode & 0o077 == 0, "others could read the conversation"
    assert slot.parent.stat().st_mode & 0o077 == 0

    second = started(smallest, options)
    assert second.restored == saved
    followed = ask(second, question, text_of(answer), "Go on.")
    assert followed["timings"]["cache_n"] > 60, followed["timings"]
    assert followed["timings"]["prompt_n"] < 30


@pytest.mark.slow
@pytest.mark.network
def test_another_slot_format_is_dropped_and_the_answer_comes(smallest: Model, started: Callable[..., Running]) -> None:
    slot = Path(slots.root(os.environ), smallest.name, CONVERSATION + slots.SUFFIX)
    slot.parent.mkdir(parents=True)
    slot.write_bytes(b"of another version")
    running = started(smallest, OPTIONS._replace(conversation=CONVERSATION))
    assert running.restored == 0
    assert not slot.exists()
    assert ask(running, "Hello")["choices"]


@pytest.mark.slow
@pytest.mark.network
def test_the_server_is_for_us_alone(smallest: Model, started: Callable[..., Running]) -> None:
    running = started(smallest)
    assert running.base_url.startswith("http://127.0.0.1:")
    assert request(running, {"messages": []}, key="wrong")[0] == 401
    (command,) = marked().values()
    environment = Path(f"/proc/{running.pid}/environ").read_bytes() if sys.platform == "linux" else b""
    assert running.api_key not in command
    assert running.api_key.encode() not in environment


@pytest.mark.slow
@pytest.mark.network
def test_a_prompt_that_is_too_long_is_said_with_its_length(smallest: Model, started: Callable[..., Running]) -> None:
    running = started(smallest)
    status, answer = request(running, {"messages": [{"role": "user", "content": "word " * 2000}]})
    assert status == 400
    error = running.explain(JpError(json.loads(answer)["error"]["message"]))
    assert isinstance(error, PromptTooLongError)
    assert error.metadata["context"] == 512
    assert int(str(error.metadata["tokens"])) > 2000


@pytest.mark.slow
@pytest.mark.network
def test_a_killed_process_is_explained(smallest: Model, started: Callable[..., Running]) -> None:
    running = started(smallest)
    assert running.failure() is None
    os.kill(running.pid, signal.SIGKILL)
    error = running.explain(ConnectionLost("the connection broke"))
    assert error.code == "out_of_memory", "it is the kernel that kills so"
    assert running.save() == 0


@pytest.mark.slow
@pytest.mark.network
def test_stopping_ends_the_group_and_is_no_failure(smallest: Model, started: Callable[..., Running]) -> None:
    running = started(smallest)
    assert running.pid in marked()
    running.stop()
    running.stop()
    wait_for(lambda: running.pid not in marked())
    assert running.failure() is None


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("when", ["loading", "running"])
def test_a_killed_parent_leaves_no_orphan(smallest: Model, when: str, no_leftovers: None) -> None:
    argv = [sys.executable, "-m", "tests.embedded.driver", "run", smallest.name]
    with Process(argv, cwd=ROOT) as process:
        if when == "running":
            process.until(b"running")
        else:
            process.until(lambda _: any("embedded.child" in command for command in marked().values()))
        process.kill(signal.SIGKILL)
        process.wait()
        wait_for(lambda: not marked())


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("when", ["loading", "running"])
def test_a_press_ends_both(smallest: Model, when: str, no_leftovers: None) -> None:
    argv = [sys.executable, "-m", "tests.embedded.driver", "run", smallest.name]
    with Process(argv, cwd=ROOT) as process:
        if when == "running":
            process.until(b"running")
        else:
            process.until(lambda _: any("embedded.child" in command for command in marked().values()))
        process.kill(signal.SIGINT)
        assert process.wait() == "killed SIGINT"
        wait_for(lambda: not marked())


@pytest.mark.slow
@pytest.mark.network
def test_too_little_memory_is_said(
    smallest: Model, started: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real runtime under a limit of the address space that weights and context don't fit in."""
    (tmp_path / "sitecustomize.py").write_text(
        "import resource, sys\n"
        "if 'jp.llm.embedded.child' in sys.orig_argv:\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (limit := 400_000_000, limit))\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(OutOfMemoryError, match="smollm2-135m wants about 450 MB of memory"):
        started(smallest, OPTIONS._replace(context=8192))


@pytest.mark.slow
@pytest.mark.network
def test_weights_that_are_none_are_said(kept_weights: Path, started: Callable[..., Running]) -> None:
    model = find("smollm2-135m")
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    with open(place.weights, "wb") as file:
        file.write(b"not weights")
        file.truncate(model.size)
    with pytest.raises(LoadError, match=r"smollm2-135m could not be run: ") as caught:
        started(model)
    assert caught.value.code == "model_load_failed"
    assert "jp model install --verify smollm2-135m" in caught.value.hints[0]


def test_without_weights_nothing_is_started() -> None:
    with pytest.raises(NotInstalledError):
        start(find("tiny"), os.environ)
    assert marked() == {}


@pytest.mark.parametrize("short_of", ["processes", "threads"])
def test_a_system_that_starts_nothing_is_said(
    short_of: str, monkeypatch: pytest.MonkeyPatch, no_leftovers: None
) -> None:
    model = find("tiny")
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    with open(place.weights, "wb") as file:
        file.truncate(model.size)
    monkeypatch.setattr(runtime, "missing_runtime", lambda: None)
    if short_of == "processes":
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert spawn(["true"]).exited.wait(30)  # the thread that starts children is there
    size = threading.stack_size(1 << 47 if short_of == "threads" else 0)  # more than can be addressed
    try:
        with pytest.raises(LoadError, match=r"the process of smollm2-135m could not be started: .+") as caught:
            start(model, os.environ, OPTIONS)
    finally:
        threading.stack_size(size)
    assert caught.value.hints


def test_without_the_runtime_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    model = find("tiny")
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    with open(place.weights, "wb") as file:
        file.truncate(model.size)
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else found(name))
    with pytest.raises(RuntimeMissingError, match="xllamacpp is not installed") as caught:
        start(model, os.environ)
    assert "pip install 'jean-pierre[local]'" in caught.value.hints[0]
    assert marked() == {}
