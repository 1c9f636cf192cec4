"""The interrupt ladder: what one press means, as a pure function of state, event and time (RFD 092).

First press: the topmost scope that can offer a choice is notified. Second press: graceful shutdown. Third press: end.
Where nobody can be asked the first rung is missing. `step(state, event, now)` returns the next state and what to do;
it reads no clock, calls nobody, and knows no terminal.

A press that a scope leaves unanswered is never lost: declined, or unread when its scope ends, it goes to the next scope
down, and below the last one it is a graceful shutdown.
"""

from jp.interrupt.end import Cause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MENU = "menu"  # offers a choice when notified; a further press climbs
UP = "up"  # an interrupt menu on screen: a press here climbs, however late
LOCAL = "local"  # takes one press for itself (a reply: back to its menu); the next counts at its parent
RECORD = "record"  # an external editor has the terminal: presses are its own


class Value:
    """An immutable record whose fields are its slots (dataclasses would cost the start-up budget)."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *values: "Any") -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def _fields(self) -> "tuple[Any, ...]":
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._fields()))})"

    def but(self, **changes: "Any") -> "Any":
        """A copy with the named fields changed. Raises TypeError for a name that is no field."""
        for name in changes:
            if name not in self.__slots__:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        return type(self)(*(changes.get(name, getattr(self, name)) for name in self.__slots__))


class Place(Value):
    """A registered scope: `unread` is a notification it has not taken, `taken` a press a local scope has used up."""

    __slots__ = ("id", "kind", "taken", "unread")
    id: int
    kind: str
    taken: bool
    unread: bool


class State(Value):
    """Everything that a press depends on. `promptable` is None while start-up does not know yet."""

    __slots__ = ("cause", "cooldown", "count", "last", "over", "pending", "promptable", "scopes")
    cause: "Cause | None"  # of the graceful shutdown that has begun
    cooldown: float
    count: int
    last: float
    over: bool
    pending: bool
    promptable: "bool | None"
    scopes: tuple[Place, ...]


def initial(promptable: "bool | None" = False, cooldown: float = 2.0) -> State:
    """The state before anything has happened."""
    return State(None, cooldown, 0, 0.0, False, False, promptable, ())


# --- events


class Press(Value):
    """Ctrl-C, as the key or as a SIGINT from outside."""


class Behind(Value):
    """A press with keys typed before it that the prompt on screen has not acted on yet."""


class Begin(Value):
    """A graceful shutdown for `cause`: SIGTERM, SIGHUP, a menu's quit, the reader of stdout gone."""

    __slots__ = ("cause",)
    cause: Cause


class Ending(Value):
    """The run ends early by itself, for `cause` (an aborted composition): bounded like a shutdown, without a word."""

    __slots__ = ("cause",)
    cause: Cause


class Quit(Value):
    """SIGQUIT."""


class DeadlinePassed(Value):
    """The graceful shutdown took longer than it may."""


class Reset(Value):
    """The user chose deliberately to go on: the next press is a first one."""


class Stood(Value):
    """Time stood still for `seconds` (the job was stopped, a question was up): the cooldown did too."""

    __slots__ = ("seconds",)
    seconds: float


class Known(Value):
    """Whether a user can be asked."""

    __slots__ = ("promptable",)
    promptable: "bool | None"


class Cooldown(Value):
    """The configured cooldown has become known."""

    __slots__ = ("seconds",)
    seconds: float


class Push(Value):
    """A scope opens on top of the stack."""

    __slots__ = ("id", "kind")
    id: int
    kind: str


class Replace(Value):
    """The scope `old` gives its place to a new one, in one step."""

    __slots__ = ("id", "kind", "old")
    id: int
    kind: str
    old: int


class Release(Value):
    """A scope ends, in any order."""

    __slots__ = ("id",)
    id: int


class Read(Value):
    """A scope has taken its notification."""

    __slots__ = ("id",)
    id: int


class Decline(Value):
    """A scope has no choice to offer for the press it was notified of."""

    __slots__ = ("id",)
    id: int


# --- actions


class Notify(Value):
    """Tell the scope `id` that a press is waiting for it."""

    __slots__ = ("id",)
    id: int


class BeginShutdown(Value):
    """Announce, cancel the token, start the watchdog."""

    __slots__ = ("cause",)
    cause: Cause


class Bound(Value):
    """Cancel the token and start the watchdog, silently."""

    __slots__ = ("cause",)
    cause: Cause


class EndNow(Value):
    """End the process at once."""

    __slots__ = ("cause",)
    cause: Cause


if TYPE_CHECKING:
    Result = tuple[State, tuple[Value, ...]]


def step(state: State, event: Value, now: float) -> "Result":
    """What `event` at `now` (monotonic seconds) makes of `state`, and what is to be done about it."""
    if state.over:
        return state, ()
    return _STEPS[type(event)](state, event, now)


def _begin(state: State, cause: Cause) -> "Result":
    if state.cause is not None:
        return state, ()
    return state.but(cause=cause, pending=False), (BeginShutdown(cause),)


def _on_ending(state: State, event: Ending, _now: float) -> "Result":
    return (state, ()) if state.cause is not None else (state.but(cause=event.cause), (Bound(event.cause),))


def _end(state: State, cause: Cause) -> "Result":
    return state.but(over=True), (EndNow(cause),)


