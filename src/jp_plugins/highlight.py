"""Code as HTML, its tokens in a few classes that the stylesheet colours for a light and for a dark page."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST = 64 << 10  # characters of a block that are highlighted: a lexer may be slow, and the text is a stranger's


def highlighted(code: str, language: str) -> str:
    """The inside of a `<code>` element; only escaped where the language is not known or the block too long."""
    lexer = _lexer(language.lower()) if 0 < len(language) <= 40 and len(code) <= MOST else None
    if lexer is None:
        return escape(code)
    parts: list[str] = []
    opened = ""
    for token, text in lexer.get_tokens(code):
        space = text.isspace()
        class_ = "" if space else _class(token)
        if class_ != opened and not (space and "\n" not in text):
            parts.append("</span>" if opened else "")
            parts.append(f'<span class="{class_}">' if class_ else "")
            opened = class_
        parts.append(escape(text))
    parts.append("</span>" if opened else "")
    return "".join(parts)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if language in ("", "text", "plain", "txt", "output", "none"):
        return None
    try:
        return get_lexer_by_name(_OTHER_NAMES.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_OTHER_NAMES = {
    "golang": "go",
    "jsonc": "json",
    "jsonl": "json",
    "jsx": "javascript",
    "patch": "diff",
    "tsx": "typescript",
}


@lru_cache(maxsize=256)
def _class(token: Any) -> str:
    from pygments import token as t

    for kinds, class_ in (
        ((t.Comment.Preproc, t.Keyword.Type, t.Name.Class, t.Name.Namespace, t.Name.Exception), "hl-type"),
        ((t.Comment, t.Generic.Output), "hl-comment"),
        ((t.Keyword.Constant, t.Number, t.Name.Constant, t.Name.Builtin.Pseudo), "hl-constant"),
        ((t.Keyword, t.Operator.Word, t.Generic.Prompt), "hl-keyword"),
        ((t.String, t.Literal), "hl-string"),
        ((t.Name.Function, t.Name.Builtin, t.Name.Decorator), "hl-name"),
        ((t.Name.Tag, t.Name.Attribute, t.Name.Variable), "hl-tag"),
        ((t.Generic.Inserted,), "hl-inserted"),
        ((t.Generic.Deleted,), "hl-deleted"),
        ((t.Generic.Heading, t.Generic.Subheading, t.Generic.Strong), "hl-heading"),
    ):
        if any(token in kind for kind in kinds):
            return class_
    return ""
