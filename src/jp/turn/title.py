"""Titles of new conversations: from a heading, by a model beside the answer, or from the first words."""

from jp import log
from jp.interrupt.checkpoint import checkpoint
from jp.llm.collect import Collector
from jp.llm.source import Batch, Done, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.conversation.thread import Thread
    from jp.interrupt.router import Router
    from jp.turn.inbox import Inbox
    from jp.turn.loop import Model

MAX_CHARACTERS = 60
_QUOTED_CHARACTERS = 4000

SCHEMA = {
    "type": "object",
    "required": ["titles"],
    "additionalProperties": False,
    "properties": {
        "titles": {
            "type": "array",
            "items": {"type": "string", "description": "A concise, descriptive title for the conversation"},
            "minItems": 1,
            "maxItems": 1,
        }
    },
}
INSTRUCTION = (
    "Write one title for a conversation that begins with the message below: at most 50 characters, no quotes, no final "
    "full stop, in the language of the message."
)


def from_heading(text: str) -> str | None:
    """The heading (`# …`) that a text begins with."""
    first = text.lstrip().partition("\n")[0]
    marks, _, heading = first.partition(" ")
    if marks and not marks.strip("#") and len(marks) <= 6:
        return _shortened(heading.strip().rstrip("#").strip()) or None
    return None


def from_words(text: str) -> str | None:
    """The first line, cut at a word."""
    for line in text.splitlines():
        if words := " ".join(line.split()):
            return _shortened(words)
    return None


def _shortened(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = text[: MAX_CHARACTERS - 1]
    return (cut.rpartition(" ")[0] or cut) + "…"


def thread_for(text: str) -> "Thread":
    """The request for a title."""
    from jp.conversation.thread import Message, Text, Thread

    prompt = f"{INSTRUCTION}\n\n<message>\n{text[:_QUOTED_CHARACTERS]}\n</message>"
    return Thread(system=[], messages=[Message("user", [Text(prompt)])], schema=SCHEMA)


class Title:
    """A title being written by a model while the answer streams; never an error, at worst there is none."""

    def __init__(self, model: "Model", text: str, wake: "Callable[[], object]") -> None:
        self.value: str | None = None
        self.done = False
        self._wake = wake
        self._collector = Collector(structured=True)
        self._source: Source = model.source(thread_for(text), self._take, 0)

    def start(self) -> None:
        """Ask; returns at once."""
        self._source.start()

    def stop(self) -> None:
        """Abandon it."""
        self._source.stop()

    def _take(self, event: object) -> None:  # on the source's thread
        if isinstance(event, Batch):
            for delta in event.take():
                for stored in self._collector.feed(delta):
                    self._read(stored)
        elif isinstance(event, Done):
            for stored in self._collector.close():
                self._read(stored)
            if event.error is not None:
                log.log(log.WARN, "title", "no title", error=event.error.message)
            self.done = True
            self._wake()

    def _read(self, stored: object) -> None:
        data = getattr(stored, "data", None)
        titles = data.get("titles") if isinstance(data, dict) else None
        if isinstance(titles, list) and titles and isinstance(titles[0], str):
            self.value = _shortened(" ".join(titles[0].split()).strip("\"'")) or None

    def wait(self, inbox: "Inbox", seconds: float, router: "Router") -> None:
        """Until `value` is there or `seconds` have passed. Raises Shutdown, at once when it comes."""
        inbox.after(seconds, self)
        attended = inbox.attend(router)
        try:
            while not self.done and inbox.get() is not self:
                checkpoint()
        finally:
            attended()
