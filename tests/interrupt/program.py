"""Small programs on the real entry, router and end; `python -m tests.interrupt.program NAME [ARGUMENT…]` runs one.

They stand for the command line: boot arms the router and calls `run`, as it does for the program itself.
"""

import os
import sys
import time
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

import jp.boot
from jp.interrupt import end
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.ladder import LOCAL, MENU, RECORD, UP
from jp.interrupt.router import Router, Scope

PROGRAMS: dict[str, Any] = {}


def program(fn: Any) -> Any:
    PROGRAMS[fn.__name__] = fn
    return fn


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def pace() -> None:
    """A little of the time in which a program does other things."""
    time.sleep(0.002)


def work() -> NoReturn:
    """A command's loop: it can be left at every turn."""
    while True:
        checkpoint()
        pace()


def for_ever(_deadline: float = 0) -> None:
    import _thread

    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()


def saves(_deadline: float) -> None:
    say("saved")


# --- shutdowns


@program
def loop(router: Router, *args: str) -> int:
    """Works until it is told to stop, then saves."""
    end.at_wind_down(saves)
    say("up")
    work()


@program
def hang(router: Router, timeout: str = "10", *args: str) -> int:
    """Its teardown never ends. ARGUMENT: the deadline."""
    router.shutdown_timeout_secs = float(timeout)
    router.token.subscribe(lambda: say("down"))
    end.at_wind_down(for_ever)
    say("up")
    work()


@program
def slow(router: Router, teardown: str, delay: str, interval: str, show: str = "1") -> int:
    """Its teardown takes a while; each countdown value is a line."""
    router.shutdown_delay_secs, router.shutdown_interval_secs = float(delay), float(interval)
    router.shutdown_show = show == "1"
    router.on_countdown(lambda left: say(f"left {left:.3f}"))
    end.at_wind_down(lambda _: time.sleep(float(teardown)))
    say("up")
    work()


@program
def counted(router: Router, cooldown: str, *kinds: str) -> int:
    """Says what reaches it; scopes of KINDS, the last on top. `read` on stdin takes the notifications."""
    router.promptable = True
    router.cooldown_secs = float(cooldown)
    handles = [router.push(Scope(kind, partial(say, f"notified {n}"))) for n, kind in enumerate(kinds, 1)]
    end.at_wind_down(for_ever)
    say("up")
    os.set_blocking(0, False)
    while True:
        checkpoint()
        pace()
        try:
            asked = os.read(0, 64).decode().split()
        except BlockingIOError:
            continue
        for word in asked:
            for handle in handles:
                getattr(handle, word)() if word != "reset" else router.reset()
            say(f"done {word}")


@program
def reached(router: Router, how: str, *args: str) -> int:
    """Reaches the shutdown the ways there are, with a teardown that hangs for longer than a second."""
    kinds = {"second": (MENU,), "cancel": (MENU, UP)}.get(how, ())
    router.shutdown_timeout_secs = 1.0
    router.shutdown_delay_secs = 0.2
    router.promptable = how in ("second", "cancel")
    for kind in kinds:
        router.push(Scope(kind, lambda: say("menu")))
    router.on_countdown(lambda left: say("countdown"))
    end.at_wind_down(for_ever)
    say("up")
    if how == "quit":
        router.shutdown(end.Cause.PRESS)
    work()


@program
def ends(router: Router, name: str, *args: str) -> int:
    """Ends by itself: by a cause, a status, an exception."""
    say("out")
    if name == "raise":
        raise ValueError("a fault")
    if name == "exit":
        sys.exit(3)
    if name == "thread":
        import _thread

        _thread.start_new_thread(end.end_now, (end.Cause.PRESS,))
        for_ever()
    if name in vars(end.Cause):
        end.finish(getattr(end.Cause, name))
    return int(name)


