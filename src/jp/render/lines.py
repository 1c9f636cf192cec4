"""What a line of markdown begins: pure recognisers for block starts, as CommonMark has them.

A line that is still coming can be looked at too; then what depends on its rest is undecided.
"""

from __future__ import annotations

import re

RULE = re.compile(r"(?:(?:-\s*){3,}|(?:_\s*){3,}|(?:\*\s*){3,})$")
_MAYBE_RULE = re.compile(r"(?:-[-\s]*|_[_\s]*|\*[*\s]*)$")
_HEADING_START = re.compile(r"(#{1,6})(?:\s|$)")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
BULLET = re.compile(r"([-+*])( +(?=\S)|\s*$)")
ORDERED = re.compile(r"(\d{1,9})([.)])( +(?=\S)|\s*$)")
_UNDERLINE = re.compile(r"(?:={2,}|-{2,})\s*$")
_MARKERS = re.compile(r"[\t >*+.)\d-]*")
_BARE_MARKER = re.compile(r"(?:[-+*]|\d{1,9}[.)]?)\s*$")
TASK = re.compile(r"\[([ xX])\](?= )")
_DELIMITER_ROW = re.compile(r"\|?[ ]*:?-+:?(?:[ ]*\|[ ]*:?-+:?)*[ ]*\|?$")
_MAYBE_DELIMITER_ROW = re.compile(r"[-|:\s]*$")

_HTML_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
# How an HTML block begins and what its last line holds; None: it ends before a blank line.
_HTML_STARTS: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|$)", re.I),
        re.compile(r"</(?:script|pre|style|textarea)>", re.I),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(rf"</?(?:{_HTML_BLOCK_TAGS})(?:[\s>]|/>|$)", re.I), None),
)
_HTML_ALONE = re.compile(
    r"<(?:/[A-Za-z][\w-]*\s*|[A-Za-z][\w-]*(?:\s+[\w:.@-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?)*\s*/?)>\s*$"
)


class Html:
    """An HTML block: `end` is what its last line holds, None where a blank line ends it."""

    __slots__ = ("end",)

    def __init__(self, end: re.Pattern[str] | None) -> None:
        self.end = end


def expand_tabs(text: str) -> str:
    """Text with the tabs among its indentation and markers as spaces; further ones are not structure."""
    if "\t" not in text:
        return text
    match = _MARKERS.match(text)
    assert match is not None
    end = match.end() if match.end() < len(text) else len(text.rstrip(" \t"))
    return text[:end].expandtabs(4) + text[end:]


def unexpanded(source: str, expanded: str, at: int) -> str:
    """What stands at `at` of a line whose tabs were expanded, as it was written."""
    if source is expanded or source == expanded:
        return expanded[at:]
    count = sum(not char.isspace() for char in expanded[:at])
    for index, char in enumerate(source):
        if not char.isspace():
            if count == 0:
                return source[index:]
            count -= 1
    return ""


def html_block(rest: str, *, interrupts: bool) -> Html | None:
    """The HTML block that this line begins, if any; a lone tag does not interrupt a paragraph."""
    for start, end in _HTML_STARTS:
        if start.match(rest):
            return Html(end)
    if not interrupts and _HTML_ALONE.match(rest):
        return Html(None)
    return None


def leaf(rest: str, *, complete: bool, in_paragraph: bool) -> str | None:
    """The kind of block that text begins (container markers were removed); None where it is not decided yet.

    One of rule, heading, fence, html, row (of a table, perhaps) and paragraph; below a line of a paragraph also
    underline (a setext heading's: its text is shown already) and source (a table without outer bars: so is its head).
    """
    first = rest[:1]
    if first.isalnum() or not first.isascii():
        return "paragraph"
    if not complete and _may_become_more(rest, in_paragraph=in_paragraph):
        return None
    if in_paragraph and first in "=-:" and complete:
        if _UNDERLINE.match(rest):
            return "underline"
        if "|" in rest and _DELIMITER_ROW.match(rest.strip()):
            return "source"
    if first in "-_*" and RULE.match(rest):
        return "rule"
    if first == "#" and _HEADING_START.match(rest):
        return "heading"
    if first in "`~" and FENCE.match(rest):
        return "fence"
    if first == "<" and html_block(rest, interrupts=in_paragraph):
        return "html"
    if first == "|" and rest.count("|") > 1:
        return "row"
    return "paragraph"


def _may_become_more(rest: str, *, in_paragraph: bool) -> bool:
    """Whether the rest of the line decides what it is: everything that is no paragraph is taken line by line."""
    first = rest[0]
    if in_paragraph and first in "=-:" and (_UNDERLINE.match(rest) or may_be_delimiter_row(rest)):
        return True
    if first in "-_*":
        return _MAYBE_RULE.match(rest) is not None
    if first == "#":
        return _HEADING_START.match(rest) is not None
    if first in "`~":
        return rest.startswith((first * 3, first * 3))
    return first in "<|"


def heading(rest: str) -> tuple[str, str]:
    """The marks and the text of a heading; marks that close it are no text."""
    match = _HEADING_START.match(rest)
    assert match is not None
    text = rest[match.end() :].strip()
    without = text.rstrip("#")
    if without != text and (not without or without[-1].isspace()):
        text = without.rstrip()
    return match[1], text


def is_delimiter_row(rest: str, columns: int) -> bool:
    """Whether this is the line below the head of a table of so many columns."""
    row = rest.strip()
    return "|" in row and _DELIMITER_ROW.match(row) is not None and len(split_row(row)) == columns


def may_be_delimiter_row(rest: str) -> bool:
    """Whether text that is still coming can be the line below a table's head."""
    return _MAYBE_DELIMITER_ROW.match(rest) is not None


def is_bare_marker(rest: str) -> bool:
    """Whether text that is still coming is the marker of a list item and nothing behind it, so far."""
    return _BARE_MARKER.match(rest) is not None


def split_row(text: str) -> list[str]:
    """The cells of a table row; an escaped bar is a bar."""
    text = text.strip()
    if text.startswith("|"):
        text = text[1:]
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    if "\\|" not in text:
        return [cell.strip() for cell in text.split("|")]
    cells = text.replace("\\|", "\0").split("|")
    return [cell.replace("\0", "|").strip() for cell in cells]


def alignments(text: str) -> list[str]:
    """`<`, `^` or `>` for each column of a delimiter row."""
    found = []
    for cell in split_row(text):
        left, right = cell.startswith(":"), cell.endswith(":")
        found.append("^" if left and right else ">" if right else "<")
    return found
