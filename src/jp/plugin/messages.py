"""The messages of the plugin protocol (RFD D60 and the command plugin protocol below it): types and nothing else.

The one source of the protocol's reference and of its JSON Schema. A message is one JSON object with a `type`, on one
line of UTF-8. Fields that are not known are ignored on both sides.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

VERSION = 1

Id = str | int  # chosen by the plugin, echoed by the host
JSON = dict[str, Any]

_ID = "Chosen by the plugin; the response carries the same one. Without it the response carries none."
_ECHOED = "The `id` of the request; absent where that had none."
_CONVERSATION = "The id of a conversation: digits, or `jp-c` and digits."


class Message(Struct, kw_only=True, tag_field="type", omit_defaults=True):
    """A message."""


class Request(Message, kw_only=True):
    """What gets a response: the one that is named for it, or `error`."""

    id: Annotated[Id | UnsetType | None, Meta(description=_ID)] = UNSET


class Response(Message, kw_only=True):
    """The response to a request."""

    id: Annotated[Id | UnsetType, Meta(description=_ECHOED)] = UNSET


# --- what the host sends


class Workspace(Struct, kw_only=True):
    """The workspace that JP runs in."""

    root: Annotated[str, Meta(description="Its directory, absolute.")]
    storage: Annotated[str, Meta(description="The `.jp` directory in it, absolute.")]
    id: Annotated[str, Meta(description="Its id: 5 characters.")]


class Paths(Struct, kw_only=True, omit_defaults=True):
    """JP's own directories; one that is not known is left out."""

    user_data: Annotated[str | UnsetType, Meta(description="The user's data: conversations, plugins.")] = UNSET
    user_config: Annotated[str | UnsetType, Meta(description="The user's configuration.")] = UNSET
    user_workspace: Annotated[str | UnsetType, Meta(description="The user's data for this workspace.")] = UNSET


class Init(Message, kw_only=True, tag="init", omit_defaults=False):
    """The first message to a plugin that is run for its command."""

    version: Annotated[int, Meta(description="The version of the protocol: 1.")]
    workspace: Workspace
    paths: Paths
    config: Annotated[JSON | Raw, Meta(description="The configuration, resolved from all sources.")]
    options: Annotated[JSON, Meta(description="The table `plugins.command.<name>.options`, unchanged.")]
    args: Annotated[list[str], Meta(description="What stands behind the command on the command line, unchanged.")]
    log_level: Annotated[int, Meta(description="0 (errors) to 4 (everything), following the number of `-v`.")]
    output_format: Annotated[
        Literal["text", "text-pretty", "json", "json-pretty"],
        Meta(description="What `--format` comes to for stdout."),
    ] = "text"


class Describe(Message, kw_only=True, tag="describe"):
    """The only message to a plugin that is to describe itself; it answers with `describe` and ends."""


class Shutdown(Message, kw_only=True, tag="shutdown"):
    """The run is ending: finish, send `exit`. What still runs after the grace period is killed."""


class ConversationSummary(Struct, kw_only=True, omit_defaults=True):
    """One conversation in a listing. Moments are RFC 3339 in UTC."""

    id: Annotated[str, Meta(description="Its id: digits.")]
    title: Annotated[str | None, Meta(description="Its title; null where it has none.")]
    last_activated_at: Annotated[str | None, Meta(description="When it was last used; null where that is not known.")]
    events_count: Annotated[int, Meta(description="How many events it has.")]
    pinned_at: Annotated[str | UnsetType, Meta(description="When it was pinned; absent where it is not.")] = UNSET


class Conversations(Response, kw_only=True, tag="conversations"):
    """The response to `list_conversations`."""

    data: list[ConversationSummary]


class Events(Response, kw_only=True, tag="events"):
    """The response to `read_events`."""

    conversation: Annotated[str, Meta(description="The id of the conversation: digits.")]
    title: Annotated[str | UnsetType, Meta(description="Its title; absent where it has none.")] = UNSET
    lock: Annotated[
        Literal["elsewhere", "here"] | UnsetType,
        Meta(description="Who holds its lock: another process, or this plugin; absent where nobody does."),
    ] = UNSET
    data: Annotated[list[JSON], Meta(description="Its events as they are stored, but with texts readable (no base64).")]


class Config(Response, kw_only=True, tag="config"):
    """The response to `read_config`."""

    path: Annotated[str | UnsetType, Meta(description="The path that was asked for.")] = UNSET
    data: Annotated[Any, Meta(description="The configuration, or what stands at the path.")]


class Locked(Response, kw_only=True, tag="locked"):
    """The response to `lock`: the plugin holds the conversation's lock."""

    conversation: str


class Unlocked(Response, kw_only=True, tag="unlocked"):
    """The response to `unlock`."""

    conversation: str


class Pushed(Response, kw_only=True, tag="pushed"):
    """The response to `push_events`: all of them are stored."""

    conversation: str
    count: Annotated[int, Meta(description="How many of the events that were sent are stored: all.")]


class Created(Response, kw_only=True, tag="created"):
    """The response to `create_conversation`; the plugin holds the lock of the new one."""

    conversation: Annotated[str, Meta(description="The id of the new conversation: digits.")]


class PromptResponse(Response, kw_only=True, tag="prompt_response"):
    """The response to `prompt`, once the person has decided. Its value is never shown: it may be a secret."""

    outcome: Annotated[
        Literal["answered", "cancelled", "unavailable"],
        Meta(description="`cancelled`: dismissed with ESC. `unavailable`: nobody can be asked."),
    ]
    value: Annotated[
        bool | str | UnsetType, Meta(description="When answered: true or false for `confirm`, else a string.")
    ] = UNSET
    reason: Annotated[str | UnsetType, Meta(description="When unavailable: why.")] = UNSET

    def __repr__(self) -> str:
        return f"PromptResponse(id={self.id!r}, outcome={self.outcome!r})"

    __str__ = __repr__


