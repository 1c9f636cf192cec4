"""A conversation as one HTML file that needs nothing else: no script, nothing to load, light and dark."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from html import escape

from jp_plugins import conversation_html
from jp_plugins.assets import text
from jp_plugins.export.document import Document


def pieces(document: Document) -> Iterator[str]:
    """The file, piece by piece."""
    name, style = escape(document.name), text("document.css")
    yield (
        "<!doctype html>\n"
        '<html lang="en">\n'
        "<head>\n"
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{name}</title>\n"
        f"<style>{style}</style>\n"
        "</head>\n"
        "<body>\n"
        '<main class="document">\n'
        f'<header>\n<h1 dir="auto">{name}</h1>\n<p class="about">{escape(document.about)}</p>\n</header>\n'
    )
    look = conversation_html.Look(reasoning=document.reasoning, tools=document.tools)
    for turn in document.turns:
        yield from conversation_html.turn(turn, look)
    yield "</main>\n</body>\n</html>\n"


@cache
def _policy() -> str:
    """Nothing but the stylesheet in the file."""
    digest = b64encode(sha256(text("document.css").encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
