"""What a press means in a turn of `jp query`: the menus, how their replies are written, and what is configured."""

from jp.turn.presses import Presses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.compose import Composition
    from jp.ask.interruption import Interruption
    from jp.ask.policy import Context as Wanted
    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.config.sections.interaction import Scope
    from jp.storage.conversation import Conversation

MESSAGE = "Reply:"


def presses(ctx: "Context", config: "Config", conversation: "Conversation") -> Presses:
    """The presses of a turn in `conversation`."""
    replies = Replies(ctx, config, conversation)
    return Presses(ctx.router, lambda: ctx.asker, replies.streaming, replies.tools, replies.gaps, replies.keep)


class Replies:
    """Makes the interruptions of a turn; both write the same reply, so that its draft is there in either."""

    def __init__(self, ctx: "Context", config: "Config", conversation: "Conversation") -> None:
        self._ctx = ctx
        self._config = config
        self._conversation_id = conversation.id
        self._key = f"reply-{conversation.id}"

    def streaming(self) -> "Interruption":
        """While the answer streams."""
        from jp.ask.interruption import Interruption, Reply
        from jp.ask.menus import STREAMING
        from jp.ask.policy import Context as Wanted

        scope = self._config.root.interrupt.streaming
        reply = Reply(Wanted.STREAMING_MENU, Wanted.STREAMING_ACTION, self._composing(scope))
        return Interruption(STREAMING, scope.action, reply)

    def tools(self) -> "Interruption":
        """While tools run."""
        from jp.ask.interruption import Interruption, Reply
        from jp.ask.menus import TOOLS
        from jp.ask.policy import Context as Wanted

        scope = self._config.root.interrupt.tool_call
        reply = Reply(Wanted.TOOL_MENU, Wanted.TOOL_ACTION, self._composing(scope))
        return Interruption(TOOLS, scope.action, reply)

    def gaps(self) -> "Interruption":
        """Between the steps of the turn."""
        from jp.ask.interruption import Interruption, Reply
        from jp.ask.menus import TURN
        from jp.ask.policy import Context as Wanted

        scope = self._config.root.interrupt.turn
        reply = Reply(Wanted.TURN_MENU, Wanted.TURN_ACTION, self._composing(scope))
        return Interruption(TURN, scope.action, reply)

    def keep(self, question: str) -> None:
        """A question whose answer is aborted: the next query in this conversation begins with it."""
        from jp.cli.asking import drafts, rescue
        from jp.cli.compose import draft_key

        kept = drafts(self._ctx)
        kept.add(draft_key(self._ctx, self._conversation_id), question)
        if kept.failed is not None:
            rescue(self._ctx, question)
        else:
            self._ctx.printer.note("aborted; the question is kept for the next `jp query`")

    def _composing(self, scope: "Scope") -> "Callable[[Wanted], Composition]":
        return lambda wanted: self._compose(wanted, scope.compose_in_editor)

    def _compose(self, wanted: "Wanted", compose: bool | str) -> "Composition":
        from jp.cli.asking import composition

        ctx, config = self._ctx, self._config
        return composition(ctx, config, wanted, message=MESSAGE, cancel="back", compose=compose, key=self._key)
