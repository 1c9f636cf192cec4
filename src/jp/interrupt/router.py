"""The one consumer of the process's signals (RFD 092; experiments, 3.3 to 3.5).

What does not work, and why:

* Raising from a handler: of 20,000 interrupts 12,877 landed inside a `finally` and cut it short; 113 of 118 children
  that were just being started ran on unknown.
* A handler alone: it runs on the main thread between bytecodes, so seconds late behind C code that releases the
  interpreter. A thread alone: seconds late behind C code that holds it but looks at signals.
* Blocking the signals for a thread in `sigwait`: every child inherits the mask.
* A lock taken in the handler: the interrupted code may hold it.
* An event loop's `add_signal_handler`: takes the wake-up descriptor and leaves -1 behind.

Chosen: signals only move bytes. The interpreter's C handler writes each into one non-blocking pipe, which is the queue;
a thread drains it, and so does the handler on the main thread, whoever comes first. Both append to one list of events,
and whoever holds `_turn` steps the pure ladder through it; nobody ever waits for `_turn`, its holder sees what came
meanwhile. What the ladder says is carried out behind it: notifications and hooks may run on any thread, and inside a
handler on the main thread, and must neither block nor take a lock.

Stopping (SIGTSTP) is the exception: only the main thread can change a disposition and take it back, so a stop waits
until the main thread looks at signals. Not verified on macOS: that the kernel prefers the main thread for it.
"""

import _thread
import os
import sys
import time

from jp.interrupt import checkpoint, end, ladder
from jp.interrupt.end import Cause
from jp.interrupt.token import ShutdownToken
from jp.interrupt.watchdog import Watchdog

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, Self

    from jp.interrupt.ladder import Value
else:
    import _signal

# What the person is told at the second and the third rung.
GRACEFUL = "gracefully shutting down…"
TERMINATING = "terminating program…"


def _number(name: str) -> int:
    """The signal's number on this platform, 0 where it has none."""
    return int(getattr(_signal, name, 0))


