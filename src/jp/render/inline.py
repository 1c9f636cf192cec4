"""Inline markdown while it comes: text is handed on as soon as nothing that was opened before it is undecided.

Parsing the pending text again at every word is quadratic in a line with an open bracket; a whole paragraph at its end
is late by a paragraph. Here each character is read once: the scanner makes nodes, emphasis is matched run by run, and
nodes before the first undecided opener go to the page. An opener is text once the line after its own has ended, or the
paragraph. Constructs with an end of their own (code spans, `<…>`, `](…)`) block the scanner until that end has come.

Reference links are not recognised, and HTML is text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jp.render.emphasis import Delimiter, Openers
from jp.render.ink import Break, Code, Ink, LinkEnd, LinkStart, Url
from jp.render.links import ENTITY, Incomplete, destination, unescape

if TYPE_CHECKING:
    from jp.render.ink import Node, Surface


HOLD_LINES = 1  # how many line ends an opener survives

PLAIN = re.compile(r"[^\\`*_\[\]<&~!\n:\x1b]+|:(?!//)|!(?!\[)")
SPECIAL = re.compile(r"[\\`*_\[<&~\x1b]|://")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_CODE = re.compile(r"`+")
_DELIMITERS = re.compile(r"\*+|_+|~+")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_URL = re.compile(r"://[^\s<>`\[\]\u2e80-\U0003ffff]*")
_URL_TAIL = "?!.,:;*_~'\")|"  # what may stand behind an address without being of it
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~\-]+@[\w.\-]+)>")
_ATTRIBUTE = r"""\s+[^\s"'=<>`/]+(?:\s*=\s*(?:[^\s"'=<>`]+|'[^'<>]*'|"[^"<>]*"))?"""
_HTML = re.compile(rf"<(?:[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?|/[A-Za-z][A-Za-z0-9-]*\s*|[!?][^<>]*)>")
_ANGLE = re.compile("[<>]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class Inline:
    """The text of one paragraph (heading, cell); `flags` is the style that lies under all of it."""

    def __init__(self, page: Surface, flags: int = 0) -> None:
        self._page = page
        self._flags = flags
        self._ink = Ink(page, flags)
        self._nodes: list[Node] = []
        self._done = 0  # nodes already on the page
        self._openers = Openers()
        self._deferred: list[Delimiter] = []  # runs behind an undecided bracket
        self._brackets: list[LinkStart] = []
        self._links: list[LinkStart] = []  # those brackets that may still become links, not images
        self._text = ""  # not yet scanned
        self._waiting: list[str] = []  # came while blocked
        self._waited = 0
        self._retry = 0
        self._blocked = ""  # characters one of which has to come before another look is worth it
        self._line = 0
        self._final = False
        self._last_runs: dict[int, int] | None = None  # of each length, where the last run of backticks is
        self._last = ""  # the last two characters scanned

    def feed(self, text: str) -> None:
        """Take text that ends in white space or where a line may break, so that no construct is cut inside."""
        if not self._nodes and not self._blocked and SPECIAL.search(text) is None:
            self._plain(text)
            return
        if self._blocked:
            self._waiting.append(text)
            self._waited += len(text)
            if "\n" in text or (self._waited >= self._retry and any(char in text for char in self._blocked)):
                self._resume()
            return
        self._text = text
        self._scan()

    def finish(self) -> None:
        """The paragraph ends: whatever is still open is text."""
        self._final = True
        if self._blocked:
            self._resume()
        self._line += HOLD_LINES + 1
        self._expire()
        self._settle()

    # Scanning

    def _plain(self, text: str) -> None:
        if text.endswith("\n"):
            before = (self._last + text[:-1])[-2:]
            self._page.text(text, self._flags)
            self._line += 1
            self._last = "\n"
            if before == "  ":
                self._page.hard_break()
        elif text:
            self._page.text(text, self._flags)
            self._last = (self._last + text)[-2:]

    def _resume(self) -> None:
        """Look again at what blocked, with all that has come since."""
        self._text += "".join(self._waiting)
        self._waiting.clear()
        self._blocked = ""
        self._scan()

    def _scan(self) -> None:
        """Make nodes of `_text`, up to what is not decided yet."""
        text = self._text
        nodes = self._nodes
        newest = self._line + text.count("\n")
        self._last_runs = None
        self._text = ""
        at = 0
        while at < len(text):
            match = PLAIN.match(text, at)
            if match is not None:
                nodes.append(match[0])
                at = match.end()
            else:
                may_wait = not self._final and newest - self._line <= HOLD_LINES
                end = self._construct(text, at, may_wait)
                if end < 0:
                    self._block(text, at)
                    break
                at = end
            self._last = text[at - 2 : at] if at >= 2 else (self._last + text[:at])[-2:]
        self._settle()

    def _block(self, text: str, start: int) -> None:
        self._text = text[start:]
        self._waited = len(self._text)
        self._retry = self._waited + self._waited // 4 if self._waited > 64 else 0
        self._blocked = {"`": "`", "<": "<>"}.get(text[start], ")")

    def _construct(self, text: str, at: int, may_wait: bool) -> int:
        """Read what begins with a special character; where it ends, or -1 when that has not come yet."""
        char = text[at]
        if char in "*_~":
            return self._delimiter(text, at)
        if char == "`":
            return self._code(text, at, may_wait)
        if char == "]":
            return self._close_bracket(text, at, may_wait)
        if char in "[!":
            image = char == "!"
            start = LinkStart(image, len(self._nodes), len(self._deferred), self._line)
            self._brackets.append(start)
            self._nodes.append(start)
            if not image:
                self._links.append(start)
            return at + (2 if image else 1)
        if char == "<":
            return self._angle(text, at, may_wait)
        if char == "\n":
            return self._newline(at)
        if char == "\\":
            following = text[at + 1 : at + 2]
            if following == "\n":
                self._nodes.append(Break("\\"))
                self._count_lines()
                return at + 2
            escaped = following in _PUNCTUATION and following != ""
            self._nodes.append(following if escaped else "\\")
            return at + (2 if escaped else 1)
        if char == "&":
            match = ENTITY.match(text, at)
            self._nodes.append(_CONTROL.sub("\ufffd", unescape(match[0])) if match else "&")
            return match.end() if match else at + 1
        if char == "\x1b":
            match = _SGR.match(text, at)
            self._nodes.append(match[0] if match else "")
            return match.end() if match else at + 1
        return self._url(text, at)

    def _newline(self, at: int) -> int:
        hard = self._last == "  "
        self._nodes.append(Break("" if hard else None))
        self._count_lines()
        return at + 1

    def _count_lines(self, lines: int = 1) -> None:
        if lines:
            self._line += lines
            self._expire()

    def _delimiter(self, text: str, at: int) -> int:
        match = _DELIMITERS.match(text, at)
        assert match is not None
        run = Delimiter(text[at], len(match[0]), len(self._nodes), self._line)
        run.flank(self._last[-1:], text[match.end() : match.end() + 1])
        self._nodes.append(run)
        if self._brackets:
            self._deferred.append(run)
        else:
            self._openers.add(run)
        return match.end()

    def _code(self, text: str, at: int, may_wait: bool) -> int:
        match = _CODE.match(text, at)
        assert match is not None
        length = len(match[0])
        closing = self._closing_run(text, match.end(), length)
        if closing >= 0:
            body = text[match.end() : closing].replace("\n", " ")
            if body.strip() and body[0] == body[-1] == " ":
                body = body[1:-1]
            self._nodes.append(Code(body))
            self._count_lines(text.count("\n", at, closing))
            return closing + length
        if may_wait:
            return -1
        self._nodes.append(match[0])
        return match.end()

    def _closing_run(self, text: str, start: int, length: int) -> int:
        if self._last_runs is None:
            self._last_runs = {len(match[0]): match.start() for match in _CODE.finditer(text)}
        if self._last_runs.get(length, -1) >= start:
            for match in _CODE.finditer(text, start):
                if len(match[0]) == length:
                    return match.start()
        return -1

    def _angle(self, text: str, at: int, may_wait: bool) -> int:
        following = text[at + 1 : at + 2]
        if not (following.isascii() and (following.isalnum() or (following and following in "/!?"))):
            self._nodes.append("<")
            return at + 1
        link = _AUTOLINK.match(text, at)
        if link is not None:
            target = link[1]
            self._nodes.append(Url(target, target if ":" in target.partition("@")[0] else f"mailto:{target}"))
            return link.end()
        tag = _HTML.match(text, at)
        if tag is not None:
            self._nodes.extend(_lines(tag[0]))
            self._count_lines(tag[0].count("\n"))
            return tag.end()
        if may_wait and _ANGLE.search(text, at + 1) is None:
            return -1
        self._nodes.append("<")
        return at + 1

    def _url(self, text: str, at: int) -> int:
        """`://`: a bare address when a scheme was just written."""
        last = self._nodes[-1] if self._nodes else ""
        for scheme in ("https", "http"):
            if isinstance(last, str) and last.endswith(scheme) and not last[: -len(scheme)][-1:].isalnum():
                match = _URL.match(text, at)
                assert match is not None
                rest = match[0]
                bare = rest.rstrip(_URL_TAIL)
                rest = rest[: len(bare) + _balance(bare, rest[len(bare) :])]
                if len(rest) > 3:
                    self._nodes[-1:] = [last[: -len(scheme)]] if last != scheme else []
                    self._nodes.append(Url(scheme + rest, scheme + rest))
                    return at + len(rest)
        self._nodes.append(":")
        return at + 1

    # Links

    def _close_bracket(self, text: str, at: int, may_wait: bool) -> int:
        if not self._brackets:
            self._nodes.append("]")
            return at + 1
        if text[at + 1 : at + 2] == "(" and self._brackets[-1].active:
            try:
                found = destination(text, at + 2)
            except Incomplete:
                if may_wait:
                    return -1
                found = None
            if found is not None:
                self._link_closed(found[0], text.count("\n", at, found[1]))
                return found[1]
        start = self._brackets.pop()
        if self._links and self._links[-1] is start:
            self._links.pop()
        self._nodes.append("]")
        self._undefer()
        return at + 1

    def _link_closed(self, target: str, lines: int) -> None:
        start = self._brackets.pop()
        start.target = target
        if len(self._nodes) == start.index + 2:
            only = self._nodes[-1]
            start.shown = (only.text if isinstance(only, Url) else only) == target
        inner = Openers()
        for run in self._deferred[start.deferred :]:
            inner.add(run)
        del self._deferred[start.deferred :]
        self._nodes.append(LinkEnd(start))
        if not start.image:
            self._no_links_around()
        self._undefer()
        self._count_lines(lines)

    def _no_links_around(self) -> None:
        """A link is in no other link: the brackets around it are text, though each still takes its closing one.

        That matters inside an image alone, so those outside of any are forgotten and hold nothing back.
        """
        for bracket in self._links:
            bracket.active = False
        self._links.clear()
        keep = 0
        while keep < len(self._brackets) and not self._brackets[keep].image:
            keep += 1
        del self._brackets[:keep]

    def _undefer(self) -> None:
        """Match the runs that no undecided bracket stands before any more."""
        released = self._brackets[0].deferred if self._brackets else len(self._deferred)
        if released:
            for run in self._deferred[:released]:
                self._openers.add(run)
            del self._deferred[:released]
            for bracket in self._brackets:
                bracket.deferred -= released

    # Handing on

    def _expire(self) -> None:
        """Openers that are too old are text."""
        oldest = self._line - HOLD_LINES - 1
        brackets = self._brackets
        keep = 0
        while keep < len(brackets) and brackets[keep].line <= oldest:
            keep += 1
        if keep:
            gone = keep
            while gone < len(brackets) and not brackets[gone].active:
                gone += 1
            del self._links[: sum(bracket.active and not bracket.image for bracket in brackets[:gone])]
            del brackets[:gone]
            self._undefer()
        self._openers.expire(oldest)

    def _settle(self) -> None:
        """Put on the page every node before the first undecided one."""
        nodes = self._nodes
        limit = len(nodes)
        if self._openers.stack:
            limit = self._openers.stack[0].index
        if self._brackets:
            limit = min(limit, self._brackets[0].index)
        write = self._ink.write
        for index in range(self._done, limit):
            write(nodes[index])
        self._done = limit
        if limit == len(nodes):
            nodes.clear()
            self._done = 0


def _balance(url: str, tail: str) -> int:
    """How much of the punctuation behind an address belongs to it: a `)` that has its `(` inside."""
    keep = 0
    opened = url.count("(") - url.count(")")
    for index, char in enumerate(tail):
        if char == ")" and opened > 0:
            opened -= 1
            keep = index + 1
    return keep


def _lines(text: str) -> list[Node]:
    """Text with soft line ends."""
    nodes: list[Node] = []
    for index, part in enumerate(text.split("\n")):
        if index:
            nodes.append(Break(None))
        nodes.append(part)
    return nodes
