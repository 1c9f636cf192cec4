"""Presses at awkward moments: right behind a key of a menu, and into a burst on a slow terminal."""

import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.terminal import ESC, Terminal
from tests.wire.model_server import ModelServer, text

DELAYS = [0.006 * number for number in range(50)]
# Where each delay is a run of its own; `make sweep` makes all of them.
FEW = DELAYS if os.environ.get("JP_TEST_ALL_DELAYS") else DELAYS[::7]
MENU = b"Interrupted:"
STREAMING = "[c,r,s,a,?]?"


def later(terminal: Terminal, seconds: float) -> None:
    """Let time pass, as exactly as can be."""
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0:
        terminal.pump(min(left, 0.002))


def drawn(terminal: Terminal, before: int) -> None:
    """Wait for a menu that was drawn since there were `before`, and is still there."""
    terminal.until(lambda screen: terminal.output.count(MENU) > before and "Interrupted:" in screen.text, alive=True)


@pytest.fixture
def endless(server: ModelServer) -> ModelServer:
    server.then(text("word " * 20_000, chunk=5, delay_ms=5))
    return server


@pytest.fixture
def home(hermetic: Path) -> Path:
    """Where `jp init` asks whether it is meant."""
    return hermetic


def query(workspace: Path, *args: str) -> Terminal:
    return Terminal([*program(), "q", *args, "hi"], cwd=workspace, env={"JP_SESSION": "test"})


@pytest.mark.req("092-23", "092-32")
@pytest.mark.parametrize("key", [b"c", ESC], ids=["c", "escape"])
def test_a_press_behind_continue_is_a_first_one(endless, workspace: Path, key: bytes):
    with query(workspace) as terminal:
        terminal.until("word word")
        terminal.press()
        drawn(terminal, 0)
        for delay in DELAYS:
            before = terminal.output.count(MENU)
            terminal.send(key)
            later(terminal, delay)
            terminal.press()
            drawn(terminal, before)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert "gracefully shutting down…" in terminal.screen.contents


@pytest.mark.req("092-96", "088-59", "092-99")
def test_a_press_behind_reply_is_the_replys(endless, workspace: Path):
    with query(workspace) as terminal:
        terminal.until("word word")
        terminal.press()
        drawn(terminal, 0)
        for delay in DELAYS:
            before = terminal.output.count(MENU)
            terminal.send(b"r")
            later(terminal, delay)
            terminal.press()
            drawn(terminal, before)
        terminal.send(b"c")
        terminal.until(lambda screen: "Interrupted:" not in screen)
        terminal.press()
        terminal.until(STREAMING)


@pytest.mark.req("092-79", "092-81")
def test_a_press_behind_back_opens_the_menu_again(home: Path):
    with Terminal([*program(), "init"], cwd=home) as terminal:
        terminal.until(lambda screen: screen.text.strip())
        terminal.press()
        drawn(terminal, 0)
        for delay in DELAYS:
            before = terminal.output.count(MENU)
            terminal.send(b"b")
            later(terminal, delay)
            terminal.press()
            drawn(terminal, before)
        terminal.press()
        assert terminal.wait() == "killed SIGINT"


@pytest.mark.req("092-13", "092-43", "092-44", "092-67")
@pytest.mark.parametrize(("key", "without"), [(b"s", "exited 0"), (b"a", "exited 1")], ids=["s", "a"])
def test_a_press_behind_a_key_that_ends_is_the_second(endless, workspace: Path, key: bytes, without: str):
    for delay in FEW:
        with query(workspace) as terminal:
            terminal.until("word word")
            terminal.press()
            drawn(terminal, 0)
            terminal.send(key)
            later(terminal, delay)
            terminal.press()
            ended = terminal.wait()
            # Too late, or a second press; nothing between.
            assert ended in (without, "killed SIGINT")
            assert ("gracefully shutting down…" in terminal.screen.contents) is (ended == "killed SIGINT")
            assert terminal.output.count(MENU) == 1
            assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-13", "092-67")
def test_a_press_behind_quit_is_the_third(home: Path):
    for delay in FEW:
        with Terminal([*program(), "init"], cwd=home) as terminal:
            terminal.until(lambda screen: screen.text.strip())
            terminal.press()
            drawn(terminal, 0)
            terminal.send(b"q")
            later(terminal, delay)
            terminal.press()
            assert terminal.wait() == "killed SIGINT"
            assert "gracefully shutting down…" in terminal.screen.contents
            assert terminal.output.count(MENU) == 1
            assert terminal.modes() == terminal.modes_before


BURST = "".join(f"- line {number} of a **long** answer, which comes at once\n" for number in range(600))


def slowly(terminal: Terminal, size: int) -> Iterator[None]:
    """Read the terminal in small pieces, with pauses, until the program has ended."""
    while terminal.process.poll() is None:
        later_than = time.perf_counter() + 0.002
        ready = os.read(terminal.master, size) if _readable(terminal.master) else b""
        terminal.output += ready
        terminal._emulator.feed(ready)
        yield
        while time.perf_counter() < later_than:
            time.sleep(0.0005)


def _readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0.01)[0])


@pytest.mark.req("092-33", "092-40", "092-126")
@pytest.mark.parametrize("size", [61, 97])
def test_a_burst_on_a_slow_terminal_loses_nothing_to_presses(workspace: Path, server: ModelServer, size: int):
    seen = []
    for presses in (0, 4):
        server.requests.clear()
        server.then(text(BURST, chunk=4096))
        with Terminal([*program(), "q", "-n", "hi"], cwd=workspace, rows=30) as terminal:
            while not server.requests:
                time.sleep(0.001)
            pressed = answered = 0
            for count, _ in enumerate(slowly(terminal, size)):
                if terminal.output.count(MENU) > answered and "Interrupted:" in terminal.screen.text:
                    answered = terminal.output.count(MENU)
                    terminal.send(b"c")
                elif b"line 400 of" in terminal.output:
                    continue  # too late for an answer
                elif answered == pressed < presses and count % 40 == 20 and "Interrupted:" not in terminal.screen.text:
                    pressed += 1
                    terminal.press()
            assert terminal.wait() == "exited 0"
            assert answered == pressed >= min(presses, 2)
            seen.append(terminal.screen.contents)
    assert seen[0] == seen[1]
