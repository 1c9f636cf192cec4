"""The block structure of markdown, line by line: what contains a line, and what it is.

Containers (quotes, list items) and block starts follow CommonMark, without setext headings: they would turn text that
was shown into something else. A line that is still coming is taken as text of a paragraph as soon as nothing that may
follow can make it anything else; every other kind of line is taken whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jp.render import lines
from jp.render.code import CodeBlock, Effort
from jp.render.grid import Grid
from jp.render.inline import Inline
from jp.render.pen import BOLD, CODE, HEADING, MUTED
from jp.render.place import Container, Spot, begun, matched, skip

if TYPE_CHECKING:
    from jp.render.page import Page

_SPACED = frozenset(
    {"heading", "rule", "fence", "code", "html", "table", "underline", "source"}
)  # set apart even where the source does not


class Blocks:
    """Takes lines, writes to the page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._containers: list[Container] = []
        self._leaf = ""  # the open block: paragraph, row, table, fence, html, code or none
        self._inline: Inline | None = None
        self._row = ""  # a line that is the head of a table if the next one says so
        self._grid: Grid | None = None
        self._code: CodeBlock | None = None
        self._effort = Effort()
        self._html: lines.Html | None = None
        self._blanks = 0  # inside indented code
        self._last = ""  # the kind of the block before
        self._blank_seen = False

    @property
    def whole_lines(self) -> bool:
        """Whether a line that is not complete is not worth a look."""
        return self._leaf in ("fence", "html")

    def line(self, text: str) -> None:
        """Take a complete line, without its end."""
        if not text and self._blank_seen and not self._leaf:
            return  # one more empty line changes nothing
        source, text = text, lines.expand_tabs(text)
        spot = self._locate(text, complete=True)
        assert spot is not None
        if spot.kind == "blank":
            self._blank(spot)
            return
        content = text[spot.at :]
        if spot.kind == "continuation":
            self.text(lines.unexpanded(source, text, spot.at) + "\n")
            return
        if spot.continues:
            self._continue(spot, content)
            return
        if spot.kind == "delimiter":
            self._start_table(content)
            return
        self._begin(spot)
        self._start(spot, lines.unexpanded(source, text, spot.at) if spot.kind == "paragraph" else content)

    def partial(self, text: str) -> str | None:
        """Look at the beginning of a line, up to white space. Its text when it is a paragraph's, begun by this call."""
        source, text = text, lines.expand_tabs(text)
        spot = self._locate(text, complete=False)
        if spot is None or spot.kind not in ("paragraph", "continuation"):
            return None
        if spot.kind == "paragraph":
            self._begin(spot)
            self._start_paragraph()
        return lines.unexpanded(source, text, spot.at)

    def text(self, text: str) -> None:
        """More text of the open paragraph."""
        assert self._inline is not None
        self._inline.feed(text)

    def end(self) -> None:
        """The document ends."""
        self._close_leaf()
        self._close_containers(0)

    # Where a line belongs

    def _locate(self, text: str, *, complete: bool) -> Spot | None:
        spot = matched(text, self._containers)
        start = skip(text, spot.at)
        everything = spot.matched == len(self._containers)
        if start == len(text):
            if not complete:
                return None
            spot.kind = "blank"
            return spot
        if everything and self._leaf in ("fence", "html"):
            spot.kind, spot.continues = self._leaf, True
            return spot if complete else None
        if self._leaf == "row":
            rest = text[start:]
            if everything and complete and lines.is_delimiter_row(rest, len(lines.split_row(self._row))):
                spot.kind = "delimiter"
                return spot
            if everything and not complete and lines.may_be_delimiter_row(rest):
                return None
            self._release_row()
        if everything and self._leaf == "table" and text[start] == "|" and start - spot.at < 4:
            spot.kind, spot.continues = "table", True
            return spot if complete else None
        found = begun(text, spot, self._containers, paragraph=self._leaf == "paragraph", complete=complete)
        if found is not None and everything and found.kind == self._leaf == "code":
            found.continues = not found.opened
        return found

    # Beginning and ending

    def _begin(self, spot: Spot) -> None:
        """End what the new block ends, set it apart, and open its containers."""
        self._close_leaf()
        follows = len(self._containers) > spot.matched and self._containers[spot.matched].indent > 0
        self._close_containers(spot.matched)
        if self._wants_gap(spot, follows_item=follows):
            self._page.blank()
        self._blank_seen = False
        if spot.opened or self._containers:
            for container in self._containers:
                container.fresh = False
            for container in spot.opened:
                container.fresh = container is spot.opened[-1] and spot.kind == "empty"
                self._containers.append(container)
                self._page.prefixes.append(container.prefix)
            self._page.prefixes_changed()
        self._last = spot.kind

    def _wants_gap(self, spot: Spot, *, follows_item: bool) -> bool:
        if self._page.empty or (self._containers and self._containers[-1].fresh):
            return False
        if self._blank_seen:
            return True
        if spot.kind in ("underline", "source") or any(container.indent for container in self._containers):
            return False
        if spot.opened and spot.opened[0].indent and (follows_item or self._last not in _SPACED):
            return False
        return spot.kind in _SPACED or spot.kind == "row" or self._last in _SPACED

    def _close_containers(self, keep: int) -> None:
        if keep == len(self._containers):
            return
        if any(container.prefix.first is not None for container in self._containers[keep:]):
            self._page.marker_line()
        del self._containers[keep:]
        del self._page.prefixes[keep:]
        self._page.prefixes_changed()

    def _close_leaf(self) -> None:
        if self._leaf == "row":
            self._release_row()
        if self._inline is not None:
            self._inline.finish()
            self._page.end_block()
            self._inline = None
        if self._grid is not None:
            self._grid.end()
            self._grid = None
        self._code = None
        self._html = None
        self._blank_seen = self._blank_seen or self._blanks > 0
        self._blanks = 0
        self._leaf = ""

    def _blank(self, spot: Spot) -> None:
        everything = spot.matched == len(self._containers)
        if everything and self._leaf == "fence":
            self._code_line("")
            return
        if everything and self._html is not None and self._html.end is not None:
            self._page.blank()
            return
        if everything and self._leaf == "code":
            self._blanks += 1
            return
        self._close_leaf()
        self._close_containers(spot.matched)
        if self._containers and self._containers[-1].indent and self._containers[-1].fresh:
            self._containers[-1].empty = True
        self._blank_seen = True

    # Blocks

    def _start(self, spot: Spot, content: str) -> None:
        if spot.kind == "paragraph":
            self._start_paragraph()
            self.text(content + "\n")
        elif spot.kind == "heading":
            self._heading(content)
        elif spot.kind == "rule":
            style = self._page.style
            rule = "─" * self._page.text_width if style.hr == "line" else content.strip()
            self._page.line([(rule, MUTED, None)])
        elif spot.kind == "underline":
            self._page.line([("─" * len(content.strip()) if content[0] == "-" else content.strip(), MUTED, None)])
        elif spot.kind == "source":
            self._html = lines.Html(None)
            self._leaf = "html"
            self._html_line(content)
        elif spot.kind == "fence":
            self._start_fence(spot, content)
        elif spot.kind == "html":
            self._html = lines.html_block(content, interrupts=False)
            self._leaf = "html"
            self._html_line(content)
        elif spot.kind == "code":
            self._leaf = "code"
            self._indented(content)
        elif spot.kind == "row":
            self._row = content
            self._leaf = "row"

    def _continue(self, spot: Spot, content: str) -> None:
        if spot.kind == "fence":
            self._code_line(content)
        elif spot.kind == "html":
            self._html_line(content)
        elif spot.kind == "code":
            self._indented(content)
        elif self._grid is not None:
            self._grid.add(lines.split_row(content))

    def _start_paragraph(self) -> None:
        self._leaf = "paragraph"
        self._inline = Inline(self._page)

    def _heading(self, content: str) -> None:
        marks, text = lines.heading(content)
        self._page.text(f"{marks} ", HEADING | BOLD)
        inline = Inline(self._page, HEADING | BOLD)
        inline.feed(text + "\n")
        inline.finish()
        self._page.end_block()

    def _release_row(self) -> None:
        """The line that might have been the head of a table is text."""
        if self._inline is None:
            self._start_paragraph()
        self._leaf = "paragraph"
        self._last = "paragraph"
        self.text(self._row + "\n")

    def _start_table(self, delimiter: str) -> None:
        if self._inline is not None:
            self._inline.finish()
            self._page.end_block()
            self._inline = None
            if not any(container.indent for container in self._containers):
                self._page.blank()
        self._leaf = self._last = "table"
        self._grid = Grid(self._page, lines.split_row(self._row), lines.alignments(delimiter))

    def _start_fence(self, spot: Spot, content: str) -> None:
        match = lines.FENCE.match(content)
        assert match is not None
        marks, info = (match[1], match[2]) if match[1] else (match[3], match[4])
        self._leaf = "fence"
        self._code = CodeBlock(self._page, self._effort, marks, info.strip(), spot.indent)

    def _code_line(self, content: str) -> None:
        assert self._code is not None
        if self._code.line(content):
            self._close_leaf()

    def _html_line(self, content: str) -> None:
        assert self._html is not None
        self._page.line([(content.expandtabs(4), 0, None)])
        if self._html.end is not None and self._html.end.search(content):
            self._close_leaf()

    def _indented(self, content: str) -> None:
        for _ in range(self._blanks):
            self._page.blank()
        self._blanks = 0
        self._page.line([(content.rstrip().expandtabs(4), CODE, None)])
