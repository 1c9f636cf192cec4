"""MCP servers that do something wrong, each in its own way: nothing hangs, and what happened is said."""

import json
import time
from pathlib import Path

import pytest

from jp import log
from jp.config.sections.tools import Tool
from jp.tool.outcome import Failure, Success
from tests.support.marked import MARK
from tests.tool.mcp_servers.host import Host, raw, wait

ANSWERS = [
    ("garbage", Success('{"name": "do", "arguments": {}}')),
    ("noise", Success('{"name": "do", "arguments": {}}')),
    ("endless", Success('{"name": "do", "arguments": {}}')),
    ("later", Success('{"name": "do", "arguments": {}}')),
    ("twice", Success("first")),
    ("surrogate", Success("a?b")),
    ("invalid", Success("a\ufffdb")),
    ("pattern", Success("ok")),
    ("data", Success('{"a":[1,null,"ü"]}')),
    ("empty", Failure("the tool has failed and does not say why")),
    ("error", Failure("no such thing")),
    ("noresult", Failure("the MCP server has answered with no message")),
]


@pytest.mark.parametrize(("mode", "expected"), ANSWERS, ids=[mode for mode, _ in ANSWERS])
def test_a_server_is_borne_with(tmp_path: Path, mode: str, expected: object) -> None:
    with Host(tmp_path, {"r": raw(mode)}).ready("r") as host:
        assert host.servers.errors == ()
        assert [tool.name for tool in host.servers.tools()] == ["do"]
        assert host.call("r", "do") == expected
        assert host.call("r", "do") == expected  # it goes on


def test_an_answer_that_makes_no_sense_is_a_failure(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("wrong")}).ready("r") as host:
        outcome = host.call("r", "do")
        assert isinstance(outcome, Failure)
        assert outcome.message == 'the answer of the MCP server "r" makes no sense'
        assert "should be a valid list" in outcome.trace[0]


ENDS = [
    ("exits", "has exited with status 7"),
    ("killed", "was killed by SIGKILL"),
    ("closes", "has closed its output"),
    ("leaves", "has exited with status 4"),
    ("asks", "asks more than it listens to"),
]


@pytest.mark.parametrize(("mode", "how"), ENDS, ids=[mode for mode, _ in ENDS])
def test_a_server_that_ends_during_a_call_fails_it(tmp_path: Path, no_leftovers: None, mode: str, how: str) -> None:
    with Host(tmp_path, {"r": raw(mode, variables=[MARK])}).ready("r") as host:
        assert host.call("r", "do") == Failure(f'the MCP server "r" {how}')
        wait(lambda: [event.state for event in host.events] == ["ready", "gone"])
        assert host.servers.errors == ()  # that is for those that have not started
        assert host.servers.find("r", "do") is not None
        before = time.monotonic()
        assert host.call("r", "do") == Failure(f'the MCP server "r" {how}')
        assert time.monotonic() - before < 1


def test_an_answer_of_fifty_megabytes_is_refused(tmp_path: Path) -> None:
    for mode in ("big", "bigid"):
        with Host(tmp_path, {"r": raw(mode, "50000000")}).ready("r") as host:
            assert host.call("r", "do") == Failure("the MCP server has answered with a message of more than 8 MiB")


def test_an_answer_of_many_values_is_text(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("many", "5000000")}).ready("r") as host:
        outcome = host.call("r", "do")
        assert isinstance(outcome, Success)
        assert outcome.content.startswith('{"a": [[1], [1]')
        assert len(outcome.content) < 140_000


def test_a_message_without_an_id_that_is_too_long_ends_the_connection(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("bignote", "9000000")}).ready("r") as host:
        assert host.call("r", "do") == Failure('the MCP server "r" has sent a message of more than 8 MiB')


def test_a_server_that_does_not_listen_is_abandoned(tmp_path: Path) -> None:
    """Its pipe is full, so it can't even be told that the call is cancelled."""
    with Host(tmp_path, {"r": raw("deaf")}).ready("r") as host:
        first = host.start("r", "do")
        filler = host.start("r", "do", Tool(timeout_secs=1), text="x" * 1_000_000)
        assert isinstance(filler.outcome(), Failure)
        before = time.monotonic()
        first.run.cancel()
        assert time.monotonic() - before < 0.1
    assert first.outcomes == []


def test_more_tools_than_anybody_means(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("crowd", "2000")}).ready("r") as host:
        assert [tool.name for tool in host.servers.tools()] == [f"do{number}" for number in range(500)]
        assert host.servers.left_out == (
            'the MCP server "r" has more than 500 tools, of which the first 500 are taken',
        )
        assert host.call("r", "do7") == Success('{"name": "do7", "arguments": {}}')


def test_names_that_are_none(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("names")}).ready("r") as host:
        assert [tool.name for tool in host.servers.tools()] == ["do"]
        (said,) = host.servers.left_out
        assert said == (
            'the MCP server "r" has 4 tools without a usable name: too long, empty, or with control characters in it; '
            "left out"
        )


def test_pages_of_tools_are_read_to_the_end(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("pages")}).ready("r") as host:
        assert [tool.name for tool in host.servers.tools()] == ["do0", "do1", "do2"]


def test_a_server_that_has_given_up_the_old_handshake_is_spoken_to_in_the_new_way(tmp_path: Path) -> None:
    with Host(tmp_path, {"r": raw("modern")}).ready("r") as host:
        assert host.servers.errors == ()
        outcome = host.call("r", "do", a=1)
        assert isinstance(outcome, Success)
        sent = json.loads(outcome.content)
        assert sent["arguments"] == {"a": 1}
        assert sent["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


def test_a_cancellation_is_a_notification_with_the_id_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    monkeypatch.setenv("NOTES", str(notes))
    with Host(tmp_path, {"r": raw("slow", variables=["NOTES"])}).ready("r") as host:
        call = host.start("r", "do")
        wait(lambda: notes.exists() and '"called"' in notes.read_text())
        call.run.cancel()
        wait(lambda: "notifications/cancelled" in notes.read_text())
    said = [json.loads(line) for line in notes.read_text().splitlines()]
    called = next(each["called"] for each in said if "called" in each)
    (cancelled,) = [each["params"] for each in said if each.get("method") == "notifications/cancelled"]
    assert cancelled["requestId"] == called


def test_garbage_and_noise_are_logged_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[bytes] = []
    monkeypatch.setattr(log, "_level", log.INFO)
    monkeypatch.setattr(log, "_write", lines.append)
    with Host(tmp_path, {"r": raw("garbage")}).ready("r"):
        wait(lambda: any(b"Server starting..." in line for line in lines))
    with Host(tmp_path, {"r": raw("noise")}).ready("r"):
        wait(lambda: any(b"the rest is not logged" in line for line in lines))
    assert max(map(len, lines)) < 2500
    assert len(lines) < 1100
