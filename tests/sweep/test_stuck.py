"""The real program, stuck for ever at a point: in start-up, in its prompt, in its source, in a gap, in its teardown."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.points import argv, at
from tests.support.terminal import Terminal, session
from tests.sweep.expected import GRACEFUL, TERMINATING
from tests.sweep.person import QUERY, Person
from tests.sweep.place import Place, server
from tests.wire.model_server import ModelServer

# Where it is stuck, and whether a graceful shutdown can get past it.
STUCK = {
    "jp.config.load:load": False,
    "jp.prompt.inline:edit": False,
    "jp.llm.exchange:Exchange.send": True,
    "jp.storage.journal:TurnWriter.fold": False,
    "jp.cli.context:Context.close": False,
}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with server() as running:
        yield running


def stuck(point: str, place: Place, **env: str) -> Terminal:
    """The program, there; whoever is at the terminal does what leads there."""
    command = argv(at(point, when="hang"), args=["query"], reached=place.reached)
    terminal = Terminal(command, cwd=place.workspace, env=place.env | env)
    person = Person(terminal, "")
    end = time.monotonic() + 20
    while not place.reached.exists():
        assert time.monotonic() < end, terminal.screen
        person.look()
        terminal.pump(0.01)
    return terminal


def ended_well(terminal: Terminal, place: Place, *, terminated: bool | None) -> None:
    """By the press, with the messages in their order, the terminal as it was, the words kept, and nobody left.

    `terminated`: whether it had to be terminated; None where that is a race, which either may win.
    """
    assert terminal.wait() == "killed SIGINT"
    shown = terminal.screen.contents
    assert GRACEFUL in shown
    assert terminated is None or (TERMINATING in shown) == terminated
    assert TERMINATING not in shown.partition(GRACEFUL)[0]
    assert "Traceback" not in shown
    assert terminal.modes() == terminal.modes_before
    assert terminal.screen.mode(25)
    assert not terminal.screen.mode(2004)
    terminal.until(lambda _: not session(terminal.leader), 5)
    if QUERY in shown:
        assert place.jp("c", "ls")[0] == "exited 0"
        assert any(QUERY.encode() in path.read_bytes() for path in place.files() if path.is_file())


@pytest.mark.req("092-12", "092-17", "092-18", "092-122", "092-124")
@pytest.mark.parametrize("point", STUCK)
def test_three_presses_end_it(point: str, model: ModelServer, tmp_path: Path) -> None:
    place = Place(tmp_path / "run", model.base_url)
    with stuck(point, place) as terminal:
        for _ in range(3):
            if terminal.process.poll() is None:
                terminal.kill()
            end = time.monotonic() + 0.06
            while (left := end - time.monotonic()) > 0:
                terminal.pump(left)
        ended_well(terminal, place, terminated=None if STUCK[point] else True)


@pytest.mark.req("092-101", "092-102", "092-122")
@pytest.mark.parametrize("point", [point for point in STUCK if point != "jp.config.load:load"])
def test_the_deadline_ends_it(point: str, model: ModelServer, tmp_path: Path) -> None:
    place = Place(tmp_path / "run", model.base_url)
    with stuck(point, place, JP_INTERRUPT_SHUTDOWN_TIMEOUT_SECS="1") as terminal:
        began = time.monotonic()
        while GRACEFUL not in terminal.screen.contents and terminal.process.poll() is None:
            os.kill(terminal.pid, 2)
            end = time.monotonic() + 0.3
            while time.monotonic() < end and GRACEFUL not in terminal.screen.contents:
                terminal.pump(0.01)
        # The wait for a stuck prompt is given up when the deadline comes: then main ends, if the watchdog is not first.
        ended_well(terminal, place, terminated=None if point == "jp.prompt.inline:edit" else not STUCK[point])
        assert time.monotonic() - began < 5
