"""`jp query` without a text, with `-e` or with `--quote`: the query is written at the terminal."""

import os

from jp.interrupt.end import Cause
from jp.interrupt.token import Shutdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from jp.ask.document_file import DocumentFile
    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.storage.conversation import Conversation

PROMPTABLE_HINTS = (
    'give the question as words (`jp query "…"`), from a file (`jp query @file`), or pipe it in',
    "run it where there is a terminal to write it on",
)


MESSAGE = "Query:"
EMPTY = "nothing was written, so nothing was sent"
LEFT = "nothing was sent; what you wrote is kept for the next `jp query`"


class Writing:
    """One query written for `conversation` (None: a new one), with the configuration it will be sent under.

    `edit` begins in the external editor, whatever the configuration says.
    """

    def __init__(self, ctx: "Context", config: "Config", conversation: "Conversation | None", *, edit: bool) -> None:
        from jp.ask.compose import Composition
        from jp.ask.policy import Context as Wanted
        from jp.cli.asking import drafts, missing_editor, rescue, say

        self._ctx = ctx
        settings = config.root
        compose = settings.query.compose_in_editor
        kept = drafts(ctx)
        wanted = draft_key(ctx, conversation.id if conversation is not None else None)
        key = kept.claim(wanted)
        beside = os.path.join(kept.directory, key)
        # Where another process is writing the same, it has the document's place, too.
        self._document = _document(ctx, config, conversation, beside, alone=key == wanted)
        self._composition: Composition = Composition(
            Wanted.QUERY,
            message=MESSAGE,
            cancel="aborts",
            compose=(compose if compose == "always" else True) if edit else compose,
            mode=settings.editor.inline.edit_mode,
            editing=self._document if self._document.editor else None,
            missing=missing_editor(ctx, config),
            drafts=kept,
            key=key,
            say=say(ctx),
            rescue=lambda text: rescue(ctx, text),
            history=lambda: _earlier(ctx, conversation),
        )

    @property
    def changed(self) -> "dict[str, object]":
        """The settings that were changed in the query document, as flags."""
        if not self._document.config:
            return {}
        from jp.editor.settings import flags

        return flags(self._document.config)

    def write(self, seed: str) -> str | None:
        """Have it written; None when nothing is to be sent, which has been said then.

        Raises NotPromptable, and Shutdown when it was aborted: the draft is kept.
        """
        from jp.ask.policy import Next

        ctx = self._ctx
        left = self._document.left()
        composed = ctx.asker.run(
            lambda dialogue: self._composition.run(dialogue, seed, left=left),
            about="the question that it needs",
            hints=PROMPTABLE_HINTS,
        )
        self._document.arrived()
        if composed.text is None:
            if not self._composition.rescued:
                ctx.printer.note(LEFT if composed.left else EMPTY)
            if composed.next is Next.ABORT:
                raise Shutdown(Cause.PRESS)
            return None
        from jp.render.echo import echo

        echo(ctx.printer, composed.text)
        return composed.text

    def sent(self) -> None:
        """The text is stored and answered."""
        self._composition.sent()

    def failed(self, conversation_id: str | None) -> None:
        """It was not answered: the next composition in its conversation, which may be a new one, begins with it."""
        if conversation_id is not None:
            self._composition.moved(draft_key(self._ctx, conversation_id))


def _document(
    ctx: "Context", config: "Config", conversation: "Conversation | None", directory: str, *, alone: bool
) -> "DocumentFile":
    """The query document: `alone` in the conversation's directory where that is the user's own, else in `directory`."""
    from jp.ask.document_file import DocumentFile as File
    from jp.cli.asking import editor_for, say
    from jp.editor.history import recent
    from jp.editor.settings import editable

    history = ""
    if conversation is not None:
        history = recent(conversation.stream)
        if (
            alone and conversation.persisted and _own(ctx, conversation.path)
        ):  # a cloned project says nothing of what is written
            directory = conversation.path
    return File(editor_for(ctx, config), directory, editable(config), history, say(ctx))


def quoted(conversation: "Conversation | None") -> str:
    """The last answer with `> ` before each line; empty when there is none."""
    if conversation is None:
        return ""
    from jp.conversation.events import ChatResponse

    stream = conversation.stream
    for index in range(len(stream) - 1, -1, -1):
        if stream.type(index) != "chat_response":
            continue
        event = stream.event(index)
        if isinstance(event, ChatResponse) and isinstance(event.message, str) and event.message.strip():
            return "".join(f"> {line}".rstrip() + "\n" for line in event.message.strip().splitlines()) + "\n"
    return ""


def draft_key(ctx: "Context", conversation_id: str | None) -> str:
    """What a query for this conversation is kept under until it is answered; None: for the next new one of this tab."""
    return f"query-{conversation_id or f'new-{_session(ctx)}'}"


def _session(ctx: "Context") -> str:
    from jp.storage.sessions import current

    session = current(ctx.environ)
    return session.key if session is not None else "any"


def _own(ctx: "Context", directory: str) -> bool:
    """Whether a directory is the user's own, not the project's."""
    user = ctx.workspace.user_dir
    return bool(directory and user) and os.path.commonpath([directory, str(user)]) == user


_CONVERSATIONS = 30
_LARGEST = 4 << 20


def _earlier(ctx: "Context", conversation: "Conversation | None") -> "Iterator[str]":
    """Earlier queries, newest first: of this conversation, then of the others. On a thread of its own."""
    from jp.storage.store import Store

    store = Store(ctx.workspace, ctx.environ)
    wanted = [conversation.id] if conversation is not None else []
    wanted += [one.id for one in store.list()[:_CONVERSATIONS] if one.id not in wanted]
    seen: set[str] = set()
    for conversation_id in wanted:
        for directory in store.place(conversation_id).existing[:1]:
            for text in _queries(directory):
                if text not in seen:
                    seen.add(text)
                    yield text


def _queries(directory: str) -> "list[str]":
    import json

    from jp.storage import files
    from jp.storage.errors import UnreadableFileError

    path = os.path.join(directory, "events.json")
    try:
        if os.path.getsize(path) > _LARGEST:
            return []
        events = json.loads(files.read(path))
    except (OSError, UnreadableFileError, ValueError, RecursionError):
        return []
    found = [each.get("content") for each in events if isinstance(each, dict) and each.get("type") == "chat_request"]
    return [text for text in reversed(found) if isinstance(text, str) and text.strip()]
