"""Shutdowns while an answer streams, by presses and signals, on a real terminal and without one."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import program
from tests.support.process import Process
from tests.support.terminal import CTRL_BACKSLASH, CTRL_C, Terminal, shut_down
from tests.support.workspace import Ask, events, messages
from tests.wire.model_server import ModelServer, silent, text

LONG = "word " * 4000

Press = Callable[[Terminal], None]
PRESSES: dict[str, Press] = {"key": lambda t: t.send(CTRL_C), "signal": lambda t: t.kill(signal.SIGINT)}
by_key_and_by_signal = pytest.mark.parametrize("press", PRESSES.values(), ids=PRESSES)


def query(workspace: Path, *args: str, **options) -> Terminal:
    return Terminal([*program(), "q", *args, "hi"], cwd=workspace, **options)


@pytest.fixture
def streaming(server: ModelServer) -> ModelServer:
    """An answer that goes on for longer than any test."""
    server.then(text(LONG, chunk=5, delay_ms=5))
    return server


@pytest.mark.req("092-121", "092-124", "092-126", "092-10")
@by_key_and_by_signal
def test_the_second_press_stores_what_came_and_dies_by_sigint(streaming, workspace, press: Press, no_leftovers):
    with query(workspace) as terminal:
        terminal.until(lambda screen: screen.text.count("word") > 20)
        shut_down(terminal, press)
        terminal.until("gracefully shutting down…")
        assert terminal.wait() == "killed SIGINT"
        shown = terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
        assert "^C" not in shown
        assert "Traceback" not in shown
    (stored,) = messages(workspace)
    assert stored.startswith("word word")
    # What was on the screen is in the store: nothing shown is lost.
    assert shown.count("word") <= stored.count("word")
    assert LONG.startswith(stored)


@pytest.mark.req("092-120", "092-112")
def test_the_message_has_a_line_of_its_own(streaming, workspace):
    with query(workspace) as terminal:
        terminal.until("word word")
        shut_down(terminal)
        terminal.wait()
        assert "gracefully shutting down…" in [line.strip() for line in terminal.screen.lines]


@pytest.mark.req("092-122", "092-13", "092-12")
@by_key_and_by_signal
def test_a_press_during_the_shutdown_ends_at_once(workspace, server: ModelServer, press: Press, no_leftovers):
    slow = {"JP_INTERRUPT_SHUTDOWN_TIMEOUT_SECS": "30"}
    # A pipe that nobody reads keeps the graceful end from finishing.
    read, write = os.pipe()
    try:
        server.then(text("x" * 300_000, chunk=50_000), silent())
        with query(workspace, stdout=write, env=slow) as terminal:
            deadline = time.monotonic() + 30
            while not (workspace / ".jp" / "conversations").exists() and time.monotonic() < deadline:
                terminal.pump(0.02)
            terminal.until(lambda _: len(server.requests) > 0)
            _fill(read, write, terminal)
            shut_down(terminal, press)
            terminal.until("gracefully shutting down…")
            press(terminal)
            terminal.until("terminating program…")
            assert terminal.wait() == "killed SIGINT"
            assert terminal.modes() == terminal.modes_before
    finally:
        os.close(read)
        os.close(write)


def _fill(read: int, write: int, terminal: Terminal) -> None:
    """Wait until the pipe is full: what is written into it from now on waits for a reader."""
    import array
    import fcntl
    import termios

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        size = array.array("i", [0])
        fcntl.ioctl(read, termios.FIONREAD, size)
        if size[0] >= 60_000:
            return
        terminal.pump(0.02)
    raise AssertionError("the pipe never filled")


@pytest.mark.req("092-101", "092-111")
def test_the_watchdog_ends_what_nobody_reads(workspace, server: ModelServer):
    read, write = os.pipe()
    try:
        server.then(text("x" * 300_000, chunk=50_000), silent())
        with query(workspace, "-c", "interrupt.shutdown.timeout_secs=1", stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            _fill(read, write, terminal)
            began = time.monotonic()
            shut_down(terminal)
            terminal.until("gracefully shutting down…")
            assert terminal.wait() == "killed SIGINT"
            assert 0.8 < time.monotonic() - began < 15
            assert "terminating program…" in terminal.screen.contents
    finally:
        os.close(read)
        os.close(write)
    assert messages(workspace)[0].startswith("xxx")


@pytest.mark.req("092-102")
def test_a_teardown_in_time_is_not_terminated(streaming, workspace):
    with query(workspace) as terminal:
        terminal.until("word")
        shut_down(terminal)
        terminal.wait()
        assert "terminating program…" not in terminal.screen.contents


@pytest.mark.req("092-133")
def test_sigterm_stores_and_dies_by_sigterm(streaming, workspace, no_leftovers):
    with query(workspace) as terminal:
        terminal.until("word")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
        assert "gracefully shutting down…" in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    assert messages(workspace)[0].startswith("word")


@pytest.mark.req("092-135")
@pytest.mark.parametrize(
    "how", [lambda t: t.send(CTRL_BACKSLASH), lambda t: t.kill(signal.SIGQUIT)], ids=["key", "signal"]
)
def test_sigquit_ends_at_once_by_sigquit(streaming, workspace, how: Press, ask: Ask):
    with query(workspace) as terminal:
        terminal.until("word")
        how(terminal)
        assert terminal.wait() == "killed SIGQUIT"
        assert "gracefully" not in terminal.screen.contents
        assert terminal.modes() == terminal.modes_before
    # Nothing was wound down; the journal has it all the same.
    assert ask("c", "print", "newest").stdout.count("word") > 0


@pytest.mark.req("092-136")
@pytest.mark.parametrize("how", [lambda t: t.kill(signal.SIGHUP), lambda t: t.hang_up()], ids=["signal", "closed"])
def test_a_closed_terminal_stores_and_dies_by_sighup(streaming, workspace, how: Press):
    with query(workspace) as terminal:
        terminal.until("word")
        how(terminal)
        process = terminal.process
        assert process.wait(30) == -signal.SIGHUP
    assert messages(workspace)[0].startswith("word")


@pytest.mark.req("092-129", "092-115")
@pytest.mark.parametrize(
    ("format_", "message"),
    [
        ("text", b"gracefully shutting down\xe2\x80\xa6\n"),
        ("json", '{"message": "gracefully shutting down…"}\n'.encode()),
    ],
)
def test_without_a_terminal_the_first_press_is_the_graceful_shutdown(streaming, workspace, format_, message):
    with Process([*program(), "q", "-F", format_, "hi"], cwd=workspace) as process:
        process.until((lambda p: b"chat_request" in p.out) if format_ == "json" else b"word word")
        if format_ == "json":
            _until_journalled(workspace)
        process.kill()
        assert process.wait() == "killed SIGINT"
        assert process.err == message
    assert messages(workspace)[0].startswith("word")


def _until_journalled(workspace: Path) -> None:
    deadline = time.monotonic() + 30
    home = Path(os.environ["HOME"])
    while time.monotonic() < deadline:
        if any(b"partial" in path.read_bytes() for path in home.rglob("journal.jsonl")):
            return
        os.sched_yield()
    raise AssertionError("nothing was journalled")


@pytest.mark.req("092-131")
@pytest.mark.parametrize("off", ["flag", "environment"])
def test_not_promptable_in_a_terminal_is_the_same(streaming, workspace, off):
    args = ["--no-interactive"] if off == "flag" else []
    env = {"JP_NONINTERACTIVE": "1"} if off == "environment" else {}
    with query(workspace, *args, env=env) as terminal:
        terminal.until("word")
        terminal.press()
        terminal.until("gracefully shutting down…")
        assert terminal.wait() == "killed SIGINT"


@pytest.mark.req("092-132")
def test_in_the_background_a_press_neither_stops_nor_touches_the_terminal(streaming, workspace):
    with query(workspace, background=True) as terminal:
        terminal.until("word")
        terminal.kill()
        assert terminal.wait() == "killed SIGINT"
        assert not any(report.startswith("stopped") for report in terminal.reports)
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("092-137")
def test_an_interrupt_ignored_at_start_stays_ignored(workspace, server: ModelServer):
    server.then(text("word " * 40, chunk=5, delay_ms=5))
    command = "trap '' INT; exec " + " ".join([*program(), "q", "hi"])
    with Process(["sh", "-c", command], cwd=workspace) as process:
        process.until(b"word")
        process.kill(signal.SIGINT)
        assert process.wait() == "exited 0"
    assert messages(workspace) == ["word " * 40]


@pytest.mark.req("092-127")
def test_an_inherited_block_does_not_keep_it_alive(streaming, workspace):
    with Process(
        [*program(), "q", "hi"],
        cwd=workspace,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}),
    ) as process:
        process.until(b"word")
        process.kill()
        assert process.wait() == "killed SIGINT"


@pytest.mark.req("092-123")
@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_shell_loop_stops(streaming, workspace, shell, shells):
    if shell not in shells:
        pytest.skip(f"no {shell}")
    command = f"for i in 1 2 3; do {' '.join(program())} q -n hi; echo round $i; done"
    with Terminal([shell, "-c", command], cwd=workspace) as terminal:
        terminal.until("word")
        shut_down(terminal)
        terminal.wait()
        assert "round" not in terminal.screen.contents
    assert len(list((workspace / ".jp" / "conversations").iterdir())) == 1


@pytest.mark.req("092-14")
def test_the_next_query_continues_from_what_was_stored(streaming, server: ModelServer, workspace, ask: Ask):
    with query(workspace) as terminal:
        terminal.until("word")
        shut_down(terminal)
        terminal.wait()
    server.then(text("and on."))
    assert ask("q", "--id", "newest", "go on").stdout == "and on.\n"
    assert {e["type"] for e in events(workspace)} == {"turn_start", "chat_request", "chat_response"}
    sent = server.bodies()[-1]["messages"]
    assert sent[-2]["content"] == messages(workspace)[0]


def test_a_kill_loses_nothing_that_was_shown(streaming, workspace, ask: Ask):
    with query(workspace) as terminal:
        terminal.until(lambda screen: screen.text.count("word") > 50)
        terminal.kill(signal.SIGKILL)
        assert terminal.wait() == "killed SIGKILL"
        shown = terminal.screen.contents.count("word")
    assert ask("c", "print", "newest").stdout.count("word") >= shown
    assert ask("c", "ls").status == "exited 0"


def _opens(fifo: Path, writer: list[int]) -> bool:
    """Whether somebody has the FIFO open for reading; keeps it open for writing then."""
    try:
        writer.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.fixture
def stuck(workspace: Path, hermetic: Path) -> Iterator[Process]:
    """A query whose start hangs in a config file of the user's that is a FIFO."""
    fifo = hermetic / ".config" / "jp" / "config.toml"
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    with Process([*program(), "q", "hi"], cwd=workspace) as process:
        writer: list[int] = []
        process.until(lambda _: _opens(fifo, writer))
        yield process
        os.close(writer[0])
    assert not (workspace / ".jp" / "conversations").exists()
    assert b"Traceback" not in process.err


