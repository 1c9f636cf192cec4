"""The page that markdown is written on: lines with prefixes (quote bars, list markers), wrapped at a width.

Text is placed word by word and never taken back. A word is final, and written, when something follows it that may begin
a new line: white space, or one of the characters of scripts that need no spaces. Every decision depends on the text
alone, so the bytes are the same however it came.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jp.render.pen import CODE, MUTED, Palette
from jp.terminal.width import display_width, head

if TYPE_CHECKING:
    from jp.render.style import MarkdownStyle

MIN_TEXT = 8  # columns that text keeps, however deep the nesting

# Scripts written without spaces; a line may break beside each of these characters.
FREE = (
    "\u2e80-\u2fff\u3000-\u30ff\u3130-\u33ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua4cf\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
_NOT_FIRST = (
    "、。，．・：；？！）］｝〉》」』】〕〗〙〛’”ー々〻ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ゛゜…‥％"
    ",.:;?!)\\]}\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f"
)
_NOT_LAST = r"（［｛〈《「『【〔〖〘〚‘“(\[{"
BREAK = re.compile(
    f"(?<=.)(?<![{_NOT_LAST}])(?![{_NOT_FIRST}])(?=.)(?:(?<=[{FREE}])|(?=[{FREE}]))",
    re.DOTALL,
)
_SPACES = re.compile(r"([ \t\r\f\v\n]+)")
_SGR = re.compile("\x1b\\[[0-9;:]*m")

Run = tuple[str, int, str | None]  # text, style flags, link target


class Prefix:
    """What a container puts before each of its lines; `first` is used once, where a list item has its marker."""

    __slots__ = ("first", "flags", "rest", "width")

    def __init__(self, rest: str, flags: int = MUTED, first: str | None = None) -> None:
        self.rest = rest
        self.first = first
        self.flags = flags
        self.width = display_width(rest)


class Page:
    """Collects output in `parts`; take it with `take()`. `prefixes` is the stack of open containers' prefixes."""

    def __init__(self, style: MarkdownStyle, *, palette: Palette | None = None, cell: bool = False) -> None:
        self.style = style
        self.palette = palette or Palette(style)
        self._cell = cell  # a page inside another one's line: no background of its own, long words are broken
        self.prefixes: list[Prefix] = []
        self.empty = True  # nothing was written yet
        self._parts: list[str] = []
        self._width = style.width
        self._column = 0  # of the text behind the prefix
        self._begun = False  # the line holds text
        self.open = False  # a line was begun and not ended
        self._flags = 0
        self._link: str | None = None
        self._links = 0
        self._foreign = False  # the text brought escapes of its own
        self._word: list[Run] = []
        self._word_width = 0  # while it is plain: a cluster may be cut over runs, so others are measured whole
        self._word_plain = True
        self._gap: Run | None = None
        self._broken = False  # a hard break waits for text
        self._mark = ""  # what it was written with

    def take(self) -> str:
        """What was finished since the last call."""
        out = "".join(self._parts)
        self._parts.clear()
        return out

    def prefixes_changed(self) -> None:
        """To be called after `prefixes` was changed and before the next text."""
        self._width = max(self.style.width - sum(prefix.width for prefix in self.prefixes), MIN_TEXT)

    @property
    def text_width(self) -> int:
        """Columns that a line has for text."""
        return self._width

    @property
    def indent(self) -> int:
        """Columns that quotes and lists take from the left."""
        return sum(prefix.width for prefix in self.prefixes)

    # Flowing text

    def text(self, text: str, flags: int = 0, link: str | None = None) -> None:
        """Add text of a paragraph; white space in it is where lines may break."""
        for index, part in enumerate(_SPACES.split(text)):
            if not part:
                continue
            if index % 2:
                self.space(flags, link, part.replace("\n", " ") if flags & CODE else " ")
            elif part.isascii() and part.isprintable() and (not self._word or self._word[-1][0].isascii()):
                self._word.append((part, flags, link))
                self._word_width += len(part)
            else:
                self._wide(part, flags, link)

    def space(self, flags: int = 0, link: str | None = None, gap: str = " ") -> None:
        """White space: what came before is a whole word now."""
        if self._word:
            self._place()
        if self._gap is None and self._begun:
            self._gap = (gap, flags, link)

    def hard_break(self, mark: str = "") -> None:
        """The next text begins a new line; at the end of a block what it was written with is text."""
        if self._word:
            self._place()
        self._gap = None
        self._broken = True
        self._mark = mark

    def end_block(self) -> None:
        """End a paragraph: its last word is written and its line ended."""
        if self._word:
            self._place()
        self._gap = None
        if self._broken:
            self._broken = False
            self.text_now(self._mark)
        if self.open:
            self.end_line()

    def _wide(self, part: str, flags: int, link: str | None) -> None:
        """A word with characters that are not ASCII: it may be breakable, and its width is not its length."""
        before = self._word[-1][0][-1] if self._word else ""
        start = 0
        for match in BREAK.finditer(before + part):
            at = match.start() - len(before)
            if at > start:
                self._add(part[start:at], flags, link)
            if at >= 0 and self._word:
                self._place()
            start = max(at, 0)
        self._add(part[start:], flags, link)

    def _add(self, text: str, flags: int, link: str | None) -> None:
        if "\x1b" in text and not self.style.colour:
            text = _SGR.sub("", text)
        if text:
            self._word_plain = False
            self._word.append((text, flags, link))

    def _measured(self) -> int:
        """The columns of the pending word."""
        if self._word_plain:
            return self._word_width
        text = "".join(run[0] for run in self._word)
        return display_width(_SGR.sub("", text) if "\x1b" in text else text)

    def _place(self) -> None:
        """Write the pending word, on a new line where it does not fit behind the gap."""
        width = self._measured()
        if self._cell and width > self._width:
            self._place_pieces()
            return
        self._write_word(width)

    def _write_word(self, width: int) -> None:
        gap = self._gap
        if self._broken:
            self._broken = False
            if self.open:
                self.end_line()
        elif self._begun and self._column + width + (len(gap[0]) if gap else 0) > self._width:
            self.end_line()
        elif gap is not None and self._begun:
            self._put(*gap)
            self._column += len(gap[0])
        self._gap = None
        for run in self._word:
            self._put(*run)
        self._column += width
        self._begun = True
        self._word.clear()
        self._word_width, self._word_plain = 0, True

    def _place_pieces(self) -> None:
        """Write a word that is wider than the line, in pieces that are not."""
        runs, self._word = self._word, []
        room = self._width
        taken = 0
        for text, flags, link in runs:
            at = 0
            while at < len(text):
                piece = head(text[at : at + 4 * room], room - taken) or ("" if taken else text[at])
                if piece:
                    self._word.append((piece, flags, link))
                    taken += display_width(piece)
                    at += len(piece)
                if not piece or taken > room:
                    self._write_word(taken)
                    taken = 0
        if self._word:
            self._write_word(taken)

    # Lines

    def begin_line(self) -> None:
        """Write the prefixes of a new line."""
        self.empty = False
        self.open = True
        if self.palette.base and not self._cell:
            self._parts.append(self.palette.base)
        for prefix in self.prefixes:
            text, prefix.first = (prefix.rest if prefix.first is None else prefix.first), None
            self._put(text, prefix.flags if text.strip() else 0)

    def end_line(self) -> None:
        """Leave the line with no style on it; under a background it is filled up to the width."""
        if self.style.background is not None and self.style.colour and not self._cell:
            missing = self._width - self._column
            if missing > 0:
                self._put(" " * missing, 0)
        self._move(0, None)
        if self._cell:
            if self._foreign:
                self._parts.append(self.palette.reset + self.palette.base)
        elif self.palette.base or self._foreign:
            self._parts.append(self.palette.reset)
        self._foreign = False
        self._parts.append("\n")
        self.open = False
        self._begun = False
        self._column = 0

    def line(self, runs: list[Run]) -> None:
        """One whole line that is not wrapped."""
        for text, flags, link in runs:
            self._put(text, flags, link)
            self._column += display_width(_SGR.sub("", text) if "\x1b" in text else text)
        if not self.open:
            self.begin_line()
        self.end_line()

    def blank(self) -> None:
        """An empty line inside the open containers: of them, only quote bars are seen."""
        bars = "".join(prefix.rest for prefix in self.prefixes).rstrip()
        if self.palette.base:
            self._parts.append(self.palette.base)
        if bars:
            self._put_raw(bars, MUTED, None)
        self._column = display_width(bars) - self.indent
        self.open = True
        self.end_line()

    def marker_line(self) -> None:
        """Show the markers of list items that ended without any text."""
        if any(prefix.first is not None for prefix in self.prefixes):
            self.begin_line()
            self.end_line()

    def text_now(self, text: str, flags: int = 0) -> None:
        """Text at the end of the line, written as it is."""
        if text:
            self._put(text, flags)
            self._column += display_width(text)

    def raw_line(self, styled: str, plain: str) -> None:
        """A whole line that has its own escapes, each ended where it began; `plain` is it without them."""
        if not self.open:
            self.begin_line()
        self._move(0, None)
        self._parts.append(styled)
        self._column += display_width(plain)
        self.end_line()

    # Style

    def _put(self, text: str, flags: int = 0, link: str | None = None) -> None:
        if not self.open:
            self.begin_line()
        self._put_raw(text, flags, link)

    def _put_raw(self, text: str, flags: int, link: str | None) -> None:
        if flags != self._flags or link != self._link:
            self._move(flags, link)
        if "\x1b" in text:
            self._foreign = True
        self._parts.append(text)

    def _move(self, flags: int, link: str | None) -> None:
        if link != self._link:
            if self._link is not None:
                self._parts.append("\x1b]8;;\x1b\\")
            if link is not None:
                self._parts.append(f"\x1b]8;id=jp{self._links};{link}\x1b\\")
            self._link = link
        if flags != self._flags:
            change = self.palette.change(self._flags, flags)
            if change:
                self._parts.append(change)
            self._flags = flags

    def new_link(self) -> None:
        """The next link is another one, also where it has the target of the one before."""
        self._links += 1