def _press(state: State, _event: Value, now: float) -> "Result":
    if state.cause is not None:
        return _end(state, Cause.PRESS)
    if state.promptable is False:
        return _begin(state, Cause.PRESS)
    if state.promptable is None:
        if state.pending:
            return _begin(state, Cause.PRESS)
        return state.but(pending=True, count=1, last=now), ()
    return _arrives(state, len(state.scopes) - 1, now, counted=False)


def _behind(state: State, event: Value, now: float) -> "Result":
    """A menu whose key is still on its way takes the press behind it once: it may not be a menu by then."""
    top = len(state.scopes) - 1
    asked = top >= 0 and state.scopes[top].kind == UP and not state.scopes[top].unread
    if state.cause is None and state.promptable and asked:
        return _mark(state, top, unread=True), (Notify(state.scopes[top].id),)
    return _press(state, event, now)


def _arrives(state: State, top: int, now: float, *, counted: bool) -> "Result":
    """A press reaches the scope at index `top`; `counted` is one that a menu scope has been notified of before.

    A counted press neither climbs nor counts again, and one is enough for a scope that has not read its own yet.
    """
    for index in range(top, -1, -1):
        place = state.scopes[index]
        if place.kind == RECORD:
            return state, (Notify(place.id),)
        if place.kind == LOCAL:
            if place.taken:
                continue
            return _mark(state, index, unread=True, taken=True), (Notify(place.id),)
        if place.kind == UP:
            break
        if counted and place.unread:
            return state, ()
        if not counted:
            if place.unread or (state.count and now - state.last <= state.cooldown):
                break
            state = state.but(count=1, last=now)
        return _mark(state, index, unread=True), (Notify(place.id),)
    return _begin(state, Cause.PRESS)


def _mark(state: State, index: int, **changes: bool) -> State:
    scopes = state.scopes
    changed: State = state.but(scopes=(*scopes[:index], scopes[index].but(**changes), *scopes[index + 1 :]))
    return changed


def _find(state: State, scope: int) -> int:
    for index, place in enumerate(state.scopes):
        if place.id == scope:
            return index
    return -1


def _on_known(state: State, event: Known, now: float) -> "Result":
    pending = state.pending and event.promptable is not None
    state = state.but(promptable=event.promptable, pending=state.pending and not pending)
    if not pending or state.cause is not None:
        return state, ()
    if not event.promptable:
        return _begin(state, Cause.PRESS)
    return _arrives(state, len(state.scopes) - 1, now, counted=True)


def _on_push(state: State, event: Push, _now: float) -> "Result":
    return state.but(scopes=(*state.scopes, Place(event.id, event.kind, False, False))), ()


def _on_replace(state: State, event: Replace, now: float) -> "Result":
    index = _find(state, event.old)
    if index < 0:
        return _on_push(state, Push(event.id, event.kind), now)
    old, scopes = state.scopes[index], state.scopes
    place = Place(event.id, event.kind, False, False)
    state = state.but(scopes=(*scopes[:index], place, *scopes[index + 1 :]))
    if not old.unread or state.cause is not None:
        return state, ()
    if place.kind == UP and old.kind == MENU:
        return state, ()  # the menu that the press asked for has just opened
    # The press that nobody has read yet belongs to whoever has the place now; only a menu scope's was counted.
    return _arrives(state, index, now, counted=old.kind == MENU)


def _on_release(state: State, event: Release, now: float) -> "Result":
    index = _find(state, event.id)
    if index < 0:
        return state, ()
    place, scopes = state.scopes[index], state.scopes
    state = state.but(scopes=(*scopes[:index], *scopes[index + 1 :]))
    return _unanswered(state, place, index - 1, now)


def _on_decline(state: State, event: Decline, now: float) -> "Result":
    index = _find(state, event.id)
    if index < 0:
        return state, ()
    return _unanswered(_mark(state, index, unread=False), state.scopes[index], index - 1, now)


def _unanswered(state: State, place: Place, below: int, now: float) -> "Result":
    if not place.unread or state.cause is not None:
        return state, ()
    return _arrives(state, below, now, counted=place.kind == MENU)


def _on_read(state: State, event: Read, _now: float) -> "Result":
    index = _find(state, event.id)
    return (state, ()) if index < 0 else (_mark(state, index, unread=False), ())


def _on_deadline(state: State, _event: Value, _now: float) -> "Result":
    return (state, ()) if state.cause is None else _end(state, state.cause)


_STEPS: "dict[type[Value], Callable[[State, Any, float], Result]]" = {
    Press: _press,
    Behind: _behind,
    Begin: lambda state, event, _: _begin(state, event.cause),
    Ending: _on_ending,
    Quit: lambda state, *_: _end(state, Cause.QUIT),
    DeadlinePassed: _on_deadline,
    Reset: lambda state, *_: (state.but(count=0), ()),
    # Not beyond now: a job that is stopped while a question is up stands still twice.
    Stood: lambda state, event, now: (state.but(last=max(state.last, min(state.last + event.seconds, now))), ()),
    Known: _on_known,
    Cooldown: lambda state, event, _: (state.but(cooldown=event.seconds), ()),
    Push: _on_push,
    Replace: _on_replace,
    Release: _on_release,
    Read: _on_read,
    Decline: _on_decline,
}
