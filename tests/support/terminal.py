"""A program on a real terminal, driven and watched as a person would.

The program runs in a session of its own whose controlling terminal is a fresh pty; any of its descriptors 0 to 2 may be
redirected. Keys are bytes, the screen is a terminal emulator's (Ghostty's), and every wait is for a condition with a
deadline that shows the screen when it is missed.

The test keeps the slave side open: the terminal's modes can be read after the program is gone, and the last output is
not lost with it.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pyghostty import Terminal as Emulator  # type: ignore[import-untyped]

from tests.support.status import of_returncode

DEADLINE = 30.0
CTRL_C, CTRL_D, CTRL_Z, CTRL_S, CTRL_Q, CTRL_BACKSLASH, ESC = (
    b"\x03",
    b"\x04",
    b"\x1a",
    b"\x13",
    b"\x11",
    b"\x1c",
    b"\x1b",
)


class Screen:
    """What a person sees."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    @property
    def text(self) -> str:
        """The visible rows, trailing blanks trimmed."""
        return str(self._emulator.text())

    @property
    def lines(self) -> list[str]:
        """The visible rows, one by one."""
        return [line.rstrip() for line in self.text.split("\n")]

    @property
    def contents(self) -> str:
        """Scrollback and screen, wrapped lines joined again."""
        return str(self._emulator.contents())

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from 0."""
        column, row = self._emulator.cursor
        return int(column), int(row)

    def mode(self, number: int) -> bool:
        """Whether the private mode is set: 25 cursor shown, 2004 bracketed paste, 1049 alternate screen."""
        return bool(self._emulator.mode(number))

    def __contains__(self, text: str) -> bool:
        return text in self.text

    def __repr__(self) -> str:
        width = max((len(line) for line in self.lines), default=0)
        rows = "\n".join(f"|{line:{width}}|" for line in self.lines)
        return f"{rows}\ncursor {self.cursor}"


class Terminal:
    """`argv` on a terminal of its own. `stdin`, `stdout`, `stderr`: None is the terminal, else as for Popen."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str | None] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        columns: int = 80,
        rows: int = 24,
        background: bool = False,
        controlling: bool = True,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.master, self.slave = os.openpty()
        self._emulator = Emulator(columns, rows)
        self._emulator.on_reply(self._reply)
        self.screen = Screen(self._emulator)
        self.output = b""
        self.piped: dict[int, bytes] = {1: b"", 2: b""}
        self.status: str | None = None
        self._reports = b""
        self._report_fd = -1
        self._size(columns, rows)
        self.modes_before = self.modes()
        environment: dict[str, str] = {**os.environ, "TERM": "xterm-256color"}
        for name, value in (env or {}).items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        argv = list(argv)
        kept = list(pass_fds)
        if background:
            argv, kept = self._in_background(argv, kept)
        slave = self.slave

        def own_terminal() -> None:
            if controlling:
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            argv,
            stdin=slave if stdin is None else stdin,
            stdout=slave if stdout is None else stdout,
            stderr=slave if stderr is None else stderr,
            env=environment,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=own_terminal,  # noqa: PLW1509  (the driver has no threads)
            pass_fds=kept,
        )
        self.leader = self.process.pid
        self.pid = self.leader
        self._pipes = {f.fileno(): n for n, f in ((1, self.process.stdout), (2, self.process.stderr)) if f}
        if background:
            os.close(kept[0])
            self.until(lambda _: b"\n" in self._reports)
            self.pid = int(self._reports.split()[1])

    def _in_background(self, argv: list[str], kept: list[int]) -> tuple[list[str], list[int]]:
        self._report_fd, far = os.pipe()
        launcher = str(Path(__file__).with_name("background.py"))
        return [sys.executable, "-I", "-S", launcher, str(far), *argv], [far, *kept]

    def _reply(self, data: bytes) -> None:
        os.write(self.master, data)

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # --- what the person does

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self.master, keys)

    def press(self) -> None:
        """The Ctrl-C key."""
        self.send(CTRL_C)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size; the terminal tells its foreground group."""
        self._emulator.resize(columns, rows)
        self._size(columns, rows)

    def kill(self, sig: int = signal.SIGINT) -> None:
        """Send a signal to the program alone."""
        os.kill(self.pid, sig)

    def hang_up(self) -> None:
        """Close the terminal window."""
        self.pump(0)
        os.close(self.master)
        os.close(self.slave)
        self.master = self.slave = -1

    # --- what the person sees

    def pump(self, seconds: float) -> None:
        """Take what comes within `seconds`, returning at the first piece."""
        fds = [fd for fd in (self.master, self._report_fd, *self._pipes) if fd >= 0]
        ready, _, _ = select.select(fds, [], [], seconds)
        for fd in ready:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            if fd == self.master:
                self.output += data
                self._emulator.feed(data)
            elif fd == self._report_fd:
                self._reports += data
                if not data:
                    os.close(fd)
                    self._report_fd = -1
            elif data:
                self.piped[self._pipes[fd]] += data
            else:
                del self._pipes[fd]

    def until(
        self, condition: "Callable[[Screen], object] | str", deadline: float = DEADLINE, *, alive: bool = False
    ) -> Screen:
        """Wait until `condition(screen)` holds, or the text is on the screen. `alive`: give up at the program's end."""
        met = condition if callable(condition) else lambda screen: condition in screen.text
        end = time.monotonic() + deadline
        while not met(self.screen):
            gone = alive and self.process.poll() is not None
            if time.monotonic() > end or gone:
                self.pump(0)
                if met(self.screen):
                    break
                why = "the program ended" if gone else f"not within {deadline} s"
                raise AssertionError(f"{why}:\n{self.screen!r}\nraw end: {self.output[-400:]!r}\npiped: {self.piped}")
            self.pump(0.02)
        return self.screen

    def modes(self) -> list[Any]:
        """The terminal's modes, comparable."""
        return termios.tcgetattr(self.slave)

    @property
    def foreground(self) -> int:
        """The process group that has the terminal."""
        return os.tcgetpgrp(self.master)

    # --- how it ends

    def wait(self, deadline: float = DEADLINE) -> str:
        """Wait for the program's end, taking all output; how it ended, in words."""
        end = time.monotonic() + deadline
        while self.status is None:
            code = self.process.poll()
            if code is not None:
                self.status = of_returncode(code)
                break
            if time.monotonic() > end:
                raise AssertionError(f"still running after {deadline} s:\n{self.screen!r}")
            self.pump(0.01)
        while any(select.select([fd], [], [], 0)[0] for fd in (self.master, *self._pipes) if fd >= 0):
            self.pump(0)
        if self.pid != self.leader:
            self.until(lambda _: self._report_fd < 0)
            return self.reports[-1]
        return self.status

    @property
    def reports(self) -> list[str]:
        """For a background start: how the job stopped and ended so far, in words."""
        return self._reports.decode().splitlines()[1:]

    def close(self) -> None:
        """Kill the whole session and close the terminal."""
        for pid in {self.pid, self.leader, *session(self.leader)}:
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        for fd in (self.master, self.slave, self._report_fd):
            if fd >= 0:
                os.close(fd)
        self.master = self.slave = self._report_fd = -1
        self._pipes = {}
        self._emulator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def session(leader: int) -> list[int]:
    """The processes of the session, background jobs included (as far as /proc tells)."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(directory.name)) == leader:
                found.append(int(directory.name))
        except OSError:
            continue
    return found


def shut_down(terminal: Terminal, press: Callable[[Terminal], None] = Terminal.press) -> None:
    """Begin the graceful shutdown: press, and once more when the interrupt menu is there."""
    press(terminal)
    terminal.until("Interrupted:")
    press(terminal)


def until_stopped(terminal: Terminal) -> None:
    """Wait until the shell itself says that its only job is stopped: what `fg` does depends on what it knows."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        number = time.monotonic_ns()
        terminal.send(f"jobs; echo asked $(({number}+0))\r".encode())
        said = terminal.until(f"asked {number}\n").text.rpartition("jobs;")[2]
        if "Stopped" in said and "Running" not in said:
            return
    raise AssertionError(f"never stopped:\n{terminal.screen!r}")


def shell(name: str, **options: Any) -> Terminal:
    """An interactive `bash` or `dash` with job control and the prompt `$ `, ready for a command line."""
    argv = [name, "--norc", "--noprofile", "-i"] if name == "bash" else [name, "-i"]
    environment = {"PS1": "$ ", "ENV": None, "HISTFILE": None, "INPUTRC": os.devnull, **options.pop("env", {})}
    terminal = Terminal(argv, env=environment, **options)
    terminal.until(lambda screen: screen.text.rstrip().endswith("$"))
    return terminal
