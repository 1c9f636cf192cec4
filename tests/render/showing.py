"""What a person sees of rendered text: it is fed to a terminal emulator, and the screen is read back."""

from __future__ import annotations

import re
from typing import Any

from pyghostty import Terminal  # type: ignore[import-untyped]

from jp.render.markdown import MarkdownStream
from jp.render.style import MarkdownStyle

_ESCAPES = re.compile("\x1b(?:\\[[0-9;:]*m|\\]8;[^\x1b]*\x1b\\\\)")


def rendered(text: str, **style: Any) -> str:
    """The bytes for a document that came in one piece."""
    return streamed([text], MarkdownStyle(**style))


def streamed(chunks: list[str], style: MarkdownStyle) -> str:
    stream = MarkdownStream(style)
    return "".join([*map(stream.feed, chunks), stream.end()])


def plain(text: str) -> str:
    """Text without its styles and hyperlinks."""
    return _ESCAPES.sub("", text)


class Screen:
    """A terminal that has printed some text."""

    def __init__(self, text: str, columns: int = 80, rows: int = 60) -> None:
        self._terminal = Terminal(columns, rows)
        self._terminal.feed(text.replace("\n", "\r\n").encode())
        self.text: str = "\n".join(line.rstrip() for line in self._terminal.text().split("\n")).rstrip("\n")

    def at(self, column: int, row: int) -> dict[str, Any]:
        """The style of one cell."""
        found: dict[str, Any] = self._terminal.style(column, row)
        return found

    def style(self, word: str) -> dict[str, Any]:
        """The style of the first character of the first line that has this word."""
        for row, line in enumerate(self._terminal.text().split("\n")):
            if word in line:
                from jp.terminal.width import display_width

                found: dict[str, Any] = self._terminal.style(display_width(line[: line.index(word)]), row)
                return found
        raise AssertionError(f"{word!r} is not on the screen:\n{self.text}")


def seen(text: str, **style: Any) -> str:
    """The screen for a document, without the spaces at line ends."""
    columns = max(style.get("width", 80), style.get("table_width", 0))
    return Screen(rendered(text, **style), columns=columns).text
