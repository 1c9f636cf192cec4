"""Tools that mean no good, under the ladder: whatever they do, a press is answered, and nothing of them is left.

Each runs beside one that just waits. A process that leaves its session on purpose is beyond what JP can find: it may go
on, but neither it nor the pipe that it holds keeps anybody waiting.
"""

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.marked import marked, still_marked
from tests.support.terminal import Terminal
from tests.support.tools import Make, query, responses, sent
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import ModelServer, text, tool_calls

MENU = "Interrupted: [c,r,s,t,?]?"
GRACEFUL = "gracefully shutting down…"
MENU_SECS = 3.0  # whatever else the machine does; how soon it really is, `benchmarks/tools.py` says
PEAK = 80 * 1024  # KiB of the whole program, which takes 40 MB by itself
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[H\x1b[?1049h\x1b[31mred\x1b]52;c;b3duZWQ=\x07\x9b2J"
PRINTS_ESCAPES = f"printf '{ESCAPES}'"  # as they are, in UTF-8
DAEMON_ITSELF = "sleep 1001"
DAEMON = f"""{sys.executable} -I -S -c '
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "1001"])
' """

WAITS = "while :; do sleep 1; done"
TOOLS = {
    "floods": "touch $DIR/begun; yes flooded",
    "floods stderr": "touch $DIR/begun; yes flooded >&2",
    "never ends": f"touch $DIR/begun; {WAITS}",
    "ignores": f"trap '' TERM INT HUP QUIT; touch $DIR/begun; {WAITS}",
    "grandchild": f"""sh -c "trap '' TERM INT HUP; touch $DIR/begun; {WAITS}" & wait""",
    "escapes": f"{PRINTS_ESCAPES}; touch $DIR/begun; {WAITS}",
    "half": rf"""printf '{{"type":"success","content":"half'; touch $DIR/begun; {WAITS}""",
    "huge": rf"""printf '{{"type":"success","content":"'; head -c 16M /dev/zero; touch $DIR/begun; {WAITS}""",
    "closes": f"touch $DIR/begun; exec <&- >&- 2>&-; {WAITS}",
    "terminal": f"stty -echo </dev/tty; read x </dev/tty; touch $DIR/begun; {WAITS}",
    "directory": f"cd /; touch $DIR/begun; {WAITS}",
    "stops": "touch $DIR/begun; kill -STOP $$; echo unreachable",
    "daemon": f"{DAEMON}; touch $DIR/begun; {WAITS}",
}
ENDINGS = {"stop": "exited 0", "two presses": "killed SIGINT", "three": "killed SIGINT", "term": "killed SIGTERM"}
WORST = ("floods", "ignores", "grandchild", "daemon")
ALL = [(tool, ending) for tool in TOOLS for ending in ENDINGS]
SAMPLE = [pair for pair in ALL if pair[1] == "stop" or pair[0] in WORST]


@pytest.fixture
def hostile(tool: Make, server: ModelServer) -> Iterator[Make]:
    """Makes the tool; ends what was told to outlive everything."""

    def make(name: str, script: str = "", **settings: object) -> Path:
        folder = tool("bad", script or TOOLS[name], cancellation_response="bad was stopped", **settings)
        tool("good", f"touch $DIR/waits; {WAITS}", cancellation_response="good was stopped")
        server.then(tool_calls(("bad", {}), ("good", {})), text("All done."))
        return folder

    yield make
    for pid, line in marked().items():
        if line == DAEMON_ITSELF:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.req("092-9", "092-11", "092-12", "092-15", "092-56", "092-60")
@pytest.mark.parametrize(("name", "ending"), ALL if os.environ.get("JP_TEST_ALL_DELAYS") else SAMPLE)
def test_a_press_is_answered_and_nothing_is_left(
    hostile: Make, server: ModelServer, workspace: Path, ask: Ask, name: str, ending: str
):
    folder = hostile(name)
    with query(workspace) as terminal:
        terminal.until(lambda _: (folder / "begun").exists() and (folder / "waits").exists())
        if name.startswith("floods"):
            flooded(terminal)
        if name == "stops":
            terminal.until("Tool bad failed")
        if ending == "term":
            terminal.kill(signal.SIGTERM)
        else:
            began = time.monotonic()
            terminal.press()
            terminal.until(MENU)
            assert time.monotonic() - began < MENU_SECS
            untouched(terminal)
            assert peak(terminal) < PEAK
            terminal.send({"stop": b"s", "two presses": b"\x03", "three": b"\x03\x03"}[ending])
        began = time.monotonic()
        assert terminal.wait() == ENDINGS[ending]
        assert time.monotonic() - began < 5
        assert (GRACEFUL in terminal.screen) == (ending != "stop")
        assert terminal.modes() == terminal.modes_before
        untouched(terminal)
    assert not gone(DAEMON_ITSELF if name == "daemon" else "")
    assert len(server.requests) == 1
    if ending == "three":  # the end came first; the next one to look settles it
        assert ask("q", "go on").status == "exited 0"
        assert [message["role"] for message in sent(server)[-4:]] == ["assistant", "tool", "tool", "user"]
    else:
        assert messages(workspace) == []
    answered(workspace, name)


def gone(but: str = "") -> dict[int, str]:
    """Who is not gone after some seconds, but for processes of that command line."""
    end = time.monotonic() + 5
    while left := {pid: line for pid, line in still_marked(0).items() if line != but}:
        if time.monotonic() > end:
            return left
        time.sleep(0.01)
    return {}


def answered(workspace: Path, name: str) -> None:
    """Each stored call has exactly one response."""
    found = events(workspace)
    calls = [event["id"] for event in found if event["type"] == "tool_call_request"]
    assert len(calls) == 2
    assert sorted(event["id"] for event in found if event["type"] == "tool_call_response") == calls
    contents = sorted(content for content, _ in responses(workspace))
    assert contents[1] == "good was stopped"
    if name == "stops":
        assert "it wanted the terminal" in contents[0]
    else:
        assert contents[0] == "bad was stopped"


def flooded(terminal: Terminal) -> None:
    """Let it flood for a while."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        terminal.pump(0.05)


def peak(terminal: Terminal) -> int:
    """The most memory that the program has had so far, in KiB; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{terminal.pid}/status").read_text())
        return int(found[1]) if found else 0
    return 0


def untouched(terminal: Terminal) -> None:
    """Nothing that a tool wrote has steered the terminal."""
    for sequence in (b"\x1b]0;", b"\x1b]52;", b"\x1b[2J", b"\x1b[?1049h", b"\x9b2J", b"\xc2\x9b"):
        assert sequence not in terminal.output
    assert not terminal.screen.mode(1049)


@pytest.mark.parametrize("name", ["escapes", "half"])
def test_what_it_printed_is_stored_exactly_and_shown_without_effect(
    hostile: Make, server: ModelServer, workspace: Path, name: str
):
    folder = hostile(name, TOOLS[name].removesuffix(WAITS) + "rm -f $DIR/go")
    (folder / "good.sh").write_text("#!/bin/sh\necho fine\n")
    with query(workspace) as terminal:
        assert terminal.wait() == "exited 0"
        untouched(terminal)
        shown = terminal.screen.text
        assert ("red" if name == "escapes" else '{"type":"success","content":"half') in shown
        assert "All done." in shown
        assert terminal.modes() == terminal.modes_before
    expected = ESCAPES if name == "escapes" else '{"type":"success","content":"half'
    assert (expected, False) in responses(workspace)
    assert expected in [message["content"] for message in sent(server)[-2:]]


def test_a_daemon_that_keeps_the_pipe_keeps_nobody_waiting(hostile: Make, server: ModelServer, workspace: Path):
    folder = hostile("daemon", f"echo before; {DAEMON}")
    (folder / "good.sh").write_text("#!/bin/sh\necho fine\n")
    with query(workspace) as terminal:
        began = time.monotonic()
        assert terminal.wait() == "exited 0"
        assert time.monotonic() - began < 10
        assert "All done." in terminal.screen
    assert sorted(responses(workspace)) == [("before\n", False), ("fine\n", False)]


def test_a_huge_result_costs_bounded_memory(hostile: Make, server: ModelServer, workspace: Path, tmp_path: Path):
    folder = hostile("huge", "yes flooded | head -c 300M")
    (folder / "good.sh").write_text("#!/bin/sh\necho fine\n")
    server.then(tool_calls(("bad", {}), ("good", {})), text("word " * 2000, chunk=5, delay_ms=3))
    with query(workspace) as terminal:
        terminal.until("word word")
        assert peak(terminal) < PEAK
        assert "flooded" in terminal.screen.contents
        terminal.press()
        terminal.until("Interrupted: [c,r,s,a,?]?")
        terminal.send(b"s")
        assert terminal.wait() == "exited 0"
    content = next(content for content, _ in responses(workspace) if content != "fine\n")
    assert "bytes are left out here" in content
    assert len(content) < 200_000
    kept = sorted(path.stat().st_size for path in tmp_path.rglob("tool-output/*"))
    assert kept[-1] == 64 * 1024 * 1024
    assert sum(kept[:-1]) < 200_000  # what the model was given
