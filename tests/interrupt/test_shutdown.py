"""The rungs on a real process: what the parent sees, what is said, what is left."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.interrupt.start import GRACEFUL, HUP, INT, QUIT, TERM, TERMINATING, argv, process, terminal
from tests.support.marked import marked
from tests.support.process import Process

pytestmark = [pytest.mark.usefixtures("no_leftovers")]


class TestWithoutATerminal:
    """Nobody to ask: graceful shutdown, then the end."""

    @pytest.mark.req("092-129", "092-121")
    def test_first_press_saves_and_dies_of_sigint(self) -> None:
        with process("loop") as running:
            running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert (running.out, running.err) == (b"up\nsaved\n", GRACEFUL)

    @pytest.mark.req("092-130", "092-12", "092-122")
    def test_a_further_press_ends_at_once(self) -> None:
        with process("hang") as running:
            running.kill(INT)
            running.until(b"down\n")
            running.kill(INT)
            assert running.wait(5) == "killed SIGINT"
            assert (running.out, running.err) == (b"up\ndown\n", GRACEFUL + TERMINATING)

    @pytest.mark.req("092-133")
    def test_sigterm_saves_and_dies_of_sigterm(self) -> None:
        with process("loop") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert (running.out, running.err) == (b"up\nsaved\n", GRACEFUL)

    @pytest.mark.req("092-136")
    def test_sighup_saves_silently_and_dies_of_sighup(self) -> None:
        with process("loop") as running:
            running.kill(HUP)
            assert running.wait() == "killed SIGHUP"
            assert (running.out, running.err) == (b"up\nsaved\n", b"")

    @pytest.mark.req("092-135")
    def test_sigquit_ends_at_once_without_a_word_or_a_core(self) -> None:
        with process("hang") as running:
            running.kill(QUIT)
            assert running.wait() == "killed SIGQUIT"
            assert (running.out, running.err) == (b"up\n", b"")

    @pytest.mark.req("092-13")
    @pytest.mark.parametrize("first", [INT, TERM, HUP])
    def test_a_press_after_any_shutdown_has_begun_ends_by_sigint(self, first: signal.Signals) -> None:
        with process("hang") as running:
            running.kill(first)
            running.until(b"down\n")
            running.kill(INT)
            assert running.wait(5) == "killed SIGINT"

    @pytest.mark.req("092-104")
    def test_a_second_sigterm_changes_nothing(self) -> None:
        with process("hang", "0.5") as running:
            running.kill(INT)
            running.until(lambda p: GRACEFUL in p.err)
            for _ in range(5):
                running.kill(TERM)
            assert running.wait() == "killed SIGINT"
            assert running.err == GRACEFUL + TERMINATING

    def test_sigquit_during_a_shutdown_ends_by_sigquit(self) -> None:
        with process("hang") as running:
            running.kill(TERM)
            running.until(lambda p: GRACEFUL in p.err)
            running.kill(QUIT)
            assert running.wait(5) == "killed SIGQUIT"


@pytest.mark.req("092-133")
@pytest.mark.parametrize("kinds", [("menu",), ("menu", "local"), ("menu", "up"), ("menu", "record")], ids="+".join)
def test_sigterm_in_any_scope_asks_nobody(kinds: tuple[str, ...]) -> None:
    with process("scopes", *kinds) as running:
        running.kill(TERM)
        assert running.wait() == "killed SIGTERM"
        assert (running.out, running.err) == (b"up\nsaved\n", GRACEFUL)


@pytest.mark.req("092-135")
@pytest.mark.parametrize("kinds", [("menu",), ("menu", "up"), ("menu", "record")], ids="+".join)
def test_sigquit_in_any_scope_ends_at_once(kinds: tuple[str, ...]) -> None:
    with process("scopes", *kinds) as running:
        running.kill(QUIT)
        assert running.wait() == "killed SIGQUIT"
        assert running.out == b"up\n"


class TestIgnoredAndBlocked:
    """What the parent has decided for its child."""

    @pytest.mark.req("092-137")
    @pytest.mark.parametrize("ignored", [INT, HUP])
    def test_ignored_at_the_start_stays_ignored(self, ignored: signal.Signals) -> None:
        trap = {INT: "INT", HUP: "HUP"}[ignored]
        with process_under(["sh", "-c", f"trap '' {trap}; exec \"$@\"", "sh"], "loop") as running:
            for _ in range(3):
                running.kill(ignored)
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"

    @pytest.mark.req("092-137")
    def test_nohup(self) -> None:
        with process_under(["nohup"], "loop") as running:
            running.kill(HUP)
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"

    @pytest.mark.req("092-127")
    @pytest.mark.parametrize("blocked", [INT, TERM, HUP, QUIT])
    def test_blocked_at_the_start_still_dies_of_it(self, blocked: signal.Signals) -> None:
        block = f"import os, signal, sys; signal.pthread_sigmask(0, {{{int(blocked)}}}); "
        start = "os.execv(sys.argv[1], sys.argv[1:])"
        with process_under([sys.executable, "-c", block + start], "loop") as running:
            running.kill(blocked)
            assert running.wait() == f"killed {blocked.name}"

    @pytest.mark.req("092-127")
    @pytest.mark.parametrize("cause", ["PRESS", "TERM", "HUP", "QUIT", "PIPE"])
    def test_blocked_again_when_it_ends_still_dies_of_it(self, cause: str) -> None:
        with Process(argv("blocks", cause), cwd=os.getcwd()) as running:
            expected = {"PRESS": "SIGINT"}.get(cause, f"SIG{cause}")
            assert running.wait() == f"killed {expected}"

    def test_a_press_held_back_by_a_launcher_is_not_lost(self) -> None:
        block = (
            "import os, signal, sys; signal.pthread_sigmask(0, {2}); os.kill(os.getpid(), 2);"
            "os.execv(sys.argv[1], sys.argv[1:])"
        )
        with Process([sys.executable, "-c", block, *argv("loop")], cwd=os.getcwd()) as running:
            assert running.wait() == "killed SIGINT"
            assert running.err == GRACEFUL


def process_under(launcher: list[str], *args: str) -> Process:
    return Process([*launcher, *argv(*args)], cwd=os.getcwd()).until(b"up\n")


class TestDeadline:
    """The bound on a graceful shutdown."""

    @pytest.mark.req("092-101", "092-122")
    @pytest.mark.parametrize(("first", "end"), [(INT, "SIGINT"), (TERM, "SIGTERM")])
    def test_a_teardown_that_hangs_ends_at_the_deadline(self, first: signal.Signals, end: str) -> None:
        with process("hang", "0.5") as running:
            began = time.monotonic()
            running.kill(first)
            assert running.wait() == f"killed {end}"
            assert time.monotonic() - began >= 0.5
            assert running.err == GRACEFUL + TERMINATING

    def test_a_lost_terminal_is_bounded_too_and_silent(self) -> None:
        with process("hang", "0.3") as running:
            running.kill(HUP)
            assert running.wait() == "killed SIGHUP"
            assert running.err == b""

    @pytest.mark.req("092-102")
    def test_a_teardown_in_time_says_nothing_more(self) -> None:
        with process("slow", "0.2", "5", "0.1") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert running.err == GRACEFUL

    @pytest.mark.req("092-103")
    @pytest.mark.parametrize("how", ["first", "second", "cancel", "quit", "sigterm"])
    def test_however_it_began_message_countdown_and_deadline_are_the_same(self, how: str) -> None:
        with process("reached", how) as running:
            if how == "second":
                running.kill(INT)
                running.until(b"menu\n")
            if how in ("first", "second", "cancel"):
                running.kill(INT)
            elif how == "sigterm":
                running.kill(TERM)
            assert running.wait() == ("killed SIGTERM" if how == "sigterm" else "killed SIGINT")
            assert running.err == GRACEFUL + TERMINATING
            assert running.out.count(b"countdown\n") >= 3

    @pytest.mark.req("092-107")
    def test_a_zero_deadline_ends_as_soon_as_the_shutdown_begins(self) -> None:
        with process("hang", "0") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"

    def test_an_end_of_its_own_accord_is_bounded_without_a_word(self) -> None:
        with process("aborts") as running:
            assert running.wait() == "killed SIGINT"
            assert running.err == TERMINATING

    @pytest.mark.req("092-105")
    def test_no_countdown_within_the_delay(self) -> None:
        with process("slow", "0.1", "20", "0.1") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert b"left" not in running.out

    @pytest.mark.req("092-105", "092-106")
    def test_the_countdown_appears_after_the_delay_and_counts_down(self) -> None:
        with process("slow", "1.2", "0.4", "0.1") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
        left = lefts(running)
        assert 3 <= len(left) <= 9
        assert left == sorted(left, reverse=True)
        assert left[0] <= 9.6

    @pytest.mark.req("092-105")
    def test_a_zero_delay_counts_at_once(self) -> None:
        with process("slow", "0.3", "0", "0.1") as running:
            running.kill(TERM)
            running.wait()
        assert lefts(running)

    @pytest.mark.req("092-106")
    def test_a_zero_interval_is_no_busy_loop(self) -> None:
        with process("slow", "0.5", "0", "0") as running:
            running.kill(TERM)
            running.wait()
        assert 1 <= len(lefts(running)) <= 11

    @pytest.mark.req("092-108")
    def test_not_shown_the_deadline_holds(self) -> None:
        with process("slow", "0.3", "0", "0.05", "0") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert running.err == GRACEFUL
        assert not lefts(running)


def lefts(running: Process) -> list[float]:
    return [float(line.split()[1]) for line in running.out.decode().splitlines() if line.startswith("left")]


def once(said: bytes) -> bytes:
    """A message is said twice when who has just said it is overtaken before it could note that: never silence."""
    return said.replace(GRACEFUL * 2, GRACEFUL).replace(TERMINATING * 2, TERMINATING)


MAIN_IN = ["python", "sleep", "read", "lock", "inbox", "hash", "wait", "regex"]


class TestBusyMain:
    """Whatever the main thread is in, the ladder does not wait for it."""

    @pytest.mark.req("092-18", "092-12")
    @pytest.mark.parametrize("what", MAIN_IN)
    def test_presses_act(self, what: str) -> None:
        with process("busy", what) as running:
            running.kill(INT)
            running.until(lambda p: GRACEFUL in p.err)
            running.kill(INT)
            assert running.wait(10) == "killed SIGINT"
            assert once(running.err) == GRACEFUL + TERMINATING

    @pytest.mark.req("092-101", "092-18")
    @pytest.mark.parametrize("what", MAIN_IN)
    def test_the_deadline_acts(self, what: str) -> None:
        with process("busy", what, "0.5") as running:
            running.kill(TERM)
            assert running.wait(10) == "killed SIGTERM"
            assert once(running.err) == GRACEFUL + TERMINATING

    @pytest.mark.req("092-110")
    def test_c_code_that_never_looks_is_ended_from_below(self) -> None:
        with process("busy", "sort", "0.5") as running:
            running.kill(TERM)
            status = running.wait(30)
            # Between two sorts the router may still get its turn; else nothing but the timer below can end it.
            assert status in ("exited 1", "killed SIGTERM")
        for pid in marked():
            os.kill(pid, signal.SIGKILL)  # the price: children of such an end live on

    @pytest.mark.req("092-111")
    @pytest.mark.parametrize("presses", [1, 2])
    def test_a_full_pipe_on_stderr_stops_neither(self, presses: int) -> None:
        with process("talks", "0.5" if presses == 1 else "30", stderr=subprocess.PIPE) as running:
            running._open = {fd: name for fd, name in running._open.items() if name == "out"}
            running.kill(INT)
            running.until(b"down\n")
            if presses == 2:
                running.kill(INT)
            assert running.wait(10) == "killed SIGINT"

    @pytest.mark.req("092-111")
    def test_a_message_hook_that_hangs_stops_neither(self) -> None:
        with process("hook_hangs", "0.5") as running:
            running.kill(TERM)
            assert running.wait(10) == "killed SIGTERM"
        with process("hook_hangs", "30") as running:
            running.kill(TERM)
            running.until(b"hook\n")
            running.kill(INT)
            assert running.wait(10) == "killed SIGINT"


class TestEnd:
    """How the end looks from outside."""

    @pytest.mark.req("092-121")
    @pytest.mark.parametrize(
        ("how", "status"),
        [
            ("0", "exited 0"),
            ("3", "exited 3"),
            ("exit", "exited 3"),
            ("raise", "exited 1"),
            ("PRESS", "killed SIGINT"),
            ("TERM", "killed SIGTERM"),
            ("HUP", "killed SIGHUP"),
            ("QUIT", "killed SIGQUIT"),
            ("PIPE", "killed SIGPIPE"),
            ("thread", "killed SIGINT"),
        ],
    )
    def test_the_parent_sees_the_cause(self, how: str, status: str) -> None:
        with Process(argv("ends", how), cwd=os.getcwd()) as running:
            assert running.wait() == status
            assert running.out == b"out\n"
            assert b"Traceback" not in running.err

    def test_an_unexpected_error_is_one_line_and_its_traceback_is_kept(self) -> None:
        with Process(argv("ends", "raise"), cwd=os.getcwd()) as running:
            running.wait()
            first, second = running.err.decode().splitlines()
            assert first == "jp: internal error: ValueError: a fault"
            path = second.removeprefix("jp: the traceback is in ")
            with open(path) as file:
                assert "raise ValueError" in file.read()

    def test_an_unexpected_error_is_a_record_where_records_are_asked_for(self) -> None:
        with Process(argv("ends", "raise", "--format=json"), cwd=os.getcwd()) as running:
            assert running.wait() == "exited 1"
            record = json.loads(running.err)
            assert record["message"] == "internal error: ValueError: a fault"
            assert record["code"] == "internal"
            with open(record["metadata"]["traceback"]) as file:
                assert "raise ValueError" in file.read()

    def test_an_unexpected_error_where_nothing_can_be_written_shows_its_traceback(self) -> None:
        with Process(argv("ends", "raise"), cwd=os.getcwd(), env={"XDG_STATE_HOME": "/dev/null/state"}) as running:
            assert running.wait() == "exited 1"
            assert b"raise ValueError" in running.err

    def test_a_traceback_is_never_kept_in_a_project(self) -> None:
        with Process(argv("ends", "raise"), cwd=os.getcwd(), env={"XDG_STATE_HOME": "relative"}) as running:
            assert running.wait() == "exited 1"
            path = running.err.decode().splitlines()[1].removeprefix("jp: the traceback is in ")
            assert os.path.isabs(path)

    def test_an_unexpected_error_without_a_home_shows_its_traceback(self) -> None:
        env = {"HOME": "", "USERPROFILE": "", "XDG_STATE_HOME": ""}
        with Process(argv("ends", "raise"), cwd=os.getcwd(), env=env) as running:
            assert running.wait() == "exited 1"
            assert b"raise ValueError" in running.err

    def test_an_unexpected_error_shows_its_traceback_when_asked(self) -> None:
        with Process(argv("ends", "raise"), cwd=os.getcwd(), env={"JP_DEBUG": "1"}) as running:
            assert running.wait() == "exited 1"
            assert b"raise ValueError" in running.err

    @pytest.mark.req("092-126")
    def test_output_in_buffers_is_complete(self) -> None:
        with Process(argv("prints"), cwd=os.getcwd()).until(lambda p: b"up\n" in p.err) as running:
            running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert running.out == b"buffered"

    @pytest.mark.req("092-123")
    def test_a_shell_loop_stops(self) -> None:
        command = " ".join(argv("loop"))
        loop = ["bash", "-c", f"for i in 1 2 3; do {command}; done; echo after"]
        with terminal_of(loop) as running:
            running.press()
            assert running.wait() == "killed SIGINT"
            assert running.output.count(b"up") == 1
            assert b"after" not in running.output

    @pytest.mark.req("092-128")
    def test_windows_has_exit_codes_instead(self) -> None:
        from jp.interrupt.end import Cause, windows_status

        assert windows_status(Cause.PRESS) == 130
        assert windows_status(0) == 0


def terminal_of(command: list[str]):  # type: ignore[no-untyped-def]
    from tests.support.terminal import Terminal

    started = Terminal(command, cwd=os.getcwd())
    started.until("up")
    return started


class TestTerminal:
    """The terminal is as it was, whatever way the program ends."""

    @pytest.mark.req("092-124")
    @pytest.mark.parametrize("how", ["press", "hang", "deadline", "TERM", "HUP", "QUIT", "return", "raise"])
    def test_modes_cursor_and_paste_mode_are_put_back(self, how: str) -> None:
        with terminal("prompt", {"deadline": "hang", "press": ""}.get(how, how)) as running:
            changed = running.modes()
            if how in ("press", "hang"):
                running.press()
            if how == "hang":
                running.until(lambda screen: "gracefully" in screen.text)
                running.press()
            if how in ("deadline", "TERM"):
                running.kill(TERM)
            if how in ("HUP", "QUIT"):
                running.kill(getattr(signal, f"SIG{how}"))
            status = running.wait()
            expected = {"press": "killed SIGINT", "hang": "killed SIGINT", "return": "exited 0", "raise": "exited 1"}
            expected |= {"HUP": "killed SIGHUP", "QUIT": "killed SIGQUIT"}
            assert status == expected.get(how, "killed SIGTERM")
            assert running.modes() == running.modes_before
            assert how in ("return", "raise") or changed != running.modes_before
            assert running.screen.mode(25)
            assert not running.screen.mode(2004)
            assert "Traceback" not in running.screen.contents

    @pytest.mark.parametrize("sig", [TERM, QUIT])
    def test_a_lent_foreground_is_taken_back_first(self, sig: signal.Signals) -> None:
        with terminal("lends") as running:
            assert running.foreground != running.pid
            running.kill(sig)
            assert running.wait() == f"killed {sig.name}"
            assert running.modes() == running.modes_before
            assert running.screen.mode(25)

    @pytest.mark.req("092-136")
    def test_a_closed_window_saves_and_dies_of_sighup(self) -> None:
        with terminal("loop", stdout=subprocess.PIPE) as running:
            running.hang_up()
            assert running.wait() == "killed SIGHUP"
            assert running.piped[1] == b"up\nsaved\n"

    @pytest.mark.req("092-111")
    def test_a_closed_window_does_not_stop_the_deadline(self) -> None:
        with terminal("hang", "0.3", stdout=subprocess.PIPE) as running:
            running.hang_up()
            assert running.wait() == "killed SIGHUP"

    @pytest.mark.req("092-132")
    @pytest.mark.parametrize("name", ["loop", "hang"])
    def test_in_the_background_nothing_stops_and_no_mode_changes(self, name: str) -> None:
        with terminal(name, background=True) as running:
            running.kill(INT)
            running.until("gracefully shutting down…")
            if name == "hang":
                running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert running.reports == ["killed SIGINT"]
            assert running.modes() == running.modes_before

    @pytest.mark.req("092-125")
    @pytest.mark.parametrize("offset", [-0.02, -0.005, 0.0, 0.005, 0.02, 0.05])
    def test_ordinary_end_deadline_and_press_at_one_instant(self, offset: float) -> None:
        with terminal("race", str(offset)) as running:
            running.kill(TERM)
            began = time.monotonic()
            running.until(lambda _: time.monotonic() - began > 0.17 or running.process.poll() is not None)
            for _ in range(20):
                if running.process.poll() is None:
                    running.kill(INT)
            status = running.wait()
            assert status in ("killed SIGTERM", "killed SIGINT")
            assert running.modes() == running.modes_before
            assert running.screen.mode(25)


def nothing_pending(pid: int) -> bool:
    """Whether the process has taken all its signals (Linux; elsewhere there is no telling)."""
    try:
        with open(f"/proc/{pid}/status") as status:
            pending = [line.split()[1] for line in status if line.startswith(("SigPnd", "ShdPnd"))]
    except OSError:
        return True
    return all(int(mask, 16) == 0 for mask in pending)


class TestCounting:
    """Each press once, however they come."""

    @pytest.mark.req("092-26", "092-20", "092-21")
    def test_presses_5_ms_apart_are_counted_once_each(self) -> None:
        with process("counted", "0", "menu", stdin=subprocess.PIPE) as running:
            assert running.process.stdin
            for number in range(1, 21):
                running.kill(INT)
                running.until(lambda p, n=number: p.out.count(b"notified 1\n") == n)  # type: ignore[misc]
                running.process.stdin.write(b"read\n")
                running.process.stdin.flush()
                running.until(lambda p, n=number: p.out.count(b"done read\n") == n)  # type: ignore[misc]
            assert running.err == b""

    @pytest.mark.req("092-20")
    def test_the_second_within_the_cooldown_climbs_and_the_third_ends(self) -> None:
        with process("counted", "30", "menu", stdin=subprocess.PIPE) as running:
            assert running.process.stdin
            running.kill(INT)
            running.until(b"notified 1\n")
            running.process.stdin.write(b"read\n")
            running.process.stdin.flush()
            running.until(b"done read\n")
            assert running.err == b""
            running.kill(INT)
            running.until(lambda p: GRACEFUL in p.err)
            running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert running.err == GRACEFUL + TERMINATING

    @pytest.mark.req("092-26")
    @pytest.mark.parametrize("kinds", [("menu",), ("menu", "menu", "local")], ids="+".join)
    def test_a_storm_of_1000_ends_as_the_third_rung_does(self, kinds: tuple[str, ...]) -> None:
        with process("counted", "2", *kinds, stdin=subprocess.PIPE) as running:
            for _ in range(1000):
                if running.process.poll() is not None:
                    break
                running.kill(INT)
                running.pump(0.0005)  # the kernel merges what is still pending
            assert running.wait(10) == "killed SIGINT"
            assert once(running.err) == GRACEFUL + TERMINATING

    @pytest.mark.req("092-26")
    def test_a_storm_that_is_only_noted_changes_nothing(self) -> None:
        with process("stormed") as running:
            for _ in range(1000):
                running.kill(INT)
                running.kill(signal.SIGWINCH)
                running.kill(signal.SIGCONT)
                running.kill(signal.SIGALRM)
            # Of signals pending together the kernel delivers the later number first: a press would come after TERM.
            running.until(lambda p: nothing_pending(p.pid))
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert running.err == GRACEFUL

    @pytest.mark.req("092-159")
    def test_nothing_is_raised_in_finally_locks_and_spawns(self) -> None:
        with process("finally_") as running:
            while running.process.poll() is None and b"cut" not in running.out:
                running.kill(INT)
                running.pump(0.002)
            assert running.wait() == "exited 0"
            assert running.out.splitlines()[-1] == b"cut 0 0"
            assert running.err == b""

    @pytest.mark.parametrize("more", [(), ("handler",)])
    def test_what_a_foreign_loop_took_is_taken_back(self, more: tuple[str, ...]) -> None:
        with process("thief", *more) as running:
            for number in range(1, 4):
                running.kill(INT)
                running.until(lambda p, n=number: p.out.count(b"notified\n") == n)  # type: ignore[misc]
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"

    @pytest.mark.req("092-158")
    def test_with_a_menu_up_the_router_still_takes_signals(self) -> None:
        with process("scopes", "menu", "up") as running:
            running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert running.err == GRACEFUL


class TestStartUp:
    """Before it is known whether a user can be asked."""

    @pytest.mark.req("092-2")
    def test_two_presses_shut_down_and_the_command_does_nothing(self) -> None:
        with process("starting") as running:
            running.kill(INT)
            running.until(b"pending\n")
            assert running.err == b""
            running.kill(INT)
            assert running.wait() == "killed SIGINT"
            assert (running.out, running.err) == (b"up\npending\n", GRACEFUL)

    def test_sigterm_shuts_down_and_the_command_does_nothing(self) -> None:
        with process("starting") as running:
            running.kill(TERM)
            assert running.wait() == "killed SIGTERM"
            assert (running.out, running.err) == (b"up\n", GRACEFUL)
