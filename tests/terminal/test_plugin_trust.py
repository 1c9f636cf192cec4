"""A plugin that nobody has approved: asked about once, on the terminal, and nothing of it runs before."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import program
from tests.plugin.scripts import ECHO, approvals, approve, install_directory, plugin, traces
from tests.support.terminal import ESC, Terminal
from tests.support.tools import answer, configure

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_leftovers")]

ASKED = "Run the plugin hello? [y,n,?]?"
RUN = "plugins.command.hello.run"


@pytest.fixture
def hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin on `$PATH`."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return plugin(tmp_path / "bin" / "jp-hello", f"echo 'out of it' >&2\n{ECHO}")


def run(workspace: Path, *args: str, **options: object) -> Terminal:
    command = [*program(), *(args or ("hello", "there"))]
    return Terminal(command, cwd=workspace, rows=30, columns=140, **options)  # type: ignore[arg-type]


def asked(workspace: Path, *args: str, question: str = ASKED) -> Terminal:
    terminal = run(workspace, *args)
    terminal.until(question)
    return terminal


def ran(workspace: Path) -> None:
    """It runs without a question."""
    with run(workspace) as terminal:
        assert terminal.wait() == "exited 0"
        assert "[y,n,?]?" not in terminal.screen
        assert '["there"]' in terminal.screen


@pytest.mark.req("PROTO-12", "104-85")
def test_it_is_asked_about_the_first_time_and_not_again(workspace: Path, hello: Path):
    with asked(workspace) as terminal:
        shown = " ".join(terminal.screen.text.split())
        assert f"{hello} (found on $PATH)" in shown
        (sha256,) = [line.split()[1] for line in terminal.screen.lines if line.startswith("sha256 ")]
        assert "It has not been approved." in shown
        assert "you are asked again when the file has changed" in shown
        assert traces(hello) == []
        answer(terminal, b"?", lambda screen: "y - run it, now and from now on" in screen)
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert '["there"]' in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert json.loads(approvals().read_text())["approved"]["hello"]["sha256"] == sha256
    assert traces(hello) == ["init"]
    ran(workspace)
    with hello.open("a") as file:
        file.write("# changed\n")
    with asked(workspace) as terminal:
        assert "It has changed since it was approved" in terminal.screen
        answer(terminal, b"n")
        assert terminal.wait() == "exited 1"
    assert traces(hello) == ["init", "describe", "init"]


@pytest.mark.req("PROTO-12")
@pytest.mark.parametrize("key", [b"n", ESC])
def test_refused_it_does_not_run_and_is_asked_about_again(workspace: Path, hello: Path, key: bytes):
    for _ in range(2):
        with asked(workspace) as terminal:
            answer(terminal, key)
            assert terminal.wait() == "exited 1"
            assert "the plugin hello was not run, for it was not approved" in terminal.screen
            assert terminal.modes() == terminal.modes_before
    assert traces(hello) == []
    assert not approvals().exists()


def test_enter_is_no_answer_and_what_was_typed_before_is_none(workspace: Path, hello: Path):
    with run(workspace) as terminal:
        terminal.send(b"y")
        terminal.until(ASKED)
        answer(terminal, b"\r", lambda _: True)
        terminal.pump(0.3)
        terminal.until(ASKED, alive=True)
        assert traces(hello) == []
        answer(terminal, b"n")
        assert terminal.wait() == "exited 1"


@pytest.mark.req("PROTO-10")
def test_ask_asks_before_every_run(workspace: Path, hello: Path):
    configure(**{RUN: "ask"})
    for key, status in ((b"y", "exited 0"), (b"n", "exited 1"), (b"y", "exited 0")):
        before = traces(hello)
        with asked(workspace) as terminal:
            assert f"It is asked about before every run. ({RUN})" in terminal.screen
            assert traces(hello) == before
            answer(terminal, key)
            assert terminal.wait() == status
    assert traces(hello) == ["init", "init"]
    assert not approvals().exists()
    approve("hello", hello)
    with asked(workspace) as terminal:
        answer(terminal, b"n")
        assert terminal.wait() == "exited 1"


def test_one_that_was_installed_and_has_changed_is_asked_about(workspace: Path, hello: Path):
    path = plugin(install_directory() / "jp-hello")
    approve("hello", path, installed=True)
    ran(workspace)
    with path.open("a") as file:
        file.write("# changed\n")
    with asked(workspace) as terminal:
        assert "(installed)" in terminal.screen
        assert "It has changed since it was installed (2026-01-02)." in terminal.screen
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
    ran(workspace)


def test_what_is_asked_about_is_what_runs(workspace: Path, hello: Path):
    with asked(workspace) as terminal:
        with hello.open("a") as file:
            file.write("touch /nowhere/evil\n")
        (before,) = [line for line in terminal.screen.lines if line.startswith("sha256 ")]
        answer(terminal, b"y", lambda screen: "was changed just now" in screen)
        terminal.until(lambda screen: "was changed just now" in screen and screen.text.rstrip().endswith(ASKED))
        assert before not in terminal.screen.lines[-6:]
        assert traces(hello) == []
        answer(terminal, b"n")
        assert terminal.wait() == "exited 1"
    assert traces(hello) == []
    assert not approvals().exists()


def test_nothing_hides_in_what_is_shown(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    evil = tmp_path / "a\x1b[2J\u202eb"
    monkeypatch.setenv("PATH", f"{evil}:{os.environ['PATH']}")
    path = plugin(evil / "jp-hello")
    with asked(workspace) as terminal:
        assert "a\\x1b[2J\\u202eb/jp-hello (found on $PATH)" in "".join(terminal.screen.lines)
        answer(terminal, b"n")
        assert terminal.wait() == "exited 1"
    assert traces(path) == []


@pytest.mark.req("092-9")
def test_a_press_swaps_to_the_menu_and_approves_nothing(workspace: Path, hello: Path):
    with asked(workspace) as terminal:
        terminal.press()
        terminal.until("Interrupted: [c,q,b,?]?")
        terminal.send(b"b")
        terminal.until(lambda screen: "Interrupted:" not in screen and ASKED in screen)
        terminal.press()
        terminal.until("Interrupted:")
        terminal.press()
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
    assert traces(hello) == []
    assert not approvals().exists()


@pytest.mark.req("104-85")
def test_with_stdout_and_stdin_elsewhere_it_is_asked_on_the_terminal(workspace: Path, hello: Path):
    import subprocess

    with run(workspace, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as terminal:
        terminal.until(ASKED)
        answer(terminal, b"y")
        assert terminal.wait() == "exited 0"
        assert terminal.piped[1] == b'["there"]\n'


@pytest.mark.req("PROTO-13", "104-85")
@pytest.mark.parametrize("how", ["flag", "variable", "background"])
def test_where_it_may_not_be_asked_nothing_runs(workspace: Path, hello: Path, how: str):
    options: dict[str, object] = {
        "flag": {}, "variable": {"env": {"JP_NONINTERACTIVE": "1"}}, "background": {"background": True},
    }[how]  # fmt: skip
    args = ("--no-interactive", "hello") if how == "flag" else ("hello",)
    with run(workspace, *args, **options) as terminal:
        assert terminal.wait() == "exited 1"
        assert RUN in terminal.screen
        assert ASKED not in terminal.screen
        assert terminal.modes() == terminal.modes_before
    assert traces(hello) == []


# --- the commands


def test_trusting_asks_and_tells_what_it_is(workspace: Path, hello: Path):
    question = "Approve the plugin hello? [y,N,?]?"
    for key, status in ((b"\r", "exited 1"), (b"y", "exited 0")):
        with asked(workspace, "plugin", "trust", "hello", question=question) as terminal:
            assert f"{hello} (found on $PATH)" in terminal.screen
            assert traces(hello) == []
            answer(terminal, key)
            assert terminal.wait() == status
            if key == b"y":
                assert "it answers to `jp hello`" in terminal.screen
    ran(workspace)


def test_removing_asks(workspace: Path, hello: Path):
    path = plugin(install_directory() / "jp-hello")
    question = "Delete the plugin hello? [y,N,?]?"
    for key, there in ((b"n", True), (b"y", False)):
        with asked(workspace, "plugin", "rm", "hello", question=question) as terminal:
            answer(terminal, key)
            terminal.wait()
        assert path.exists() == there


@pytest.mark.parametrize("args", [("-h",), ("hello", "-h"), ("hello",), ("plugin", "ls")])
def test_a_press_is_heard_while_a_plugin_does_not_answer(workspace: Path, hello: Path, args: tuple[str, ...]):
    plugin(hello, answer="exec sleep 600")
    approve("hello", hello)
    with run(workspace, *args) as terminal:
        terminal.until(lambda _: traces(hello))
        terminal.press()
        terminal.until(lambda screen: terminal.process.poll() is not None or "Interrupted:" in screen, 3)
        if "Interrupted:" in terminal.screen:  # a command has its menu
            assert args == ("plugin", "ls")
            terminal.press()
        assert terminal.wait(4) == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
    assert traces(hello) == ["describe"]


def test_one_that_is_asked_what_it_is_has_no_terminal(workspace: Path, hello: Path, tmp_path: Path):
    plugin(hello, answer=f": < /dev/tty; echo there > {tmp_path}/there")
    approve("hello", hello)
    with run(workspace, "-h") as terminal:
        assert terminal.wait() == "exited 0"
    assert traces(hello) == ["describe"]
    assert not (tmp_path / "there").exists()
