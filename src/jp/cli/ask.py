"""`jp query`, from its arguments to the conversation that is asked; the turn in it is `jp.cli.query_turn`.

The order matters: what can fail because of the user (the text, the configuration, the model, the key) fails before a
conversation is made or activated.
"""

from jp.errors import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from jp.cli.context import Context
    from jp.cli.model import Choice
    from jp.cli.tools import Workshop
    from jp.config.load import Config
    from jp.conversation.attachments import Attachment
    from jp.storage.conversation import Conversation

DEFAULT_EXPIRY = "24h"


class Query:
    """One `jp query`."""

    def __init__(self, args: "argparse.Namespace", ctx: "Context") -> None:
        self._args = args
        self._ctx = ctx
        self._changed: dict[str, object] = {}  # settings changed while it was written
        self._said: set[str] = set()
        self._aborted: str | None = None  # what was asked and is not stored
        self._workshop: Workshop | None = None
        self._offered = False  # what waits for trust has been asked about
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
            try:
                return self._write(wanted, text)
            finally:
                self._close()
        if self._args.quote:
            text = self._quoted(wanted) + text
        if not text:
            error = NoQueryError()
            if named := [name for _, name in self._args.tools or () if name]:
                error.hints = (f"`{named[-1]}` was read as a tool's name: one word comes before `-t`", *error.hints)
            raise error
        try:
            return self._send(wanted, text)
        finally:
            self._close()

    def _close(self) -> None:
        """End what was started for the tools."""
        if self._workshop is not None:
            self._workshop.close()

    def _write(self, wanted: str | None, text: str) -> int:
        """Have the text written, before anything is locked or made; then send it."""
        from jp.cli.compose import Writing

        ctx = self._ctx
        conversation = ctx.store.open(wanted) if wanted is not None else None
        config = self._config(conversation)
        choice, _ = self._checked(config)
        self._set_up(config, choice)
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
            workshop = self._set_up(config, choice)
            if workshop is not None:
                workshop.settle()
                self._check_use(workshop)
            if conversation is None:
                conversation = self._new(config, text)
            if workshop is not None:
                workshop.conversation_id = conversation.id
            self._made = conversation.id if conversation.persisted else None
            from jp.cli.query_turn import QueryTurn

            turn = QueryTurn(self._args, self._ctx, config, conversation, workshop, self._say)
            status = turn.ask(choice, text, attachments)
            self._aborted = turn.aborted
            return status
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
        from jp.cli.flags import query_flags, tool_directives
        from jp.config.load import conversation_layers

        layers = []
        if conversation is not None:
            layers = conversation_layers(conversation.base_config, conversation.config_deltas(), conversation.id)
        flags = {**self._changed, **query_flags(self._args)}
        config = self._ctx.load_config(conversation=layers, flags=flags)
        if config.withheld and not self._offered:
            from jp.cli.trusting import offer_trust

            self._offered = True
            if offer_trust(self._ctx, config):
                config = self._ctx.load_config(conversation=layers, flags=flags)
        if directives := tool_directives(self._args):
            from jp.cli.tools import flags as tool_flags

            flags |= tool_flags(config, directives)
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

    def _set_up(self, config: "Config", choice: "Choice") -> "Workshop | None":
        """The tools of this run, their MCP servers on the way; None where no tool may be used.

        The embedded model is offered those alone that are configured or named: it reads a page of definitions longer
        than it answers.
        """
        if (self._args.tool_use or config.root.assistant.tool_choice) == "none":
            return None
        from jp.cli.tools import Workshop

        earlier, self._workshop = self._workshop, Workshop(self._ctx, config, offer=choice.weights is None)
        self._workshop.start_servers(earlier=earlier)
        return self._workshop

    def _check_use(self, workshop: "Workshop") -> None:
        wanted = self._args.tool_use
        if wanted in (None, "auto") or workshop.offered():
            return
        from jp.errors import UsageError

        raise UsageError(
            "a tool has to be used (`--tool-use`), and none is on",
            hints=["`-t NAME` turns one on; `jp tool ls` lists them"],
        )

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
            source, wanted = wanted, store.fork_directory(place.existing[0], local=place.projection is None)
            from jp.cli.trusting import remember_fork

            remember_fork(self._ctx, source, wanted)
            held = lock(wanted, self._ctx)
        try:
            return store.open(wanted, held)
        except BaseException:
            held.release()
            raise

    def _new(self, config: "Config", text: str) -> "Conversation":
        from jp.cli.labels import of_new
        from jp.llm.registry import key_variables
        from jp.storage.errors import WriteError
        from jp.turn.title import from_heading

        expires_at = None
        if self._args.tmp is not None:
            from datetime import timedelta

            from jp.cli.select import duration

            expires_at = self._ctx.store.clock() + timedelta(seconds=duration(self._args.tmp or DEFAULT_EXPIRY))
        settings = config.root.conversation
        local = self._args.local or settings.start_local
        labels = of_new(settings.labels, self._ctx, key_variables(config.root.providers))
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
