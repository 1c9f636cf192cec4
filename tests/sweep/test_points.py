"""The points themselves: they are reached when they say, and the program imports what it imports without them."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.points import argv, at
from tests.support.process import Process


def test_a_signal_arrives_at_the_point(tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    with Process(argv(at("jp.cli.parse:parse", signals=["QUIT"]), args=["--help"], reached=reached)) as running:
        assert running.wait() == "killed SIGQUIT"
        assert running.out == b""
    assert reached.read_text() == "jp.cli.parse:parse\n"


def test_behind_the_function_it_has_done_its_work(tmp_path: Path) -> None:
    with Process(argv(at("jp.cli.main:_print", signals=["QUIT"], when="after"), args=["--help"])) as running:
        assert running.wait() == "killed SIGQUIT"
        assert b"usage: jp" in running.out


def test_the_nth_call_is_meant(tmp_path: Path) -> None:
    for call, status in ((1, "killed SIGQUIT"), (2, "exited 0")):
        point = at("jp.cli.parse:parse", signals=["QUIT"], call=call)
        with Process(argv(point, args=["--help"])) as running:
            assert running.wait() == status


def test_stopped_there_it_takes_what_is_sent_and_goes_on() -> None:
    with Process(argv(at("jp.cli.parse:parse", when="stop"), args=["--help"])) as running:
        os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOWAIT)
        assert not running.out
        running.kill(signal.SIGTERM)
        running.kill(signal.SIGCONT)
        assert running.wait() == "killed SIGTERM"
        assert "gracefully shutting down…\n".encode() in running.err


def test_several_signals_at_several_points() -> None:
    points = (
        at("jp.interrupt.router:Router.arm", signals=["CONT", "WINCH"], when="after"),
        at("jp.interrupt.end:finish", signals=["TERM", "TERM"], delay_ms=1),
    )
    with Process(argv(*points, args=["--version"])) as running:
        assert running.wait() == "killed SIGTERM"
        assert running.out.startswith(b"jp ")


def test_a_point_that_is_not_there_is_said() -> None:
    with Process(argv(at("jp.cli.parse:nowhere", signals=["TERM"]), args=["--help"])) as running:
        assert running.wait() == "exited 1"
        assert b"nowhere" in running.err
    with pytest.raises(ValueError, match="sometimes"):
        at("jp.cli.parse:parse", when="sometimes")


def test_a_module_comes_no_earlier_for_its_points() -> None:
    """`--version` needs no command line: a point in it changes nothing."""
    with Process(argv(at("jp.cli.parse:parse", signals=["TERM"]), args=["--version"])) as running:
        assert running.wait() == "exited 0"