class Error(Response, kw_only=True, tag="error"):
    """The response to a request that is wrong or could not be done. The plugin goes on."""

    request: Annotated[str, Meta(description="The `type` of the request.")]
    message: Annotated[str, Meta(description="What was wrong, for a person.")]


HostMessage = (
    Init
    | Describe
    | Shutdown
    | Conversations
    | Events
    | Config
    | Locked
    | Unlocked
    | Pushed
    | Created
    | PromptResponse
    | Error
)


# --- what the plugin sends


class Ready(Message, kw_only=True, tag="ready"):
    """The plugin has begun. Gets no response."""


class Description(Message, kw_only=True, tag="describe"):
    """What the plugin says about itself."""

    name: Annotated[str, Meta(description="Its name.")]
    version: Annotated[str, Meta(description="Its own version.")]
    description: Annotated[str, Meta(description="One line, for `jp --help`.")]
    command: Annotated[
        list[str] | UnsetType,
        Meta(description="The command that it answers to, word by word; by default its file name split at dashes."),
    ] = UNSET
    author: Annotated[str | UnsetType, Meta(description="Who wrote it.")] = UNSET
    help: Annotated[str | UnsetType, Meta(description="What `jp <command> --help` prints.")] = UNSET
    repository: Annotated[str | UnsetType, Meta(description="Where its source is.")] = UNSET


class ListConversations(Request, kw_only=True, tag="list_conversations"):
    """Asks for all conversations of the workspace; the response is `conversations`."""


class ReadEvents(Request, kw_only=True, tag="read_events"):
    """Asks for the events of a conversation; the response is `events`."""

    conversation: Annotated[str, Meta(description=_CONVERSATION)]


class ReadConfig(Request, kw_only=True, tag="read_config"):
    """Asks for the configuration; the response is `config`."""

    path: Annotated[
        str | UnsetType | None, Meta(description="A key (`assistant.model`): only what stands at and below it.")
    ] = UNSET


class Lock(Request, kw_only=True, tag="lock"):
    """Asks for the lock of a conversation; the response is `locked`. It is held until `unlock` or the end."""

    conversation: Annotated[str, Meta(description=_CONVERSATION)]


class Unlock(Request, kw_only=True, tag="unlock"):
    """Gives a lock back; the response is `unlocked`."""

    conversation: Annotated[str, Meta(description=_CONVERSATION)]


class PushEvents(Request, kw_only=True, tag="push_events"):
    """Adds events to a conversation whose lock the plugin holds: all of them or none; the response is `pushed`."""

    conversation: Annotated[str, Meta(description=_CONVERSATION)]
    events: Annotated[
        list[Raw], Meta(description="Events as `read_events` gives them; `timestamp` may be left out: it is now.")
    ]


class CreateConversation(Request, kw_only=True, tag="create_conversation"):
    """Asks for a new conversation, locked; the response is `created`."""

    title: Annotated[str | UnsetType | None, Meta(description="Its title.")] = UNSET


class Prompt(Request, kw_only=True, tag="prompt"):
    """Asks the user; the response is `prompt_response`, after the answer. A wrong request gets `error`."""

    kind: Annotated[
        Literal["confirm", "select", "text", "secret"],
        Meta(description="Yes or no, one of several, a text, or a text that nobody gets to see."),
    ]
    message: Annotated[str, Meta(description="The question; at most 64 KiB.")]
    default: Annotated[
        bool | str | UnsetType | None,
        Meta(
            description="`confirm`: what Enter stands for. `select`: the option marked. `text`: what the editor holds."
        ),
    ] = UNSET
    options: Annotated[
        list[str] | UnsetType | None, Meta(description="`select`: at most 1,000 strings of at most 4 KiB each.")
    ] = UNSET


class Print(Message, kw_only=True, tag="print"):
    """Shows text to the user, through JP's own output. Gets no response."""

    text: str
    channel: Annotated[
        str,
        Meta(
            description="`content` (stdout), `chrome`, `tool_call`, `tool_result`, `reasoning` or `error` (stderr); "
            "another one counts as `content`."
        ),
    ] = "content"
    format: Annotated[
        str, Meta(description="`plain`, `markdown`, `json` or `code`; another one counts as `plain`.")
    ] = "plain"
    language: Annotated[str | UnsetType | None, Meta(description="`code`: the language, for highlighting.")] = UNSET


class Log(Message, kw_only=True, tag="log"):
    """A line for JP's log. Gets no response."""

    level: Literal["error", "warn", "info", "debug", "trace"]
    message: str
    fields: JSON = {}


class Exit(Message, kw_only=True, tag="exit"):
    """The plugin is done: JP ends with `code`."""

    code: Annotated[int, Meta(ge=0, le=255, description="The exit status.")] = 0
    reason: Annotated[str | UnsetType | None, Meta(description="What is shown as an error where `code` is not 0.")] = (
        UNSET
    )


PluginMessage = (
    Ready
    | Description
    | ListConversations
    | ReadEvents
    | ReadConfig
    | Lock
    | Unlock
    | PushEvents
    | CreateConversation
    | Prompt
    | Print
    | Log
    | Exit
)


def type_of(message: Message | type[Message]) -> str:
    """The `type` of a message."""
    return str(message.__struct_config__.tag)
