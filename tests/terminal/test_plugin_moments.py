"""A run of a plugin, interrupted at named moments: it ends as the signals say, and leaves nothing."""

import time
from pathlib import Path

import pytest

from jp.storage.lock import Holder, try_acquire
from tests.support.plugins import Make
from tests.support.points import argv, at
from tests.support.terminal import Terminal
from tests.support.tools import configure

pytestmark = pytest.mark.usefixtures("no_leftovers")

BODY = """
import subprocess
signal.signal(signal.SIGINT, lambda *_: None)
subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
send(type="ready")
made = ask(type="create_conversation", title="Made")["conversation"]
note(made)
ask(type="push_events", conversation=made, events=[{"type": "chat_request", "content": "hi"}])
send(type="print", text="# printed\\n", format="markdown")
send(type="prompt", kind="text", message="What?")
tty = None
while (line := read()):
    if line["type"] == "shutdown": finish(0)
    if tty is None:
        tty = os.open("/dev/tty", os.O_RDWR)
        os.read(tty, 10)
        finish(0)
"""

POINTS = (
    "jp.plugin.link:Link.__init__",
    "jp.plugin.host:Host._attend",
    "jp.plugin.conversations:Conversations.create",
    "jp.plugin.conversations:Conversations.push",
    "jp.plugin.printing:Printing.show",
    "jp.plugin.prompts:Prompts.add",
    "jp.plugin.prompts:Prompts._run",
    "jp.plugin.host:Host._answered",
    "jp.plugin.lending:_Loan._lend",
    "jp.plugin.host:Host._leave",
    "jp.plugin.host:Host._clean_up",
)
VOLLEYS = {
    "INT INT": "killed SIGINT",
    "INT INT INT": "killed SIGINT",
    "TERM": "killed SIGTERM",
    "QUIT": "killed SIGQUIT",
}


@pytest.mark.req("D60-73", "PROTO-54", "PROTO-57", "092-146", "092-147")
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("volley", VOLLEYS)
def test_whatever_the_moment(workspace: Path, plugin: Make, hermetic: Path, point: str, volley: str) -> None:
    configure(**{"plugins.shutdown_timeout_secs": 2})
    notes = plugin(BODY)
    command = argv(at(point, signals=volley.split(), delay_ms=30), args=["it"])
    with Terminal(command, cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        until = time.monotonic() + 20
        asked = lent = False
        while terminal.process.poll() is None and time.monotonic() < until:
            terminal.pump(0.02)
            if not asked and "What?" in terminal.screen:
                asked = True
                terminal.send(b"this\r")
            if not lent and asked and terminal.foreground not in (0, terminal.pid):
                lent = True
                terminal.send(b"that\r")
        assert terminal.wait(1) == VOLLEYS[volley]
        assert terminal.modes() == terminal.modes_before
        assert terminal.screen.mode(25)
        assert not terminal.screen.mode(2004)
        assert "Traceback" not in terminal.screen.contents
        assert "internal error" not in terminal.screen.contents
    for made in notes.now:
        (place,) = (hermetic / ".local/share/jp/workspace").glob("*abcde")
        lock = try_acquire(str(place / "locks" / f"{made}.lock"), Holder.this_process("test"))
        assert lock is not None
        lock.release()
        assert not list(place.glob(f"conversations/{made}*/.journal*"))
