"""One turn of `jp query`: from what a conversation is asked to what is stored of the answer."""

from jp.errors import DONE, FAILED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from jp.cli.context import Context
    from jp.cli.model import Choice, Connection
    from jp.cli.tools import Workshop
    from jp.config.load import Config
    from jp.conversation.attachments import Attachment
    from jp.errors import JpError
    from jp.storage.conversation import Conversation
    from jp.turn.inbox import Inbox
    from jp.turn.loop import Model, Turn
    from jp.turn.presses import Presses
    from jp.turn.screen import Screen
    from jp.turn.title import Title

    Say = Callable[[list[str]], int]

TITLE_SECS = 2.0  # beyond the answer's own end; a title is not worth more of anybody's time


class QueryTurn:
    """A turn in a conversation, with the configuration that holds for it.

    `workshop` has its tools, None: there are none. `say` prints notices, each once.
    """

    def __init__(
        self,
        args: "argparse.Namespace",
        ctx: "Context",
        config: "Config",
        conversation: "Conversation",
        workshop: "Workshop | None",
        say: "Say",
    ) -> None:
        self.aborted: str | None = None  # what was asked and is not stored
        self._args = args
        self._ctx = ctx
        self._config = config
        self._conversation = conversation
        self._workshop = workshop
        self._say = say

    def ask(self, choice: "Choice", text: str, attachments: "list[Attachment]") -> int:
        """Ask, show, store; returns the exit status. Raises JpError leaves and Shutdown."""
        from jp.cli.model import connect
        from jp.conversation.thread import build
        from jp.storage.journal import TurnWriter
        from jp.turn.loop import Turn

        config, conversation = self._config, self._conversation
        writer = TurnWriter.begin(conversation, conversation.lock)
        fresh = len(conversation.stream) == 0
        said = self._say(conversation.notices)
        remembered = conversation.id if conversation.persisted else None
        screen, author = self._screen(), config.root.user.name
        presses = self._presses()
        title: Title | None = None
        with Turn(writer, screen, self._ctx.store.clock, author=author, presses=presses) as turn:
            with turn.gap():
                self._record_request(turn, text, fresh=fresh)
            if not turn.stopped:
                connection = connect(choice, config, remembered, self._ctx)
                try:
                    self._equip(turn, connection)
                    title = self._title(connection, text, turn.inbox) if fresh else None
                    turn.run(
                        connection.model,
                        lambda: build(config.root, conversation.stream, attachments),
                        self._ctx.router,
                        lambda: self._when_sent(title, fresh=fresh),
                    )
                    if turn.error is None and turn.aborted is None:
                        connection.keep()
                finally:
                    connection.close()
        self._say(conversation.notices[said:])
        if turn.unstored is not None:
            raise self._rescued(turn.unstored)
        if turn.error is not None:
            raise self._hinted(turn.error, connection.model)
        if turn.aborted is not None:
            self.aborted = turn.aborted
            return FAILED
        if title is not None:
            self._set_title(title, turn.inbox, text, wait=not turn.stopped)
        return DONE

    def _presses(self) -> "Presses | None":
        if not self._ctx.promptability:
            return None
        from jp.cli.presses import presses

        return presses(self._ctx, self._config, self._conversation)

    def _equip(self, turn: "Turn", connection: "Connection") -> None:
        """Offer the tools to the model."""
        workshop, config = self._workshop, self._config
        offered = workshop.offered() if workshop is not None else []
        if workshop is None or not offered:
            return
        from jp.cli.model import inquiry_model

        model = connection.model
        model.tools, model.tool_choice = offered, self._args.tool_use or config.root.assistant.tool_choice
        turn.tooling = workshop.tooling(self._conversation, lambda by: inquiry_model(config, by, connection, self._ctx))

    def _hinted(self, error: "JpError", model: "Model") -> "JpError":
        """The error of a turn, with how to go on where something came before it, or the model that may be meant."""
        from jp.conversation import ids
        from jp.llm.errors import NotFound

        if isinstance(error, NotFound):
            from jp.cli.suggest import nearest_model

            near = nearest_model(model.provider, model.name, self._ctx.environ, self._ctx.router.token)
            if near is not None and near != model.name:
                error.hints = (f"did you mean `{model.provider.name}/{near}`?", *error.hints)
                error.metadata["nearest"] = near

        conversation = self._conversation
        stream = conversation.stream
        if conversation.persisted and stream.type(len(stream) - 1) == "chat_response":
            go_on = f'what came is stored; go on with `jp query --id {ids.display(conversation.id)} "go on"`'
            error.hints = (*error.hints, go_on)
        return error

    def _rescued(self, error: "JpError") -> "JpError":
        """The error of a disk that took no more, with where the turn's events are instead."""
        from jp.cli.rescue import rescue

        path = rescue(self._conversation, self._ctx.environ)
        if path is not None:
            error.hints = (f"this turn is kept in {path}, in the form of `events.json`", *error.hints)
            error.metadata["rescued"] = path
        return error

    def _record_request(self, turn: "Turn", text: str, *, fresh: bool) -> None:
        """Record what was asked, and what was changed of the configuration."""
        from jp.conversation.events import ConfigDelta, TurnStart

        if not fresh and (delta := self._config.delta):
            turn.record(ConfigDelta(delta=delta))
        turn.record(TurnStart())
        turn.record(turn.request(text))

    def _when_sent(self, title: "Title | None", *, fresh: bool) -> None:
        """What can wait until the request is on its way, and is no reason to lose its answer."""
        from jp.cli.known import remember_workspace
        from jp.cli.trusting import remember_recorded

        conversation = self._conversation
        if title is not None:
            title.start()
        if not conversation.persisted:
            return
        now = self._ctx.store.clock()
        self._try(lambda: remember_recorded(self._ctx, self._config, conversation.id))
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

    def _screen(self) -> "Screen":
        from jp.turn.screen import Screen

        printer = self._ctx.printer
        style = self._config.root.style
        from jp.render.chat import Chat

        hide = {"hide_reasoning": self._args.hide_reasoning, "hide_tool_calls": self._args.hide_tool_calls}
        chat = Chat(printer, style, **hide)
        if printer.format.is_json:
            return Screen(printer, None, style, tools=chat)
        printer.max_latency = style.typewriter.max_latency
        return Screen(printer, chat, style, tools=chat)

    # --- the title

    def _title(self, connection: "Connection", text: str, inbox: "Inbox") -> "Title | None":
        """The title that a model begins to write, where a new conversation has none."""
        from jp.cli.model import title_model
        from jp.turn.title import Title, from_words

        config, conversation = self._config, self._conversation
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

    def _set_title(self, title: "Title", inbox: "Inbox", text: str, *, wait: bool) -> None:
        from jp.turn.title import from_words

        try:
            if not wait:
                return
            with self._ctx.printer.status("Waiting for the title…", delay=0.5):
                title.wait(inbox, TITLE_SECS, self._ctx.router)
        finally:
            title.stop()
            self._try(lambda: self._conversation.set_title(title.value or from_words(text)))
