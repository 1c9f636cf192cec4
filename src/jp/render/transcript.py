"""A stored conversation as a document: rendered where stdout takes escapes, readable markdown elsewhere.

Each piece is rendered by itself, so that a fence left open in one message does not swallow the next one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jp.terminal.sanitize import Sanitizer, one_line
from jp.terminal.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jp.config.sections.style import Style
    from jp.render.style import MarkdownStyle
    from jp.terminal.printer import Printer

RESULT_LINES = 10  # of a tool's result on a terminal; a file gets all of it
_SLICE = 1 << 16
_FENCES = re.compile("`{3,}")


def print_events(
    printer: Printer,
    style: Style,
    events: Iterable[Any],
    *,
    hide_reasoning: bool = False,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Print the events of a conversation on stdout. `style` is the `style` section of the configuration."""
    transcript = _Transcript(printer, style, environ)
    for event in events:
        show = _SHOW.get(getattr(event, "type", ""))
        if show is not None and not (hide_reasoning and isinstance(getattr(event, "reasoning", None), str)):
            show(transcript, event)


class _Transcript:
    def __init__(self, printer: Printer, style: Style, environ: Mapping[str, str] | None) -> None:
        self._printer = printer
        self._mode = style.sanitize
        self.pretty = printer.caps(Target.OUT).escapes
        self._role = ""
        self._begun = False
        self._markdown: MarkdownStyle | None = None
        if self.pretty:
            import os

            from jp.render.style import markdown_style

            self._markdown = markdown_style(
                style,
                environ=os.environ if environ is None else environ,
                width=printer.width(Target.OUT),
                colour=printer.colour(Target.OUT),
            )

    def role(self, name: str) -> None:
        """A heading, unless the one before is the same."""
        if name != self._role:
            self._role = name
            self.piece(f"## {one_line(name)}")

    def piece(self, text: str) -> None:
        """One block of markdown, set apart from the one before."""
        sanitizer = Sanitizer(self._mode)
        text = (sanitizer.feed(text) + sanitizer.end()).strip("\n")
        if not text.strip():
            return
        if self._begun:
            self._printer.out("\n")
        self._begun = True
        if self._markdown is None:
            self._printer.out(text + "\n")
            return
        from jp.render.markdown import MarkdownStream

        stream = MarkdownStream(self._markdown)
        for start in range(0, len(text), _SLICE):
            self._printer.out(stream.feed(text[start : start + _SLICE]))
        self._printer.out(stream.end())

    def fenced(self, text: str, language: str = "") -> None:
        """Text in a fence that nothing in it ends."""
        if self.pretty:
            lines = text.rstrip("\n").split("\n")
            if len(lines) > RESULT_LINES:
                more = len(lines) - RESULT_LINES
                text = "\n".join(lines[:RESULT_LINES]) + f"\n… {more} more line{'s' if more > 1 else ''}"
        longest = max((len(run) for run in _FENCES.findall(text)), default=2)
        fence = "`" * (longest + 1)
        self.piece(f"{fence}{language}\n{text.rstrip()}\n{fence}")


def _request(transcript: _Transcript, event: Any) -> None:
    author = event.author if isinstance(getattr(event, "author", None), str) else ""
    transcript.role(author or "User")
    transcript.piece(event.content)


def _response(transcript: _Transcript, event: Any) -> None:
    transcript.role("Assistant")
    if isinstance(event.reasoning, str):
        quoted = "\n".join(f"> {line}".rstrip() for line in event.reasoning.strip("\n").split("\n"))
        transcript.piece(quoted)
    elif isinstance(event.message, str):
        transcript.piece(event.message)
    else:
        transcript.fenced(json.dumps(event.data, ensure_ascii=False, indent=2), "json")


def _call(transcript: _Transcript, event: Any) -> None:
    transcript.role("Assistant")
    transcript.piece(f"Tool call: {_code(event.name)}")
    if event.arguments:
        transcript.fenced(json.dumps(event.arguments, ensure_ascii=False, indent=2), "json")


def _result(transcript: _Transcript, event: Any) -> None:
    transcript.role("Tool")
    if event.is_error:
        transcript.piece("Error:")
    transcript.fenced(event.content)


def _question(transcript: _Transcript, event: Any) -> None:
    transcript.role("Tool")
    transcript.piece(str(event.question.get("text", "")))


def _answer(transcript: _Transcript, event: Any) -> None:
    transcript.role("User")
    answer = event.answer if isinstance(event.answer, str) else json.dumps(event.answer, ensure_ascii=False)
    transcript.piece(answer)


def _code(text: str) -> str:
    """Text as a code span."""
    text = one_line(text)
    return f"`{text}`" if "`" not in text else f"`` {text} ``"


_SHOW: dict[str, Callable[[_Transcript, Any], None]] = {
    "chat_request": _request,
    "chat_response": _response,
    "tool_call_request": _call,
    "tool_call_response": _result,
    "inquiry_request": _question,
    "inquiry_response": _answer,
}
