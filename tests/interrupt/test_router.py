"""Router, token, checkpoints and end, face by face; no signal is involved."""

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from jp.interrupt import checkpoint as module
from jp.interrupt.checkpoint import checkpoint, hold, pause
from jp.interrupt.end import Cause
from jp.interrupt.ladder import LOCAL, MENU, UP
from jp.interrupt.router import Router, Scope, current
from jp.interrupt.token import Shutdown, ShutdownToken

DEADLINE = 30


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """A promptable router with a clock of ours, and what its scopes heard."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.router = Router(self.clock)
        self.router.promptable = True
        self.heard: list[str] = []

    def scope(self, name: str, kind: str = MENU) -> Scope:
        return Scope(kind, lambda: self.heard.append(name), name)

    def push(self, name: str, kind: str = MENU) -> Any:
        return self.router.push(self.scope(name, kind))


@pytest.fixture
def asked() -> Asked:
    return Asked()


class TestScopes:
    @pytest.mark.req("092-152")
    def test_the_topmost_alone_hears(self, asked: Asked) -> None:
        asked.push("lower")
        asked.push("upper")
        asked.router.press()
        assert asked.heard == ["upper"]

    @pytest.mark.req("092-153")
    def test_released_out_of_order(self, asked: Asked) -> None:
        lower, middle, upper = asked.push("lower"), asked.push("middle"), asked.push("upper")
        middle.release()
        upper.release()
        upper.release()
        asked.router.press()
        assert asked.heard == ["lower"]
        lower.read()

    def test_released_by_leaving_its_block(self, asked: Asked) -> None:
        asked.push("lower")
        with asked.push("upper"):
            pass
        asked.router.press()
        assert asked.heard == ["lower"]

    @pytest.mark.req("092-155")
    def test_declined_the_next_hears(self, asked: Asked) -> None:
        asked.push("lower")
        upper = asked.push("upper")
        asked.router.press()
        upper.decline()
        assert asked.heard == ["upper", "lower"]

    def test_declining_within_the_notification(self, asked: Asked) -> None:
        asked.push("lower")
        handle = asked.router.push(Scope(MENU, lambda: handle.decline()))  # noqa: PLW0108  (not bound yet)
        asked.router.press()
        assert asked.heard == ["lower"]

    @pytest.mark.req("092-157")
    def test_a_reader_that_is_gone_counts_as_declined(self, asked: Asked) -> None:
        asked.push("lower")

        def broken() -> None:
            raise BrokenPipeError

        asked.router.push(Scope(MENU, broken))
        asked.router.press()
        assert asked.heard == ["lower"]

    @pytest.mark.req("092-157")
    def test_ended_with_its_press_unread_the_next_hears(self, asked: Asked) -> None:
        asked.push("lower")
        asked.push("upper")
        asked.router.press()
        asked.push("above").release()
        assert asked.heard == ["upper"]

    def test_pending_until_read(self, asked: Asked) -> None:
        handle = asked.push("menu")
        assert not handle.pending
        asked.router.press()
        assert handle.pending
        handle.read()
        assert not handle.pending

    def test_replaced_the_unread_press_goes_with_the_place(self, asked: Asked) -> None:
        handle = asked.push("streaming")
        asked.router.press()
        tools = handle.replace(asked.scope("tools"))
        assert asked.heard == ["streaming", "tools"]
        assert tools.pending

    def test_a_menu_up_then_a_reply_then_the_menu_again(self, asked: Asked) -> None:
        streaming = asked.push("streaming")
        asked.router.press()
        streaming.read()
        menu = asked.push("menu", UP)
        reply = asked.push("reply", LOCAL)
        asked.clock.now += 0.1
        asked.router.press()
        assert asked.heard == ["streaming", "reply"]
        reply.read()
        reply.release()
        menu.release()
        asked.router.reset()
        asked.clock.now += 0.1
        asked.router.press()
        assert asked.heard == ["streaming", "reply", "streaming"]
        assert not asked.router.token.cancelled

    def test_the_cooldown_stands_still_while_a_question_is_up(self, asked: Asked) -> None:
        handle = asked.push("menu")
        assert asked.router.cooldown_secs == 2.0
        asked.router.cooldown_secs = 1.0
        assert asked.router.cooldown_secs == 1.0
        asked.router.press()
        handle.read()
        asked.clock.now += 5
        asked.router.press()
        assert asked.heard == ["menu", "menu"]

    def test_a_scope_closed_by_the_collector_in_the_middle_of_things_blocks_nothing(self, asked: Asked) -> None:
        """A finalizer may run anywhere, also while this thread is stepping the ladder."""

        class Leaked:
            def __init__(self, handle: Any) -> None:
                self.handle = handle
                self.loop = self

            def __del__(self) -> None:
                self.handle.release()

        for number in range(200):
            Leaked(asked.push(str(number)))
        gc.collect()
        asked.push("left")
        asked.router.press()
        assert asked.heard == ["left"]

    def test_from_many_threads_nothing_is_lost(self, asked: Asked) -> None:
        """Whoever has the turn takes the others' events along."""
        asked.router.push(Scope("record", lambda: asked.heard.append("noted")))

        def run() -> None:
            for _ in range(200):
                asked.router.press()
                handle = asked.router.push(Scope("record", lambda: asked.heard.append("noted")))
                handle.release()

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert len(asked.heard) == 800

    def test_no_router_before_one_is_armed(self) -> None:
        with pytest.raises(RuntimeError, match="no router"):
            current()


