"""What inline markdown is made of, and how that is written: styles, links, hard breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jp.render.emphasis import Delimiter
from jp.render.pen import BOLD, CODE, ITALIC, LINK, STRIKE
from jp.terminal.osc import percent
from jp.terminal.sanitize import osc_text

if TYPE_CHECKING:
    from typing import Protocol

    from jp.render.style import MarkdownStyle

    class Surface(Protocol):
        """What inline text is written on: a page, or a cell that is laid out later."""

        @property
        def style(self) -> MarkdownStyle:
            """How it looks."""

        def text(self, text: str, flags: int = 0, link: str | None = None) -> None:
            """Text in the style of `flags`; `link` is what it leads to."""

        def space(self, flags: int = 0, link: str | None = None) -> None:
            """A space, where a line may break."""

        def hard_break(self, mark: str = "") -> None:
            """The line ends here; `mark` is what that was written with."""

        def new_link(self) -> None:
            """What follows is another link, though its target be the same."""


_TARGET_LIMIT = 2083  # terminals drop longer ones


class LinkStart:
    """A `[` or `![`; text unless `target` is set."""

    __slots__ = ("active", "deferred", "image", "index", "line", "shown", "target")

    def __init__(self, image: bool, index: int, deferred: int, line: int) -> None:
        self.image = image
        self.index = index
        self.deferred = deferred
        self.line = line
        self.target: str | None = None
        self.active = True  # may still become a link
        self.shown = False  # its text is its target


class LinkEnd:
    """The `]` that ends the text of a link, and its target."""

    __slots__ = ("start",)

    def __init__(self, start: LinkStart) -> None:
        self.start = start


class Code:
    """A code span's content."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Break:
    """A line end; `mark` is what a hard break was written with, None for a soft one."""

    __slots__ = ("mark",)

    def __init__(self, mark: str | None) -> None:
        self.mark = mark


class Url:
    """An address that is its own link: the text as written, and what it leads to."""

    __slots__ = ("target", "text")

    def __init__(self, text: str, target: str) -> None:
        self.text = text
        self.target = target


Node = str | Delimiter | LinkStart | LinkEnd | Code | Break | Url


class Ink:
    """Writes nodes in order. `flags` is the style that lies under all of them."""

    def __init__(self, page: Surface, flags: int) -> None:
        self._page = page
        self._flags = flags
        self._bold = self._italic = self._strike = 0
        self._links: list[LinkStart] = []  # open, outermost first

    def write(self, node: Node) -> None:
        """Write one node; styles that it opens stay open for the next ones."""
        page = self._page
        if isinstance(node, str):
            page.text(node, self._style(), self._link())
        elif isinstance(node, Delimiter):
            self._write_delimiter(node)
        elif isinstance(node, Break):
            self._write_break(node)
        elif isinstance(node, Code):
            text = node.text if page.style.colour else f"`{node.text}`"
            page.text(text, self._style() | CODE, self._link())
        elif isinstance(node, Url):
            page.new_link()
            link = self._link() if self._links else self._hyperlink(node.target)
            page.text(node.text, self._style() | LINK, link)
        elif isinstance(node, LinkStart):
            self._write_link_start(node)
        else:
            self._write_link_end(node.start)

    def _write_break(self, node: Break) -> None:
        self._page.space(self._style(), self._link())
        if node.mark is not None:
            self._page.hard_break(node.mark)

    def _style(self) -> int:
        flags = self._flags
        if self._bold:
            flags |= BOLD
        if self._italic:
            flags |= ITALIC
        if self._strike:
            flags |= STRIKE
        if self._links:
            flags |= LINK
        return flags

    def _link(self) -> str | None:
        return self._hyperlink(self._links[0].target) if self._links else None

    def _write_delimiter(self, run: Delimiter) -> None:
        for length in run.closes:
            self._toggle(run.char, length, -1)
        if run.count:
            self._page.text(run.char * run.count, self._style(), self._link())
        for length in run.opens:
            self._toggle(run.char, length, 1)

    def _toggle(self, char: str, length: int, by: int) -> None:
        if char == "~":
            self._strike += by
        elif length == 2:
            self._bold += by
        else:
            self._italic += by

    def _hyperlink(self, target: str | None) -> str | None:
        if target is None or not self._page.style.hyperlinks:
            return None
        target = percent(osc_text(target))
        return target if 0 < len(target) <= _TARGET_LIMIT else None

    def _write_link_start(self, start: LinkStart) -> None:
        if start.target is None:
            self._page.text("![" if start.image else "[", self._style(), self._link())
            return
        if not self._links:
            self._page.new_link()
        self._links.append(start)

    def _write_link_end(self, start: LinkStart) -> None:
        self._links.pop()
        if start.target and not self._links and not start.shown and not self._page.style.hyperlinks:
            self._page.text(f" ({osc_text(start.target)})", self._style())
