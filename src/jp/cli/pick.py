"""Choices that are a person's: which conversation, which workspace, whether to delete (contracts, section 5)."""

import os

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from jp.cli.context import Context
    from jp.conversation.targets import Kind
    from jp.prompt.questions import Item
    from jp.storage.listing import Summary

NEW = "new"
_BEGINNING, _WORDS = 1 << 13, 80
NAME_HINTS = (
    "Start a conversation with `--new`, or name one with `--id`.",
    "Set `conversation.default_id` to decide it for good: last_activated, last_created, previous, an id.",
)


class NothingChosenError(JpError):
    """A question was left without an answer, so the command has nothing to work on."""

    code = "nothing_chosen"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: nothing was chosen, so nothing was done")


def conversation(ctx: "Context", *, within: "Kind | None" = None, filter_: str = "", new: bool = False) -> str:
    """The id of the conversation that the person picks, `NEW` if that is offered and taken.

    `within` limits the choice to pinned, session's or archived ones; `filter_` is typed already. Raises
    NothingChosenError, NotPromptable (naming `--new` and `--id`), UnknownConversationError where there are none.
    """
    from jp.prompt.outcomes import Submitted
    from jp.prompt.questions import Item, Select
    from jp.storage.errors import UnknownConversationError

    found = _within(ctx, within)
    if not found and not new:
        raise UnknownConversationError("is there to choose from")
    items = [Item(NEW, "a new conversation")] if new else []
    items += [_item(one, ctx) for one in found]
    what = "which conversation"
    outcome = ctx.asker.ask(Select("Conversation:", tuple(items), filter=filter_), about=what, hints=NAME_HINTS)
    if not isinstance(outcome, Submitted):
        raise NothingChosenError(what)
    return outcome.value


def workspace(ctx: "Context", known: "Sequence[str]") -> str | None:
    """The root of one of the workspaces that this user has worked in; None when none is chosen."""
    from jp.prompt.outcomes import Submitted
    from jp.prompt.questions import Item, Select

    items = tuple(Item(root, root) for root in known)
    outcome = ctx.asker.ask(Select("There is no workspace here. Use:", items), about="which workspace")
    return outcome.value if isinstance(outcome, Submitted) else None


def confirmed(ctx: "Context", question: str, *, body: str = "", hints: "Sequence[str]" = ()) -> bool:
    """Whether the person says yes; raises NotPromptable with `hints` where there is nobody to."""
    from jp.prompt.outcomes import Submitted
    from jp.prompt.questions import confirm

    return ctx.asker.ask(confirm(question, body=body, default="n"), about=question, hints=hints) == Submitted("y")


def _within(ctx: "Context", within: "Kind | None") -> "list[Summary]":
    from jp.conversation.targets import Kind

    store = ctx.store
    if within is Kind.ARCHIVED:
        return store.list(archived=True)
    found = store.list()
    if within is Kind.PINNED:
        return [one for one in found if one.pinned_at]
    if within is Kind.SESSION:
        here = {entry.id: place for place, entry in enumerate(store.sessions().history())}
        return sorted((one for one in found if one.id in here), key=lambda one: here[one.id])
    return found


def _item(one: "Summary", ctx: "Context") -> "Item":
    from jp.cli.record import ago
    from jp.conversation import ids
    from jp.prompt.questions import Item

    detail = f"{ids.display(one.id)}, {ago(one.last_activated_at, ctx.store.clock())}"
    return Item(one.id, one.title or _first_words(one.path) or "(untitled)", detail)


def _first_words(directory: str) -> str:
    """What an untitled conversation began with, as far as its first few kilobytes tell."""
    import json
    import re

    from jp.storage import files
    from jp.storage.errors import UnreadableFileError

    try:
        begins = next(iter(files.chunks(os.path.join(directory, "events.json"), _BEGINNING)), b"")
    except (OSError, UnreadableFileError):
        return ""
    found = re.search(rb'"content"\s*:\s*"((?:[^"\\]|\\.)*)', begins)
    if found is None:
        return ""
    try:
        text = json.loads(b'"' + found[1] + b'"', strict=False)
    except ValueError:  # cut in the middle of a character
        return ""
    return " ".join(str(text).split())[:_WORDS]