def test_busy_is_whoever_is_at_work_however_deep() -> None:
    from jp.interrupt.signals import Busy

    busy, entered, leave = Busy(), threading.Event(), threading.Event()

    def work() -> None:
        with busy, busy:
            entered.set()
            leave.wait(DEADLINE)

    thread = threading.Thread(target=work)
    thread.start()
    assert entered.wait(DEADLINE)
    with busy:
        busy.let_others_finish(0.01)  # comes back though they are not done
        leave.set()
        busy.let_others_finish(DEADLINE)
    thread.join(DEADLINE)
    assert busy._depths == {}


class TestListeners:
    def test_heard_until_taken_off_and_one_fault_does_not_hide_the_next(
        self, asked: Asked, capfd: pytest.CaptureFixture[str]
    ) -> None:
        from jp.interrupt import signals

        heard = []

        def faulty() -> None:
            raise ValueError("mine")

        off = asked.router.on_resize(lambda: heard.append("first"))
        asked.router.on_resize(faulty)
        asked.router._queue(signals.WINCH)
        asked.router._run()
        assert heard == ["first"]
        assert "ValueError: mine" in capfd.readouterr().err
        off()
        off()
        asked.router._queue(signals.WINCH)
        asked.router._run()
        assert heard == ["first"]


class TestToken:
    def test_the_first_cause_wins(self) -> None:
        token = ShutdownToken()
        seen = [(token.cancelled, token.cause)]
        token.cancel(Cause.TERM)
        token.cancel(Cause.PRESS)
        seen.append((token.cancelled, token.cause))
        assert seen == [(False, None), (True, Cause.TERM)]

    def test_subscribers_are_called_once_late_ones_at_once(self) -> None:
        token = ShutdownToken()
        called: list[str] = []
        token.subscribe(lambda: called.append("early"))
        token.subscribe(lambda: called.append("gone"))()
        token.cancel(Cause.TERM)
        token.cancel(Cause.TERM)
        token.subscribe(lambda: called.append("late"))
        assert called == ["early", "late"]

    def test_one_subscribers_fault_keeps_nobody_asleep(self) -> None:
        token = ShutdownToken()
        called: list[str] = []

        def faulty() -> None:
            raise ValueError

        token.subscribe(faulty)
        token.subscribe(lambda: called.append("woken"))
        token.cancel(Cause.PRESS)
        assert called == ["woken"]


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[ShutdownToken]:
    """A token that checkpoints look at, for this test alone."""
    monkeypatch.setattr(module, "_cancelled", False)
    monkeypatch.setattr(module, "_token", None)
    monkeypatch.setattr(module, "_main", threading.get_ident())
    fresh = ShutdownToken()
    module.watch(fresh)
    yield fresh
    module._cancelled = False


class TestCheckpoint:
    def test_nothing_pending_nothing_happens(self, token: ShutdownToken) -> None:
        checkpoint()

    def test_raises_once_a_shutdown_has_begun_and_again(self, token: ShutdownToken) -> None:
        token.cancel(Cause.TERM)
        for _ in range(2):
            with pytest.raises(Shutdown) as raised:
                checkpoint()
            assert raised.value.cause is Cause.TERM

    def test_no_except_exception_swallows_it(self) -> None:
        assert not issubclass(Shutdown, Exception)

    def test_held_it_does_nothing(self, token: ShutdownToken) -> None:
        token.cancel(Cause.TERM)
        with hold():
            checkpoint()
        with pytest.raises(Shutdown):
            checkpoint()

    def test_on_another_thread_it_does_nothing(self, token: ShutdownToken) -> None:
        token.cancel(Cause.TERM)
        raised: list[BaseException] = []

        def run() -> None:
            try:
                checkpoint()
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(DEADLINE)
        assert raised == []

    def test_waits_while_paused(self, token: ShutdownToken) -> None:
        first, second = pause(), pause()
        order: list[str] = []

        def let_go() -> None:
            first()
            order.append("one pause left")
            second()

        waiting = threading.Timer(0.05, let_go)
        waiting.start()
        checkpoint()
        order.append("went on")
        waiting.join()
        assert order == ["one pause left", "went on"]
        checkpoint()

    def test_a_shutdown_wakes_it_from_a_pause(self, token: ShutdownToken) -> None:
        resume = pause()
        cancelling = threading.Timer(0.05, lambda: token.cancel(Cause.PRESS))
        cancelling.start()
        with pytest.raises(Shutdown):
            checkpoint()
        cancelling.join()
        resume()


