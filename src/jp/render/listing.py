"""Text that is no markdown on a channel with escapes: lines as they were written, or code without fences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jp.render.code import CodeBlock, Effort
from jp.render.page import Page

if TYPE_CHECKING:
    from jp.render.style import MarkdownStyle

_TAB = 4


class Listing:
    """Fed and ended like a `MarkdownStream`.

    With a `language` (`text` is one) its lines are code, which wait for their ends; without, they are just text.
    """

    in_code = True

    def __init__(self, style: MarkdownStyle, language: str = "") -> None:
        self._page = Page(style)
        self._code = _Unfenced(self._page, language) if language else None
        self._begun: list[str] = []  # of a line of code that is not complete

    def feed(self, text: str) -> str:
        """Take a chunk; what can be shown now."""
        *complete, rest = text.split("\n")
        for line in complete:
            self._line(line)
        if rest and self._code is not None:
            self._begun.append(rest)
        elif rest:
            self._page.text_now(rest.expandtabs(_TAB))
        return self._page.take()

    def end(self) -> str:
        """The text ends: its last line is ended."""
        if self._begun or self._page.open:
            self._line("")
        return self._page.take()

    def _line(self, text: str) -> None:
        """The rest of a line, and its end."""
        if self._code is not None:
            self._code.line("".join([*self._begun, text]))
            self._begun.clear()
        elif text or self._page.open:
            self._page.text_now(text.expandtabs(_TAB))
            self._page.end_line()
        else:
            self._page.blank()


class _Unfenced(CodeBlock):
    """The lines of a code block, and nothing around them."""

    def __init__(self, page: Page, language: str) -> None:
        super().__init__(page, Effort(), "```", language, 0)
        page.take()  # the fence

    def _closes(self, text: str) -> bool:  # noqa: ARG002 (no line does)
        return False
