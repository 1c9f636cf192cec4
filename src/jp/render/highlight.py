"""Code highlighting with pygments, one line at a time. Loaded when the first block of code with a language comes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jp.render.lexing import Lines
from jp.render.theme import Theme

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "output", "none"})
_OTHER_NAMES = {
    "dockerfile": "docker",
    "golang": "go",
    "hcl": "terraform",
    "json5": "json",
    "jsonc": "json",
    "jsonl": "json",
    "jsx": "javascript",
    "mdx": "markdown",
    "ndjson": "json",
    "patch": "diff",
    "proto": "protobuf",
    "svelte": "html",
    "tsx": "typescript",
    "vue": "html",
}
_RESET = "\x1b[39;22;23;24m"  # undoes what a token can set, and leaves a background alone


class Highlighter:
    """Highlights the lines of one block, in order. `tries` is what that has cost, in rules looked at."""

    def __init__(self, lexer: Lexer, theme: Theme) -> None:
        self._theme = theme
        self._lines = Lines(lexer)

    @property
    def tries(self) -> int:
        """Rules of the lexer looked at so far."""
        return self._lines.tries

    def line(self, text: str) -> str:
        """One line without its end, with escapes; they end where they began."""
        parts: list[str] = []
        escape = self._theme.escape
        last = ""
        for token, value in self._lines.tokens(text + "\n"):
            if value.isspace():
                parts.append(value)
                continue
            style = escape(token)
            if style != last:
                if last:
                    parts.append(_RESET)
                parts.append(style)
                last = style
            parts.append(value)
        if last:
            parts.append(_RESET)
        return "".join(parts).replace("\n", "")


@lru_cache(maxsize=64)
def _lexer_class(name: str) -> Any:
    """The lexer for a language, an alias, a file name or an extension; None where there is none.

    Names are looked up in the built-in table: looking for plug-ins costs more than the highlighting.
    """
    from pygments.lexers import find_lexer_class, get_all_lexers

    name = _OTHER_NAMES.get(name, name)
    extension = f"*.{name.rpartition('.')[2]}"
    by_file = None
    for long_name, aliases, patterns, _mimetypes in get_all_lexers(plugins=False):
        if name in aliases:
            return find_lexer_class(long_name)
        if by_file is None and (extension in patterns or name in (pattern.lower() for pattern in patterns)):
            by_file = long_name
    return find_lexer_class(by_file) if by_file else None


def language(info: str) -> str:
    """The language that a fence names: `python`, `{.rust}`, `rust title="x"`, `src/main.rs:10-20`."""
    first = info.strip().strip("{}").split()
    word = first[0].lstrip(".").lower() if first else ""
    word = word.partition(",")[0].partition("{")[0]
    if "." in word or "/" in word:
        word = re.sub(r":[\d:,-]+$", "", word).rpartition("/")[2]
    return word


@lru_cache(maxsize=8)
def _theme(name: str, truecolor: bool) -> Theme:
    return Theme(name, truecolor=truecolor)


def highlighter(info: str, theme: str, *, truecolor: bool = False) -> Highlighter | None:
    """A highlighter for a fence with this info string; None where nothing is to be highlighted."""
    name = language(info)
    if name in _PLAIN:
        return None
    lexer = _lexer_class(name)
    return Highlighter(lexer(), _theme(theme, truecolor)) if lexer is not None else None