WIND_DOWN = """
import os, time
from jp.interrupt import end
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.router import Router
router = Router()
router.arm()
say = lambda text: os.write(1, text.encode() + b"\\n")
def faulty(deadline):
    raise ValueError("mine")
end.at_wind_down(lambda deadline: say("first registered"))
end.at_wind_down(faulty)
end.at_wind_down(lambda deadline: say("gone"))()
end.at_wind_down(lambda deadline: checkpoint())
end.at_wind_down(lambda deadline: say(f"within {deadline - time.monotonic():.0f}"))
"""


def run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=DEADLINE)


TWICE = """
import os, signal, time
from jp.interrupt.router import Router
router = Router()
router.arm()
router.cooldown_secs = 0
router.promptable = False
def announce(text):
    if "graceful" in text:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
    os.write(2, text.encode() + b"\\n")
router.announce = announce
router.press()
time.sleep(20)
"""


@pytest.mark.req("092-122")
def test_a_second_press_in_the_middle_of_the_first_ones_words_comes_behind_them() -> None:
    done = run(TWICE)
    assert done.stderr == "gracefully shutting down…\nterminating program…\n"
    assert done.returncode == -2
    assert done.stdout == ""


class TestWindDown:
    def test_last_registered_first_and_one_fault_does_not_end_it(self) -> None:
        done = run(WIND_DOWN + "end.finish(4)")
        assert done.returncode == 4
        assert done.stdout == "within 1000000\nfirst registered\n"
        assert done.stderr == "jp: while ending: ValueError: mine\n"

    def test_a_shutdowns_deadline_is_handed_on_and_its_cause_decides(self) -> None:
        done = run(WIND_DOWN + "router.shutdown_timeout_secs = 7; router.shutdown(end.Cause.TERM); end.finish(0)")
        assert done.returncode == -15
        assert done.stdout == "within 7\nfirst registered\n"

    def test_a_lost_reader_is_no_words(self) -> None:
        done = run(WIND_DOWN + "router.shutdown(end.Cause.PIPE); end.finish(end.Cause.PIPE)")
        assert done.returncode == -13
        assert "gracefully" not in done.stderr


class TestGate:
    @pytest.mark.req("092-125")
    def test_from_many_threads_the_first_wins_and_no_other_gets_through(self) -> None:
        code = """
import threading, time
from jp.interrupt import end
from jp.interrupt.router import Router
Router().arm()
barrier = threading.Barrier(9)
def stop():
    barrier.wait()
    end.end_now(end.Cause.PRESS)
for _ in range(8):
    threading.Thread(target=stop).start()
barrier.wait()
end.at_end(lambda: time.sleep(0.1), lambda: None)
end.end_now(0)
"""
        assert {run(code).returncode for _ in range(6)} <= {0, -2}

    def test_a_second_call_on_top_of_the_first_lets_it_go_on(self) -> None:
        code = """
import os
from jp.interrupt import end
from jp.interrupt.router import Router
Router().arm()
end.at_end(lambda: end.end_now(7), lambda: os.write(1, b"after"))
end.end_now(5)
"""
        done = run(code)
        assert (done.returncode, done.stdout) == (5, "after")

    def test_undo_steps_that_fail_do_not_stop_the_end(self) -> None:
        code = """
from jp.interrupt import end
from jp.interrupt.router import Router
Router().arm()
end.at_end(lambda: 1 / 0, lambda: 1 / 0)
end.restores[99] = end.Restore(99, lambda: 1 / 0, b"x")
end.lent_foreground.append(99)
end.end_now(end.Cause.TERM)
"""
        done = run(code)
        assert (done.returncode, done.stderr) == (-15, "")

    def test_unprepared_the_main_thread_still_dies_of_it(self) -> None:
        done = run("from jp.interrupt import end; end.end_now(end.Cause.TERM)")
        assert done.returncode == -15