@pytest.mark.req("092-2", "092-3")
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_start_that_hangs_is_shut_down_and_the_next_press_ends_it(stuck: Process, sig):
    stuck.kill(sig)
    stuck.until(lambda p: "gracefully shutting down…" in p.err.decode())
    stuck.kill(signal.SIGINT)
    assert stuck.wait() == "killed SIGINT"


@pytest.mark.slow
@pytest.mark.req("092-3", "092-4")
def test_a_start_that_hangs_ends_at_the_default_deadline(stuck: Process):
    began = time.monotonic()
    stuck.kill(signal.SIGTERM)
    assert stuck.wait() == "killed SIGTERM"
    assert 9 < time.monotonic() - began < 25


@pytest.mark.req("092-107")
def test_no_time_for_a_shutdown_loses_nothing_that_was_shown(streaming, workspace, ask: Ask):
    with query(workspace, "-c", "interrupt.shutdown.timeout_secs=0") as terminal:
        terminal.until(lambda screen: screen.text.count("word") > 20)
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        shown = terminal.screen.contents.count("word")
    assert ask("c", "print", "newest").stdout.count("word") >= shown


@pytest.mark.req("092-120", "092-126")
def test_nothing_of_a_message_is_on_stdout(streaming, workspace):
    with query(workspace, stdout=subprocess.PIPE) as terminal:
        terminal.until(lambda _: terminal.piped[1].count(b"word") > 20)
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert "gracefully shutting down…" in terminal.screen.text
        printed = terminal.piped[1].decode()
    (stored,) = messages(workspace)
    assert printed.rstrip("\n") == stored.rstrip("\n")


