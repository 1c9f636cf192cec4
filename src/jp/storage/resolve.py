"""From a target word or the beginning of an id to the conversations that are meant (contracts, section 5)."""

from jp.conversation import ids, targets
from jp.conversation.targets import Kind
from jp.errors import UsageError, nearest
from jp.storage.errors import AmbiguousIdError, NoActiveConversationError, UnknownConversationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from jp.storage.sessions import Session, Sessions
    from jp.storage.store import Store


def one(store: "Store", target: str, session: "Session | None" = None) -> str:
    """The id of the one conversation that `target` stands for.

    Raises `UnknownConversationError`, `AmbiguousIdError`, `NoActiveConversationError`, and `UsageError` for what is
    no target, asks (`?`), or stands for several.
    """
    wanted = targets.parse(target)
    if wanted.kind is Kind.ID:
        return _by_prefix(store, wanted.text)
    if wanted.kind is Kind.PICKER or wanted.kind.several:
        raise UsageError(f"{target!r} does not stand for one conversation", metadata={"target": target})
    found = _by_word(store, wanted.kind, store.sessions(session))
    if found is None:
        if wanted.kind is Kind.ACTIVE:
            raise NoActiveConversationError
        raise UnknownConversationError(f"is meant by {target!r} here")
    return found


def several(store: "Store", target: str, session: "Session | None" = None) -> list[str]:
    """The ids that `target` stands for: one, or those of a set such as `+pinned`. Raises like `one`."""
    kind = targets.parse(target).kind
    if kind is Kind.ALL_LIVE:
        return store.ids()
    if kind is Kind.ALL_ARCHIVED:
        return store.ids(archived=True)
    if kind is Kind.ALL_PINNED:
        return [summary.id for summary in store.list() if summary.pinned_at]
    if kind is Kind.ALL_SESSION:
        known = set(store.ids())
        return [entry.id for entry in store.sessions(session).history() if entry.id in known]
    return [one(store, target, session)]


def near(text: str, known: "Iterable[str]") -> str | None:
    """The id that `text` was most likely meant to be, as it is shown; None when none is near."""
    found = nearest(text, list(known))
    return ids.display(found) if found else None


def _by_prefix(store: "Store", text: str) -> str:
    known = store.ids()
    found = ids.matching(text, known) or ids.matching(text, store.ids(archived=True))
    if not found:
        raise UnknownConversationError(ids.display(text), near(text, known))
    if len(found) > 1:
        raise AmbiguousIdError(text, [ids.display(each) for each in found])
    return found[0]


def _by_word(store: "Store", kind: Kind, sessions: "Sessions") -> str | None:
    if kind is Kind.NEWEST:
        return max(store.ids(), key=int, default=None)
    if kind is Kind.RECENT:
        return next((summary.id for summary in store.list()), None)
    if kind is Kind.PINNED:
        pinned = [(summary.pinned_at, summary.id) for summary in store.list() if summary.pinned_at]
        return max(pinned)[1] if pinned else None
    if kind is Kind.ARCHIVED:
        return next((summary.id for summary in store.list(archived=True)), None)
    known = set(store.ids())
    history = [entry.id for entry in sessions.history()]
    if kind is Kind.ACTIVE:
        return history[0] if history and history[0] in known else None
    return next((each for each in history[1:] if each in known), None)
