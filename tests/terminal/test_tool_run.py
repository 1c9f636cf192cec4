"""`jp tool run` on a terminal: its questions, its status line, presses."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.trying import add, configure, project, server
from tests.conftest import program
from tests.support.terminal import ESC, Terminal, shut_down

SERVERS = Path(__file__).parents[1] / "tool" / "mcp_servers"
FALLBACK = "Interrupted: [c,q,?]?"
Try = Callable[..., Terminal]


@pytest.fixture
def trial(tmp_path: Path, hermetic: Path) -> Try:
    """`jp tool run …` on a terminal."""
    configure(hermetic)
    root = project(tmp_path)

    def run(*args: str, **options) -> Terminal:
        return Terminal([*program(), "tool", "run", *args], cwd=root, **options)

    return run


def settled(terminal: Terminal, text: str) -> None:
    """The question is there, and has seen the silence that it wants before a key."""
    terminal.until(text)
    seen = -1
    while len(terminal.output) != seen:  # a pump ends with the first piece that comes
        seen = len(terminal.output)
        terminal.pump(0.4)


def test_its_questions_are_asked_on_the_terminal_and_stdout_has_the_result_alone(trial: Try):
    with trial("asks", stdout=subprocess.PIPE) as terminal:
        settled(terminal, "What of sure?")
        terminal.send(b"y")
        settled(terminal, "What of which?")
        terminal.send(b"\r")
        settled(terminal, "What of why?")
        terminal.send(b"\x15because\r")
        assert terminal.wait() == "exited 0"
        assert json.loads(terminal.piped[1]) == {"sure": True, "which": "blue", "why": "because"}
        assert terminal.modes() == terminal.modes_before


def test_a_secret_is_typed_unseen_and_not_shown(trial: Try):
    with trial("secret") as terminal:
        settled(terminal, "What of key?")
        terminal.send(b"sesame-street")
        terminal.pump(0.4)  # in one piece with it, an Enter would be taken for a paste's
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert "the key is [redacted] of length 13" in terminal.screen.contents
        assert b"sesame" not in terminal.output


def test_a_question_that_is_left_is_an_error(trial: Try):
    with trial("asks") as terminal:
        settled(terminal, "What of sure?")
        terminal.send(ESC)
        assert terminal.wait() == "exited 1"
        assert "asks was not given an answer (sure)" in terminal.screen.contents


def test_a_press_over_a_question_comes_back_to_it(trial: Try):
    with trial("asks", "--answer", "which=red", "--answer", "why=x") as terminal:
        settled(terminal, "What of sure?")
        terminal.press()
        terminal.until("Interrupted: [c,q,b,?]?")
        terminal.send(b"b")
        settled(terminal, "What of sure?")
        terminal.send(b"n")
        assert terminal.wait() == "exited 0"
        assert '"sure": false' in terminal.screen.contents


def test_a_result_on_the_terminal_is_made_safe_to_show(trial: Try):
    text = "a\x1b[2Jb\x1b]0;title\x07c\x1b[31mred\r!"
    with trial("say", f"text={text}") as terminal:
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "abcred!"
        assert b"\x1b[31mred" in terminal.output
        assert b"\x1b[2J" not in terminal.output
        assert b"title" not in terminal.output
    with trial("say", f"text={text}", env={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == "exited 0"
        assert b"\x1b[31m" not in terminal.output


@pytest.mark.req("092-63", "092-64")
def test_a_press_while_it_runs_opens_the_menu_and_the_tool_goes_on(trial: Try, tmp_path: Path, no_leftovers):
    there, until = tmp_path / "there", tmp_path / "until"
    with trial("slow", f"there={there}", f"until={until}", "-c", "style.tool_call.progress.delay_secs=0") as terminal:
        terminal.until("Running slow…")
        terminal.until(lambda _: there.exists())
        terminal.press()
        terminal.until(FALLBACK)
        assert "Running slow" not in terminal.screen
        until.touch()
        terminal.send(b"c")
        assert terminal.wait() == "exited 0"
        assert terminal.screen.contents.strip() == "slow and done"
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-11", "092-67")
def test_a_second_press_ends_the_tool_and_the_run(trial: Try, tmp_path: Path, no_leftovers):
    there = tmp_path / "there"
    with trial("slow", f"there={there}", f"until={tmp_path / 'never'}") as terminal:
        terminal.until(lambda _: there.exists())
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert "gracefully shutting down" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-11")
def test_where_nobody_is_asked_the_first_press_ends_it(trial: Try, tmp_path: Path, no_leftovers):
    there = tmp_path / "there"
    with trial("slow", f"there={there}", f"until={tmp_path / 'never'}", "--no-interactive") as terminal:
        terminal.until(lambda _: there.exists())
        terminal.press()
        assert terminal.wait() == "killed SIGINT"


@pytest.mark.req("092-11", "092-63")
@pytest.mark.parametrize(
    ("mode", "shown"), [("python_server.py", "Running lab/sleep (as nap)…"), ("raw_server.py", "Starting MCP")]
)
def test_presses_while_a_server_starts_or_works_end_it(trial: Try, hermetic: Path, mode: str, shown: str, no_leftovers):
    configure(hermetic, nap={"source": "mcp.lab.sleep"})
    add(hermetic, {**server("lab", SERVERS / mode, "silent"), "style": {"mcp_startup": {"delay_secs": 0}}})
    with trial("nap", "seconds=600", "-c", "style.tool_call.progress.delay_secs=0") as terminal:
        terminal.until(shown)
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
