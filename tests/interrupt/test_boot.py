"""The entry: what it loads, what it repairs, what it never does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Jp, program
from tests.interrupt.start import INT, QUIT, TERM, process
from tests.support.process import Process
from tests.support.terminal import Terminal

CHEAP = {"faulthandler", "select"}  # of the standard library, beside what every interpreter has loaded
OURS = {"boot", "interrupt"} | {
    f"interrupt.{name}"
    for name in ("checkpoint", "end", "ladder", "router", "signals", "standing", "token", "watchdog")
}


def loaded(code: str) -> set[str]:
    """The modules that `code` adds to those of a bare interpreter."""
    bare = f"import sys; bare = set(sys.modules); {code}; print(*sorted(set(sys.modules) - bare))"
    done = subprocess.run([sys.executable, "-c", bare], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.req("092-7")
def test_what_is_loaded_when_the_router_is_armed() -> None:
    modules = loaded("import jp.boot; from jp.interrupt.router import Router; Router().arm()")
    assert modules - {"select"} == {"jp"} | {f"jp.{name}" for name in OURS} | CHEAP - {"select"}


def test_the_version_loads_hardly_more() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import jp.boot, sys; sys.argv[1:] = ['--version']; jp.boot.main()"],
        capture_output=True,
        text=True,
        check=True,
    )
    modules = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert not modules & {"re", "enum", "typing", "dataclasses", "threading", "argparse", "signal", "collections"}
    assert {name for name in modules if name.startswith("jp.")} == {f"jp.{name}" for name in OURS} | {"jp.version"}


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version(flag: str, jp: Jp) -> None:
    from jp.version import VERSION

    assert str(jp(flag)) == f"jp {VERSION}\n[EOF]\n"


def test_as_a_module(jp: Jp) -> None:
    done = subprocess.run([sys.executable, "-m", "jp", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout == str(jp("--version").stdout)


class TestStandardDescriptors:
    """Closed or useless ones: said, and nothing else becomes them."""

    def run(self, redirection: str) -> Process:
        command = " ".join(program()) + f" --version {redirection}"
        return Process(["sh", "-c", command])

    @pytest.mark.parametrize("redirection", ["<&-", "2>&-", "<&- 2>&-"])
    def test_closed_ones_that_do_not_matter(self, redirection: str) -> None:
        with self.run(redirection) as running:
            assert running.wait() == "exited 0"
            assert running.out.startswith(b"jp ")
            assert running.err == b""

    @pytest.mark.parametrize("redirection", [">&-", "<&- >&-"])
    def test_closed_stdout_is_said(self, redirection: str) -> None:
        with self.run(redirection) as running:
            assert running.wait() == "exited 1"
            assert running.err == b"jp: cannot write to stdout: Bad file descriptor\n"

    def test_all_closed(self) -> None:
        with self.run("<&- >&- 2>&-") as running:
            assert running.wait() == "exited 1"

    def test_a_full_disk_is_said(self) -> None:
        with self.run("> /dev/full") as running:
            assert running.wait() == "exited 1"
            assert running.err == b"jp: cannot write to stdout: No space left on device\n"

    def test_a_reader_that_is_gone_is_no_error_of_ours(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        with Process([*program(), "--version"], stdout=writer) as running:
            os.close(writer)
            assert running.wait() == "killed SIGPIPE"
            assert running.err == b""

    def test_no_file_opened_later_becomes_a_standard_one(self, tmp_path: Path) -> None:
        code = (
            "import jp.boot, os, sys; jp.boot._open_standard_descriptors();"
            f"fd = os.open({str(tmp_path / 'file')!r}, os.O_CREAT | os.O_WRONLY);"
            f"os.write(fd, f'{{fd}} {{sys.stdin}} {{sys.stdout}} {{sys.stderr}}'.encode())"
        )
        subprocess.run(["sh", "-c", f'"$0" -c "{code}" <&- >&- 2>&-', sys.executable], check=True)
        number, *streams = (tmp_path / "file").read_text().split(" ", 1)
        assert int(number) > 2
        assert "None" not in streams[0]


def test_no_core_is_ever_written() -> None:
    with process("loop") as running:
        limits = Path(f"/proc/{running.pid}/limits")
        if limits.exists():
            core = next(line for line in limits.read_text().splitlines() if line.startswith("Max core file size"))
            assert core.split()[4] == "0"
        running.kill(QUIT)
        assert running.wait() == "killed SIGQUIT"


class TestStuckStart:
    """Start-up that hangs: a configuration file that is a FIFO."""

    @pytest.fixture
    def fifo(self, hermetic: Path, jp: Jp) -> Path:
        assert jp("init", cwd=hermetic).status == "exited 0"
        path = hermetic / ".config" / "jp" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        return path

    def start(self, fifo: Path) -> tuple[Process, int]:
        """The program, and the writing end of what it reads: opened once the program has the reading end."""
        running = Process([*program(), "query", "--new", "hello"], cwd=fifo.parents[2])
        opened: list[int] = []
        return running.until(lambda _: opens(fifo, opened)), opened[0]

    @pytest.mark.req("092-3")
    def test_sigterm_is_told_at_once_and_the_command_does_nothing(self, fifo: Path) -> None:
        started, writer = self.start(fifo)
        with started as running:
            running.kill(TERM)
            running.until(lambda p: b"gracefully" in p.err)
            os.close(writer)
            assert running.wait() == "killed SIGTERM"
            assert running.out == b""
            assert running.err == "gracefully shutting down…\n".encode()

    @pytest.mark.slow
    @pytest.mark.req("092-4")
    def test_it_ends_at_the_default_deadline(self, fifo: Path) -> None:
        started, writer = self.start(fifo)
        with started as running:
            running.kill(INT)
            running.until(lambda p: b"gracefully" in p.err)
            assert running.wait(25) == "killed SIGINT"
            assert running.err == "gracefully shutting down…\nterminating program…\n".encode()
        os.close(writer)

    @pytest.mark.req("092-131")
    @pytest.mark.parametrize("how", ["flag", "environment"])
    def test_in_a_terminal_but_not_to_be_asked_the_same_two_rungs(self, how: str, fifo: Path) -> None:
        flags = ["--no-interactive"] if how == "flag" else []
        environment = {"JP_NONINTERACTIVE": "1"} if how == "environment" else {}
        opened: list[int] = []
        command = [*program(), *flags, "query", "--new", "hello"]
        with Terminal(command, cwd=fifo.parents[2], env=environment) as running:
            running.until(lambda _: opens(fifo, opened))
            running.press()
            running.until("gracefully shutting down…")
            running.press()
            assert running.wait() == "killed SIGINT"
            assert "terminating program…" in running.screen
            assert running.modes() == running.modes_before
        os.close(opened[0])

    def test_a_second_press_ends_it_at_once(self, fifo: Path) -> None:
        started, writer = self.start(fifo)
        with started as running:
            running.kill(INT)
            running.until(lambda p: b"gracefully" in p.err)
            running.kill(INT)
            assert running.wait(5) == "killed SIGINT"
            assert running.out == b""
        os.close(writer)


def opens(fifo: Path, opened: list[int]) -> bool:
    """Whether somebody reads the FIFO; its writing end is then in `opened`."""
    try:
        opened.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_one_place_alone_touches_the_signals() -> None:
    """Handlers and the wake-up descriptor have one owner."""
    words = ("signal.signal(", "set_wakeup_fd(", "add_signal_handler(", "siginterrupt(")
    allowed = {"src/jp/interrupt/signals.py", "src/jp/interrupt/end.py", "src/jp/boot.py"}
    allowed |= {"src/jp/plugin/sdk/plugin.py"}  # in the plugin's own process
    found = {
        str(path.relative_to(REPOSITORY))
        for path in (REPOSITORY / "src").rglob("*.py")
        if any(word in path.read_text() for word in words)
    }
    assert found <= allowed
