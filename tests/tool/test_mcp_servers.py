"""MCP servers from their start to their end, with a server that is made with the official SDK."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jp import log
from jp.config.sections.tools import Tool
from jp.tool.definition import Definition, Invocation
from jp.tool.outcome import Failure, Outcome, Success
from tests.support.marked import MARK
from tests.tool.mcp_servers.host import Call, Host, python, raw, wait


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    tmp = tmp_path_factory.mktemp("mcp")
    environ = {**os.environ, "NOTES": str(tmp / "notes")}
    with Host(tmp, {"py": python(variables=["NOTES"])}, environ).ready("py") as host:
        assert host.servers.errors == ()
        yield host


def notes(host: Host) -> str:
    path = host.root / "notes"
    return path.read_text() if path.exists() else ""


def content(outcome: Outcome) -> str:
    assert isinstance(outcome, Success), outcome
    return outcome.content


def test_tools_are_known_with_what_they_take(host: Host) -> None:
    found = host.servers.find("py", "add")
    assert found is not None
    assert found.description == "Add two numbers."
    assert found.parameters["properties"]["a"]["type"] == "integer"
    assert found.parameters["required"] == ["a"]
    assert found in host.servers.tools()
    assert host.servers.find("py", "nothing") is None
    assert host.servers.find("other", "add") is None


def test_a_tool_is_called(host: Host) -> None:
    assert content(host.call("py", "add", a=2, b=3)) == "5"
    assert content(host.call("py", "add", a=2)) == "3"


def test_the_name_at_the_server_may_be_another_one(host: Host) -> None:
    call = Call()
    tool = Definition("sum", "mcp", Tool(), server="py", remote="add")
    host.tools.start(Invocation(tool, "c", {"a": 1}), call.done)
    assert content(call.outcome()) == "2"


def test_an_answer_is_text_whatever_is_in_it(host: Host) -> None:
    assert content(host.call("py", "mixed")).split("\n") == [
        "a picture:",
        "[image image/png, 1234 bytes]",
        "[audio audio/wav, 1234 bytes]",
        "[resource file:///notes.txt, notes, text/plain]",
        "its text",
    ]


def test_an_error_is_a_failure(host: Host) -> None:
    failed = host.call("py", "add", a="x")
    assert isinstance(failed, Failure)
    assert "should be a valid integer" in failed.message
    unknown = host.call("py", "nothing")
    assert isinstance(unknown, Failure)
    assert "Unknown tool" in unknown.message


def test_the_workspace_is_the_root(host: Host) -> None:
    assert content(host.call("py", "roots")) == f"{host.root.as_uri()} {host.root.name}"


def test_neither_sampling_nor_elicitation_is_offered(host: Host) -> None:
    assert content(host.call("py", "ask")) == "sampling None elicitation None"


def test_half_a_character_in_arguments_is_sent_as_something_else(host: Host) -> None:
    assert content(host.call("py", "long", size=1, char="\ud800")) == "begin?end"


def test_a_long_answer_is_shortened_and_kept(host: Host) -> None:
    shortened = content(host.call("py", "long", size=2_000_000))
    assert len(shortened) < 140_000
    assert shortened.startswith("beginxxx")
    assert shortened.endswith("xxxend")
    (kept,) = [path for path in (host.root / "spill").iterdir() if str(path) in shortened]
    assert kept.read_text() == "begin" + "x" * 2_000_000 + "end"


def test_calls_run_side_by_side(host: Host) -> None:
    slow = host.start("py", "sleep", seconds=60)
    assert content(host.call("py", "add", a=1)) == "2"
    slow.run.cancel()
    assert slow.run.over(10)
    assert slow.outcomes == []


def test_a_cancelled_call_is_told_to_the_server_and_not_waited_for(host: Host) -> None:
    before = notes(host)
    call = host.start("py", "sleep", seconds=60)
    wait(lambda: "asleep" in notes(host)[len(before) :])
    started = time.monotonic()
    call.run.cancel(now=True)
    call.run.cancel()
    assert time.monotonic() - started < 0.1
    assert call.run.over(10)
    wait(lambda: "cancelled" in notes(host)[len(before) :])
    assert call.outcomes == []


def test_a_call_that_takes_too_long_is_a_failure(host: Host) -> None:
    before = notes(host)
    outcome = host.call("py", "sleep", Tool(timeout_secs=1), seconds=60)
    assert outcome == Failure('the MCP server "py" has not answered within 1 seconds')
    wait(lambda: "cancelled" in notes(host)[len(before) :])


def test_a_call_waits_for_an_earlier_one_of_the_same(host: Host) -> None:
    order: list[str] = []

    class Earlier:
        def over(self, timeout: float) -> bool:
            order.append("asked")
            return len(order) > 3

        def cancel(self, *, now: bool = False) -> None: ...

    call = Call()
    tool = Definition("add", "mcp", Tool(), server="py", remote="add")
    host.tools.start(
        Invocation(tool, "c", {"a": 1}), lambda outcome: (order.append("done"), call.done(outcome)), after=Earlier()
    )
    assert content(call.outcome()) == "2"
    assert order == ["asked"] * 4 + ["done"]


def test_what_a_server_says_is_logged(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[bytes] = []
    monkeypatch.setattr(log, "_level", log.INFO)
    monkeypatch.setattr(log, "_write", lines.append)
    assert content(host.call("py", "log", text="hello")) == "logged"
    wait(lambda: any(b'"protocol: hello"' in line for line in lines), "the notification")
    wait(lambda: any(b'"stderr: hello"' in line for line in lines), "the line on stderr")
    assert all(b'"target": "mcp"' in line for line in lines)


@pytest.mark.req("092-160")
def test_nobody_touches_the_signals(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in signal.valid_signals()]
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    with Host(tmp_path, {"r": raw("plain")}).ready("r") as host:
        assert isinstance(host.call("r", "do"), Success)
    assert [signal.getsignal(number) for number in signal.valid_signals()] == before
    assert signal.set_wakeup_fd(descriptor) == descriptor


def test_nothing_is_imported_or_started_before_it_is_wanted(tmp_path: Path) -> None:
    """Also: the SDK is imported on the servers' thread, and `start` does not wait for it."""
    code = f"""
import os, sys, threading, time
from tests.tool.mcp_servers.host import Host, raw
from pathlib import Path
host = Host(Path({str(tmp_path)!r}), {{"r": raw("plain")}})
host.servers.start([])
assert threading.active_count() == 1
heavy = ("mcp", "mcp_types", "pydantic", "asyncio", "anyio", "httpx2", "logging", "shutil", "hashlib")
found = [name for name in heavy if name in sys.modules]
assert not found, found
before = time.monotonic()
host.servers.start(["r"])
assert time.monotonic() - before < 0.1, "start waits"
assert host.servers.pending == ("r",)
host.ready("r")
assert "mcp" in sys.modules
assert not host.servers.errors, host.servers.errors
host.servers.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_servers_start_side_by_side_and_later_ones_are_added(tmp_path: Path) -> None:
    configs = {"a": raw("plain"), "b": raw("toolless"), "c": raw("old"), "slow": raw("silent", secs=30)}
    with Host(tmp_path, configs) as host:
        host.servers.start(["slow", "a"])
        wait(lambda: host.servers.pending == ("slow",))
        host.servers.start(["b", "a", "c", "b"])
        wait(lambda: host.servers.pending == ("slow",))
        assert sorted((event.server, event.state) for event in host.events) == [(name, "ready") for name in "abc"]
        assert [tool.server for tool in host.servers.tools()] == ["a", "c"]


def test_a_call_of_a_server_that_still_starts_waits_for_it(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("plain"), "dies": raw("dies")}) as host:
        host.servers.start(["r", "dies"])
        calls = [host.start("r", "do"), host.start("dies", "do")]
        assert isinstance(calls[0].outcome(), Success)
        failed = calls[1].outcome()
        assert isinstance(failed, Failure)
        assert "status 3" in failed.message


def test_nothing_is_called_without_servers(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("plain")}) as host:
        assert isinstance(host.call("r", "do"), Failure)
        host.ready("r")
        assert isinstance(host.call("other", "do"), Failure)
        assert host.tools.formats(Definition("do", "mcp", Tool())) is False
    assert isinstance(host.call("r", "do"), Failure)


def test_every_server_ends_when_its_stdin_is_closed(
    tmp_path: Path, no_leftovers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jp.tool.mcp.connection.GRACE_SECS", 30)  # on a busy machine Python takes its time
    monkeypatch.setattr("jp.tool.mcp.servers.END_SECS", 30)
    configs = {"py": python(variables=[MARK]), "raw": raw("plain", variables=[MARK])}
    with Host(tmp_path, configs).ready(*configs) as host:
        children = [server.child for name in configs if (server := host.servers.get(name)) is not None]
    assert [child.returncode for child in children if child is not None] == [0, 0]


def test_closing_does_not_wait_for_a_stubborn_server_which_is_killed(tmp_path: Path, no_leftovers: None) -> None:
    with Host(tmp_path, {"r": raw("stubborn", variables=[MARK])}).ready("r") as host:
        before = time.monotonic()
        host.servers.close()
        assert time.monotonic() - before < 0.5
        server = host.servers.get("r")
        assert server is not None
        assert server.child is not None
    assert server.child.exited.wait(10)
    assert server.child.returncode == -signal.SIGKILL


def test_closing_while_servers_start_leaves_none(tmp_path: Path, no_leftovers: None) -> None:
    configs = {"a": raw("silent", variables=[MARK]), "b": python(variables=[MARK])}
    with Host(tmp_path, configs) as host:
        host.servers.start(configs)
        before = time.monotonic()
        host.servers.close()
        assert time.monotonic() - before < 0.5
        children = [server.child for name in configs if (server := host.servers.get(name)) is not None]
    assert all(child is None or child.exited.wait(10) for child in children)
    assert host.events == []


@pytest.mark.req("092-11")
def test_the_end_of_the_process_leaves_no_server(tmp_path: Path, no_leftovers: None) -> None:
    code = f"""
from pathlib import Path
from tests.support.marked import MARK
from tests.tool.mcp_servers.host import Host, python, raw
from jp.interrupt import end
host = Host(Path({str(tmp_path)!r}), {{"r": raw("stubborn", variables=[MARK]), "p": python(variables=[MARK])}})
host.servers.start(["r", "p"])
host.ready("r")
host.start("r", "do")
end.end_now(5)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (5, "")


def test_a_broken_installation_is_an_error_of_every_server(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('it is broken')\n")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from pathlib import Path
from tests.support.marked import MARK
from tests.tool.mcp_servers.host import Host, raw
host = Host(Path({str(tmp_path)!r}), {{"r": raw("plain"), "s": raw("plain"), "later": raw("plain")}})
host.servers.start(["r", "s"])
early = host.start("r", "do")
host.ready()
host.ready("later")
print(*[error.message for error in host.servers.errors], sep="\\n")
print(early.outcome())
print(host.call("r", "do"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.count("it is broken") == 2, done.stderr
    assert done.stdout.count("as those before it") == 1
    assert done.stdout.count("Failure(message='no MCP server is running'") == 2
