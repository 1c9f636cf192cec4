"""`run_command`: output in order, how it ended, and nothing left of it."""

import os
import time
from pathlib import Path

import pytest

from jp.config.sections.tools import Tool as Settings
from jp.tool.outcome import Failure
from tests.support.marked import still_marked
from tests.tool.builtin_running import Started, Tools


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def tools(ws: Path) -> Tools:
    return Tools(ws)


def until(path: Path) -> None:
    limit = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < limit


def test_the_command_is_what_is_shown(tools: Tools) -> None:
    assert tools.shown("run_command", command="echo 'a b' | wc\n") == "echo 'a b' | wc\n"


def test_output_in_the_order_in_which_it_was_written(ws: Path, tools: Tools) -> None:
    command = "echo 1; echo 2 >&2; echo 3; pwd"
    assert tools.ok("run_command", command=command) == f"1\n2\n3\n{ws}\n(exit status 0)\n"
    assert tools.ok("run_command", command="true") == "(exit status 0)\n"


def test_a_status_other_than_zero_is_a_failure(tools: Tools) -> None:
    assert tools.fails("run_command", command="echo no; exit 3") == "no\n(exit status 3)"
    assert tools.fails("run_command", command="kill -9 $$") == "(it was ended by signal 9)"
    message = tools.fails("run_command", command="(")
    assert "yntax" in message
    assert "exit status" in message


def test_a_line_number_is_that_of_the_command(tools: Tools) -> None:
    assert "1: " in tools.fails("run_command", command="no-such-program")


def test_there_is_no_input_and_no_terminal(tools: Tools) -> None:
    assert tools.ok("run_command", command="cat; test -t 0 || echo none") == "none\n(exit status 0)\n"
    assert "(exit status" in tools.fails("run_command", command="cat < /dev/tty")


def test_keys_are_not_inherited(ws: Path) -> None:
    tools = Tools(ws, {**os.environ, "SOME_KEY": "sk-1", "OTHER": "seen"}, hidden=("SOME_KEY",))
    assert tools.ok("run_command", command='echo "<$SOME_KEY>$OTHER"') == "<>seen\n(exit status 0)\n"


def test_a_time_limit(tools: Tools) -> None:
    began = time.monotonic()
    message = tools.fails("run_command", command="echo begun; sleep 100 & sleep 100", timeout_secs=1)
    assert message == "begun\n(it was ended after 1 s)"
    assert time.monotonic() - began < 8
    assert not still_marked(within=5)


def test_the_users_limit_is_the_most(tools: Tools) -> None:
    outcome = tools.run("run_command", {"command": "sleep 100", "timeout_secs": 50}, settings=Settings(timeout_secs=1))
    assert outcome == Failure("(it was ended after 1 s)")


def test_what_is_left_in_the_background_is_ended(tools: Tools) -> None:
    began = time.monotonic()
    shown = tools.ok("run_command", command="sleep 100 & echo done")
    assert shown == "done\n(exit status 0; something was left in the background, and its process group was ended)\n"
    assert time.monotonic() - began < 8
    assert not still_marked(within=5)


@pytest.mark.parametrize("now", [False, True])
def test_cancelled(ws: Path, tools: Tools, now: bool) -> None:
    started = tools.start("run_command", {"command": "trap 'touch ended; exit' TERM; touch begun; sleep 100 & wait"})
    until(ws / "begun")
    assert started.run is not None
    began = time.monotonic()
    started.run.cancel(now=now)
    started.run.cancel(now=now)
    assert time.monotonic() - began < 0.1
    assert started.run.over(10)
    assert (ws / "ended").exists() is not now
    assert not still_marked(within=5)
    assert not started.outcomes


def test_one_that_will_not_end(ws: Path, tools: Tools) -> None:
    started = tools.start("run_command", {"command": "trap '' TERM; touch begun; while :; do sleep 100; done"})
    until(ws / "begun")
    assert started.run is not None
    started.run.cancel()
    assert started.run.over(10)
    assert not still_marked(within=5)


def test_cancelled_before_it_began(ws: Path, tools: Tools) -> None:
    first = tools.start("run_command", {"command": "touch first; sleep 100"})
    until(ws / "first")
    second = Started()
    assert first.run is not None
    invocation = first.run._work.invocation
    run = tools.executor.start(invocation, second.done, after=first.run)
    run.cancel()
    assert run.over(10)
    assert not second.outcomes
    first.run.cancel(now=True)
    assert first.run.over(10)


def test_a_run_after_another(ws: Path, tools: Tools) -> None:
    first = tools.start(
        "run_command", {"command": "trap 'sleep 0.2; echo first >> log; exit' TERM; touch begun; sleep 100 & wait"}
    )
    until(ws / "begun")
    assert first.run is not None
    first.run.cancel()
    second = tools.start("run_command", {"command": "echo second >> log"}, after=first.run)
    second.outcome()
    assert (ws / "log").read_text() == "first\nsecond\n"


def test_much_output(tools: Tools) -> None:
    shown = tools.ok("run_command", command="yes | head -c 3000000; echo end")
    assert len(shown) < 140_000
    assert shown.endswith("y\nend\n(exit status 0)\n")
    (kept,) = tools.spill.iterdir()
    assert kept.read_text() == "y\n" * 1_500_000 + "end\n"
    assert str(kept) in shown


def test_what_can_not_be_started(tools: Tools) -> None:
    assert "null byte" in tools.fails("run_command", command="echo \0")
    assert "sh could not be started" in tools.fails("run_command", command="#" * 3_000_000)
