"""The last turns of a conversation as text, for a person who writes the next query; nothing in it is escaped."""

from jp.conversation import events
from jp.conversation.turns import turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.conversation.events import Event, Unknown
    from jp.conversation.stream import Stream

TURNS = 3
LONGEST = 2000  # characters of one message
CUT = " […]"


def recent(stream: "Stream", count: int = TURNS) -> str:
    """The last `count` turns as Markdown, oldest first; empty when there are none."""
    parts = [part for turn in turns(stream)[-count:] for i in turn if (part := _part(stream.event(i)))]
    return "\n\n".join(parts)


def _part(event: "Event | Unknown") -> str:
    if isinstance(event, events.ChatRequest):
        return f"### You\n\n{_cut(event.content)}"
    if isinstance(event, events.ChatResponse):
        if isinstance(event.message, str):
            return f"### Assistant\n\n{_cut(event.message)}"
        return f"### Assistant, as data\n\n{_cut(_json(event.data))}" if not isinstance(event.reasoning, str) else ""
    if isinstance(event, events.ToolCallRequest):
        return f"(tool call: {event.name})"
    return ""


def _cut(text: str) -> str:
    text = text.strip("\n")
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + CUT


def _json(value: object) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)