@pytest.mark.req("104-137", "104-155", "092-105", "092-113", "092-118")
def test_the_countdown_is_one_line_in_place(workspace, server: ModelServer):
    read, write = os.pipe()
    try:
        server.then(text("x" * 300_000, chunk=50_000), silent())
        with query(workspace, stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            _fill(read, write, terminal)
            shut_down(terminal)
            terminal.until("Shutting down… 8s left")
            terminal.until("Shutting down… 7s left")
            assert terminal.screen.text.count("Shutting down…") == 1
            terminal.press()
            assert terminal.wait() == "killed SIGINT"
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.req("104-137", "104-155")
def test_the_wait_for_a_lock_is_one_line_in_place_and_gone_when_it_is_had(workspace, server: ModelServer):
    server.then(text("word " * 60, chunk=5, delay_ms=40), text("second"))
    with query(workspace) as first:
        first.until("word")
        with query(workspace, "--id", "newest", "-c", "style.lock_wait.delay_secs=0") as second:
            second.until("Waiting for the conversation's lock… 10s left")
            second.until("Waiting for the conversation's lock… 9s left")
            assert second.screen.text.count("lock…") == 1
            second.until("second")
            assert second.wait() == "exited 0"
            assert "lock…" not in second.screen.contents


def test_many_presses_end_it_once(streaming, workspace, no_leftovers):
    with query(workspace) as terminal:
        terminal.until("word")
        for _ in range(10):
            try:
                terminal.kill(signal.SIGINT)
            except ProcessLookupError:
                break
            terminal.pump(0.005)  # the system makes one of those that wait at the same time
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before
        assert "Traceback" not in terminal.screen.contents


def test_the_lock_is_free_afterwards(streaming, workspace, server: ModelServer, ask: Ask):
    with query(workspace) as terminal:
        terminal.until("word")
        terminal.kill(signal.SIGKILL)
        terminal.wait()
    server.then(text("done"))
    assert ask("q", "--id", "newest", "again").stdout == "done\n"


def test_two_at_once_the_second_names_the_holder(streaming, workspace, ask: Ask):
    with query(workspace) as terminal:
        terminal.until("word")
        done = ask("q", "--id", "newest", "-c", "style.lock_wait.timeout_secs=0", "me too")
        assert done.status == "exited 4"
        assert f"process {terminal.process.pid}" in done.stderr
        shut_down(terminal)
        terminal.wait()


def test_a_lock_that_is_let_go_in_time_is_had(workspace, server: ModelServer, ask: Ask):
    server.then(text("word " * 60, chunk=5, delay_ms=10), text("second"))
    with query(workspace) as terminal:
        terminal.until("word")
        done = ask("q", "--id", "newest", "me too")
        assert done.stdout == "second\n"
        assert terminal.wait() == "exited 0"


@pytest.mark.req("092-6", "092-121")
def test_a_press_does_not_wait_for_the_title(workspace, server: ModelServer):
    def either(exchange):
        (silent() if "response_format" in exchange.json else text("The answer."))(exchange)

    server.then(either)
    with query(workspace, "-c", "conversation.title.generate.auto=true") as terminal:
        terminal.until("Waiting for the title…")
        pressed = time.monotonic()
        shut_down(terminal)
        assert terminal.wait() == "killed SIGINT"
        assert time.monotonic() - pressed < 1.2
    assert messages(workspace) == ["The answer."]
    (metadata,) = workspace.rglob("metadata.json")
    assert '"title": "hi"' in metadata.read_text()


@pytest.mark.req("092-105", "092-106")
def test_the_countdown_stays_until_the_end_and_changes_as_often_as_configured(workspace, server: ModelServer):
    """Also while the last of the output is being written, which is where an unread pipe keeps it."""
    read, write = os.pipe()
    settings = ["delay_secs=0", "timeout_secs=4", "interval_ms=1500"]
    args = [word for each in settings for word in ("-c", f"interrupt.shutdown.{each}")]
    try:
        server.then(text("x" * 300_000, chunk=50_000))
        with query(workspace, *args, stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            _fill(read, write, terminal)
            shut_down(terminal)
            assert terminal.wait() == "killed SIGINT"
            drawn = terminal.output.decode(errors="replace").count("Shutting down…")
            assert 2 <= drawn <= 5
            assert "terminating program…" in terminal.screen.contents
    finally:
        os.close(read)
        os.close(write)


def test_an_end_that_is_not_announced_is_not_counted_down(workspace, server: ModelServer):
    read, write = os.pipe()
    args = ["-c", "interrupt.shutdown.delay_secs=0", "-c", "interrupt.shutdown.timeout_secs=1"]
    try:
        server.then(text("x" * 300_000, chunk=50_000), silent())
        with query(workspace, *args, stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            _fill(read, write, terminal)
            terminal.kill(signal.SIGHUP)
            assert terminal.wait() == "killed SIGHUP"
            assert b"Shutting down" not in terminal.output
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.req("092-114", "092-116")
@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_format_without_repaint_has_the_messages_and_the_deadline_but_no_countdown(
    workspace: Path, server: ModelServer, format_
):
    read, write = os.pipe()
    args = [
        "--no-interactive",
        "-F",
        format_,
        "-c",
        "interrupt.shutdown.delay_secs=0",
        "-c",
        "interrupt.shutdown.timeout_secs=1",
    ]
    try:
        server.then(text("x" * 300_000, chunk=50_000), silent())
        with query(workspace, *args, stdout=write) as terminal:
            terminal.until(lambda _: len(server.requests) > 0)
            terminal.until(lambda _: any(path.stat().st_size > 290_000 for path in workspace.rglob("events.json")))
            terminal.kill(signal.SIGINT)  # the key itself would be echoed
            assert terminal.wait() == "killed SIGINT"
            said = terminal.output.decode()
        assert "gracefully shutting down…" in said
        assert "Shutting down…" not in said
        assert "\x1b" not in said
        assert "\r" not in said.replace("\r\n", "")
        if format_ == "text":
            assert said.splitlines() == ["gracefully shutting down…", "terminating program…"]
        else:
            assert all(json.loads(line)["message"] for line in said.splitlines())
    finally:
        os.close(read)
        os.close(write)
