"""The router: what every signal and every press means, and the carrying out of it (RFD 092).

Each becomes an event of the pure ladder. Whoever has one appends it to a list and steps the ladder if nobody else is
just doing so; nobody waits for a turn, for the one who has it sees what came meanwhile. (A lock would not do: the code
that a handler interrupts may be holding it.) What the ladder answers is carried out behind the turn. So notifications
and hooks may run on any thread, and in a handler on the main thread: they must neither block nor take a lock.

The router runs no scope's code, draws nothing and knows no terminal.
"""

import _thread
import time

from jp.interrupt import checkpoint, end, ladder, signals, standing
from jp.interrupt.end import Cause
from jp.interrupt.token import ShutdownToken
from jp.interrupt.watchdog import Watchdog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from jp.interrupt.ladder import Value

# What the person is told at the second and the third rung.
GRACEFUL = "gracefully shutting down…"
TERMINATING = "terminating program…"
_FIRST_WORDS_SECS = 0.1  # for the thread that is just saying that the shutdown has begun
_LAST_WORDS_SECS = 0.3
_STOPS_AGAIN = 1000  # a bound, no limit that anybody meets
_NO_STOP_SECS = 0.001
_LATE_SECS = 0.05  # the SIGCONT that ends a stop may be read behind it


_router: "Router | None" = None


def current() -> "Router":
    """The armed router of this process. Raises RuntimeError before there is one."""
    if _router is None:
        raise RuntimeError("no router is armed")
    return _router


class Scope:
    """What a press means while something runs: one of the ladder's kinds, and how its reader is told.

    `notify` and `ahead` must not block and take no lock; they may run in a signal handler. Kinds: `ladder.MENU`, `UP`,
    `LOCAL`, `RECORD`. `ahead`: whether keys were typed that a menu (`UP`) has not acted on; a signal overtakes them.
    `menu` makes what prompts that are asked within a menu scope swap to; None is the fallback menu.
    """

    __slots__ = ("ahead", "kind", "menu", "name", "notify")

    def __init__(
        self,
        kind: str,
        notify: "Callable[[], object]",
        name: str = "",
        *,
        ahead: "Callable[[], bool] | None" = None,
        menu: "Callable[[], object] | None" = None,
    ) -> None:
        self.kind = kind
        self.notify = notify
        self.name = name
        self.ahead = ahead
        self.menu = menu


