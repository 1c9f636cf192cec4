"""Reasoning that comes inside the answer, as `<think>…</think>` at its very beginning: pure.

Servers that don't know a model's template leave it there. Only the beginning is looked at: anywhere else it is text
about such tags.
"""

from jp.llm.events import Message, Reasoning

OPEN, CLOSE = "<think>", "</think>"


class InlineThinking:
    """Feed the text of an answer, get it as reasoning and message. Holds back no more than what may be a tag."""

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, text: str) -> list[Reasoning | Message]:
        """The pieces that are decided with `text`."""
        if self._state == "message":
            return [Message(text)]
        self._held += text
        if self._state == "start":
            begun = self._held.lstrip()
            if len(begun) < len(OPEN) and OPEN.startswith(begun):
                return []
            if not begun.startswith(OPEN):
                return self._message(self._held)
            self._state, self._held = "first", begun.removeprefix(OPEN)
        return self._inside()

    def _inside(self) -> list[Reasoning | Message]:
        if self._state == "first":
            self._held = self._held.lstrip()
            if self._held:
                self._state = "inside"
        if self._state == "inside":
            thought, tag, rest = self._held.partition(CLOSE)
            if not tag:
                keep = _beginning_of_tag(self._held)
                thought, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
                return [Reasoning(thought)] if thought else []
            self._state, self._held = "after", rest
            out: list[Reasoning | Message] = [Reasoning(thought.rstrip())] if thought.strip() else []
            return out + self._inside()
        rest = self._held.lstrip()
        return self._message(rest) if rest else []

    def end(self) -> list[Reasoning | Message]:
        """Nothing more comes: what was held."""
        held, self._held = self._held, ""
        if self._state == "inside":
            return [Reasoning(held)] if held else []
        return [Message(held)] if held and self._state in ("start", "message") else []

    def _message(self, text: str) -> list[Reasoning | Message]:
        self._state, self._held = "message", ""
        return [Message(text)]


def _beginning_of_tag(text: str) -> int:
    """How many of the last characters may be the beginning of the closing tag, with the space before it."""
    size = next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
    kept = text[: len(text) - size]
    return size + len(kept) - len(kept.rstrip())
