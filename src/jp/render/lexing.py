"""Tokens of code that comes line by line, with pygments' lexers.

Lexing the block again at every line is quadratic, and lexing each line alone loses what spans lines. A `RegexLexer` is
a stack of states, so its loop is run here with a stack that lives from line to line. That leaves constructs that a
lexer matches with one expression over several lines (`/* … */` in many of them): for these, a lexer is asked once which
of these it takes as a whole, and one that does not end on its line is carried over here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygments.lexer import Lexer

    Shape = tuple[re.Pattern[str], str, Any]

_SHAPES = (  # how a construct begins, how it ends (with what its beginning caught), and one as it would be written
    *(
        (re.compile(re.escape(opening)), closing, f"{opening}\nx\n{closing}")
        for opening, closing in (
            *(("'", "'"), ('"', '"'), ("`", "`"), ("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''")),
            *(("{-", "-}"), ("(*", "*)"), ("--[[", "]]"), ("[[", "]]"), ("<#", "#>"), ("#|", "|#")),
        )
    ),
    (re.compile(r"<<-?\s*['\"]?\\?(\w+)"), r"\1", "<<END\nx\nEND"),
    (re.compile(r'r(#+)"'), r'"\1', 'r#"\nx\n"#'),
    (re.compile(r'@"'), '"', '@"\nx\n"'),
)
_INSIDE = re.compile("str|comment|quot|dq|sq|heredoc|template|^interp$")  # names of states that are inside something
_EMBEDDED = {"script-content": "javascript", "style-content": "css"}  # states of HTML
_TRIES = 40  # what a token of a lexer without rules counts for


class Lines:
    """The tokens of one block's lines, in order. `tries` counts the rules that were looked at, at most."""

    def __init__(self, lexer: Lexer) -> None:
        from pygments.lexer import DelegatingLexer, ExtendedRegexLexer, RegexLexer

        self.tries = 0
        self._lexer = lexer
        self._states: list[str] = []
        self._until: tuple[str, Any] | None = None  # what ends the construct that was carried over, and its type
        self._inner: Lines | None = None
        self._context = _context(lexer)
        self._has_states = isinstance(lexer, RegexLexer) and not isinstance(
            lexer, (ExtendedRegexLexer, DelegatingLexer)
        )
        self._shapes: dict[str, list[Shape]] = {}

    def tokens(self, text: str) -> Iterator[tuple[Any, str]]:
        """The types and texts of a line, which has its line end."""
        if not self._has_states:
            return self._alone(text)
        if not self._states:
            # PHP is written without its opening tag in answers, and is no HTML then.
            php = ("root", "php") if self._lexer.name == "PHP" else ("root",)
            self._shapes = _shapes(type(self._lexer), *php)
            self._states = ["root"] if text.lstrip().startswith("<") else list(php)
        return self._stateful(text)

    def _alone(self, text: str) -> Iterator[tuple[Any, str]]:
        """A line for a lexer whose loop is its own: with the context that it has from the lines before, if any."""
        lexer: Any = self._lexer
        if self._context is None:
            tokens = lexer.get_tokens_unprocessed(text)
        else:
            self._context.text, self._context.pos, self._context.end = text, 0, len(text)
            tokens = lexer.get_tokens_unprocessed(context=self._context)
        for _at, token, value in tokens:
            self.tries += _TRIES
            yield token, value

    def _stateful(self, text: str) -> Iterator[tuple[Any, str]]:
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
            self.tries += len(rules)
            inner = self._embedded(text, at) if states[-1] in _EMBEDDED else None
            if inner is not None:
                yield from inner.tokens(text[at:])
                return
            if text[at] in self._shapes and (opened := self._carried(text, at)) is not None:
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
        for opening, closing, token in self._shapes[text[at]]:
            match = opening.match(text, at)
            if match is None:
                continue
            end = match.expand(closing) if match.re.groups else closing
            if text.find(end, match.end()) >= 0:
                continue
            if _INSIDE.search(self._states[-1]):
                return None
            self._until = end, token
            return token
        return None

    def _embedded(self, text: str, at: int) -> Lines | None:
        """Inside an element of HTML that holds another language, on a line that does not end it: who reads that."""
        state = self._states[-1]
        if f"</{state.partition('-')[0]}" in text[at:].lower():
            self._inner = None
            return None
        if self._inner is None:
            from pygments.lexers import find_lexer_class_by_name

            self._inner = Lines(find_lexer_class_by_name(_EMBEDDED[state])())
        return self._inner


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


def _context(lexer: Lexer) -> Any:
    """What an `ExtendedRegexLexer` keeps its place and its states in; None for other lexers."""
    from pygments.lexer import ExtendedRegexLexer, LexerContext

    if not isinstance(lexer, ExtendedRegexLexer):
        return None
    if lexer.name == "YAML":
        from pygments.lexers.data import YamlLexerContext

        return YamlLexerContext("", 0)  # type: ignore[no-untyped-call]
    return LexerContext("", 0)


@lru_cache(maxsize=32)
def _shapes(lexer: Any, *states: str) -> dict[str, list[Shape]]:
    """What this lexer takes as one token over several lines when it is in these states, by first character."""
    from pygments.lexer import RegexLexer

    found: dict[str, list[Shape]] = {}
    for opening, closing, text in _SHAPES:
        lexed = RegexLexer.get_tokens_unprocessed(lexer(), text + "\n", states)
        tokens = [(token, value) for _at, token, value in lexed if value]
        if tokens and tokens[0][1] == text and _is_text(tokens[0][0]):
            found.setdefault(text[0], []).append((opening, closing, tokens[0][0]))
    return found


def _is_text(token: Any) -> bool:
    from pygments.token import Comment, String

    return token in Comment or token in String
