"""Looking for words in titles and contents, for as long as a person waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from jp.plugin import sdk
from jp.plugin.messages import ConversationSummary
from jp_plugins.plain import one_line
from jp_plugins.web.library import Library
from jp_plugins.web.texts import Texts, folded, words

SHOWN = 50
_LISTED = 5.0  # seconds that a listing is good for: JP counts all events for one, and a search is asked at every key
SECONDS = 1.5  # spent on reading conversations before what was found so far is shown


@dataclass(frozen=True)
class Hit:
    """A conversation that has all words; where they are not all in its title, a turn and what is said there."""

    summary: ConversationSummary
    turn: int | None = None
    excerpt: str = ""


@dataclass(frozen=True)
class Found:
    """What was found: SHOWN of them at most, `count` in all; `unread` conversations were not looked into yet."""

    looked_for: list[str]
    hits: list[Hit]
    count: int
    unread: int


def search(library: Library, query: str, seconds: float = SECONDS, now: Callable[[], float] = time.monotonic) -> Found:
    """Find the conversations that have all words of `query`, the one used last first."""
    looked_for = words(query)
    hits: list[Hit] = []
    count = unread = 0
    end = now() + seconds
    for summary in library.conversations(_LISTED) if looked_for else ():
        title = folded(one_line(summary.title or ""))
        missing = [word for word in looked_for if word not in title]
        hit = None if missing else Hit(summary)
        if missing:
            texts = library.remembered(summary)
            if texts is None and now() > end:
                unread += 1
                continue
            hit = _inside(summary, texts or _read(library, summary), missing)
        if hit is not None:
            count += 1
            if len(hits) < SHOWN:
                hits.append(hit)
    return Found(looked_for, hits, count, unread)


def _read(library: Library, summary: ConversationSummary) -> Texts | None:
    try:
        return library.texts(summary)
    except sdk.RequestFailed:
        return None  # gone, or it can't be read; its page says why


def _inside(summary: ConversationSummary, texts: Texts | None, missing: list[str]) -> Hit | None:
    if texts is None or not all(word in texts.folded for word in missing):
        return None
    found = texts.excerpt(missing)
    return None if found is None else Hit(summary, *found)
