"""A conversation as a markdown document that reads well as it is and rendered.

Requests are quoted, replies stand as the model wrote them. What a reply leaves open (a fence, a comment) is closed
behind it, so that it does not swallow the next turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from jp_plugins import moments, turns
from jp_plugins.export.document import Document
from jp_plugins.plain import clean, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_SPECIAL = re.compile(r"([\\`*_\[\]<>&#|~])")
_TICKS = re.compile("`+")
_SIGN = "jp-end-of-this-part"
_LONGEST = 1 << 20  # of a text that is looked through for what it leaves open


def pieces(document: Document) -> Iterator[str]:
    """The document, piece by piece."""
    yield f"# {escaped(document.name)}\n\n{document.about}\n"
    for turn in document.turns:
        yield "\n" + _heading(turn)
        for part in turn.parts:
            text = _part(part, document)
            if text:
                yield f"\n{text}\n"


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that markdown would act on."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def fenced(text: str, language: str = "") -> str:
    """`text` in a fence that nothing in it ends."""
    text = clean(text).strip("\n")
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def closed(text: str) -> str:
    """`text` with an end to what it leaves open."""
    if len(text) > _LONGEST:
        return text
    try:
        tokens = _parser().parse(f"{text}\n\n{_SIGN}\n")
    except RecursionError:
        return text
    if len(tokens) > 2 and tokens[-3].level == 0 and tokens[-2].content == _SIGN:
        return text
    for token in reversed(tokens):
        if token.type == "fence":
            return text + "\n" + token.markup
        if token.type == "html_block":
            return text + "\n" + _end_of(token.content)
    return text


def _part(part: turns.Part, document: Document) -> str:
    match part:
        case turns.Request():
            who = f"> **{escaped(part.author)}**\n>\n" if part.author else ""
            return who + quoted(part.text)
        case turns.Reply():
            return closed(clean(part.text).strip("\n"))
        case turns.Data():
            return fenced(part.text, "json")
        case turns.Reasoning() if document.reasoning:
            return folded("Reasoning", [closed(clean(part.text).strip("\n"))])
        case turns.Call() if document.tools:
            return _call(part)
        case turns.Question() if document.tools:
            return _question(part)
    return ""


def quoted(text: str) -> str:
    """`text` as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in clean(text).strip("\n").split("\n"))


def folded(summary: str, blocks: list[str]) -> str:
    """Blocks that show when one asks for them; `summary` is HTML."""
    return "\n\n".join([f"<details>\n<summary>{summary}</summary>", *blocks, "</details>"])


def _heading(turn: turns.Turn) -> str:
    name = f"## Turn {turn.number}" if turn.number else "## Before the first turn"
    at = moments.to_minute(moments.parsed(turn.at))
    return f"{name} · {at} UTC\n" if at else f"{name}\n"


def _call(call: turns.Call) -> str:
    from html import escape

    blocks = [fenced(turns.text_of(call.arguments), "json")] if call.arguments else []
    blocks += [_question(question) for question in call.questions]
    if call.result is None:
        blocks.append("No result yet.")
    else:
        blocks += ["Error:" if call.failed else "Result:", fenced(call.result)]
    name = escape(one_line(call.name))
    return folded(f"Tool <code>{name}</code>{' (failed)' if call.failed else ''}", blocks)


def _question(question: turns.Question) -> str:
    answer = escaped(question.answer) or "*not answered*"
    return f"{escaped(question.who)} asked:\n\n{quoted(question.text)}\n\nAnswer: {answer}"


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Blocks alone decide what is left open.
    return MarkdownIt("commonmark", {"html": True, "maxNesting": 60}).disable(["inline", "text_join"], True)


def _end_of(block: str) -> str:
    start = block.lstrip().lower()
    for begins, ends in (("<!--", "-->"), ("<?", "?>"), ("<![cdata[", "]]>"), ("<!", ">")):
        if start.startswith(begins):
            return ends
    for tag in ("script", "pre", "style", "textarea"):
        if start.startswith("<" + tag):
            return f"</{tag}>"
    return ""
