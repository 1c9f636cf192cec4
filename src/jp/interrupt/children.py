"""Child processes: started in one place, known before they matter, waited for, and killed as groups.

What does not work, and why:

* Starting a child where an interrupt can raise: most of them run on, unknown (the router never raises; see there).
* Starting from short-lived threads: the parent-death signal and the like belong to the *thread* that forked.
* Killing the leader: its grandchildren live on and hold its pipes open.
* `kill(pid, 0)` for "does it live": a zombie says yes.

Chosen: one thread that lives as long as the process starts every child, in a process group of its own, and registers it
before it does anything else; the end of the process waits up to 50 ms for a start in progress and then looks for its
child among the system's (Linux). One thread a child waits for it and sees stops as well as the end. A group whose
leader is gone stays known as long as it has members.
"""

import _thread
import errno
import os
import subprocess
import sys
import threading
import time
from _queue import SimpleQueue

from jp.interrupt import end

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Listener = Callable[["Child"], object]
else:
    import _signal

PIPE = subprocess.PIPE
DEVNULL = subprocess.DEVNULL

SPAWN_GRACE_SECS = 0.05


class Child:
    """A started process.

    `stdin`, `stdout` and `stderr` are our ends of the pipes that were asked for (descriptors that the caller closes),
    else None. `returncode` is None while it runs, then the exit status, or minus the number of the signal it died of.
    `exited` is set when that is known; `stopped` is the signal that has stopped it, else None.
    """

    def __init__(self, argv: "Sequence[str]", own_group: bool, session: bool = False) -> None:
        self.argv = tuple(argv)
        self.own_group = own_group
        self.session = session
        self.pid = 0
        self.pgid = 0
        self.stdin: int | None = None
        self.stdout: int | None = None
        self.stderr: int | None = None
        self.returncode: int | None = None
        self.stopped: int | None = None
        self.exited = threading.Event()
        self.killed = False  # its group was sent SIGKILL
        self._process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"Child({self.argv!r}, pid={self.pid}, returncode={self.returncode})"

    def kill_group(self, sig: int) -> bool:
        """Send `sig` to the child's whole group (to the child alone where it shares ours); False when nobody is left.

        Also after the child itself has ended: its grandchildren may live. Never blocks; any thread.
        """
        self.killed = self.killed or sig == _KILL
        try:
            if self.own_group and sys.platform != "win32":
                os.killpg(self.pgid, sig)
            elif self.returncode is None:
                os.kill(self.pid, sig)
            else:
                return False
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # macOS says so of a group of zombies; else it is no longer ours to kill
        return True

    def lives(self) -> bool:
        """Whether anything of its group runs. What is dead but not reaped doesn't, where `/proc` tells of it.

        To be relied on once the group was killed: before that, one of it may fork while we look.
        """
        if not self.kill_group(0):
            return False
        try:
            pids = [name for name in os.listdir("/proc") if name.isdecimal()]
        except OSError:
            pids = []
        return not pids or any(_runs_in(pid, self.pgid) for pid in pids)


class _Request:
    """One start, on its way through the spawning thread."""

    def __init__(self, child: Child, options: "dict[str, Any]", wanted: "tuple[int | None, ...]") -> None:
        self.child = child
        self.options = options
        self.wanted = wanted
        self.on_exit: Listener | None = None
        self.on_stop: Listener | None = None
        self.error: BaseException | None = None
        self.done = threading.Event()


_registry: dict[int, Child] = {}
_requests: "SimpleQueue[_Request]" = SimpleQueue()
_starting: dict[int, None] = {}
_started = _thread.allocate_lock()  # taken once, by whoever starts the spawning thread


def spawn(  # noqa: PLR0913
    argv: "Sequence[str]",
    *,
    env: "Mapping[str, str] | None" = None,
    cwd: str | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    own_group: bool = True,
    session: bool = False,
    on_exit: "Listener | None" = None,
    on_stop: "Listener | None" = None,
) -> Child:
    """Start `argv` (no shell) and return it once it runs. Raises OSError when it can't be started.

    `stdin`, `stdout`, `stderr`: None inherits, `PIPE` makes a pipe whose other end is on the Child, `DEVNULL`, or a
    descriptor. `own_group=False` is for editors alone: they share our group and the terminal. `session`: the child's
    own group is in a session of its own, without a terminal: opening `/dev/tty` fails there. `on_exit(child)` and
    `on_stop(child)` are called on the child's waiting thread and must not block it.
    """
    child = Child(argv, own_group or session, session)
    options: dict[str, Any] = {"env": None if env is None else dict(env), "cwd": cwd}
    request = _Request(child, options, (stdin, stdout, stderr))
    request.on_exit, request.on_stop = on_exit, on_stop
    if _started.acquire(blocking=False):
        end.at_end(_kill_sharers, _kill_groups)
        try:
            _thread.start_new_thread(_serve, ())
        except RuntimeError as error:
            _started.release()
            raise OSError(errno.EAGAIN, f"{error} to start children", child.argv[0]) from error
    _requests.put(request)
    request.done.wait()
    if request.error is not None:
        raise request.error
    return child


def living() -> list[Child]:
    """The children that run, and those whose group still has members."""
    _forget_empty_groups()
    return list(_registry.values())


