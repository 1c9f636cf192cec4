"""A secret answer is in the plugin's `prompt_response` and nowhere else (RFD D60, "Secret prompts")."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.plugins import Make
from tests.support.terminal import ESC, Terminal
from tests.support.tools import answer

SECRET = "hunter2-Zo\u00eb"
FORMS = [SECRET.encode(), b"hunter2", json.dumps(SECRET).encode(), SECRET.encode("utf-16-le")]


def leaks(place: Path) -> list[str]:
    """The files below `place` that hold the secret, in any form."""
    found = []
    for path in place.rglob("*"):
        if path.is_file() and any(form in path.read_bytes() for form in FORMS):
            found.append(str(path.relative_to(place)))
    return found


def typed(terminal: Terminal) -> None:
    """The secret, without Enter, in a prompt that takes keys."""
    terminal.until("Registry token")
    for _ in range(3):
        terminal.pump(0.35)
    terminal.send(SECRET.encode())
    terminal.pump(0.3)


BODY = """
response = ask(type="prompt", kind="secret", message="Registry token", id="t")
note([response["outcome"], len(response.get("value", "")), sorted(response)])
sys.stderr.write("the token is " + response.get("value", "") + "\\n"); sys.stderr.flush()
value = response.get("value", "")
send(type="log", level="error", message="token " + value, fields={"token": value})
made = ask(type="create_conversation", title="After")["conversation"]
note(ask(type="push_events", conversation=made, events=[{"type": "chat_request", "content": "hi"}])["type"])
note([each["type"] for each in ask(type="read_events", conversation=made)["data"]])
finish()
"""


@pytest.mark.req("D60-82", "D60-83", "D60-86", "D60-87")
@pytest.mark.parametrize("where", ["file", "stderr"])
def test_an_answered_secret_is_in_no_file_and_on_no_channel(
    workspace: Path, tmp_path: Path, plugin: Make, where: str
) -> None:
    notes = plugin(BODY)
    log = "-" if where == "stderr" else str(tmp_path / "log")
    argv = [*program(), "-vvvvv", "--log-file", log, "it"]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        typed(terminal)
        answer(terminal, b"\r", done=lambda _: notes.now)
        assert terminal.wait() == "exited 0"
        shown = terminal.output
    assert notes.now[0] == ["answered", len(SECRET), ["id", "outcome", "type", "value"]]
    assert notes.now[1:] == ["pushed", ["turn_start", "chat_request"]]
    assert not any(form in shown for form in FORMS)
    assert leaks(tmp_path) == []
    if where == "file":
        lines = [json.loads(line) for line in Path(log).read_text().splitlines()]
        said = [line for line in lines if "token" in line["message"]]
        assert len(said) == 2  # they are there, without it


@pytest.mark.req("D60-84")
@pytest.mark.parametrize(
    ("leave", "status"),
    [
        (lambda terminal: terminal.send(ESC), "exited 0"),
        (Terminal.press, "killed SIGINT"),
        (Terminal.kill, "killed SIGINT"),
        (lambda terminal: terminal.kill(signal.SIGTERM), "killed SIGTERM"),
        (lambda terminal: terminal.kill(signal.SIGQUIT), "killed SIGQUIT"),
        (lambda terminal: terminal.kill(signal.SIGKILL), "killed SIGKILL"),
    ],
    ids=["escape", "key", "SIGINT", "SIGTERM", "SIGQUIT", "SIGKILL"],
)
def test_a_secret_that_is_not_sent_leaves_nothing(
    workspace: Path, tmp_path: Path, plugin: Make, leave: Callable[[Terminal], None], status: str
) -> None:
    plugin('note(ask(type="prompt", kind="secret", message="Registry token")); finish()')
    argv = [*program(), "-vvvvv", "--log-file", str(tmp_path / "log"), "it"]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test"}) as terminal:
        typed(terminal)
        leave(terminal)
        assert terminal.wait() == status
        assert not any(form in terminal.output for form in FORMS)
        if status != "killed SIGKILL":
            assert terminal.modes() == terminal.modes_before
    assert leaks(tmp_path) == []


BROKEN = """
import sys
from jp.plugin import host, requests
real = {place}.{name}
def broken(*args, **options):
    if any("prompt_response" in str(arg) or "PromptResponse" in str(arg) or "Answered" in str(arg) for arg in args):
        raise RuntimeError(f"broken with {{args!r}} {{[vars(a) if hasattr(a, '__dict__') else a for a in args]!r}}")
    return real(*args, **options)
{place}.{name} = broken
from jp.boot import main
sys.argv = ["jp", "-vvvvv", "--log-file", sys.argv[1], "it"]
main()
"""


@pytest.mark.req("D60-85")
@pytest.mark.parametrize(
    ("place", "name"), [("requests", "encode"), ("host.Host", "_answered"), ("requests.Requests", "_respond")]
)
@pytest.mark.parametrize("debug", [None, "1"])
def test_a_fault_while_it_is_held_tells_nothing_of_it(
    workspace: Path, tmp_path: Path, plugin: Make, place: str, name: str, debug: str | None
) -> None:
    plugin('note(ask(type="prompt", kind="secret", message="Registry token")); finish()')
    script = BROKEN.format(place=place, name=name)
    argv = [sys.executable, "-c", script, str(tmp_path / "log")]
    with Terminal(argv, cwd=workspace, env={"JP_SESSION": "test", "JP_DEBUG": debug}) as terminal:
        typed(terminal)
        terminal.send(b"\r")
        assert terminal.wait() == "exited 1"
        assert not any(form in terminal.output for form in FORMS)
        assert "internal error" in terminal.screen.contents
    assert leaks(tmp_path) == []
    assert os.path.exists(tmp_path / "log")