@program
def blocks(router: Router, name: str, *args: str) -> int:
    """Has blocked every signal, as a library may, when it ends."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    end.finish(getattr(end.Cause, name))


@program
def aborts(router: Router, *args: str) -> int:
    """Ends early by itself, with a teardown that hangs."""
    router.shutdown_timeout_secs = 0.3
    end.at_wind_down(for_ever)
    say("up")
    end.finish(end.Cause.PRESS)


# --- what main may be in


@program
def busy(router: Router, what: str, timeout: str = "30", *args: str) -> int:
    """Never looks at a checkpoint. ARGUMENT: what the main thread is in, and the deadline."""
    import faulthandler  # noqa: F401  (what is imported here is imported before the test starts its clock)

    router.shutdown_timeout_secs = float(timeout)
    tough()
    say("up")
    if what == "python":
        while True:
            sum(range(100))
    if what == "sleep":
        time.sleep(600)
    if what == "read":
        reader, _ = os.pipe()
        os.read(reader, 1)
    if what == "lock":
        for_ever()
    if what == "inbox":
        from queue import SimpleQueue

        SimpleQueue[None]().get()
    if what == "hash":
        import hashlib

        while True:
            hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20_000_000)
    if what == "wait":
        from jp.interrupt import children

        os.waitid(os.P_PID, children.spawn(["sleep", "600"]).pid, os.WEXITED | os.WNOWAIT)
    if what == "regex":
        import re

        re.match(r"(a+)+$", "a" * 64 + "b")
    if what == "sort":
        tuples = [(float(i % 977), i) for i in range(500_000)]
        while True:
            list.sort(tuples * 8)
    raise AssertionError(what)


# --- children


def tough(on_exit: Any = None) -> Any:
    """A child that ignores what can be ignored, with a grandchild of the same kind."""
    from jp.interrupt import children

    script = "trap '' INT TERM HUP; (trap '' INT TERM HUP; exec sleep 600) & echo ready; sleep 600"
    child = children.spawn(["sh", "-c", script], stdout=children.PIPE, on_exit=on_exit)
    assert child.stdout is not None
    assert os.read(child.stdout, 16) == b"ready\n"
    return child


@program
def parent(router: Router, *args: str) -> int:
    """Has children of both kinds, one of them with a grandchild."""
    from jp.interrupt import children

    tough()
    children.spawn(["sleep", "600"], own_group=False)
    end.at_wind_down(for_ever)
    say("up")
    work()


@program
def spawner(router: Router, *args: str) -> int:
    """Starts children all the time, on several threads."""
    import threading

    from jp.interrupt import children

    def run() -> None:
        while True:
            children.spawn(["sleep", "600"])
            say("started")

    threading.Thread(target=run, daemon=True).start()
    run()
    return 0


@program
def exits_with_children(router: Router, *args: str) -> int:
    """Comes to its ordinary end while children live."""
    tough()
    say("up")
    return 0


# --- the terminal


def change_terminal() -> None:
    """What a prompt does to the terminal, undone by what it has registered."""
    import termios

    fd = os.open("/dev/tty", os.O_RDWR)
    found = termios.tcgetattr(fd)
    changed = termios.tcgetattr(fd)
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    end.restores[fd] = end.Restore(fd, lambda: termios.tcsetattr(fd, termios.TCSANOW, found), b"\x1b[?25h\x1b[?2004l")
    termios.tcsetattr(fd, termios.TCSANOW, changed)
    os.write(fd, b"\x1b[?25l\x1b[?2004h")


@program
def prompt(router: Router, how: str = "", *args: str) -> int:
    """Has the terminal changed, then works, hangs, or ends the ways there are."""
    change_terminal()
    if how == "hang":
        router.shutdown_timeout_secs = 0.3
        end.at_wind_down(for_ever)
    os.write(2, b"up\n")
    if how == "return":
        return 0
    if how == "raise":
        raise ValueError("a fault")
    work()


@program
def lends(router: Router, *args: str) -> int:
    """Has changed the terminal, and then lent the foreground to a child."""
    import signal

    from jp.interrupt import children

    change_terminal()
    (fd,) = end.restores
    child = children.spawn(["sleep", "600"])
    end.lent_foreground.append(fd)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    os.tcsetpgrp(fd, child.pgid)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTTOU])
    os.write(2, b"up\n")
    work()


@program
def race(router: Router, *args: str) -> int:
    """Comes to its ordinary end while a shutdown's deadline and presses come down on it."""
    change_terminal()
    router.shutdown_timeout_secs = 0.2
    say("up")
    while end.deadline is None or time.monotonic() < end.deadline + float(args[0]):
        pass
    return 0


@program
def job(router: Router, *args: str) -> int:
    """Says what job control does with it. ARGUMENT: a deadline, and then its teardown hangs."""
    if args:
        router.shutdown_timeout_secs = float(args[0])
        end.at_wind_down(for_ever)
    router.on_stop(lambda: os.write(2, b"stopping\n"))
    router.on_stop(lambda: os.write(2, b"inner off\n"))
    router.on_continue(lambda: os.write(2, b"going on\n"))
    router.on_continue(lambda: os.write(2, b"inner on\n"))
    router.on_resize(lambda: os.write(2, b"resized\n"))
    os.write(2, b"up\n")
    work()


