"""Markdown of a model as HTML that is safe to show, whatever it says.

Raw HTML is text, a link leads to http, https, mailto or a place on the page, and an image is a link to it: nothing is
loaded and nothing runs. Headings stand below those of the page.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from jp_plugins.highlight import highlighted
from jp_plugins.plain import clean, one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

# More than this is shown as it is. The parser is linear but for brackets: it looks for the end of each one's link.
MOST = 128 << 10
MOST_BRACKETS = 4000

_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f]+|#[^\s\x00-\x1f]*", re.IGNORECASE)
_DEEPEST = 6
_BELOW = 2  # levels that the page's own headings take
_WIDE = 60  # columns that fit on most screens: a longer line may have to be scrolled to


def from_markdown(text: str) -> str:
    """`text` as HTML of block elements."""
    text = clean(text)
    if len(text) > MOST or text.count("[") > MOST_BRACKETS:
        return as_it_is(text)
    try:
        return str(_parser().render(text, {}))
    except RecursionError:
        return as_it_is(text)


def as_it_is(text: str) -> str:
    """`text` without markup, its lines kept."""
    return f'<div class="plain">{escape(clean(text))}</div>\n'


def code_block(code: str, language: str = "", most: int = 0) -> str:
    """A block of code or output, cut behind `most` characters where that is not 0."""
    code = clean(code)
    rest = len(code) - most if most else 0
    code = (code[:most] if rest > 0 else code).rstrip("\n") + "\n"
    wide = max(map(len, code.split("\n"))) > _WIDE
    scrolls = ' tabindex="0" role="group" aria-label="Code"' if wide else ""
    more = f'<p class="more">… {rest:,} characters more</p>\n' if rest > 0 else ""
    return f"<pre{scrolls}><code>{highlighted(code, language)}</code></pre>\n{more}"


def safe_address(address: str) -> str:
    """`address` where a link may lead there, else an empty string."""
    return address if _ADDRESS.fullmatch(address) else ""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": 60}).enable(
        ["table", "strikethrough"]
    )
    parser.validateLink = lambda _: True  # type: ignore[assignment, method-assign]  # decided where it is written
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _fence(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    language = one_line(tokens[at].info).partition(" ")[0]
    return code_block(tokens[at].content, language)


def _heading(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    level = min(int(tokens[at].tag[1]) + _BELOW, _DEEPEST)
    return f"<h{level}>" if tokens[at].nesting > 0 else f"</h{level}>\n"


def _link_open(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, env: MutableMapping[str, Any]) -> str:
    given = str(tokens[at].attrGet("href") or "")
    address = safe_address(given)
    env["link"] = "a" if address else "span"
    if not address:
        return f'<span class="nowhere" title="{escape(one_line(given)[:200])}">'
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">'


def _link_close(_: RendererHTML, __: Sequence[Token], ___: int, ____: Any, env: MutableMapping[str, Any]) -> str:
    return f"</{env.pop('link', 'span')}>"


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, __: Any, env: MutableMapping[str, Any]) -> str:
    given = str(tokens[at].attrGet("src") or "")
    address = safe_address(given)
    text = f"image: {escape(one_line(tokens[at].content) or 'untitled')}"
    if "link" in env or not address or address.startswith(("#", "mailto:")):
        return f'<span class="nowhere" title="{escape(one_line(given)[:200])}">{text}</span>'
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">{text}</a>'


def _table_open(*_: Any) -> str:
    return '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


def _cell_open(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    # What a page may not have is style attributes.
    side = str(tokens[at].attrGet("style") or "").removeprefix("text-align:")
    return f'<{tokens[at].tag} class="{side}">' if side in ("center", "right") else f"<{tokens[at].tag}>"


_RULES: dict[str, Any] = {
    "td_open": _cell_open,
    "th_open": _cell_open,
    "fence": _fence,
    "code_block": _fence,
    "heading_open": _heading,
    "heading_close": _heading,
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "table_open": _table_open,
    "table_close": _table_close,
}
