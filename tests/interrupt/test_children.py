"""Children: started in one place, known, waited for, killed as groups."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from jp.interrupt import children
from tests.interrupt.start import INT, QUIT, TERM, argv, process
from tests.support.marked import marked
from tests.support.process import Process

pytestmark = pytest.mark.usefixtures("no_leftovers")

DEADLINE = 30


def read_all(fd: int | None) -> bytes:
    assert fd is not None
    with open(fd, "rb") as file:
        return file.read()


class TestStart:
    def test_streams_directory_and_environment(self, tmp_path: os.PathLike[str]) -> None:
        child = children.spawn(
            ["sh", "-c", 'read word; echo "$word $GREETING $PWD"; echo err >&2; exit 5'],
            env={"GREETING": "hello", "PATH": os.environ["PATH"]},
            cwd=os.fspath(tmp_path),
            stdin=children.PIPE,
            stdout=children.PIPE,
            stderr=children.PIPE,
        )
        assert child.stdin is not None
        os.write(child.stdin, b"word\n")
        os.close(child.stdin)
        assert read_all(child.stdout).decode() == f"word hello {os.fspath(tmp_path)}\n"
        assert read_all(child.stderr) == b"err\n"
        assert child.exited.wait(DEADLINE)
        assert child.returncode == 5

    def test_a_descriptor_can_be_given(self, tmp_path: os.PathLike[str]) -> None:
        path = os.path.join(tmp_path, "out")
        with open(path, "wb") as file:
            child = children.spawn(["echo", "here"], stdin=children.DEVNULL, stdout=file.fileno())
            assert child.exited.wait(DEADLINE)
        assert child.stdout is None
        with open(path) as file_again:
            assert file_again.read() == "here\n"

    def test_its_end_is_told_once_with_the_signal_it_died_of(self) -> None:
        ended: list[int | None] = []
        told = threading.Event()

        def on_exit(child: children.Child) -> None:
            ended.append(child.returncode)
            told.set()

        child = children.spawn(["sh", "-c", "kill -9 $$"], on_exit=on_exit)
        assert told.wait(DEADLINE)
        assert ended == [-9]
        assert child.exited.is_set()
        assert child not in children.living()

    @pytest.mark.parametrize("program", ["/nowhere/at/all", "/etc/passwd"])
    def test_what_cannot_be_started_raises_and_leaks_nothing(self, program: str) -> None:
        before = set(os.listdir("/dev/fd"))
        with pytest.raises(OSError, match=program):
            children.spawn([program], stdin=children.PIPE, stdout=children.PIPE, stderr=children.PIPE)
        assert set(os.listdir("/dev/fd")) == before
        assert not children.living()

    def test_no_other_descriptor_is_inherited(self) -> None:
        reader, writer = os.pipe()
        child = children.spawn(["ls", "/dev/fd"], stdin=children.DEVNULL, stdout=children.PIPE)
        assert child.exited.wait(DEADLINE)
        assert len(read_all(child.stdout).split()) == 4  # 0 to 2, and the directory itself
        os.close(reader)
        os.close(writer)

    def test_started_from_many_threads_each_is_known(self) -> None:
        made: list[children.Child] = []
        threads = [
            threading.Thread(target=lambda: made.append(children.spawn(["sleep", "60"], stdin=children.DEVNULL)))
            for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert {child.pid for child in children.living()} == {child.pid for child in made}
        for child in made:
            assert child.kill_group(signal.SIGKILL)
            assert child.exited.wait(DEADLINE)
        assert not children.living()

    def test_signals_reach_it_unblocked_and_at_their_default(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
        try:
            child = children.spawn(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], stdout=children.PIPE)
            assert child.exited.wait(DEADLINE)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        masks = [int(line.split()[1], 16) for line in read_all(child.stdout).splitlines()]
        assert masks[0] == 0
        assert not masks[1] & (1 << signal.SIGPIPE - 1)

    @pytest.mark.parametrize("already", [True, False])
    def test_where_no_thread_can_wait_for_it_nothing_is_left(self, already: bool) -> None:
        """No thread starts where its stack is larger than what can be addressed."""
        code = f"""
import _thread, glob, os
from jp.interrupt import children
if {already}:
    children.spawn(["true"]).exited.wait({DEADLINE})
fds = set(os.listdir("/dev/fd"))
_thread.stack_size(1 << 47)
for _ in range(2):
    try:
        children.spawn(["sleep", "60"], stdin=children.PIPE, stdout=children.PIPE)
    except OSError as error:
        print(error)
assert set(os.listdir("/dev/fd")) == fds
assert not children.living()
for path in glob.glob("/proc/self/task/*/children"):
    assert not open(path).read(), "it runs, or was not reaped"
