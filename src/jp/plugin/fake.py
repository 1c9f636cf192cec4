"""A workspace that is made up: the responses that a host would give, from values, and no word to a person."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from jp.conversation import events, ids
from jp.conversation.timestamps import format_timestamp
from jp.plugin import asking, messages, pushing, settings
from jp.plugin.errors import RequestError
from jp.plugin.messages import JSON, Message, Request, Response, type_of


class Conversation(Struct, kw_only=True):
    """A conversation for a plugin to find. Moments are RFC 3339 in UTC; `locked`: another process holds its lock."""

    title: str | None = None
    events: list[JSON] = field(default_factory=list)
    last_activated_at: str | None = "2026-01-02T03:04:05Z"
    pinned_at: str | None = None
    locked: bool = False


Ask = Callable[[messages.Prompt], messages.PromptResponse | None]


class Workspace:
    """Answers requests. `ask` is given the prompts that are right; None from it is no response at all."""

    def __init__(
        self, conversations: Mapping[str, Conversation], config: JSON, ask: Ask, *, root: str = "/workspace"
    ) -> None:
        self.conversations = dict(conversations)
        self.config = config
        self.root = root
        self.held: set[str] = set()
        self.pushed: dict[str, list[JSON]] = {}
        self._ask = ask

    def init(
        self,
        args: Sequence[str],
        *,
        options: JSON | None = None,
        output_format: Any = "text",
        log_level: int = 0,
    ) -> messages.Init:
        """The first message to a plugin that is run for its command."""
        return messages.Init(
            version=messages.VERSION,
            workspace=messages.Workspace(root=self.root, storage=f"{self.root}/.jp", id="fake0"),
            paths=messages.Paths(),
            config=self.config,
            options=options or {},
            args=list(args),
            log_level=log_level,
            output_format=output_format,
        )

    def respond(self, message: Message) -> Response | None:
        """The response to a message; None where it gets none."""
        if not isinstance(message, Request):
            return None
        try:
            response = self._respond(message)
        except RequestError as error:
            response = messages.Error(request=type_of(message), message=error.message)
        if response is not None and message.id is not None:
            response.id = message.id
        return response

    def _respond(self, request: Request) -> Response | None:
        match request:
            case messages.ListConversations():
                return messages.Conversations(data=[_summary(*each) for each in self.conversations.items()])
            case messages.ReadEvents():
                return self._events(request)
            case messages.ReadConfig():
                return messages.Config(path=request.path or UNSET, data=settings.at(self.config, request.path or ""))
            case messages.Lock():
                return messages.Locked(conversation=self._lock(request.conversation))
            case messages.Unlock():
                found = self._held(request.conversation)
                self.held.discard(found)
                return messages.Unlocked(conversation=found)
            case messages.PushEvents():
                return self._push(request)
            case messages.CreateConversation():
                return messages.Created(conversation=self._create(request.title or None))
            case messages.Prompt():
                asking.checked(request)
                return self._ask(request)
        raise AssertionError(request)

    def _find(self, name: str) -> str:
        found = ids.digits(name)
        if found is None or found not in self.conversations:
            raise RequestError(f"no conversation {name}")
        return found

    def _events(self, request: messages.ReadEvents) -> messages.Events:
        found = self._find(request.conversation)
        conversation = self.conversations[found]
        held: Any = "elsewhere" if conversation.locked else "here" if found in self.held else UNSET
        return messages.Events(
            conversation=found, title=conversation.title or UNSET, lock=held, data=conversation.events
        )

    def _lock(self, name: str) -> str:
        found = self._find(name)
        if self.conversations[found].locked:
            raise RequestError(f"the lock is held: {ids.display(found)} is in use by another process")
        self.held.add(found)
        return found

    def _held(self, name: str) -> str:
        found = self._find(name)
        if found not in self.held:
            raise RequestError(f"the lock of {ids.display(found)} is not held by this plugin")
        return found

    def _push(self, request: messages.PushEvents) -> messages.Pushed:
        found = self._held(request.conversation)
        there = self.conversations[found].events
        before = [pushing.stored(msgspec.json.encode(each), str(each.get("type"))) for each in there]
        sent = [bytes(each) for each in request.events]
        added = [events.to_dict(each) for each in pushing.checked(sent, before, format_timestamp(datetime.now(UTC)))]
        there += added
        self.pushed.setdefault(found, []).extend(added)
        return messages.Pushed(conversation=found, count=len(sent))

    def _create(self, title: str | None) -> str:
        number = int(time.time() * 10)
        while str(number) in self.conversations:
            number += 1
        self.conversations[str(number)] = Conversation(title=title)
        self.held.add(str(number))
        return str(number)


def answered(prompt: messages.Prompt, value: bool | str) -> messages.PromptResponse:
    """The response to a prompt that was answered; raises ValueError for what nobody can answer to it."""
    if isinstance(value, bool) != (prompt.kind == "confirm"):
        raise ValueError(f"{value!r} is no answer to `{prompt.kind}`")
    if prompt.kind == "select" and value not in (prompt.options or ()):
        raise ValueError(f"{value!r} is not among the options of {prompt.message!r}: {prompt.options}")
    return messages.PromptResponse(outcome="answered", value=value)


def _summary(ident: str, conversation: Conversation) -> messages.ConversationSummary:
    return messages.ConversationSummary(
        id=ident,
        title=conversation.title,
        last_activated_at=conversation.last_activated_at,
        events_count=len(conversation.events),
        pinned_at=conversation.pinned_at or UNSET,
    )
