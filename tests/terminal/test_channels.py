"""What reaches which channel, for the whole program: formats, redirections, flags, logs (RFD 104)."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Jp, program
from tests.support.process import Process
from tests.support.terminal import Terminal, shut_down
from tests.support.workspace import Ask
from tests.wire.model_server import ModelServer, silent, text

JP = " ".join(program())
ESCAPE = b"\x1b"


@pytest.fixture
def talkative(server: ModelServer) -> ModelServer:
    """An answer with markup, and reasoning, which is chrome."""
    server.then(text("some **bold** words", reasoning="let me think", chunk=4))
    return server


def run(workspace: Path, *args: str, out=None, err=None, env=None, **options) -> Terminal:
    terminal = Terminal([*program(), *args], cwd=workspace, stdout=out, stderr=err, env=env, **options)
    terminal.wait()
    return terminal


@pytest.mark.req("104-8", "104-9", "104-10", "104-11", "104-12")
@pytest.mark.parametrize("err_tty", [True, False], ids=["err tty", "err pipe"])
@pytest.mark.parametrize("out_tty", [True, False], ids=["out tty", "out pipe"])
def test_auto_is_decided_for_each_channel_by_itself(talkative, workspace, out_tty, err_tty):
    pipe = subprocess.PIPE
    with run(workspace, "q", "hi", out=None if out_tty else pipe, err=None if err_tty else pipe) as terminal:
        on_screen, piped = terminal.output, terminal.piped
    if out_tty:
        assert b"\x1b[1m" in on_screen
        assert b"bold" in on_screen
    else:
        assert piped[1] == b"some **bold** words\n"
    if err_tty:
        assert b"let me think" in on_screen
        assert ESCAPE in on_screen
    else:
        assert b"let me think" in piped[2]
        assert ESCAPE not in piped[2]
    assert b'{"' not in on_screen + piped[1] + piped[2]


@pytest.mark.req("104-14", "104-15", "104-18", "104-19")
def test_text_pretty_forces_escapes_into_pipes_and_never_a_repaint(talkative, workspace):
    pipe = subprocess.PIPE
    with run(workspace, "q", "-F", "text-pretty", "hi", out=pipe, err=pipe) as terminal:
        assert b"\x1b[1m" in terminal.piped[1]
        assert ESCAPE in terminal.piped[2]
        assert b"\r" not in terminal.piped[2]
        assert b"\x1b[K" not in terminal.piped[2]
        assert terminal.output == b""


@pytest.mark.req("104-16", "104-17")
@pytest.mark.parametrize("format_", ["text", "json", "json-pretty"])
def test_the_other_formats_write_no_escape_to_a_terminal(talkative, workspace, format_):
    with run(workspace, "q", "-F", format_, "hi") as terminal:
        assert ESCAPE not in terminal.output
        assert b"bold" in terminal.output


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}])
def test_no_colour_and_dumb_terminals_are_honoured(talkative, workspace, env):
    with run(workspace, "q", "hi", env=env) as terminal:
        assert b"\x1b[38" not in terminal.output
        assert b"\x1b[48" not in terminal.output
        if "TERM" in env:
            assert ESCAPE not in terminal.output
            assert b"\r\x1b" not in terminal.output


def test_an_explicit_format_outranks_no_color(talkative, workspace):
    talkative.then(text("a `span`"))
    with run(workspace, "q", "-F", "text-pretty", "hi", env={"NO_COLOR": "1"}) as terminal:
        assert b"\x1b[38" in terminal.output


@pytest.mark.req("104-21", "104-92")
@pytest.mark.parametrize("flag", ["--interactive", "--no-interactive"])
def test_flags_about_asking_change_no_byte_of_the_channels(workspace, server: ModelServer, flag):
    outputs = []
    for args in ([], [flag]):
        server.then(silent())
        with Terminal([*program(), "q", *args, "-n", "hi"], cwd=workspace) as terminal:
            terminal.until("Waiting…")
            terminal.kill(signal.SIGTERM)
            terminal.wait()
        server.then(text("some **bold** words"))
        with run(workspace, "q", *args, "-n", "-c", "style.streaming.progress.delay_secs=5", "hi") as terminal:
            outputs.append(terminal.output)
    assert outputs[0] == outputs[1]


# --- promptability


def no_terminal(workspace: Path, *args: str, env: dict[str, str] | None = None) -> tuple[str, Process]:
    with Process([*program(), *args], cwd=workspace, env=env or {}) as process:
        return process.wait(), process


@pytest.mark.req("104-40", "104-43", "104-59", "104-61")
@pytest.mark.parametrize("env", [{}, {"JP_NONINTERACTIVE": "1"}])
@pytest.mark.parametrize("command", [["q", "hi"], ["c", "ls"], ["config", "show"]])
def test_an_assertion_that_does_not_hold_fails_before_any_work(workspace, server: ModelServer, command, env):
    status, process = no_terminal(workspace, *command, "--interactive", env=env)
    assert status == "exited 1"
    assert b"--interactive" in process.err
    assert b"/dev/tty" in process.err
    assert process.out == b""
    assert server.requests == []
    assert not (workspace / ".jp" / "conversations").exists()


@pytest.mark.req("104-60")
def test_the_failed_assertion_is_one_record_under_json(workspace):
    _, process = no_terminal(workspace, "c", "ls", "-F", "json", "--interactive")
    record = json.loads(process.err)
    assert set(record) == {"message", "metadata", "code"}
    assert record["code"] == "not_promptable"
    assert process.out == b""


@pytest.mark.req("104-28", "104-31", "104-103")
@pytest.mark.parametrize("env", [{}, {"JP_NONINTERACTIVE": "1"}])
def test_without_a_terminal_it_goes_on_unattended(workspace, env):
    status, process = no_terminal(workspace, "q", "hi", env=env)
    assert status == "exited 0"
    assert process.err == b""


@pytest.mark.req("104-103")
def test_a_pty_on_the_streams_is_no_controlling_terminal(workspace, server: ModelServer):
    with Terminal([*program(), "q", "--interactive", "hi"], cwd=workspace, controlling=False) as terminal:
        assert terminal.wait() == "exited 1"
        assert "--interactive" in terminal.screen.text
    assert server.requests == []


@pytest.mark.req("104-46", "104-47", "104-49", "104-50", "104-56", "104-57", "104-58")
@pytest.mark.parametrize("no", ["--no-interactive", "--non-interactive"])
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("env", [{}, {"JP_NONINTERACTIVE": "1"}])
@pytest.mark.parametrize(
    "order", [["--interactive", "q", "NO"], ["NO", "q", "--interactive"], ["q", "--interactive", "NO"]]
)
def test_both_flags_are_a_usage_error_that_touches_nothing(tmp_path: Path, hermetic: Path, no, terminal, env, order):
    argv = [*program(), *(no if word == "NO" else word for word in order), "hi"]
    empty = tmp_path / "empty"
    empty.mkdir()
    if terminal:
        with Terminal(argv, cwd=empty, env=env) as shown:
            assert shown.wait() == "exited 2"
            assert shown.modes() == shown.modes_before
            said = shown.screen.text
    else:
        with Process(argv, cwd=empty, env=env) as process:
            assert process.wait() == "exited 2"
            said = process.err.decode()
    assert "--interactive" in said
    assert "--no-interactive" in said
    assert list(empty.iterdir()) == []
    assert list(hermetic.rglob("*")) == []


@pytest.mark.req("104-62")
def test_the_variable_is_no_config_key(ask: Ask):
    done = ask("config", "show", "-F", "json", env={"JP_NONINTERACTIVE": "1"})
    assert done.status == "exited 0"
    assert done.stdout == ask("config", "show", "-F", "json").stdout


@pytest.mark.req("104-54", "104-55")
def test_the_terminal_is_tried_once_at_the_start(workspace, tmp_path: Path):
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace")
    log = tmp_path / "trace"
    command = [strace, "-f", "-o", str(log), "-e", "trace=openat", *program(), "c", "ls"]
    subprocess.run(command, cwd=workspace, start_new_session=True, check=True, capture_output=True)
    opened = [line for line in log.read_text().splitlines() if "/dev/tty" in line or "/.jp" in line]
    assert sum("/dev/tty" in line for line in opened) == 1
    assert "/dev/tty" in opened[0]


@pytest.mark.req("104-104")
def test_inside_tmux_it_is_promptable_whatever_is_redirected(workspace, tmp_path: Path):
    tmux = shutil.which("tmux")
    if tmux is None:
        pytest.skip("no tmux")
    socket, done = tmp_path / "socket", tmp_path / "done"
    redirected = f"< /dev/null > {tmp_path}/out 2> {tmp_path}/err"
    command = f"{JP} c ls --interactive {redirected}; echo $? > {done}.new; mv {done}.new {done}"
    environment = {**os.environ, "SHELL": "/bin/sh"}
    subprocess.run(
        [tmux, "-S", str(socket), "-f", "/dev/null", "new-session", "-d", "-c", str(workspace), command],
        env=environment,
        check=True,
    )
    with Process(["sh", "-c", f"while [ ! -e {done} ]; do sleep 0.05; done"]) as waiting:
        assert waiting.wait() == "exited 0"
    assert (done.read_text(), (tmp_path / "err").read_text()) == (
        "0\n",
        "no conversations yet; `jp query` begins one\n",
    )


# --- data and chrome


@pytest.mark.req("104-115", "104-120")
def test_a_listing_is_on_stdout_and_what_is_said_about_it_on_stderr(ask: Ask, workspace):
    done = ask("c", "ls")
    assert done.stdout == ""
    assert "no conversations yet" in done.stderr
    ask("q", "--title", "One", "hi")
    done = ask("c", "ls")
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].split() == ["ID", "Activity", "Title"]
    (record,) = json.loads(ask("c", "ls", "-F", "json").stdout)
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text()
    assert record["title"] == "One"
    assert record["active"] is True
    for key in record:
        assert f"`{key}`" in documented


@pytest.mark.req("104-95", "104-96")
def test_a_table_is_drawn_with_a_box_on_a_terminal_and_fits_it(ask: Ask, workspace):
    ask("q", "--title", "A title that is far too long for a window of forty columns", "hi")
    with run(workspace, "c", "ls", columns=40) as terminal:
        assert "┌" in terminal.screen.text
        assert all(len(line) <= 40 for line in terminal.screen.lines)
    assert "┌" not in ask("c", "ls").stdout
    assert max(map(len, ask("c", "ls", env={"COLUMNS": "40"}).stdout.splitlines())) <= 40
    assert "forty columns" in ask("c", "ls").stdout


@pytest.mark.req("104-94")
def test_hyperlinks_are_written_only_where_escapes_are(workspace, server: ModelServer, ask: Ask):
    server.then(text("a [link](https://example.com) here"))
    with run(workspace, "q", "hi") as terminal:
        assert b"\x1b]8;" in terminal.output
    assert "\x1b" not in ask("q", "-n", "hi").stdout


@pytest.mark.parametrize("args", [[], ["--no-interactive"]])
def test_a_listing_in_a_pipe_is_the_listing(ask: Ask, workspace, args):
    ask("q", "--title", "One", "hi")
    with Terminal(["sh", "-c", f"{JP} {' '.join(args)} c ls | cat"], cwd=workspace) as terminal:
        assert terminal.wait() == "exited 0"
        assert "One" in terminal.screen.text


@pytest.mark.req("104-118", "092-117")
def test_under_json_every_line_of_stderr_is_a_record(ask: Ask, workspace, server: ModelServer):
    from tests.wire.model_server import status

    done = ask("q", "-F", "json", "hi", replies=(status(503), text("ok", reasoning="hm")))
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert all("message" in json.loads(line) for line in lines)


@pytest.mark.req("092-119")
@pytest.mark.parametrize("format_", ["auto", "text-pretty"])
def test_a_message_in_a_file_has_no_repaint(workspace, server: ModelServer, tmp_path: Path, format_):
    server.then(text("word " * 200, chunk=5, delay_ms=10))
    log = tmp_path / "err"
    with (
        open(log, "wb") as err,
        Terminal([*program(), "q", "-F", format_, "hi"], cwd=workspace, stderr=err) as terminal,
    ):
        terminal.until("word")
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
    said = log.read_bytes()
    assert "gracefully shutting down…\n".encode() in said
    assert b"\r" not in said
    assert b"\x1b[K" not in said


# --- the log


@pytest.mark.req("104-124")
def test_more_verbosity_is_more_log_and_nothing_else(ask: Ask, workspace, hermetic: Path):
    log = hermetic / ".local" / "state" / "jp" / "jp.log"
    sizes, outputs = [], []
    for flag in ("-v", "-vvvvv"):
        done = ask("q", "-n", flag, "hi")
        outputs.append((done.stdout, done.stderr))
        sizes.append(log.stat().st_size)
        log.unlink()
    assert outputs == [("Hello from the test model.\n", "")] * 2
    assert sizes[1] > sizes[0] > 0


@pytest.mark.req("104-125")
@pytest.mark.parametrize("by", ["flag", "environment"])
def test_the_log_goes_to_the_file_named(ask: Ask, tmp_path: Path, by):
    path = tmp_path / "deep" / "my.log"
    args = ["--log-file", str(path)] if by == "flag" else []
    env = {"JP_LOG_FILE": str(path)} if by == "environment" else {}
    assert ask("q", *args, "hi", env=env).stderr == ""
    assert all(json.loads(line)["level"] for line in path.read_text().splitlines())
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.req("104-126", "104-153")
@pytest.mark.parametrize("by", ["flag", "environment"])
def test_the_log_goes_to_stderr_only_on_request(workspace, server: ModelServer, by):
    args = ["--log-file", "-"] if by == "flag" else []
    env = {"JP_LOG_FILE": "-"} if by == "environment" else {}
    server.then(text("ok", delay_ms=400, chunk=1))
    with run(workspace, "q", *args, "hi", env=env) as terminal:
        assert '"level"' in terminal.screen.contents
        assert b"Waiting" not in terminal.output


def test_a_log_that_cannot_be_written_is_said(ask: Ask):
    done = ask("q", "--log-file", "/proc/nowhere/log", "hi")
    assert done.status == "exited 1"
    assert "/proc/nowhere/log" in done.stderr


@pytest.mark.req("104-154")
def test_signs_of_life_do_not_end_the_indicator(workspace, server: ModelServer):
    from tests.wire.model_server import raw

    server.then(raw(*[": keep-alive\n\n"] * 30, delay_ms=50, end=False))
    with Terminal([*program(), "q", "hi"], cwd=workspace) as terminal:
        terminal.until("Waiting…")
        terminal.until("1.")
        assert "Waiting… 1." in terminal.until("Waiting… 1.").text
        shut_down(terminal)
        terminal.wait()


def test_closed_descriptors_at_the_start(workspace, jp: Jp):
    for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"):
        command = ["sh", "-c", f"exec {JP} q -n hi {closed}"]
        done = subprocess.run(command, cwd=workspace, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if "1>" in closed:
            assert done.returncode == 1, closed
        else:
            assert done.stdout == b"Hello from the test model.\n", closed
            assert done.returncode == 0
    assert len(list((workspace / ".jp" / "conversations").iterdir())) == 4
