"""Style keys whose effect is a matter of time or of the screen."""

import os
import time
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.terminal import Terminal, shut_down
from tests.wire.model_server import ModelServer, silent, text

WORDS = "word " * 60


def seconds_for_the_first_piece(workspace: Path, *cfg: str) -> float:
    """How long eleven words that came at once take to be shown, while more is to come."""
    args = [word for each in cfg for word in ("-c", each)]
    with Terminal([*program(), "q", "-n", *args, "hi"], cwd=workspace) as terminal:
        terminal.until("word")
        began = time.monotonic()
        terminal.until(lambda screen: screen.text.count("word") >= 11)
        taken = time.monotonic() - began
        shut_down(terminal)
        terminal.wait()
    return taken


def test_the_typewriter_takes_its_time_up_to_its_bound(workspace: Path, server: ModelServer):
    server.then(text(WORDS, chunk=60, delay_ms=2500))
    slow = "style.typewriter.text_delay=25ms"
    bounded = seconds_for_the_first_piece(workspace, slow, "style.typewriter.max_latency=200ms")
    loose = seconds_for_the_first_piece(workspace, slow, "style.typewriter.max_latency=5s")
    assert loose > 1
    assert bounded < loose / 2


def test_without_a_bound_the_typewriter_is_off(workspace: Path, server: ModelServer):
    server.then(text(WORDS, chunk=60, delay_ms=2500))
    assert seconds_for_the_first_piece(workspace, "style.typewriter.text_delay=1s") < 2


@pytest.mark.parametrize(
    ("setting", "shown"), [("style.streaming.progress.show=true", True), ("style.streaming.progress.show=false", False)]
)
def test_the_waiting_indicator_is_shown_as_configured(workspace: Path, server: ModelServer, setting, shown):
    server.then(silent())
    with Terminal([*program(), "q", "-c", setting, "hi"], cwd=workspace) as terminal:
        terminal.until(lambda _: len(server.requests) > 0)
        if shown:
            terminal.until("Waiting…")
        shut_down(terminal)
        terminal.wait()
        assert ("Waiting" in terminal.output.decode(errors="replace")) is shown


def test_code_is_numbered_as_configured(workspace: Path, server: ModelServer):
    server.then(text("```python\nx = 1\ny = 2\n```\n"))
    with Terminal([*program(), "q", "-c", "style.code.line_numbers=true", "hi"], cwd=workspace) as terminal:
        assert terminal.wait() == "exited 0"
        assert any(line.split()[:2] == ["2", "y"] for line in terminal.screen.lines)


@pytest.mark.req("092-108")
@pytest.mark.parametrize("show", [True, False])
def test_the_countdown_is_shown_as_configured(workspace: Path, server: ModelServer, show):
    server.then(text("x" * 300_000, chunk=50_000), silent())
    read, write = os.pipe()
    settings = ["interrupt.shutdown.delay_secs=0", "interrupt.shutdown.timeout_secs=2"]
    settings += [] if show else ["interrupt.shutdown.show=false"]
    args = [word for each in settings for word in ("-c", each)]
    try:
        with Terminal([*program(), "q", *args, "hi"], cwd=workspace, stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            terminal.until(lambda _: _is_full(read))
            shut_down(terminal)
            assert terminal.wait() == "killed SIGINT"
            said = terminal.output.decode(errors="replace")
            assert ("Shutting down…" in said) is show
            assert "terminating program…" in said
    finally:
        os.close(read)
        os.close(write)


def _is_full(read: int) -> bool:
    """Whether nothing more fits into a pipe that nobody reads."""
    import array
    import fcntl
    import termios

    size = array.array("i", [0])
    fcntl.ioctl(read, termios.FIONREAD, size)
    return size[0] >= 60_000