class ScopeHandle:
    """A scope's place in the stack; a context manager that releases it."""

    __slots__ = ("_router", "id", "scope")

    def __init__(self, router: "Router", ident: int, scope: Scope) -> None:
        self._router = router
        self.id = ident
        self.scope = scope

    @property
    def pending(self) -> bool:
        """Whether a press waits to be read here."""
        return self._router.unread(self.id)

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
        self._ending: Cause | None = None
        self._told = False
        self._speaking = 0  # the thread that is saying that the shutdown has begun
        self._postponed: Cause | None = None
        self._last_words = False
        self._events: list[Value] = []
        self._calls: list[dict[int, Any]] = []
        self._turn = _thread.allocate_lock()
        self._scopes: dict[int, Scope] = {}
        self._next = iter(range(1, 1 << 62)).__next__
        self._countdown: dict[int, Callable[[float], object]] = {}
        self._resize: dict[int, Callable[[], object]] = {}
        self._before_stop: dict[int, Callable[[], object]] = {}
        self._continue: dict[int, Callable[[], object]] = {}
        self._stay: dict[int, Callable[[], bool]] = {}
        self._ends: dict[int, Callable[[], object]] = {}
        self._back = -1.0  # when a stop of ours was over
        self._watchdog = Watchdog(clock, self._expired, self._tick)
        self._signals = signals.Signals(
            self._queue, self._run, {signals.TSTP: self._stop, signals.ALRM: self._watchdog.alarm}
        )

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
    def pending(self) -> bool:
        """Whether a press waits for it to be known whether a user can be asked."""
        pending: bool = self._state.pending
        return pending

    @property
    def ending(self) -> bool:
        """Whether a shutdown has begun; a moment before the token is cancelled, which waits for the words about it."""
        return self._state.cause is not None

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

    def quit(self) -> None:
        """A Ctrl-\\ that came as the keyboard protocol's sequence: SIGQUIT's meaning. Any thread."""
        self.post(ladder.Quit())

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

    def below(self, handle: ScopeHandle) -> ScopeHandle | None:
        """The menu scope that was the topmost one before `handle` opened; None where there is none."""
        places = self._state.scopes
        index = next((n for n, place in enumerate(places) if place.id == handle.id), len(places))
        for place in reversed(places[:index]):
            scope = self._scopes.get(place.id)
            if place.kind == ladder.MENU and scope is not None:
                return ScopeHandle(self, place.id, scope)
        return None

    def unread(self, ident: int) -> bool:
        """Whether the scope has a press that it has not read."""
        return any(place.unread for place in self._state.scopes if place.id == ident)

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
        """Have `fn` called when the job goes on after a stop, first registered first."""
        return self._listen(self._continue, fn)

    def on_ending(self, fn: "Callable[[], object]") -> "Callable[[], None]":
        """Have `fn` called when a shutdown begins, before a word of it is said: who draws on the terminal clears it."""
        return self._listen(self._ends, fn)

    def settle(self) -> None:
        """Wait until the presses that have been made are known here, for half a second at most. Not on the main thread.

        For who has just had the terminal to himself: what was pressed then is not the next one's.
        """
        self._signals.settle()

    def stay_stopped_while(self, fn: "Callable[[], bool]") -> "Callable[[], None]":
        """Have the job stopped again when it goes on while `fn()` holds (a prompt is up in the background)."""
        return self._listen(self._stay, fn)

    def suspend(self) -> None:
        """Stop the job as the Ctrl-Z key does, for one that came as the keyboard protocol's sequence. Any thread."""
        self._signals.suspend()

    def _stays_stopped(self) -> bool:
        try:
            return any(fn() for fn in list(self._stay.values()))
        except Exception as error:
            end.complain(f"jp: interrupt: {type(error).__name__}: {error}")
            return False

    def _listen(self, listeners: "dict[int, Any]", fn: "Any") -> "Callable[[], None]":
        key = self._next()
        listeners[key] = fn
        return lambda: (listeners.pop(key, None), None)[1]

    # --- the ladder's turn

    def post(self, event: "Value") -> None:
        """Take one event. Any thread, also a signal handler; returns without waiting, whatever another thread does."""
        self._events.append(event)
        with self._signals.busy:
            self._run()

    def _run(self) -> None:
        while self._calls:
            try:
                listeners = self._calls.pop(0)
            except IndexError:
                break  # somebody else was quicker
            self._call(listeners)
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
            self._begin(action.cause, "" if action.cause.silent else GRACEFUL)
        elif isinstance(action, ladder.Bound):
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

    def _begin(self, cause: Cause, text: str = "") -> None:
        # The bound first, for a hook may hang; the message before the token, or the end could overtake it.
        end.cause = cause
        self._watchdog.start(self.shutdown_timeout_secs)
        self._call(self._ends)
        if text:
            self._speaking = _thread.get_ident()
            self._say(text)
        self._told = True
        self._speaking = 0
        self.token.cancel(cause)
        if self._postponed is not None:
            self._end(self._postponed)
        if self.shutdown_timeout_secs <= 0:
            self.post(ladder.DeadlinePassed())

    def _end(self, cause: Cause) -> None:
        self._ending = cause
        if not cause.silent:
            self._watchdog.hurry(_LAST_WORDS_SECS)
            if self._speaking == _thread.get_ident():
                self._postponed = cause  # the frame that this handler interrupts ends it, with its words whole
                return
            self._first_words()
            self._say(TERMINATING)
            self._last_words = True
        end.end_now(cause)

    def _first_words(self) -> None:
        """The first message before the last, which another thread may just be saying."""
        begun = self._state.cause
        if begun is None or begun.silent or self._told:
            return
        self._signals.busy.let_others_finish(_FIRST_WORDS_SECS)
        if not self._told:
            self._say(GRACEFUL)

    def _expired(self) -> None:
        if self._ending is not None:
            if not (self._ending.silent or self._last_words):
                end.complain(TERMINATING)  # its hook hangs, or the thread that was to call it has no turn
            end.end_now(self._ending)
        self.post(ladder.DeadlinePassed())

    def _say(self, text: str) -> None:
        try:
            self.announce(text)
        except Exception:
            end.complain(text)  # the hook's fault, whatever it is: the words come out all the same

    def _tick(self, left: float) -> None:
        if self.shutdown_show and end.cause is not None and not end.cause.silent:
            self._call(self._countdown, left)

    def _call(self, listeners: "dict[int, Any]", *args: object) -> None:
        for fn in list(listeners.values()):
            try:
                fn(*args)
            except Exception as error:  # one hook's fault is neither the others' nor that of what was interrupted
                end.complain(f"jp: interrupt: {type(error).__name__}: {error}")

    # --- signals

    def arm(self) -> None:
        """Take the signals over. Once, on the main thread, before anything else is imported or done."""
        global _router
        _router = self
        checkpoint.watch(self.token)
        end.bound = lambda cause: self.post(ladder.Ending(cause))
        self._signals.arm()

    def reassert(self) -> None:
        """Take back what a foreign event loop may have taken. Only the main thread can; elsewhere nothing happens."""
        self._signals.reassert()

    def _queue(self, number: int) -> None:
        if number == signals.INT:
            self._events.append(ladder.Behind() if self._keys_ahead() else ladder.Press())
        elif number == signals.TERM:
            self._events.append(ladder.Begin(Cause.TERM))
        elif number == signals.HUP:
            self._events.append(ladder.Begin(Cause.HUP))
        elif number in (signals.QUIT, signals.BREAK):
            self._events.append(ladder.Quit())
        elif number == signals.WINCH:
            self._calls.append(self._resize)
        elif number == signals.CONT and not self._watchdog.standing and self._clock() - self._back > _LATE_SECS:
            self._calls.append(self._continue)

    def _keys_ahead(self) -> bool:
        scopes = self._state.scopes
        scope = self._scopes.get(scopes[-1].id) if scopes else None
        try:
            return scope is not None and scope.ahead is not None and scope.ahead()
        except Exception:
            return False  # its terminal is gone; the press counts all the same

    def _stop(self) -> None:
        if self._watchdog.standing or end.ended():
            return
        self._watchdog.standing = True
        began = self._clock()
        go_on = standing.stand()
        # What was put on the terminal last is taken off first; going on is in the order of registration.
        self._call(dict(reversed(self._before_stop.items())))
        self._signals.stop_here()
        for _ in range(_STOPS_AGAIN):
            if not self._stays_stopped():
                break
            back = self._clock()
            self._signals.stop_here()
            if self._clock() - back < _NO_STOP_SECS:
                break  # an orphaned job can't be stopped: nobody would wake it
        self._back = self._clock()
        go_on()
        stood = self._back - began
        self._watchdog.moved(stood)
        self.post(ladder.Stood(stood))
        self._watchdog.standing = False
        self._call(self._continue)