_thread.stack_size(0)
child = children.spawn(["true"])
assert child.exited.wait({DEADLINE}) and child.returncode == 0
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.partition(" to ")[0] for line in done.stdout.splitlines()] == [
            "[Errno 11] can't start new thread",
            "[Errno 11] can't start new thread",
        ]


class TestGroups:
    def test_its_own_by_default_ours_for_an_editor(self) -> None:
        own = children.spawn(["sleep", "60"])
        shared = children.spawn(["sleep", "60"], own_group=False)
        assert os.getpgid(own.pid) == own.pid == own.pgid
        assert os.getpgid(shared.pid) == os.getpgrp()
        for child in (own, shared):
            child.kill_group(signal.SIGKILL)
            assert child.exited.wait(DEADLINE)
        assert not own.kill_group(signal.SIGKILL)
        assert not shared.kill_group(signal.SIGKILL)

    def test_a_session_of_its_own_has_no_terminal_and_dies_as_a_group(self) -> None:
        child = children.spawn(
            ["sh", "-c", "sleep 60 & echo $!; cat </dev/tty; echo $?; wait"],
            stdout=children.PIPE,
            stderr=children.DEVNULL,
            session=True,
        )
        assert child.stdout is not None
        with open(child.stdout, "rb") as file:
            grandchild, status = int(file.readline()), int(file.readline())
            assert status != 0
            assert os.getsid(child.pid) == os.getpgid(grandchild) == child.pid == child.pgid
            assert child.kill_group(signal.SIGKILL)
            assert child.exited.wait(DEADLINE)
            assert file.read() == b""
        until = time.monotonic() + DEADLINE
        while child.lives():
            assert time.monotonic() < until
        assert child not in children.living()

    def test_a_group_whose_leader_is_gone_stays_known_and_can_be_killed(self) -> None:
        child = children.spawn(["sh", "-c", "sleep 60 & echo $!"], stdout=children.PIPE)
        assert child.stdout is not None
        grandchild = int(os.read(child.stdout, 64))
        assert child.exited.wait(DEADLINE)
        assert child in children.living()
        assert child.kill_group(signal.SIGKILL)
        os.close(child.stdout)
        with Process(["true"]) as any_process:
            any_process.until(lambda _: grandchild not in marked())

    def test_a_stopped_child_is_an_event_and_no_hang(self) -> None:
        stops: list[int | None] = []
        stopped, ended = threading.Event(), threading.Event()

        def on_stop(child: children.Child) -> None:
            stops.append(child.stopped)
            stopped.set()

        child = children.spawn(["sleep", "60"], on_stop=on_stop, on_exit=lambda _: ended.set())
        os.kill(child.pid, signal.SIGSTOP)
        assert stopped.wait(DEADLINE)
        assert stops == [signal.SIGSTOP]
        assert not child.exited.is_set()
        child.kill_group(signal.SIGTERM)
        child.kill_group(signal.SIGCONT)
        assert ended.wait(DEADLINE)
        assert child.returncode == -signal.SIGTERM


class TestTheProcessEnds:
    """Whatever way it ends, nobody is left (`no_leftovers` looks)."""

    @pytest.mark.req("092-12")
    def test_a_third_rung_kills_grandchildren_that_ignore_everything(self) -> None:
        with process("parent") as running:
            assert len(marked()) >= 4
            running.kill(INT)
            running.until(lambda p: b"gracefully" in p.err)
            running.kill(INT)
            assert running.wait() == "killed SIGINT"

    @pytest.mark.req("092-135")
    def test_sigquit_kills_them(self) -> None:
        with process("parent") as running:
            running.kill(QUIT)
            assert running.wait() == "killed SIGQUIT"

    def test_an_ordinary_end_kills_them(self) -> None:
        with process("exits_with_children") as running:
            assert running.wait() == "exited 0"

    @pytest.mark.parametrize("rounds", range(8))
    def test_in_the_middle_of_starting_none_is_unknown(self, rounds: int) -> None:
        with Process(argv("spawner"), cwd=os.getcwd()) as running:
            running.until(lambda p: p.out.count(b"started") > 3 * rounds)
            running.kill(TERM if rounds % 2 else QUIT)
            if rounds % 2:
                running.until(lambda p: b"gracefully" in p.err)
                running.kill(INT)
            assert running.wait() in ("killed SIGQUIT", "killed SIGINT")


def test_popen_does_not_complain_about_children_that_are_gone() -> None:
    code = (
        "import gc, warnings; warnings.simplefilter('error');"
        "from jp.interrupt import children;"
        "c = children.spawn(['true']); c.exited.wait(30); del c; gc.collect()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
