"""A conversation as HTML: the same for a page in the browser and for a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from html import escape
from typing import Any

from jp_plugins import moments, turns
from jp_plugins.plain import clean, one_line
from jp_plugins.safe_html import code_block, from_markdown

_GIST = 80  # columns of what a call is about


@dataclass(frozen=True)
class Look:
    """What is shown, and how: `most` characters of a result (0: all), moments in `zone` (None: this machine's)."""

    reasoning: bool = True
    tools: bool = True
    most: int = 0
    zone: tzinfo | None = UTC


def turn(found: turns.Turn, look: Look) -> Iterator[str]:
    """One turn, piece by piece, with the anchor `turn-N`."""
    yield opening(found, look)
    for part in found.parts:
        yield one_part(part, look)
    yield "</section>\n"


def opening(found: turns.Turn, look: Look) -> str:
    """The start of a turn: what stands before its parts."""
    anchor = f"turn-{found.number}"
    name = f"Turn {found.number}" if found.number else "Before the first turn"
    return (
        f'<section class="turn" id="{anchor}" aria-labelledby="{anchor}-name">\n'
        f'<h2 id="{anchor}-name"><a href="#{anchor}">{name}</a> {time(found.at, look.zone)}</h2>\n'
    )


def time(at: str | None, zone: tzinfo | None) -> str:
    """A moment, to the minute; nothing where there is none."""
    moment = moments.parsed(at)
    if moment is None:
        return ""
    return f'<time datetime="{moments.for_machines(moment)}">{moments.to_minute(moment, zone)}</time>'


def one_part(part: turns.Part, look: Look) -> str:
    """One part, with the anchor `part-N`; nothing where it is not to be shown."""
    id_ = f'id="part-{part.index}"'
    match part:
        case turns.Request():
            who = escape(one_line(part.author) or "You")
            said = f'<div class="said" dir="auto">{escape(clean(part.text).strip())}</div>'
            return f'<div class="request" {id_}><p class="who">{who}</p>{said}</div>\n'
        case turns.Reply():
            return f'<div class="reply" {id_} dir="auto">\n{from_markdown(part.text)}</div>\n'
        case turns.Data():
            return f'<div class="reply" {id_}>\n{code_block(part.text, "json", look.most)}</div>\n'
        case turns.Reasoning() if look.reasoning:
            inside = from_markdown(part.text)
            return f'<details class="reasoning" {id_}><summary>Reasoning</summary>\n{inside}</details>\n'
        case turns.Call() if look.tools:
            return _call(part, id_, look)
        case turns.Question() if look.tools:
            return f'<div class="question" {id_}>\n{_question(part)}</div>\n'
    return ""


def _call(call: turns.Call, id_: str, look: Look) -> str:
    state = "" if not call.failed else ' <span class="state failed">failed</span>'
    if call.result is None:
        state = ' <span class="state">no result yet</span>'
    gist = escape(_gist(call.arguments))
    about = f' <span class="gist">{gist}</span>' if gist else ""
    name = escape(one_line(call.name))
    parts = [f'<details class="tool" {id_}><summary>Tool <code>{name}</code>{about}{state}</summary>\n']
    parts.append(_arguments(call.arguments, look))
    parts += [_question(question) for question in call.questions]
    if call.result is not None:
        parts.append(f'<p class="label">{"Error" if call.failed else "Result"}</p>\n')
        parts.append(code_block(call.result, "", look.most) if call.result.strip() else '<p class="more">empty</p>\n')
    parts.append("</details>\n")
    return "".join(parts)


def _arguments(given: Any, look: Look) -> str:
    if not given:
        return ""
    if not isinstance(given, dict):
        return code_block(turns.text_of(given), "json", look.most)
    rows = []
    for name, value in given.items():
        text = turns.text_of(value)
        shown = f"<code>{escape(clean(text))}</code>"
        if "\n" in text or len(text) > _GIST:
            shown = code_block(text, "" if isinstance(value, str) else "json", look.most)
        rows.append(f"<dt>{escape(one_line(str(name)))}</dt><dd>{shown}</dd>\n")
    return f'<dl class="arguments">\n{"".join(rows)}</dl>\n'


def _question(question: turns.Question) -> str:
    answer = one_line(question.answer)
    outcome = f'<p class="answer">{escape(answer)}</p>' if answer else '<p class="more">not answered</p>'
    who = escape(one_line(question.who))
    return f'<p class="label">{who} asked</p>\n{from_markdown(question.text)}{outcome}\n'


def _gist(arguments: Any) -> str:
    """What a call is about: its first argument that is a short text."""
    values = arguments.values() if isinstance(arguments, dict) else ()
    for value in values:
        if isinstance(value, str | int) and (line := one_line(str(value)[: 4 * _GIST])):
            return line if len(line) <= _GIST else line[: _GIST - 1].rstrip() + "…"
    return ""
