"""Which conversation a command means, and the lock on it."""

from jp.errors import UsageError, nearest
from jp.interrupt.checkpoint import checkpoint
from jp.storage.errors import LockedError, NoActiveConversationError, UnknownConversationError
from jp.storage.sessions import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.storage.lock import Lock

POLL_SECS = 0.1
_GIVE_UP = object()


def for_query(args: "argparse.Namespace", ctx: "Context") -> str | None:
    """The id of the conversation to continue; None for a new one. Raises StorageError leaves and UsageError."""
    if args.id is not None:
        for flag, given in (("--new", args.new), ("--tmp", args.tmp is not None), ("--local", args.local)):
            if given:
                raise UsageError(f"{flag} begins a new conversation, --id continues one", hints=["give one of them"])
        return ctx.store.resolve(args.id)
    if args.new or args.tmp is not None:
        return None
    return _active_or_default(ctx)


def named(target: str | None, ctx: "Context") -> str:
    """The id that a command's TARGET means; without one, the session's active conversation or the default one."""
    if target is not None:
        return ctx.store.resolve(target)
    found = _active_or_default(ctx)
    if found is None:
        raise NoActiveConversationError
    return found


def _active_or_default(ctx: "Context") -> str | None:
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
        raise NoActiveConversationError
    return what.id


_WORDS = ("ask", "last_activated", "last_created", "previous")


def lock(conversation_id: str, ctx: "Context") -> "Lock":
    """The lock on a conversation, waited for with a status line (`style.lock_wait`); raises LockedError, Shutdown."""
    try:
        return ctx.store.lock(conversation_id, ctx.command_line)
    except LockedError:
        return _wait_for_lock(conversation_id, ctx)


def _wait_for_lock(conversation_id: str, ctx: "Context") -> "Lock":
    from jp.turn.inbox import Inbox

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
        while True:
            checkpoint()
            try:
                return ctx.store.lock(conversation_id, ctx.command_line)
            except LockedError:
                if given_up:
                    raise
            inbox.after(POLL_SECS, None)
            given_up = inbox.get() is _GIVE_UP
    finally:
        attended()
        status.end()


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
