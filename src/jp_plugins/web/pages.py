"""The frame of every page, and the list of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from jp.plugin.messages import ConversationSummary
from jp_plugins.conversation_html import time
from jp_plugins.plain import one_line
from jp_plugins.web.search import SHOWN, Found, Hit
from jp_plugins.web.texts import marked

A_PAGE = 100  # conversations


def frame(title: str, where: str, body: str, *, query: str = "", about: str = "", keys: str = "") -> str:
    """A page. `title` and `where` (the workspace) are text, the rest is HTML; `about` is attributes of the `main`."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} · JP</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css">
<script src="/page.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><div>
<a class="home" href="/" title="All conversations"><b>JP</b> <span>{escape(where)}</span></a>
<form class="search" role="search" action="/" method="get">
<label class="unseen" for="search">Search titles and contents</label>
<input id="search" name="q" type="search" value="{escape(query)}" placeholder="Search" maxlength="400"
 autocomplete="off" spellcheck="false" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd>
<button>Search</button>
</form>
</div></header>
<main id="main" class="document" tabindex="-1"{about}>
{body}</main>
<footer class="document keys" aria-label="Keys">{keys}</footer>
</body>
</html>
"""


LIST_KEYS = (
    "<span><kbd>/</kbd> search</span> <span><kbd>j</kbd> <kbd>k</kbd> next, previous</span> "
    "<span><kbd>Enter</kbd> open</span>"
)


def listing(conversations: Sequence[ConversationSummary], number: int) -> str:
    """The page `number` (from 1) of the list."""
    pages = max(-(-len(conversations) // A_PAGE), 1)
    number = min(max(number, 1), pages)
    shown = conversations[(number - 1) * A_PAGE : number * A_PAGE]
    if not shown:
        return '<p class="none">No conversation in this workspace yet. <code>jp query</code> starts one.</p>\n'
    rows = "".join(_row(Hit(each), []) for each in shown)
    links = [f'<a href="/?page={number - 1}" rel="prev">Newer</a>' if number > 1 else "<span></span>"]
    links += [f'<a href="/?page={number + 1}" rel="next">Older</a>'] if number < pages else []
    more = f'<nav class="pages" aria-label="More conversations">{"".join(links)}</nav>\n' if pages > 1 else ""
    return f'{_status(f"{len(conversations):,}, the one used last first")}<ol class="list">\n{rows}</ol>\n{more}'


def results(found: Found) -> str:
    """What a search found, in the place of the list."""
    said = f"{_count(found.count)} found" if found.count else "Nothing found"
    if found.count > SHOWN:
        said += f", the last {SHOWN} of them are shown"
    unread = f"; {_count(found.unread)} still to be read: search again" if found.unread else ""
    rows = "".join(_row(hit, found.looked_for) for hit in found.hits)
    about = f' data-unread="{found.unread}"' if found.unread else ""
    return f'{_status(said + unread, about)}<ol class="list">\n{rows}</ol>\n'


def body_of_list(inside: str) -> str:
    """The list's page around `listing` or `results`."""
    said = '<p id="said" class="unseen" role="status"></p>'  # stays, so that a change of it is read out
    return f'<h1>Conversations</h1>\n{said}\n<div id="results">\n{inside}</div>\n'


def _status(text: str, about: str = "") -> str:
    return f'<p class="status"{about}>{text}</p>\n'


def _count(number: int) -> str:
    return f"{number:,} conversation{'' if number == 1 else 's'}"


def _row(hit: Hit, looked_for: list[str]) -> str:
    each = hit.summary
    address = f"/c/{quote(each.id)}"
    title = one_line(each.title or "")
    named = _with_marks(title, looked_for) if title else "Untitled"
    class_ = "title" if title else "title untitled"
    meta = [time(each.last_activated_at, None), f'<span class="count">{each.events_count:,} events</span>']
    if isinstance(each.pinned_at, str):
        meta.insert(0, '<span class="pinned">Pinned</span>')
    found = ""
    if hit.turn is not None:
        inside = _with_marks(hit.excerpt, looked_for)
        found = f'<p class="found" dir="auto"><a href="{address}?turn={hit.turn}#turn-{hit.turn}">{inside}</a></p>\n'
    return (
        f'<li><a class="{class_}" href="{address}" dir="auto">{named}</a>\n<p class="meta">{" ".join(meta)}</p>\n'
        f"{found}</li>\n"
    )


def _with_marks(text: str, looked_for: list[str]) -> str:
    pieces = marked(text, looked_for) if looked_for else [(text, False)]
    return "".join(f"<mark>{escape(piece)}</mark>" if hit else escape(piece) for piece, hit in pieces)
