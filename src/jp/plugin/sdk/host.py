"""What a plugin can ask of JP. Every method may be called from any thread; RFD D60 says what each message means."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NoReturn

import msgspec
from msgspec import UNSET

from jp.plugin import messages
from jp.plugin.messages import JSON, ConversationSummary
from jp.plugin.sdk.channel import Channel
from jp.plugin.sdk.errors import Cancelled, Exit, RequestFailed, Unavailable

OutputChannel = Literal["content", "chrome", "tool_call", "tool_result", "reasoning", "error"]
Format = Literal["plain", "markdown", "json", "code"]
Level = Literal["error", "warn", "info", "debug", "trace"]
Conversation = str | ConversationSummary


class Host:
    """JP, as the main function of a plugin is given it.

    Requests raise RequestFailed where JP refuses them, ShuttingDown once it is ending, and HostGone when it is gone.
    """

    def __init__(self, init: messages.Init, channel: Channel) -> None:
        self.init = init
        self._channel = channel

    # --- what it was started with

    @property
    def args(self) -> list[str]:
        """The arguments behind the command."""
        return self.init.args

    @property
    def config(self) -> JSON:
        """The configuration."""
        return self.init.config if isinstance(self.init.config, dict) else {}

    @property
    def options(self) -> JSON:
        """The options that the user has set for this plugin: `plugins.command.<name>.options`."""
        return self.init.options

    @property
    def workspace(self) -> messages.Workspace:
        """The workspace that JP runs in."""
        return self.init.workspace

    # --- reading

    def conversations(self) -> list[ConversationSummary]:
        """All conversations of the workspace."""
        return self._channel.ask(messages.ListConversations(), messages.Conversations).data

    def events(self, conversation: Conversation) -> messages.Events:
        """A conversation's events (`.data`), with its title and who holds its lock."""
        return self._channel.ask(messages.ReadEvents(conversation=_id(conversation)), messages.Events)

    def read_config(self, path: str | None = None) -> Any:
        """The configuration as it is now, or what stands at `path` (`assistant.model`)."""
        return self._channel.ask(messages.ReadConfig(path=path or UNSET), messages.Config).data

    # --- writing

    def lock(self, conversation: Conversation) -> None:
        """Take the lock of a conversation; refused while another process holds it."""
        self._channel.ask(messages.Lock(conversation=_id(conversation)), messages.Locked)

    def unlock(self, conversation: Conversation) -> None:
        """Give the lock back. At the end of the plugin JP does so itself."""
        self._channel.ask(messages.Unlock(conversation=_id(conversation)), messages.Unlocked)

    @contextlib.contextmanager
    def locked(self, conversation: Conversation) -> Iterator[None]:
        """Holds the lock of a conversation: `with host.locked(id): host.push(id, …)`."""
        self.lock(conversation)
        try:
            yield
        finally:
            self.unlock(conversation)

    def push(self, conversation: Conversation, events: Iterable[Mapping[str, Any]]) -> int:
        """Add events to a conversation whose lock is held: all, or none where one is refused. How many that were."""
        request = messages.PushEvents(conversation=_id(conversation), events=[_raw(each) for each in events])
        return self._channel.ask(request, messages.Pushed).count

    def create(self, title: str | None = None) -> str:
        """A new conversation, whose lock the plugin holds; its id."""
        return self._channel.ask(messages.CreateConversation(title=title or UNSET), messages.Created).conversation

    # --- showing

    def print(
        self,
        text: str,
        channel: OutputChannel = "content",
        format: Format = "plain",  # noqa: A002
        language: str | None = None,
    ) -> None:
        """Show `text` as it is: no line end is added. `language` is that of format `code`."""
        if not isinstance(text, str):
            raise TypeError(f"only text can be printed, not {type(text).__name__}")
        self._channel.send(messages.Print(text=text, channel=channel, format=format, language=language or UNSET))

    def log(self, level: Level, message: str, **fields: object) -> None:
        """Write a line to JP's log; fields that are no JSON are logged as Python shows them."""
        self._channel.send(
            messages.Log(level=level, message=message, fields={name: _plain(value) for name, value in fields.items()})
        )

    # --- asking; each of these raises Cancelled when the person dismisses it, Unavailable when nobody can be asked

    def confirm(self, message: str, default: bool | None = None) -> bool:
        """Ask yes or no; `default` is what Enter stands for."""
        return bool(self._prompt(messages.Prompt(kind="confirm", message=message, default=_given(default))))

    def select(self, message: str, options: Iterable[str], default: str | None = None) -> str:
        """Ask for one of `options`; `default` is the one that Enter takes at once."""
        prompt = messages.Prompt(kind="select", message=message, options=list(options), default=_given(default))
        return str(self._prompt(prompt))

    def text(self, message: str, default: str | None = None) -> str:
        """Ask for text, which may be empty and may have many lines; `default` is what the editor holds."""
        return str(self._prompt(messages.Prompt(kind="text", message=message, default=_given(default))))

    def secret(self, message: str) -> str:
        """Ask for a text that nobody gets to see. JP neither logs nor stores it: keep it so."""
        return str(self._prompt(messages.Prompt(kind="secret", message=message)))

    def _prompt(self, prompt: messages.Prompt) -> bool | str:
        response = self._channel.ask(prompt, messages.PromptResponse)
        if response.outcome == "cancelled":
            raise Cancelled
        if response.outcome == "unavailable":
            raise Unavailable(response.reason or "no reason given")
        wanted = bool if prompt.kind == "confirm" else str
        if not isinstance(response.value, wanted):
            raise RequestFailed("prompt", f"JP answered with no {wanted.__name__}")
        return response.value

    # --- ending

    def exit(self, code: int = 0, reason: str | None = None) -> NoReturn:
        """End the plugin, and JP with it, from any depth of its main function; not from another thread.

        `reason` is shown as an error where `code` is not 0. Raises Exit, which is a SystemExit.
        """
        raise Exit(code, reason)

    @property
    def shutting_down(self) -> threading.Event:
        """Set when JP is ending: finish within a few seconds."""
        return self._channel.shutting_down

    def on_shutdown(self, fn: Callable[[], object]) -> None:
        """Have `fn` called when JP is ending; at once where it is already.

        It is called on the thread that reads responses: it may print and log, and can't make requests. The end of the
        plugin waits for it.
        """
        self._channel.on_shutdown(fn)


def _id(conversation: Conversation) -> str:
    return conversation.id if isinstance(conversation, ConversationSummary) else conversation


def _given(default: bool | str | None) -> bool | str | msgspec.UnsetType:
    return UNSET if default is None else default


def _raw(event: Mapping[str, Any]) -> msgspec.Raw:
    """An event as JSON; half of a surrogate pair, which is no text, is replaced."""
    try:
        return msgspec.Raw(msgspec.json.encode(event))
    except UnicodeEncodeError:
        return msgspec.Raw(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))


def _plain(value: object) -> Any:
    try:
        return msgspec.json.decode(msgspec.json.encode(value, enc_hook=repr))
    except (ValueError, OverflowError, RecursionError):
        return repr(value)
