"""The part of an inline link behind its text: `(target "title")`."""

from __future__ import annotations

import re

_SPACE = " \t\n"
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ANGLE = re.compile(r"(?:[^<>\n\\]|\\.)*")
_PLAIN = re.compile(r"(?:[^\s()\\\x00-\x1f]|\\[!-/:-@\[-`{-~]|\\)+")
_TITLES = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL),
    "(": re.compile(r"\(((?:[^()\\]|\\.)*)\)", re.DOTALL),
}
_MAX_NESTING = 8


class Incomplete(Exception):
    """The text ends before it is decided."""


def destination(text: str, at: int) -> tuple[str, int] | None:
    """The target written at `at`, just behind `](`, and where the link ends; None where there is no link.

    Raises `Incomplete` where more text could make it one.
    """
    at = _skip(text, at)
    if text[at] == "<":
        match = _ANGLE.match(text, at + 1)
        assert match is not None
        if match.end() == len(text):
            raise Incomplete
        if text[match.end()] != ">":
            return None
        target, at = match[0], match.end() + 1
    else:
        end = _plain(text, at)
        if end < 0:
            return None
        target, at = text[at:end], end
    behind = _skip(text, at)
    if text[behind] in _TITLES and behind > at:
        title = _TITLES[text[behind]].match(text, behind)
        if title is None:
            if text[behind] == "(" and "(" in text[behind + 1 :]:
                return None
            raise Incomplete
        behind = _skip(text, title.end())
    if text[behind] != ")":
        return None
    return unescape(target), behind + 1


def unescape(text: str) -> str:
    """Text with backslash escapes and entities resolved."""
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    if "&" in text:
        text = ENTITY.sub(_entity, text)
    return text


def _entity(match: re.Match[str]) -> str:
    from html import unescape as decoded

    return decoded(match[0])


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    if at == len(text):
        raise Incomplete
    return at


def _plain(text: str, at: int) -> int:
    """Where a target without angle brackets ends: parentheses in it are in pairs."""
    depth = 0
    while at < len(text):
        match = _PLAIN.match(text, at)
        if match is not None:
            at = match.end()
            continue
        if text[at] == "(":
            depth += 1
            if depth > _MAX_NESTING:
                return -1
        elif text[at] == ")":
            if depth == 0:
                return at
            depth -= 1
        else:
            return at if depth == 0 else -1
        at += 1
    raise Incomplete
