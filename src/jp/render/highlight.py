"""Code highlighting, one line at a time, with pygments.

Lexing the block again at every line is quadratic, and lexing each line alone loses what spans lines. A `RegexLexer` is
a stack of states, so its loop is run here with a stack that lives from line to line. That leaves constructs that a
lexer matches with one expression over several lines (`/* … */` in many of them): for these, a lexer is asked once which
pairs it takes as a whole, and such a pair that does not end on its line is carried over here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pygments.lexer import Lexer

_PAIRS = tuple(
    pair.split()
    for pair in (
        "/* */", "<!-- -->", '""" """', "''' '''", "` `", "{- -}", "(* *)", "--[[ ]]", "[[ ]]", "<# #>", "#| |#"
    )
)  # fmt: skip
_INSIDE = re.compile("str|comment|quot|dq|sq|heredoc|template|regex|char")  # names of states that are inside something
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
_CUBE = (0, 95, 135, 175, 215, 255)


class Theme:
    """A pygments style as SGR; an unknown name is the default one."""

    def __init__(self, name: str, *, truecolor: bool) -> None:
        from pygments.styles import get_style_by_name
        from pygments.token import Token
        from pygments.util import ClassNotFound

        try:
            self._style = get_style_by_name(name)
        except ClassNotFound:
            self._style = get_style_by_name("gruvbox-dark")
        self._truecolor = truecolor
        self._text = self._style.style_for_token(Token)["color"]
        self._escapes: dict[Any, str] = {}

    def colour(self, token: str) -> str:
        """The SGR parameters of a token's colour, named like `Token.Literal.String`."""
        from pygments.token import string_to_tokentype

        wanted = self._style.style_for_token(string_to_tokentype(token.removeprefix("Token.")))
        return self._rgb(wanted["color"])

    def escape(self, token: Any) -> str:
        """What to write before a token of this type; nothing where it looks like plain text."""
        found = self._escapes.get(token)
        if found is None:
            wanted = self._style.style_for_token(token)
            flags = (("bold", "1"), ("italic", "3"), ("underline", "4"))
            parts = [code for name, code in flags if wanted[name]]  # type: ignore[literal-required]
            if wanted["color"] != self._text:  # ordinary text keeps the terminal's own colour
                parts.append(self._rgb(wanted["color"], wanted["bgcolor"]))
            joined = ";".join(part for part in parts if part)
            found = self._escapes[token] = f"\x1b[{joined}m" if joined else ""
        return found

    def _rgb(self, colour: str | None, background: str | None = None) -> str:
        # Text that a style draws in its background's colour on a patch of colour (diffs) is drawn in the patch's.
        colour = background or colour
        if not colour:
            return ""
        red, green, blue = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
        return f"38;2;{red};{green};{blue}" if self._truecolor else f"38;5;{nearest(red, green, blue)}"


def nearest(red: int, green: int, blue: int) -> int:
    """The colour of the 256 colour table that is nearest to an RGB one."""
    steps = [min(range(6), key=lambda step: abs(_CUBE[step] - value)) for value in (red, green, blue)]
    grey = max(0, min(23, round(((red + green + blue) / 3 - 8) / 10)))
    wanted = (red, green, blue)

    def distance(candidate: Iterable[int]) -> int:
        return sum((one - other) ** 2 for one, other in zip(candidate, wanted, strict=True))

    if distance([8 + 10 * grey] * 3) < distance([_CUBE[step] for step in steps]):
        return 232 + grey
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]


class Highlighter:
    """Highlights the lines of one block, in order."""

    def __init__(self, lexer: Lexer, theme: Theme) -> None:
        from pygments.lexer import RegexLexer

        self._theme = theme
        self._lexer = lexer
        self._states: list[str] = ["root"]
        self._until: tuple[str, Any] | None = None  # what ends the construct that was carried over, and its type
        # Other kinds of lexers carry a context of their own: their lines are taken one by one.
        self._stateful = isinstance(lexer, RegexLexer) and not hasattr(lexer, "flags_context") and _simple(lexer)
        self._pairs = _pairs(type(lexer)) if self._stateful else ()

    def line(self, text: str) -> str:
        """One line without its end, with escapes; they end where they began."""
        parts: list[str] = []
        escape = self._theme.escape
        last = ""
        tokens = self._tokens(text + "\n") if self._stateful else self._alone(text)
        for token, value in tokens:
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

    def _alone(self, text: str) -> Iterator[tuple[Any, str]]:
        for _at, token, value in self._lexer.get_tokens_unprocessed(text + "\n"):
            yield token, value

    def _tokens(self, text: str) -> Iterator[tuple[Any, str]]:
        from pygments.token import Error, _TokenType

        at = 0
        if self._until is not None:
            closing, token = self._until
            found = text.find(closing)
            if found < 0:
                yield token, text
                return
            at = found + len(closing)
            self._until = None
            yield token, text[:at]
        lexer: Any = self._lexer
        definitions = lexer._tokens
        states = self._states
        end = len(text)
        rules = definitions[states[-1]]
        while at < end:
            if self._pairs and (opened := self._carried(text, at)) is not None:
                yield opened, text[at:]
                return
            for match_rule, action, change in rules:
                match = match_rule(text, at)
                if match is None:
                    continue
                if action is not None:
                    if type(action) is _TokenType:
                        yield action, match.group()
                    else:
                        for _index, token, value in action(lexer, match):
                            yield token, value
                at = match.end()
                if change is not None:
                    _move(states, change)
                    rules = definitions[states[-1]]
                break
            else:
                if text[at] == "\n":
                    states[:] = ["root"]
                    return
                yield Error, text[at]
                at += 1

    def _carried(self, text: str, at: int) -> Any:
        """The type of a construct that begins here and does not end on this line."""
        for opening, closing, token in self._pairs:
            if text.startswith(opening, at) and text.find(closing, at + len(opening)) < 0:
                if _INSIDE.search(self._states[-1]):
                    return None
                self._until = closing, token
                return token
        return None


def _move(states: list[str], change: Any) -> None:
    """Change the stack of states as pygments does."""
    if isinstance(change, tuple):
        for state in change:
            _move(states, state)
    elif isinstance(change, int):
        if abs(change) >= len(states):
            del states[1:]
        else:
            del states[change:]
    elif change == "#pop":
        if len(states) > 1:
            states.pop()
    elif change == "#push":
        states.append(states[-1])
    else:
        states.append(change)


def _simple(lexer: Lexer) -> bool:
    from pygments.lexer import DelegatingLexer, ExtendedRegexLexer

    return not isinstance(lexer, (ExtendedRegexLexer, DelegatingLexer))


@lru_cache(maxsize=32)
def _pairs(lexer: type[Lexer]) -> tuple[tuple[str, str, Any], ...]:
    """The pairs that this lexer takes as one token over several lines."""
    found = []
    for opening, closing in _PAIRS:
        text = f"{opening}\nx\n{closing}"
        tokens = [(token, value) for _at, token, value in lexer().get_tokens_unprocessed(text + "\n")]
        if tokens and tokens[0][1] == text and _is_text(tokens[0][0]):
            found.append((opening, closing, tokens[0][0]))
    return tuple(found)


def _is_text(token: Any) -> bool:
    from pygments.token import Comment, String

    return token in Comment or token in String


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