_INT, _TERM, _HUP, _QUIT = (_number(name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"))
_TSTP, _CONT, _WINCH, _ALRM = (_number(name) for name in ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGALRM"))
_BREAK = _number("SIGBREAK")  # Windows: Ctrl-Break
OWNED = tuple(n for n in (_INT, _TERM, _HUP, _QUIT, _TSTP, _CONT, _WINCH, _ALRM, _BREAK) if n)
_KEPT_IGNORED = (_INT, _HUP, _TSTP)

_router: "Router | None" = None


def current() -> "Router":
    """The armed router of this process. Raises RuntimeError before there is one."""
    if _router is None:
        raise RuntimeError("no router is armed")
    return _router


class Scope:
    """What a press means while something runs: one of the ladder's kinds, and how its reader is told.

    `notify` must not block and take no lock; it may run in a signal handler. Kinds: `ladder.MENU`, `UP`, `LOCAL`,
    `RECORD`.
    """

    __slots__ = ("kind", "name", "notify")

    def __init__(self, kind: str, notify: "Callable[[], object]", name: str = "") -> None:
        self.kind = kind
        self.notify = notify
        self.name = name


class ScopeHandle:
    """A scope's place in the stack; a context manager that releases it."""

    __slots__ = ("_router", "id", "scope")

    def __init__(self, router: "Router", ident: int, scope: Scope) -> None:
        self._router = router
        self.id = ident
        self.scope = scope

    def read(self) -> None:
        """The notification has been taken: the press is being answered."""
        self._router.post(ladder.Read(self.id))

    def decline(self) -> None:
        """There is no choice to offer now: the press goes to the next scope down."""
        self._router.post(ladder.Decline(self.id))

    def replace(self, scope: Scope) -> "ScopeHandle":
        """Give the place to `scope`, in one step; a press not read yet goes with it."""
        return self._router.open(scope, self)

    def release(self) -> None:
        """Leave the stack, in any order; a press not read yet goes to the next scope down. Again: nothing."""
        self._router.close(self)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Router:
    """Turns signals and presses into the ladder's events, and carries out what it says."""

    def __init__(self, clock: "Callable[[], float]" = time.monotonic) -> None:
        self.token = ShutdownToken()
        # Hooks: the shell puts the Printer behind them. They must not block and may run in a signal handler.
        self.announce: Callable[[str], object] = end.complain
        self.shutdown_timeout_secs = 10.0
        self.shutdown_show = True
        self._clock = clock
        self._state = ladder.initial()
        self._events: list[Value] = []
        self._turn = _thread.allocate_lock()
        self._scopes: dict[int, Scope] = {}
        self._next = iter(range(1, 1 << 62)).__next__
        self._countdown: dict[int, Callable[[float], object]] = {}
        self._resize: dict[int, Callable[[], object]] = {}
        self._before_stop: dict[int, Callable[[], object]] = {}
        self._continue: dict[int, Callable[[], object]] = {}
        self._watchdog = Watchdog(clock, lambda: self.post(ladder.DeadlinePassed()), self._tick)
        self._main = 0
        self._draining = False
        self._pipe: tuple[int, int] | None = None
        self._installed: tuple[int, ...] = ()

    # --- settings, known once the configuration is

    @property
    def promptable(self) -> bool | None:
        """Whether a user can be asked; None while nobody knows yet: a first press then waits for the answer."""
        promptable: bool | None = self._state.promptable
        return promptable

    @promptable.setter
    def promptable(self, value: bool | None) -> None:
        self.post(ladder.Known(value))

    @property
    def cooldown_secs(self) -> float:
        """How long after a press the next one climbs."""
        cooldown: float = self._state.cooldown
        return cooldown

    @cooldown_secs.setter
    def cooldown_secs(self, value: float) -> None:
        self.post(ladder.Cooldown(value))

    @property
    def shutdown_delay_secs(self) -> float:
        """Silence before the countdown appears."""
        return self._watchdog.delay_secs

    @shutdown_delay_secs.setter
    def shutdown_delay_secs(self, value: float) -> None:
        self._watchdog.delay_secs = value

    @property
    def shutdown_interval_secs(self) -> float:
        """How often the countdown changes; 0 is a minimum, never a busy loop."""
        return self._watchdog.interval_secs

    @shutdown_interval_secs.setter
    def shutdown_interval_secs(self, value: float) -> None:
        self._watchdog.interval_secs = value

    # --- events

    def press(self) -> None:
        """A Ctrl-C that came as a byte or as the keyboard protocol's sequence. Any thread."""
        self.post(ladder.Press())

    def shutdown(self, cause: Cause) -> None:
        """Begin a graceful shutdown: a menu's quit, a lost terminal, the reader of stdout gone. Any thread."""
        self.post(ladder.Begin(cause))

    def reset(self) -> None:
        """The user chose to go on: the next press is a first one."""
        self.post(ladder.Reset())

    def stood(self, seconds: float) -> None:
        """A question was up for `seconds`: the cooldown stood still."""
        self.post(ladder.Stood(seconds))

    def push(self, scope: Scope) -> ScopeHandle:
        """Open `scope` on top of the stack."""
        return self.open(scope, None)

    def open(self, scope: Scope, old: ScopeHandle | None) -> ScopeHandle:
        """Open `scope`, in the place of `old` if there is one."""
        ident = self._next()
        self._scopes[ident] = scope
        self.post(ladder.Push(ident, scope.kind) if old is None else ladder.Replace(ident, scope.kind, old.id))
        if old is not None:
            self._scopes.pop(old.id, None)
        return ScopeHandle(self, ident, scope)

    def close(self, handle: ScopeHandle) -> None:
        """Take the scope out of the stack."""
        self.post(ladder.Release(handle.id))
        self._scopes.pop(handle.id, None)

    # --- listeners; they must not block

    def on_countdown(self, fn: "Callable[[float], object]") -> "Callable[[], None]":
        """Have `fn(seconds left)` called at the countdown's rate while a shutdown takes longer than its delay."""
        return self._listen(self._countdown, fn)

    def on_resize(self, fn: "Callable[[], object]") -> "Callable[[], None]":
        """Have `fn` called when the terminal's size has changed; returns what takes it off."""
        return self._listen(self._resize, fn)

    def on_stop(self, fn: "Callable[[], object]") -> "Callable[[], None]":
        """Have `fn` called before the job is stopped by SIGTSTP, last registered first; on the main thread."""
        return self._listen(self._before_stop, fn)

    def on_continue(self, fn: "Callable[[], object]") -> "Callable[[], None]":
        """Have `fn` called when the job goes on after a stop."""
        return self._listen(self._continue, fn)

    def _listen(self, listeners: "dict[int, Any]", fn: "Any") -> "Callable[[], None]":
        key = self._next()
        listeners[key] = fn
        return lambda: (listeners.pop(key, None), None)[1]

    # --- the ladder's turn

    def post(self, event: "Value") -> None:
        """Take one event. Any thread, also a signal handler; returns without waiting, whatever another thread does."""
        self._events.append(event)
        while self._events and self._turn.acquire(False):
            try:
                actions = self._step_all()
            finally:
                self._turn.release()
            # Looked at again after the release: who came meanwhile has left its event to us.
            for action in actions:
                self._carry_out(action)

    def _step_all(self) -> "list[Value]":
        actions: list[Value] = []
        while self._events:
            event = self._events.pop(0)
            try:
                self._state, more = ladder.step(self._state, event, self._clock())
                actions.extend(more)
            except Exception as error:  # a fault of ours must not cost the next press
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")
        return actions

    def _carry_out(self, action: "Value") -> None:
        if isinstance(action, ladder.Notify):
            self._notify(action.id)
        elif isinstance(action, ladder.BeginShutdown):
            self._begin(action.cause)
        elif isinstance(action, ladder.EndNow):
            self._end(action.cause)

    def _notify(self, ident: int) -> None:
        scope = self._scopes.get(ident)
        try:
            if scope is None:
                raise LookupError(ident)
            scope.notify()
        except Exception:
            self.post(ladder.Decline(ident))  # its reader is gone

    def _begin(self, cause: Cause) -> None:
        end.cause = cause
        self._watchdog.start(self.shutdown_timeout_secs)
        if not cause.silent:
            self._say(GRACEFUL)
        self.token.cancel(cause)
        if self.shutdown_timeout_secs <= 0:
            self.post(ladder.DeadlinePassed())

    def _end(self, cause: Cause) -> None:
        if not cause.silent:
            end.backstop(0.5)  # should the message's hook hang after all
            self._say(TERMINATING)
        end.end_now(cause)

    def _say(self, text: str) -> None:
        try:
            self.announce(text)
        except Exception:
            end.complain(text)

    def _tick(self, left: float) -> None:
        if self.shutdown_show:
            self._call(self._countdown, left)

    def _call(self, listeners: "dict[int, Any]", *args: object) -> None:
        for fn in reversed(list(listeners.values())):
            try:
                fn(*args)
            except Exception as error:
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    # --- signals

    def arm(self) -> None:
        """Take the signals over. Once, on the main thread, before anything else is imported or done."""
        global _router
        _router = self
        self._main = _thread.get_ident()
        checkpoint.watch(self.token)
        end.bound = self._bound
        if sys.platform == "win32":
            self._pipe = os.pipe()
            self._install()
            _thread.start_new_thread(self._consume_blocking, ())
        else:
            # Blocked while the handlers change places: what comes meanwhile is delivered to ours. The thread starts
            # blocked and stays so: the main thread is the one that a signal wakes. A mask that was inherited is
            # lifted, which lets a launcher hold a press back until somebody listens.
            deadly = tuple(cause.signal for cause in end.DEADLY)
            _signal.pthread_sigmask(_signal.SIG_BLOCK, OWNED + deadly)
            ignored = tuple(n for n in _KEPT_IGNORED if n and _signal.getsignal(n) is _signal.SIG_IGN)
            reader, writer = self._pipe = os.pipe()
            os.set_blocking(reader, False)
            os.set_blocking(writer, False)
            end.prepare()
            self._install(ignored)
            _thread.start_new_thread(self._consume, ())
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, OWNED + deadly)

    def _install(self, ignored: tuple[int, ...] = ()) -> None:
        assert self._pipe is not None
        _signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self._installed = tuple(n for n in OWNED if n not in ignored)
        for number in self._installed:
            _signal.signal(number, self._on_signal)
        for number in (*ignored, _number("SIGPIPE")):
            if number:
                _signal.signal(number, _signal.SIG_IGN)

    def reassert(self) -> None:
        """Take back what a foreign loop may have taken: wake-up descriptor and handlers. Only the main thread can."""
        if self._pipe is None or _thread.get_ident() != self._main or end.ended():
            return
        _signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        for number in self._installed:
            if _signal.getsignal(number) != self._on_signal:
                _signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: "FrameType | None") -> None:
        """Runs on the main thread, between any two of its bytecodes: must not raise, block or take a lock."""
        try:
            if number == _TSTP:
                self._stop()
            elif number == _ALRM:
                self._watchdog.alarm()
            elif not self._draining and sys.platform != "win32":
                # A storm of signals would recurse here without end; what is skipped stays in the pipe.
                self._draining = True
                try:
                    self._drain()
                finally:
                    self._draining = False
        except Exception as error:
            end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    def _drain(self) -> None:
        assert self._pipe is not None
        while True:
            try:
                data = os.read(self._pipe[0], 512)
            except (BlockingIOError, InterruptedError):
                return
            for number in data:
                self._received(number)

    def _received(self, number: int) -> None:
        if number == _INT:
            self.post(ladder.Press())
        elif number == _TERM:
            self.post(ladder.Begin(Cause.TERM))
        elif number == _HUP:
            self.post(ladder.Begin(Cause.HUP))
        elif number in (_QUIT, _BREAK):
            self.post(ladder.Quit())
        elif number == _WINCH:
            self._call(self._resize)
        elif number == _CONT and not self._watchdog.standing:
            self._call(self._continue)

    def _consume(self) -> None:
        from select import select

        assert self._pipe is not None
        while True:
            try:
                select([self._pipe[0]], [], [])
                self._drain()
            except Exception as error:
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    def _consume_blocking(self) -> None:
        assert self._pipe is not None
        while True:
            for number in os.read(self._pipe[0], 512):
                self._received(number)

    def _stop(self) -> None:
        if self._watchdog.standing or end.ended():
            return
        self._watchdog.standing = True
        began = self._clock()
        self._call(self._before_stop)
        self._stop_here()
        stood = self._clock() - began
        self._watchdog.moved(stood)
        self.post(ladder.Stood(stood))
        self._watchdog.standing = False
        self._call(self._continue)

    def _stop_here(self) -> None:
        """The default action of SIGTSTP, in this thread, so that it is over when the call returns."""
        if sys.platform != "win32":
            _signal.signal(_TSTP, _signal.SIG_DFL)
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_TSTP,))
            _signal.pthread_kill(_thread.get_ident(), _TSTP)
            _signal.signal(_TSTP, self._on_signal)

    def _bound(self, _cause: Cause) -> None:
        """A wind-down that no shutdown began (an aborted composition) is bounded like one, without a word."""
        self._watchdog.start(self.shutdown_timeout_secs)
