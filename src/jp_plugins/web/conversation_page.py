"""The page of one conversation: its turns, so many at a time."""

from __future__ import annotations

from html import escape

from jp.plugin.messages import Events
from jp_plugins.conversation_html import Look, turn
from jp_plugins.plain import one_line
from jp_plugins.turns import Request, Turn, turns
from jp_plugins.web.live import cursor, running

TURNS = 50  # on one page
LOOK = Look(most=50_000, zone=None)

KEYS = (
    "<span><kbd>/</kbd> search</span> <span><kbd>j</kbd> <kbd>k</kbd> next, previous turn</span> "
    "<span><kbd>u</kbd> all conversations</span>"
)
_FIRST_LINE = 90


def title_of(events: Events) -> str:
    """Its title, or what stands for one."""
    return one_line(events.title if isinstance(events.title, str) else "") or "Untitled conversation"


def body(events: Events, wanted: int | None) -> tuple[str, str]:
    """The inside of the `main`, and its attributes; the page that has the turn `wanted`, else the last one."""
    found = turns(events.data)
    number = len(found) - 1
    if wanted is not None:
        number = next((at for at, each in enumerate(found) if each.number >= wanted), number)
    start = max(number, 0) // TURNS * TURNS
    shown = found[start : start + TURNS]
    is_last = start + TURNS >= len(found)
    count = sum(each.number > 0 for each in found)
    about = f"{count:,} turn{'' if count == 1 else 's'} · {len(events.data):,} events · {events.conversation}"
    parts = [f'<header>\n<h1 dir="auto">{escape(title_of(events))}</h1>\n<p class="about">{escape(about)}</p>\n']
    parts.append(_contents(found, start) + "</header>\n")
    parts.append(_link(found, start - 1, "Earlier turns"))
    parts.append('<div id="turns">\n')
    for each in shown:
        parts += turn(each, LOOK)
    parts.append("</div>\n")
    parts.append(_link(found, start + TURNS, "Later turns"))
    parts.append(_state(events) if is_last else "")
    live = f' data-live="/c/{escape(events.conversation)}/new" data-cursor="{cursor(events)}"' if is_last else ""
    return "".join(parts), live


def _state(events: Events) -> str:
    hidden = "" if running(events) else " hidden"
    return (
        f'<p id="running" class="running"{hidden}>A turn is running</p>\n'
        '<p id="news" class="unseen" role="status"></p>\n'
        '<p id="notice" class="notice" role="alert" hidden></p>\n'
        '<button id="jump" class="jump" type="button" hidden>New below</button>\n'
    )


def _contents(found: list[Turn], start: int) -> str:
    """The requests, to go to."""
    if len(found) < 3:
        return ""
    rows = "".join(f"<li>{_to(each, start <= at < start + TURNS)}</li>\n" for at, each in enumerate(found))
    inside = f"<summary>Turns</summary>\n<ol>\n{rows}</ol>"
    return f'<nav aria-label="Turns"><details class="contents">{inside}</details></nav>\n'


def _to(each: Turn, here: bool) -> str:
    request = next((part.text for part in each.parts if isinstance(part, Request)), "")
    line = one_line(request[: 4 * _FIRST_LINE])
    line = line if len(line) <= _FIRST_LINE else line[: _FIRST_LINE - 1].rstrip() + "…"
    page = "" if here else f"?turn={each.number}"
    return f'<a href="{page}#turn-{each.number}" dir="auto">{escape(line or f"Turn {each.number}")}</a>'


def _link(found: list[Turn], at: int, text: str) -> str:
    if not 0 <= at < len(found):
        return ""
    number = found[at].number
    return f'<nav class="pages" aria-label="{text}"><a href="?turn={number}#turn-{number}">{text}</a></nav>\n'