def _serve() -> None:
    # A child inherits this thread's mask, and nobody knows which thread has started it. All blocked but for the moment
    # of a start, so that signals are delivered to the main thread.
    _mask(everything=True)
    while True:
        request = _requests.get()
        if not end.ended():
            _start(request)
        else:
            request.error = OSError("the process is ending")
        request.done.set()


def _start(request: _Request) -> None:
    child = request.child
    theirs: list[int] = []
    ours: list[int | None] = []
    try:
        streams: list[int | None] = []
        for number, wanted in enumerate(request.wanted):
            near, far = _pipe(number) if wanted == PIPE else (None, wanted)
            ours.append(near)
            if near is not None and far is not None:
                theirs.append(far)
            streams.append(far)
        _forget_empty_groups()
        _starting[id(request)] = None
        _mask(everything=False)
        try:
            process = _popen(child, request.options, streams)
            child._process = process
            child.pid = process.pid
            child.pgid = process.pid if child.own_group else 0
            _registry[child.pid] = child
        finally:
            _mask(everything=True)
            _starting.pop(id(request), None)
        child.stdin, child.stdout, child.stderr = ours
        _watch(child, request)
    except BaseException as error:
        request.error = error
        for fd in ours:
            if fd is not None:
                os.close(fd)
    finally:
        for fd in theirs:
            os.close(fd)


def _watch(child: Child, request: _Request) -> None:
    try:
        _thread.start_new_thread(_wait, (child, request.on_exit, request.on_stop))
    except RuntimeError as error:
        # Nobody would ever hear of its end: it must not run on.
        assert child._process is not None
        child.kill_group(_KILL)
        child.returncode = child._process.wait()
        _forget_empty_groups()
        raise OSError(errno.EAGAIN, f"{error} to wait for the child", child.argv[0]) from error


def _mask(everything: bool) -> None:
    if sys.platform != "win32":
        _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals() if everything else ())


def _popen(child: Child, options: "dict[str, Any]", streams: "list[int | None]") -> "subprocess.Popen[bytes]":
    if sys.platform == "win32":
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP if child.own_group else 0
    elif child.session:
        options["start_new_session"] = True
    else:
        options["process_group"] = 0 if child.own_group else None
    stdin, stdout, stderr = streams
    process: subprocess.Popen[bytes] = subprocess.Popen(
        child.argv, stdin=stdin, stdout=stdout, stderr=stderr, **options
    )
    return process


def _pipe(number: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    return (writer, reader) if number == 0 else (reader, writer)


def _wait(child: Child, on_exit: "Listener | None", on_stop: "Listener | None") -> None:
    process = child._process
    assert process is not None
    if sys.platform == "win32":
        child.returncode = process.wait()
    else:
        child.returncode = process.returncode = _wait_posix(child, on_stop)
    _forget_empty_groups()
    child.exited.set()
    if on_exit is not None:
        on_exit(child)


if sys.platform != "win32":

    def _wait_posix(child: Child, on_stop: "Listener | None") -> int:
        while True:
            try:
                _, status = os.waitpid(child.pid, os.WUNTRACED | os.WCONTINUED)
            except ChildProcessError:
                return 0  # reaped by somebody else: its status is lost
            if os.WIFSTOPPED(status):
                child.stopped = os.WSTOPSIG(status)
                if on_stop is not None:
                    on_stop(child)
            elif os.WIFCONTINUED(status):
                child.stopped = None
            else:
                return os.waitstatus_to_exitcode(status)


def _forget_empty_groups() -> None:
    for pid, child in list(_registry.items()):
        # A group keeps its number as long as it has a member: no other process can be hit by it.
        if child.returncode is None:
            continue
        if not (child.own_group and child.kill_group(0)) or (child.killed and not child.lives()):
            _registry.pop(pid, None)


def _runs_in(pid: str, pgid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, _, group = file.read().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False  # it has just gone
    return int(group) == pgid and state not in (b"Z", b"X")


def _kill_sharers() -> None:
    """Who shares our terminal dies before it is restored, or it would draw over it."""
    for child in list(_registry.values()):
        if not child.own_group:
            child.kill_group(_KILL)


def _kill_groups() -> None:
    limit = time.monotonic() + SPAWN_GRACE_SECS
    while _starting and time.monotonic() < limit:
        time.sleep(0.001)
    for child in list(_registry.values()):
        child.kill_group(_KILL)
    if _starting:
        _kill_unregistered()


def _kill_unregistered() -> None:
    """Kill the child of a start that was not over in time; it may be forked and not known yet (Linux alone tells)."""
    for task in os.listdir("/proc/self/task"):
        try:
            fd = os.open(f"/proc/self/task/{task}/children", os.O_RDONLY)
            pids = [int(pid) for pid in os.read(fd, 65536).split()]
        except OSError:
            continue  # the thread has ended
        for pid in pids:
            if pid not in _registry:
                _kill_both(pid)


def _kill_both(pid: int) -> None:
    """Kill the process, which may not have its own group yet, and its group, which it may have had time to fill."""
    if sys.platform != "win32":
        for kill in (os.kill, os.killpg):
            try:
                kill(pid, _KILL)
            except OSError:
                pass


_KILL = int(getattr(_signal, "SIGKILL", _signal.SIGTERM))
