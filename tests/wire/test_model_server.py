"""The scripted server as a process of its own, as other tests and the benchmarks use it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jp.llm.events import Finish, Message, Reasoning, ToolCallArguments, Usage
from jp.llm.providers.ollama import Ollama
from tests.llm.receiving import Receiver
from tests.wire.model_server import ModelServer, drip, echo, parse_script, text, tool_call

REPOSITORY = Path(__file__).parents[2]


def test_as_a_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.wire.model_server", "--log", str(log)]
    scripts = ["--script", "echo", "--script", '{"kind": "text", "text": "later", "chunk": 0}']
    with subprocess.Popen(
        [*command, *scripts], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        question = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        assert Receiver(url, body=[question]).finish().text == "hello"
        assert [Receiver(url, body=[question]).finish().text for _ in range(2)] == ["later", "later"]
        process.stdin.close()
        assert process.wait(30) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["path"] for line in lines] == ["/v1/chat/completions"] * 3
    assert all(line["accepted_ns"] <= line["at_ns"] for line in lines)
    assert json.loads(lines[0]["body"])["messages"][0]["content"] == "hello"


@pytest.mark.parametrize("kind", ["drip", "echo", "endless", "html", "raw", "silent", "status", "text", "tool_call"])
def test_every_kind_is_a_script(kind: str) -> None:
    assert callable(parse_script(kind))


def test_ollamas_wire() -> None:
    with ModelServer(text("Hi", reasoning="hm"), tool_call("f", {"a": 1})) as server:
        first, second = (Receiver(server.base_url, provider=Ollama).finish() for _ in range(2))
    assert first.error is second.error is None
    assert first.events == [Reasoning("hm"), Message("Hi"), Usage(3, 5), Finish("stop")]
    assert ToolCallArguments(0, '{"a":1}') in second.events


def test_replies_can_be_replaced() -> None:
    with ModelServer(text("one"), text("two")) as server:
        assert Receiver(server.base_url).finish().text == "one"
        server.then(drip(per_second=1000, chunks=3))
        assert Receiver(server.base_url).finish().text.count("[") == 3
        server.then(echo())
        assert Receiver(server.base_url).finish().text == ""
        assert len(server.bodies()) == 3
