"""HTML as text to read, in the manner of Markdown: headings, lists, links and code are kept, the rest is words.

Run as a process of its own (HTML on stdin, text on stdout): what somebody has put on a page may take for ever to parse.
"""

import sys
from html.parser import HTMLParser

LIFE_SECS = 60

_IGNORED = frozenset(("script", "style", "template", "svg", "head", "iframe", "object", "canvas", "math", "select"))
_GROUPS = frozenset(("div", "main", "header", "footer", "nav", "aside", "form", "fieldset", "center", "body", "html"))
_BLOCKS = _GROUPS | {"tr", "dt", "dd", "address", "details", "summary", "figcaption"}
_PARAGRAPHS = frozenset(("p", "table", "dl", "figure", "section", "article", "blockquote", "pre", "ul", "ol"))
_CELLS = frozenset(("td", "th"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset(("ul", "ol", "menu"))


def text_of(html: str, base: str) -> str:
    """The text of a page whose address is `base`, which its links are relative to."""
    page = _Page(base)
    page.feed(html)
    page.close()
    return page.finished()


class _Page(HTMLParser):
    """Collects lines. `_words` is the line that is being filled."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._lines: list[str] = []
        self._words: list[str] = []
        self._ignored: list[str] = []
        self._pre = 0
        self._lists: list[int | None] = []  # the next number; None for a list of points
        self._quotes = 0
        self._prefix = ""  # of the next line that has words
        self._link: tuple[str, int] | None = None
        self._title: list[str] = []
        self._in_title = False

    def finished(self) -> str:
        """All of it, with at most one empty line between two others."""
        if self._pre:
            self._pre = 1
            self._end_pre()
        self._break()
        title = " ".join("".join(self._title).split())
        lines = [f"Title: {title}", ""] if title else []
        for line in self._lines:
            if line or (lines and lines[-1]):
                lines.append(line)
        return "\n".join(lines).strip("\n") + "\n"

    # --- what the parser calls ---

    def handle_starttag(self, tag: str, attrs: "list[tuple[str, str | None]]") -> None:
        """A tag begins."""
        self._in_title = tag == "title" and not self._title
        if tag == "body":
            self._ignored.clear()  # of a head that was not closed
        if tag in _IGNORED:
            self._ignored.append(tag)
        if self._ignored:
            return
        known = dict(attrs)
        if tag in _HEADINGS:
            self._paragraph()
            self._prefix = "#" * _HEADINGS[tag] + " "
        elif tag == "br":
            self._words.append("\n") if self._pre else self._break()
        elif tag == "hr":
            self._paragraph()
            self._lines += ["---", ""]
        elif tag == "a":
            self._open_link(known.get("href") or "")
        elif tag == "img" and (known.get("alt") or "").strip():
            self._words.append(f"[image: {known['alt']}]")
        elif tag in ("code", "kbd", "samp", "tt") and not self._pre:
            self._words.append("`")
        elif tag in _CELLS:
            self._words.append(" | " if self._words else "")
        else:
            self._start_block(tag)

    def handle_endtag(self, tag: str) -> None:
        """A tag ends; one that never began does no harm."""
        self._in_title = False
        if self._ignored:
            if tag in self._ignored:
                while self._ignored.pop() != tag:
                    pass
            return
        if tag in _HEADINGS or tag in _PARAGRAPHS - _LISTS - {"pre", "blockquote"}:
            self._paragraph()
        elif tag == "a":
            self._close_link()
        elif tag in ("code", "kbd", "samp", "tt") and not self._pre:
            self._words.append("`")
        elif tag in _LISTS:
            self._break()
            if self._lists:
                self._lists.pop()
            if not self._lists:
                self._paragraph()
        elif tag == "pre" and self._pre:
            self._end_pre()
        elif tag == "blockquote":
            self._paragraph()
            self._quotes = max(0, self._quotes - 1)
        elif tag in _BLOCKS or tag == "li":
            self._break()

    def handle_data(self, data: str) -> None:
        """Words."""
        if self._in_title:
            self._title.append(data)
        elif not self._ignored:
            self._words.append(data)

    # --- the parts ---

    def _start_block(self, tag: str) -> None:
        if tag == "li":
            self._break()
            number = self._lists[-1] if self._lists else None
            if number is not None:
                self._lists[-1] = number + 1
            indent = "  " * max(0, len(self._lists) - 1)
            self._prefix = f"{indent}{'-' if number is None else f'{number}.'} "
        elif tag in _LISTS:
            self._break() if self._lists else self._paragraph()
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "pre":
            self._paragraph()
            self._pre += 1
        elif tag == "blockquote":
            self._paragraph()
            self._quotes += 1
        elif tag in _PARAGRAPHS:
            self._paragraph()
        elif tag in _BLOCKS:
            self._break()

    def _break(self) -> None:
        """The line ends here."""
        if self._pre:
            return
        self._close_link()
        line = " ".join("".join(self._words).split())
        self._words.clear()
        if line.strip("`| "):
            self._lines.append("> " * self._quotes + self._prefix + line)
            self._prefix = ""

    def _paragraph(self) -> None:
        self._break()
        if not self._prefix.strip("# 0123456789.") or self._prefix.startswith("#"):
            self._prefix = ""
        if not self._lists and not self._pre and self._lines:
            self._lines.append("")

    def _end_pre(self) -> None:
        self._pre -= 1
        if self._pre:
            return
        self._link = None
        code = "".join(self._words).rstrip().lstrip("\n")
        self._words.clear()
        fence = "```"
        while fence in code:
            fence += "`"
        self._lines += ["", f"{fence}\n{code}\n{fence}", ""]

    def _open_link(self, href: str) -> None:
        self._close_link()
        target = href.strip()
        if target and not target.startswith("#") and not self._pre:
            self._link = target, len(self._words)

    def _close_link(self) -> None:
        if self._link is None or self._pre:
            return
        (href, start), self._link = self._link, None
        text = " ".join("".join(self._words[start:]).split())
        where = self._absolute(href)
        if text and where:
            lead = " " if "".join(self._words[start:])[:1].isspace() else ""
            self._words[start:] = [f"{lead}[{text}]({where})"]

    def _absolute(self, href: str) -> str:
        """Where a link leads to; nothing for one that is not an address."""
        from urllib.parse import urljoin

        try:
            where = urljoin(self._base, href)
        except ValueError:
            return ""
        return where if where.partition(":")[0].lower() in ("http", "https", "mailto") else ""


def main() -> None:
    """The first line of stdin is the page's address."""
    import signal

    if hasattr(signal, "alarm"):
        signal.alarm(LIFE_SECS)
    base, _, html = sys.stdin.buffer.read().decode("utf-8", "replace").partition("\n")
    sys.stdout.buffer.write(text_of(html, base).encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
