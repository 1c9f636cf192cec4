"""`jp query`, from its arguments to the stored answer.

The order matters: what can fail because of the user (the text, the configuration, the model, the key) fails before a
conversation is made or activated.
"""

from jp.errors import DONE, FAILED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from jp.cli.context import Context
    from jp.cli.model import Choice, Connection
    from jp.config.load import Config
    from jp.conversation.attachments import Attachment
    from jp.errors import JpError
    from jp.storage.conversation import Conversation
    from jp.turn.inbox import Inbox
    from jp.turn.loop import Model, Turn
    from jp.turn.presses import Presses
    from jp.turn.screen import Screen
    from jp.turn.title import Title

DEFAULT_EXPIRY = "24h"
TITLE_SECS = 2.0  # beyond the answer's own end; a title is not worth more of anybody's time


class Query:
    """One `jp query`."""

    def __init__(self, args: "argparse.Namespace", ctx: "Context") -> None:
        self._args = args
        self._ctx = ctx
        self._changed: dict[str, object] = {}  # settings changed while it was written
        self._said: set[str] = set()
        self._aborted: str | None = None  # what was asked and is not stored
        self._made: str | None = None  # the conversation that the text went to

    def run(self) -> int:
        """Ask, show, store; returns the exit status. Raises JpError leaves and Shutdown."""
        from jp.cli.lean import import_msgspec
        from jp.cli.question import NoQueryError, from_words, joined
        from jp.cli.select import for_query

        import_msgspec()
        words = from_words(self._args.text, self._ctx)
        wanted = for_query(self._args, self._ctx)  # where there is no workspace, say so before reading stdin
        text = joined(words, self._piped(words))
        if self._args.edit or (not text and not self._args.no_edit and self._ctx.promptability):
            return self._write(wanted, text)
        if self._args.quote:
            text = self._quoted(wanted) + text
        if not text:
            raise NoQueryError
        return self._send(wanted, text)

    def _write(self, wanted: str | None, text: str) -> int:
        """Have the text written, before anything is locked or made; then send it."""
        from jp.cli.compose import Writing

        ctx = self._ctx
        conversation = ctx.store.open(wanted) if wanted is not None else None
        config = self._config(conversation)
        self._checked(config)
        seed = (self._quoted(wanted) if self._args.quote else "") + text
        writing = Writing(ctx, config, conversation, edit=self._args.edit)
        written = writing.write(seed)
        if written is None:
            return DONE
        self._changed = writing.changed
        try:
            status = self._send(wanted, written)
        except BaseException:
            writing.failed(self._made)
            raise
        if self._aborted == written:
            writing.failed(self._made)
        else:
            writing.sent()
        return status

    def _quoted(self, wanted: str | None) -> str:
        from jp.cli.compose import quoted

        found = quoted(self._ctx.store.open(wanted) if wanted is not None else None)
        if not found:
            self._ctx.printer.note("there is no answer to quote yet")
        return found

    def _send(self, wanted: str | None, text: str) -> int:
        conversation = self._continued(wanted) if wanted is not None else None
        try:
            config = self._config(conversation)
            choice, attachments = self._checked(config)
            if conversation is None:
                conversation = self._new(config, text)
            self._made = conversation.id if conversation.persisted else None
            return self._ask(config, conversation, choice, text, attachments)
        finally:
            if conversation is not None and conversation.lock is not None:
                conversation.lock.release()

    # --- what is asked

    def _piped(self, words: str) -> str:
        from jp.terminal.tty import is_piped

        if not is_piped(0):
            return ""
        from jp.cli.stdin import read_piped

        piped = read_piped(self._ctx, wanted=not words.strip())
        self._ctx.hold_terminal()
        return piped

    def _config(self, conversation: "Conversation | None") -> "Config":
        from jp.cli.flags import query_flags
        from jp.config.load import conversation_layers

        layers = []
        if conversation is not None:
            layers = conversation_layers(conversation.base_config, conversation.config_deltas())
        flags = {**self._changed, **query_flags(self._args)}
        config = self._ctx.load_config(conversation=layers, flags=flags)
        self._say(config.notices)
        return config

    def _checked(self, config: "Config") -> "tuple[Choice, list[Attachment]]":
        """The model and the attachments: what has to be there before anything is made."""
        from jp.cli.model import choose
        from jp.config.trust import attachment_waits

        notices: list[str] = []
        choice = choose(config, self._ctx.environ, notices)
        self._say(notices)
        self._say([attachment_waits(held) for held in config.withheld if held.key == "conversation.attachments"])
        if not config.root.conversation.attachments:
            return choice, []
        from jp.conversation.attachments import load

        found, skipped = load(config.root.conversation.attachments, self._ctx.workspace.root)
        self._say(skipped)
        return choice, found

    def _say(self, notices: "list[str]") -> int:
        """Print notices, each once; returns how many there were."""
        for notice in notices:
            if notice not in self._said:
                self._said.add(notice)
                self._ctx.printer.note(notice)
        return len(notices)

    # --- the conversation

    def _continued(self, wanted: str) -> "Conversation | None":
        """The conversation to continue, locked (only read under `--no-persist`); None: begin a new one instead."""
        store = self._ctx.store
        if self._args.no_persist:
            return store.open(wanted, persist=False)
        from jp.cli.select import FORK, NEW, lock, lock_or

        held = lock_or(wanted, self._ctx, (NEW, FORK))
        if held == NEW:
            return None
        if isinstance(held, str):
            place = store.place(wanted)
            wanted = store.fork_directory(place.existing[0], local=place.projection is None)
            held = lock(wanted, self._ctx)
        try:
            return store.open(wanted, held)
        except BaseException:
            held.release()
            raise

    def _new(self, config: "Config", text: str) -> "Conversation":
        from jp.cli.labels import of_new
        from jp.storage.errors import WriteError
        from jp.turn.title import from_heading

        expires_at = None
        if self._args.tmp is not None:
            from datetime import timedelta

            from jp.cli.select import duration

            expires_at = self._ctx.store.clock() + timedelta(seconds=duration(self._args.tmp or DEFAULT_EXPIRY))
        settings = config.root.conversation
        local = self._args.local or settings.start_local
        labels = of_new(settings.labels, self._ctx)
        try:
            made = self._ctx.store.create(
                title=self._args.title or (from_heading(text) if settings.title.from_heading else None),
                local=local,
                base_config=config.as_partial(),
                expires_at=expires_at,
                persist=not self._args.no_persist,
                command=self._ctx.command_line,
            )
        except WriteError as error:
            if not local:
                error.hints = (*error.hints, "`--local` keeps the conversation out of the workspace directory")
            raise
        if labels:
            made.set_labels(labels)
        return made

    # --- the turn

    def _ask(
        self,
        config: "Config",
        conversation: "Conversation",
        choice: "Choice",
        text: str,
        attachments: "list[Attachment]",
    ) -> int:
        from jp.cli.model import connect
        from jp.conversation.thread import build
        from jp.storage.journal import TurnWriter
        from jp.turn.loop import Turn

        writer = TurnWriter.begin(conversation, conversation.lock)
        fresh = len(conversation.stream) == 0
        said = self._say(conversation.notices)
        remembered = conversation.id if conversation.persisted else None
        screen, author = self._screen(config), config.root.user.name
        presses = self._presses(config, conversation)
        title: Title | None = None
        with Turn(writer, screen, self._ctx.store.clock, author=author, presses=presses) as turn:
            with turn.gap():
                self._record_request(config, turn, text, fresh=fresh)
            if not turn.stopped:
                connection = connect(choice, config, remembered, self._ctx)
                try:
                    title = self._title(config, conversation, connection, text, turn.inbox) if fresh else None
                    turn.run(
                        connection.model,
                        lambda: build(config.root, conversation.stream, attachments),
                        self._ctx.router,
                        lambda: self._when_sent(config, conversation, title, fresh=fresh),
                    )
                    if turn.error is None and turn.aborted is None:
                        connection.keep()
                finally:
                    connection.close()
        self._say(conversation.notices[said:])
        if turn.unstored is not None:
            raise self._rescued(turn.unstored, conversation)
        if turn.error is not None:
            raise self._hinted(turn.error, conversation, connection.model)
        if turn.aborted is not None:
            self._aborted = turn.aborted
            return FAILED
        if title is not None:
            self._set_title(conversation, title, turn.inbox, text, wait=not turn.stopped)
        return DONE

    def _presses(self, config: "Config", conversation: "Conversation") -> "Presses | None":
        if not self._ctx.promptability:
            return None
        from jp.cli.presses import presses

        return presses(self._ctx, config, conversation)

    def _hinted(self, error: "JpError", conversation: "Conversation", model: "Model") -> "JpError":
        """The error of a turn, with how to go on where something came before it, or the model that may be meant."""
        from jp.conversation import ids
        from jp.llm.errors import NotFound

        if isinstance(error, NotFound):
            from jp.cli.suggest import nearest_model

            near = nearest_model(model.provider, model.name, self._ctx.environ, self._ctx.router.token)
            if near is not None and near != model.name:
                error.hints = (f"did you mean `{model.provider.name}/{near}`?", *error.hints)
                error.metadata["nearest"] = near

        stream = conversation.stream
        if conversation.persisted and stream.type(len(stream) - 1) == "chat_response":
            go_on = f'what came is stored; go on with `jp query --id {ids.display(conversation.id)} "go on"`'
            error.hints = (*error.hints, go_on)
        return error

    def _rescued(self, error: "JpError", conversation: "Conversation") -> "JpError":
        """The error of a disk that took no more, with where the turn's events are instead."""
        from jp.cli.rescue import rescue

        path = rescue(conversation, self._ctx.environ)
        if path is not None:
            error.hints = (f"this turn is kept in {path}, in the form of `events.json`", *error.hints)
            error.metadata["rescued"] = path
        return error

    def _record_request(self, config: "Config", turn: "Turn", text: str, *, fresh: bool) -> None:
        """Record what was asked, and what was changed of the configuration."""
        from jp.conversation.events import ConfigDelta, TurnStart

        if not fresh and (delta := config.delta):
            turn.record(ConfigDelta(delta=delta))
        turn.record(TurnStart())
        turn.record(turn.request(text))

    def _when_sent(self, config: "Config", conversation: "Conversation", title: "Title | None", *, fresh: bool) -> None:
        """What can wait until the request is on its way, and is no reason to lose its answer."""
        from jp.cli.known import remember_workspace

        if title is not None:
            title.start()
        if not conversation.persisted:
            return
        now = self._ctx.store.clock()
        self._try(lambda: self._remember(config))
        self._try(lambda: remember_workspace(self._ctx.environ, self._ctx.workspace.root))
        self._try(lambda: self._ctx.store.sessions().activate(conversation.id, now))
        if not fresh:
            self._try(lambda: conversation.set_time("last_activated_at", now))
            if self._args.title:
                self._try(lambda: conversation.set_title(self._args.title))

    def _try(self, step: "Callable[[], object]") -> None:
        from jp.storage.errors import StorageError

        try:
            step()
        except StorageError as error:
            self._ctx.printer.note(error.message)

    def _remember(self, config: "Config") -> None:
        """Keep the commands of the user's own configuration trusted where the conversation has recorded them."""
        in_effect = config.commands()
        if not in_effect:
            return
        import os

        from jp.config.trust import TrustStore
        from jp.storage import files

        store = TrustStore.of(self._ctx.environ)
        text = store.remembering(self._ctx.workspace.root, in_effect) if store.path else None
        if text is not None:
            files.make_directory(os.path.dirname(store.path), 0o700)
            files.write_atomic(store.path, text.encode(), follow=True)

    def _screen(self, config: "Config") -> "Screen":
        from jp.turn.screen import Screen

        printer = self._ctx.printer
        style = config.root.style
        if printer.format.is_json:
            return Screen(printer, None, style)
        from jp.render.chat import Chat

        printer.max_latency = style.typewriter.max_latency
        return Screen(printer, Chat(printer, style, hide_reasoning=self._args.hide_reasoning), style)

    # --- the title

    def _title(
        self, config: "Config", conversation: "Conversation", connection: "Connection", text: str, inbox: "Inbox"
    ) -> "Title | None":
        """The title that a model begins to write, where a new conversation has none."""
        from jp.cli.model import title_model
        from jp.turn.title import Title, from_words

        if conversation.title or not conversation.persisted or self._args.no_title:
            return None
        settings = config.root.conversation.title.generate
        if not settings.auto:
            return None
        model = title_model(config, connection, self._ctx)
        if model is None:
            self._try(lambda: conversation.set_title(from_words(text)))
            return None
        return Title(model, text, lambda: inbox.post(None))

    def _set_title(
        self, conversation: "Conversation", title: "Title", inbox: "Inbox", text: str, *, wait: bool
    ) -> None:
        from jp.turn.title import from_words

        try:
            if not wait:
                return
            with self._ctx.printer.status("Waiting for the title…", delay=0.5):
                title.wait(inbox, TITLE_SECS, self._ctx.router)
        finally:
            title.stop()
            self._try(lambda: conversation.set_title(title.value or from_words(text)))
