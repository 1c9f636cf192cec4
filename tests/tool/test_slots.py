"""How many runs go on at once, of whatever kind."""

import threading
import time
from pathlib import Path

from jp.tool import local
from jp.tool.builtin.executor import AT_ONCE
from jp.tool.builtin.work import SEARCHES
from jp.tool.definition import FORMAT
from jp.tool.outcome import Success
from jp.tool.slots import Slots
from tests.tool.builtin_running import Tools
from tests.tool.running import Runner, shell

DEADLINE = 30


def until(condition, within: float = DEADLINE) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def test_in_order_and_no_more_than_there_is_room_for() -> None:
    begun: list[int] = []
    slots = Slots(2)
    waiting = {n: (lambda n=n: begun.append(n)) for n in range(6)}
    for begin in waiting.values():
        slots.take(begin)
    assert begun == [0, 1]
    slots.leave()
    assert begun == [0, 1, 2]
    assert slots.withdraw(waiting[3])
    assert not slots.withdraw(waiting[3])
    assert not slots.withdraw(waiting[0])
    slots.take(lambda: begun.append(9), first=True)
    for _ in range(6):
        slots.leave()
    assert begun == [0, 1, 2, 9, 4, 5]
    slots.take(lambda: begun.append(10))
    assert begun[-1] == 10


def test_built_in_tools(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    tools = Tools(tmp_path / "ws")
    command = "echo >> begun; while [ ! -e go ]; do sleep 0.05; done"
    started = [tools.start("run_command", {"command": command}) for _ in range(AT_ONCE + 4)]
    begun = tmp_path / "ws" / "begun"
    until(lambda: begun.exists() and begun.read_text().count("\n") == AT_ONCE)
    # What is to be approved is shown all the same.
    assert tools.shown("run_command", command="x") == "x"
    last = started.pop()
    assert last.run is not None
    last.run.cancel()
    assert last.run.over(1)
    assert begun.read_text().count("\n") == AT_ONCE
    (tmp_path / "ws" / "go").touch()
    assert all(isinstance(each.outcome(), Success) for each in started)
    assert begun.read_text().count("\n") == AT_ONCE + 3
    assert not last.outcomes


def test_searches(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    tools = Tools(tmp_path / "ws")
    (tmp_path / "ws" / "slow").write_text("a" * 40 + "!\n")
    started = [tools.start("grep_files", {"pattern": "(a+)+$"}) for _ in range(SEARCHES + 2)]
    place = tools.executor._place
    until(lambda: place.searches._value == 0)
    last = started[-1]
    assert last.run is not None
    last.run.cancel()
    assert last.run.over(5)
    for each in started:
        assert each.run is not None
        each.run.cancel()
    assert all(each.run and each.run.over(DEADLINE) for each in started)
    assert place.searches._value == SEARCHES


def test_local_tools(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(local, "AT_ONCE", 3)
    runner = Runner(tmp_path)
    command = shell("echo >> begun; while [ ! -e go ]; do sleep 0.05; done")
    started = [runner.start(command) for _ in range(6)]
    begun = tmp_path / "begun"
    until(lambda: begun.exists() and begun.read_text().count("\n") == 3)
    last = started.pop()
    last.run.cancel()
    assert last.run.over(1)
    (tmp_path / "go").touch()
    assert all(isinstance(each.outcome(), Success) for each in started)
    assert begun.read_text().count("\n") == 5
    assert not last.outcomes


def test_what_shows_a_call_goes_first(tmp_path: Path, monkeypatch) -> None:
    from jp.config.sections.tools import ToolStyle

    monkeypatch.setattr(local, "AT_ONCE", 1)
    runner = Runner(tmp_path)
    first = runner.start(shell("while [ ! -e go ]; do sleep 0.05; done"))
    second = runner.start(shell("cat shown"))
    shown = runner.start("true", action=FORMAT, style=ToolStyle(parameters=shell("echo x > shown")))
    (tmp_path / "go").touch()
    assert isinstance(first.outcome(), Success)
    assert isinstance(shown.outcome(), Success)
    assert second.outcome() == Success("x\n")


def test_fifty_short_calls_do_not_wait_long(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    runner.content("true")
    began = time.monotonic()
    started = [runner.start(shell("sleep 0.01")) for _ in range(50)]
    assert all(isinstance(each.outcome(), Success) for each in started)
    assert time.monotonic() - began < 5  # 0.1 s on a machine that does nothing else
