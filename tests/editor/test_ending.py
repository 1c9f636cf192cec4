"""Presses and endings while an editor has the terminal: real signals, a real terminal, the real end."""

import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from jp.editor.command import Invocation
from jp.editor.errors import EditorEndedError
from jp.editor.terminal_editor import TerminalEditor
from jp.interrupt.end import Cause
from jp.interrupt.router import Router
from tests.conftest import REPOSITORY
from tests.editor.conftest import Script
from tests.support.terminal import Terminal

pytestmark = pytest.mark.usefixtures("no_leftovers")

WAITS = "echo ready; while :; do read line && exit 0; done"
KEEPS = 'trap "echo mine >\\"$1\\"; exit 0" TERM; '


def start(command: str, tmp_path: Path, *more: str) -> Terminal:
    argv = [sys.executable, "-m", "tests.editor.program", shlex.quote(command), str(tmp_path / "drafts"), *more]
    terminal = Terminal(argv, cwd=REPOSITORY, columns=200)
    terminal.until("ready")
    return terminal


def drafts(tmp_path: Path) -> list[str]:
    return [path.read_text() for path in (tmp_path / "drafts").rglob("edit.md")]


class TestPresses:
    @pytest.mark.req("088-43")
    def test_they_are_the_editors_however_many_and_the_flow_goes_on(self, script: Script, tmp_path: Path) -> None:
        body = f"trap 'echo pressed' INT; echo mine >\"$1\"; {WAITS}"
        with start(script(body), tmp_path) as terminal:
            for count in (1, 2, 3):
                terminal.press()
                terminal.until(lambda screen, count=count: screen.text.count("pressed") == count)
            terminal.kill(signal.SIGINT)
            terminal.send(b"\n")
            terminal.until("saved 'mine'")
            assert terminal.wait() == "exited 0"
            assert "menu" not in terminal.screen.contents
        assert drafts(tmp_path) == []

    @pytest.mark.req("088-32", "088-43")
    def test_an_editor_that_dies_of_one_has_cancelled(self, script: Script, tmp_path: Path) -> None:
        with start(script(f'echo mine >"$1"; {WAITS}'), tmp_path) as terminal:
            terminal.press()
            terminal.until("cancelled")
            assert terminal.wait() == "exited 0"
            assert "menu" not in terminal.screen.contents
        assert drafts(tmp_path) == ["mine\n"]


class TestShutdown:
    def test_the_editor_is_told_and_what_it_saves_is_kept(self, script: Script, tmp_path: Path) -> None:
        with start(script(KEEPS + WAITS), tmp_path) as terminal:
            terminal.kill(signal.SIGTERM)
            assert terminal.wait() == "killed SIGTERM"
            shown = terminal.screen.contents
        assert drafts(tmp_path) == ["mine\n"]
        [path] = (tmp_path / "drafts").rglob("edit.md")
        assert f"is kept in {path}" in shown.replace("\n", "")
        # The wind-down waits for the edit; what its thread says of the error afterwards may come too late to be seen.
        assert shown.index("terminal back") < shown.index("is kept in") < shown.index("wound down")

    @pytest.mark.parametrize(("timeout", "least", "most"), [("30", 2.0, 5.0), ("2", 0.9, 2.0)])
    def test_one_that_does_not_listen_is_killed(
        self, script: Script, tmp_path: Path, timeout: str, least: float, most: float
    ) -> None:
        with start(script(f"trap '' TERM; echo mine >\"$1\"; {WAITS}"), tmp_path, timeout) as terminal:
            began = time.monotonic()
            terminal.kill(signal.SIGTERM)
            assert terminal.wait() == "killed SIGTERM"
            assert least <= time.monotonic() - began < most + 0.5  # the interpreter's own end takes a moment
            assert "editor_ended" in terminal.screen.contents
        assert drafts(tmp_path) == ["mine\n"]

    def test_a_stopped_one_is_ended_too(self, script: Script, tmp_path: Path) -> None:
        with start(script(KEEPS + "echo ready; kill -STOP $$; " + WAITS), tmp_path) as terminal:
            terminal.kill(signal.SIGTERM)
            assert terminal.wait() == "killed SIGTERM"
        assert drafts(tmp_path) == ["mine\n"]

    def test_a_run_that_ends_by_itself_ends_its_editor_first(self, script: Script, tmp_path: Path) -> None:
        body = KEEPS + "echo ready; while :; do sleep 0.01; done"
        with start(script(body), tmp_path, "30", "leave") as terminal:
            terminal.send(b"\n")
            assert terminal.wait() == "exited 7"
            assert "editor_ended" in terminal.screen.contents
        assert drafts(tmp_path) == ["mine\n"]

    def test_the_last_rung_waits_for_nobody_and_leaves_the_text(self, script: Script, tmp_path: Path) -> None:
        with start(script(f"trap '' TERM QUIT; echo mine >\"$1\"; {WAITS}"), tmp_path) as terminal:
            terminal.kill(signal.SIGQUIT)
            assert terminal.wait() == "killed SIGQUIT"
            assert "terminal back" not in terminal.screen.contents
        assert drafts(tmp_path) == ["mine\n"]

    def test_none_is_started_once_it_has_begun(self, tmp_path: Path) -> None:
        from contextlib import nullcontext

        router = Router()
        router.token.cancel(Cause.TERM)
        invocation = Invocation(("touch", f"{tmp_path}/ran"), False, "editor.cmd", "touch")
        editor = TerminalEditor(invocation, {}, lambda: nullcontext(0), router, str(tmp_path / "drafts"))
        with pytest.raises(EditorEndedError):
            editor.edit_text("given")
        assert not (tmp_path / "ran").exists()
        assert drafts(tmp_path) == []
