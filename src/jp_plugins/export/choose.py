"""Which conversations are meant."""

from __future__ import annotations

from collections.abc import Sequence

from jp.plugin.messages import ConversationSummary
from jp_plugins.order import by_use
from jp_plugins.plain import one_line

_SHOWN = 5  # of the conversations that a word may mean


class NotFound(Exception):
    """No conversation, or more than one, is meant; the message says what to do."""


def chosen(known: Sequence[ConversationSummary], words: Sequence[str], *, every: bool) -> list[ConversationSummary]:
    """Those that `words` name, all, or where neither is said the one used last. Raises NotFound."""
    if not known:
        raise NotFound("there is no conversation in this workspace yet; `jp query` starts one")
    if every:
        return by_use(known)
    if not words:
        return by_use(known)[:1]
    found = {each.id: each for each in (named(known, word) for word in words)}
    return list(found.values())


def named(known: Sequence[ConversationSummary], word: str) -> ConversationSummary:
    """The one whose id is `word`, or begins with it, or whose title does. Raises NotFound."""
    wanted = word.strip().removeprefix("jp-c")
    title = one_line(word).casefold()
    for found in (
        [each for each in known if each.id == wanted],
        [each for each in known if wanted.isdigit() and each.id.startswith(wanted)],
        [each for each in known if title and one_line(each.title or "").casefold() == title],
        [each for each in known if title and one_line(each.title or "").casefold().startswith(title)],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            listed = "".join(f"\n  {each.id}  {one_line(each.title or '')}" for each in by_use(found)[:_SHOWN])
            more = f"\n  … and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise NotFound(f'"{one_line(word)}" fits {len(found)} conversations; give the id of one:{listed}{more}')
    raise NotFound(
        f'no conversation has an id or a title that begins with "{one_line(word)}"; `jp conversation ls` lists them'
    )
