"""A stored conversation as a document: rendered where stdout takes escapes, readable markdown elsewhere.

Each piece is rendered by itself, so that a fence left open in one message does not swallow the next one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jp.terminal.sanitize import Sanitizer, one_line
from jp.terminal.target import Target
from jp.terminal.width import truncate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jp.config.sections.style import Style
    from jp.config.sections.tools import Tools, ToolStyle
    from jp.render.style import MarkdownStyle
    from jp.render.tool import Look
    from jp.terminal.printer import Printer

_NO_NAME = "(unknown)"  # of a tool whose call is not there
_LINE = 200  # columns of a question, and of its answer
_SLICE = 1 << 16
_FENCES = re.compile("`{3,}")


def print_events(
    printer: Printer,
    style: Style,
    events: Iterable[Any],
    *,
    tools: Tools | None = None,
    hide_reasoning: bool = False,
    hide_tool_calls: bool = False,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Print the events of a conversation on stdout. `style` and `tools` are those sections of the configuration.

    A tool is shown by its style, as in a turn; but a file gets a result whole, however many lines a terminal gets.
    """
    transcript = _Transcript(printer, style, environ)
    transcript.tools = tools
    transcript.hide_tools = hide_tool_calls or not style.tool_call.show
    for event in events:
        show = _SHOW.get(getattr(event, "type", ""))
        if show is not None and not (hide_reasoning and isinstance(getattr(event, "reasoning", None), str)):
            show(transcript, event)
    _unanswered(transcript, "")


class _Transcript:
    def __init__(self, printer: Printer, style: Style, environ: Mapping[str, str] | None) -> None:
        self._printer = printer
        self._mode = style.sanitize
        self.pretty = printer.caps(Target.OUT).escapes
        self._role = ""
        self._begun = False
        self._markdown: MarkdownStyle | None = None
        self.tools: Tools | None = None
        self.hide_tools = False
        self.calls: dict[str, str] = {}  # the tool of each call, by the call's id
        self.asked: dict[str, Any] = {}  # questions without an answer yet, by their id
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

    def lines(self, text: str) -> None:
        """Lines that are sanitized and as they are to be, set apart from what is before."""
        if self._begun and text:
            self._printer.out("\n")
        self._begun = self._begun or bool(text)
        self._printer.out(text)

    def fenced(self, text: str, language: str = "") -> None:
        """Text in a fence that nothing in it ends."""
        longest = max((len(run) for run in _FENCES.findall(text)), default=2)
        fence = "`" * (longest + 1)
        self.piece(f"{fence}{language}\n{text.rstrip()}\n{fence}")

    def look(self) -> Look:
        """The channel, for what shows tools."""
        from jp.render.tool import Look

        return Look(self._markdown, self._printer.width(Target.OUT), self._mode)

    def tool(self, name: str) -> tuple[str, ToolStyle]:
        """How a tool is called, and its style."""
        from jp.render.tool import DEFAULT, label

        known = None if self.tools is None else self.tools.get(name)
        if known is not None and known.style is not None:
            return label(name, known.source), known.style
        return label(name), DEFAULT if self.tools is None else self.tools.defaults.style


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
    transcript.calls[event.id] = event.name
    name, style = transcript.tool(event.name)
    if transcript.hide_tools or style.hidden:
        return
    transcript.role("Assistant")
    if transcript.pretty:
        from jp.render.tool import call

        transcript.lines(call(name, event.arguments, style, transcript.look()))
        return
    from jp.render.arguments import in_parentheses, pretty

    as_call = style.parameters == "function_call"
    transcript.piece(f"Tool call: {_code(name + in_parentheses(event.arguments) if as_call else name)}")
    if event.arguments and not as_call and style.parameters != "off":
        transcript.fenced(pretty(event.arguments), "json")


def _result(transcript: _Transcript, event: Any) -> None:
    _unanswered(transcript, f"{event.id}.")
    name, style = transcript.tool(transcript.calls.get(event.id, _NO_NAME))
    if transcript.hide_tools or style.hidden:
        return
    from jp.render.tool import inline, result

    if transcript.pretty:
        transcript.role("Assistant")
        transcript.lines(result(name, event.content, style, transcript.look(), is_error=event.is_error))
        return
    transcript.role("Tool")
    transcript.piece(f"Tool {_code(name)} failed:" if event.is_error else f"Tool {_code(name)} is done:")
    if inline(style, is_error=event.is_error) != "off":
        transcript.fenced(event.content)


def _question(transcript: _Transcript, event: Any) -> None:
    transcript.asked[event.id] = event


def _answer(transcript: _Transcript, event: Any) -> None:
    question = transcript.asked.pop(event.id, None)
    answer = event.answer if isinstance(event.answer, str) else json.dumps(event.answer, ensure_ascii=False)
    if question is not None and _is_secret(question):
        answer = "(redacted)"
    _asked(transcript, question, f"-> {_brief(answer)}")


def _unanswered(transcript: _Transcript, prefix: str) -> None:
    """Questions whose id begins so will not be answered any more."""
    for key in [key for key in transcript.asked if key.startswith(prefix)]:
        _asked(transcript, transcript.asked.pop(key), "(not answered)")


def _asked(transcript: _Transcript, question: Any, outcome: str) -> None:
    """Who asked what, and what came of it, on one line."""
    source = getattr(question, "source", None)
    source = source if isinstance(source, dict) else {"source": source}
    who = str(source.get("name") or source.get("source") or "other")
    if source.get("source") == "tool":
        who, style = transcript.tool(who)
        if style.hidden:
            return
    text = _brief(str(question.question.get("text", ""))) if question is not None else "(a question that is not there)"
    transcript.role("Assistant" if transcript.pretty else "Tool")
    transcript.lines(f"{one_line(who)} asked: {text} {outcome}\n")


def _brief(text: str) -> str:
    """The first line of a text."""
    first, _, rest = text.strip().partition("\n")
    return truncate(one_line(first[: 4 * _LINE]) + (" …" if rest else ""), _LINE)


def _is_secret(question: Any) -> bool:
    kind = question.question.get("answer_type")
    kind = kind.get("type") if isinstance(kind, dict) else kind
    return isinstance(kind, str) and kind.lower() == "secret"


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
