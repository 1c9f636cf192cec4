"""The text of a conversation as a search sees it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jp_plugins import turns
from jp_plugins.plain import clean

MOST_OF_A_RESULT = 64 << 10  # characters of what a tool gave that are searched
_BEFORE, _BEHIND = 60, 140  # characters of an excerpt around what was found
_GAP = "\n"


@dataclass(frozen=True, slots=True)
class Texts:
    """All that was said and done in it. `folded` is `text` as it is compared: of the same length."""

    text: str
    folded: str
    starts: Sequence[int]  # where each turn begins in it
    numbers: Sequence[int]  # of those turns

    @classmethod
    def of(cls, events: Iterable[dict[str, Any]]) -> Texts:
        """The texts of these events."""
        parts: list[str] = []
        starts, numbers, at = [], [], 0
        for turn in turns.turns(events):
            starts.append(at)
            numbers.append(turn.number)
            for part in turn.parts:
                for said in _said(part):
                    parts.append(clean(said) + _GAP)
                    at += len(parts[-1])
        text = "".join(parts)
        return cls(text, folded(text), starts, numbers)

    def excerpt(self, words: Sequence[str]) -> tuple[int, str] | None:
        """The turn where the first of `words` stands, and the text around it on one line; None where it does not."""
        at = self.folded.find(words[0])
        if at < 0:
            return None
        start, end = max(at - _BEFORE, 0), at + len(words[0]) + _BEHIND
        while start > 0 and start < at and not self.text[start - 1].isspace():
            start += 1
        around = " ".join(self.text[start:end].split())
        turn = self.numbers[max(bisect_right(self.starts, at) - 1, 0)]
        return turn, ("… " if start else "") + around + (" …" if end < len(self.text) else "")


def folded(text: str) -> str:
    """`text` in small letters, each in its place."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def words(query: str) -> list[str]:
    """What is looked for: the words of `query`, or what stands there between quotation marks."""
    found = [quoted or plain for quoted, plain in re.findall(r'"([^"]+)"|([^\s"]+)', clean(query[:400]))]
    return [folded(word).strip() for word in found if word.strip()][:10]


def marked(text: str, looked_for: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """`text` in pieces, and whether each is one of the words."""
    small, at = folded(text), 0
    pattern = re.compile("|".join(re.escape(word) for word in sorted(looked_for, key=len, reverse=True)) or r"(?!)")
    for found in pattern.finditer(small):
        yield text[at : found.start()], False
        yield text[found.start() : found.end()], True
        at = found.end()
    yield text[at:], False


def _said(part: turns.Part) -> Iterator[str]:
    match part:
        case turns.Request() | turns.Reply() | turns.Reasoning() | turns.Data():
            yield part.text
        case turns.Question():
            yield f"{part.text}\n{part.answer}"
        case turns.Call():
            yield f"{part.name} {turns.text_of(part.arguments or '')[:MOST_OF_A_RESULT]}"
            for question in part.questions:
                yield f"{question.text}\n{question.answer}"
            yield (part.result or "")[:MOST_OF_A_RESULT]
