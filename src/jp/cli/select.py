"""Which conversation a command means, and the lock on it."""

from jp.conversation import targets
from jp.errors import UsageError, nearest
from jp.interrupt.checkpoint import checkpoint
from jp.storage.errors import LockedError, NoActiveConversationError, UnknownConversationError
from jp.storage.sessions import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from jp.ask.dialogue import Dialogue
    from jp.cli.context import Context
    from jp.interrupt.router import ScopeHandle
    from jp.prompt.questions import Choice
    from jp.storage.lock import Lock

POLL_SECS = 0.1
_GIVE_UP = object()


def for_query(args: "argparse.Namespace", ctx: "Context") -> str | None:
    """The id of the conversation to continue; None for a new one. Raises StorageError leaves and UsageError."""
    if args.id is not None:
        for flag, given in (("--new", args.new), ("--tmp", args.tmp is not None), ("--local", args.local)):
            if given:
                raise UsageError(f"{flag} begins a new conversation, --id continues one", hints=["give one of them"])
        return _one(args.id, ctx)
    if args.new or args.tmp is not None:
        return None
    return _active_or_default(ctx, new=True)


def named(target: str | None, ctx: "Context") -> str:
    """The id that a command's TARGET means; without one, the session's active conversation or the default one."""
    if target is not None:
        return _one(target, ctx)
    found = _active_or_default(ctx)
    if found is None:
        raise NoActiveConversationError
    return found


def _one(target: str, ctx: "Context") -> str:
    """The id that a target means; `?` asks for it."""
    wanted = targets.parse(target)
    if wanted.kind is not targets.Kind.PICKER:
        return ctx.store.resolve(target)
    from jp.cli.pick import conversation

    return conversation(ctx, within=wanted.within, filter_=wanted.text)


def _active_or_default(ctx: "Context", *, new: bool = False) -> str | None:
    """The conversation of this session, else the one that `conversation.default_id` decides; None where none exists."""
    store = ctx.store
    history = [entry.id for entry in store.sessions().history()]
    existing = store.ids()
    if history and (history[0] in existing or history[0] in store.ids(archived=True)):
        return history[0]
    if not existing:
        return None
    # Only now does the configuration have a say, so only now is it worth loading.
    default_id = ctx.load_config().root.conversation.default_id
    last = next((one.id for one in store.list()), None) if default_id == "last_activated" else None
    what = choose(default_id, history, existing, last)
    if what.what == "ask":
        if default_id not in _WORDS:
            raise UnknownConversationError(
                f"is meant by conversation.default_id = {default_id!r}", nearest(default_id, _WORDS)
            )
        if not ctx.promptability:
            raise NoActiveConversationError
        from jp.cli.pick import NEW, conversation

        chosen = conversation(ctx, new=new)
        return None if chosen == NEW else chosen
    return what.id


_WORDS = ("ask", "last_activated", "last_created", "previous")


def lock(conversation_id: str, ctx: "Context") -> "Lock":
    """The lock on a conversation, waited for with a status line (`style.lock_wait`), then asked about.

    Raises LockedError, Shutdown.
    """
    held = lock_or(conversation_id, ctx, ())
    assert not isinstance(held, str)
    return held


def lock_or(conversation_id: str, ctx: "Context", instead: "Sequence[str]") -> "Lock | str":
    """As `lock`; or which of `instead` (`NEW`, `FORK`) the person prefers to going on waiting."""
    try:
        return ctx.store.lock(conversation_id, ctx.command_line)
    except LockedError as error:
        locked = error
    while True:
        try:
            found = _wait_for_lock(conversation_id, ctx, instead)
        except LockedError as error:
            locked = error
            found = _ask_about(error, ctx, instead)
        if found == WAIT:
            continue
        if found == CANCEL:
            if instead:
                locked.hints = (*locked.hints, "Or use another conversation: `--new`, `--id`.")
            raise locked
        return found


NEW, FORK, WAIT, CANCEL = "n", "f", "w", "c"
_LABELS = {
    WAIT: "Wait on",
    NEW: "Start a new conversation",
    FORK: "Fork it, and go on in the fork",
    CANCEL: "Cancel",
}


def _question(error: LockedError, instead: "Sequence[str]") -> "Choice":
    from jp.prompt.questions import Choice, Option

    options = tuple(Option(key, _LABELS[key]) for key in (WAIT, *instead, CANCEL))
    return Choice("Still locked:", options, body=error.message)


def _ask_about(error: LockedError, ctx: "Context", instead: "Sequence[str]") -> str:
    """What the person wants where another process has the conversation; `c` where nobody can be asked. ESC waits on."""
    from jp.prompt.outcomes import Cancelled, Submitted
    from jp.terminal.promptability import NotPromptable

    if not ctx.promptability:
        return CANCEL
    try:
        outcome = ctx.asker.ask(_question(error, instead), about="a locked conversation")
    except NotPromptable:
        return CANCEL  # the holder is what there is to be told
    if isinstance(outcome, Cancelled):
        return WAIT
    return outcome.value if isinstance(outcome, Submitted) else CANCEL


def _wait_for_lock(conversation_id: str, ctx: "Context", instead: "Sequence[str]") -> "Lock | str":
    """The lock, once it is had, or what a person who has pressed Ctrl-C prefers. Raises LockedError, Shutdown."""
    from jp.interrupt import ladder
    from jp.interrupt.router import Scope
    from jp.turn.inbox import WAKE, Inbox

    style = ctx.load_config().root.style.lock_wait
    inbox = Inbox()
    inbox.after(style.timeout_secs, _GIVE_UP)
    attended = inbox.attend(ctx.router)
    given_up = style.timeout_secs <= 0
    status = ctx.printer.status(
        "Waiting for the conversation's lock…",
        delay=style.delay_secs if style.show else style.timeout_secs + 1,
        interval=style.interval_ms / 1000,
        countdown_from=style.timeout_secs,
    )
    try:
        with ctx.router.push(Scope(ladder.MENU, lambda: inbox.post(WAKE), "lock")) as pressed:
            while True:
                checkpoint()
                try:
                    return ctx.store.lock(conversation_id, ctx.command_line)
                except LockedError as error:
                    if given_up:
                        raise
                    if pressed.pending and (choice := _answer(pressed, error, ctx, instead)) != WAIT:
                        return choice
                inbox.after(POLL_SECS, None)
                given_up = inbox.get() is _GIVE_UP
    finally:
        attended()
        status.end()


def _answer(pressed: "ScopeHandle", error: LockedError, ctx: "Context", instead: "Sequence[str]") -> str:
    """The scope's menu is the question about the lock (RFD 092, "Handler policy"): ESC waits on, Ctrl-C climbs."""
    from jp.prompt.outcomes import Submitted

    question = _question(error, instead)._replace(guarded=False)

    def ask(dialogue: "Dialogue") -> str:
        outcome = dialogue.menu(question)
        choice = outcome.value if isinstance(outcome, Submitted) else WAIT
        if choice == WAIT:
            dialogue.deliberate()
        return choice

    return ctx.asker.answer(pressed, ask) or WAIT


class ExpiryError(UsageError):
    """`--tmp=…` with something that is no duration."""


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: str) -> float:
    """Seconds of `30m`, `2h`, `1d`, a bare number being seconds; raises ExpiryError."""
    body, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        seconds = float(body) * _UNITS[unit]
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 10 * 365 * 86400:
        raise ExpiryError(f"`{text}` is no duration", hints=["write it like `30m`, `2h` or `1d`"])
    return seconds