@program
def scopes(router: Router, *kinds: str) -> int:
    """Has scopes open, a menu or an editor among them."""
    router.promptable = True
    for kind in kinds:
        assert kind in (MENU, UP, LOCAL, RECORD)
        router.push(Scope(kind, lambda: say("asked")))
    end.at_wind_down(saves)
    say("up")
    work()


@program
def starting(router: Router, *args: str) -> int:
    """Is stuck in start-up: nobody knows yet whether a user can be asked."""
    router.promptable = None
    say("up")
    pending = False
    while not router.token.cancelled:
        if router.pending and not pending:
            pending = True
            say("pending")
        pace()
    checkpoint()
    say("the command ran")
    return 0


# --- a whole life


@program
def session(router: Router, path: str, point: str = "", *args: str) -> int:
    """Prompts, has a child, streams, saves to PATH, ends; stops itself at the named POINT of it."""
    import signal

    from jp.interrupt.checkpoint import hold

    def at(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGSTOP)

    def save(_deadline: float = 0) -> None:
        at("saving")
        with open(f"{path}.new", "w") as file:
            file.write("whole\n")
        os.rename(f"{path}.new", path)

    say("armed")
    at("start")
    end.at_wind_down(save)
    at("registered")
    change_terminal()
    at("prompt")
    for fd in list(end.restores):
        restore = end.restores[fd]
        assert restore.modes
        restore.modes()
        os.write(fd, restore.escapes)
        del end.restores[fd]  # only now: an end in the middle undoes it again
    at("restored")
    child = tough()
    at("child")
    for number in range(10):
        checkpoint()
        say(f"line {number}")
        pace()
        if number == 5:
            at("stream")
    child.kill_group(signal.SIGKILL)
    child.exited.wait()
    with hold():
        at("held")
    checkpoint()
    at("done")
    return 0


# --- output


@program
def talks(router: Router, *args: str) -> int:
    """Its stderr is a pipe that nobody reads."""
    os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(2, True)
    router.shutdown_timeout_secs = float(args[0])
    router.token.subscribe(lambda: say("down"))
    end.at_wind_down(for_ever)
    say("up")
    work()


@program
def prints(router: Router, *args: str) -> int:
    """Has output in Python's own buffers."""
    print("buffered", end="")
    os.write(2, b"up\n")
    work()


@program
def hook_hangs(router: Router, *args: str) -> int:
    """Its message hook never returns."""

    def hook(_text: str) -> None:
        say("hook")
        for_ever()

    router.announce = hook
    router.shutdown_timeout_secs = float(args[0])
    tough()
    say("up")
    for_ever()
    return 0


@program
def finally_(router: Router, *args: str) -> int:
    """Locks, finally blocks and spawns, over and over; says so when one was cut short."""
    import threading

    from jp.interrupt import children

    router.promptable = True
    router.push(Scope(RECORD, lambda: None))
    lock = threading.Lock()
    say("up")
    cut = 0
    limit = time.monotonic() + 1.0
    while time.monotonic() < limit:
        whole = False
        try:
            with lock:
                sum(range(50))
        finally:
            for _ in range(50):
                pass
            whole = not lock.locked()
        cut += not whole
    child = children.spawn(["true"])
    child.exited.wait(30)
    say(f"cut {cut} {child.returncode}")
    return 0


@program
def thief(router: Router, *args: str) -> int:
    """A foreign loop takes the wake-up descriptor and the handler, then presses come."""
    import signal

    router.promptable = True
    router.cooldown_secs = 0.0

    def answer() -> None:
        handle.read()
        say("notified")

    handle = router.push(Scope(MENU, answer))
    signal.set_wakeup_fd(-1)
    if args:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        router.reassert()
    say("up")
    work()


@program
def stormed(router: Router, *args: str) -> int:
    """Has an editor open: presses are noted, and none climbs."""
    router.promptable = True
    router.push(Scope(RECORD, lambda: None))
    say("up")
    while True:
        checkpoint()
        sum(range(50))


def main() -> None:
    module = ModuleType("jp.cli.main")

    def run(argv: list[str], router: Router) -> int:
        argv = [word for word in argv if word != "--format=json"]
        if argv[0] != "starting":
            router.promptable = False  # as the channels find out at once
        status: int = PROGRAMS[argv[0]](router, *argv[1:])
        return status

    module.run = run  # type: ignore[attr-defined]
    sys.modules["jp.cli"] = ModuleType("jp.cli")
    sys.modules["jp.cli.main"] = module
    jp.boot.main()


if __name__ == "__main__":
    main()
