"""A turn as a person sees it, or as the source text where stdout goes to a pipe or a file.

The reply is data and goes to stdout. Reasoning, tool calls and what sets blocks apart are chrome, on stderr, whatever
the format: captured stdout is the reply and nothing else (RFD 104). On a terminal both arrive in order.

Nothing of markdown or highlighting is loaded for a channel without escapes.
"""

from jp.render.excerpt import Excerpt
from jp.terminal.sanitize import Sanitizer
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import PurePath
    from typing import Any

    from jp.config.sections.style import Style, Typewriter
    from jp.config.sections.tools import ToolStyle
    from jp.render.listing import Listing
    from jp.render.markdown import MarkdownStream
    from jp.render.style import MarkdownStyle
    from jp.render.tool import Look
    from jp.terminal.printer import Printer

    Write = Callable[[str], None]

_CONTENT = {"message": "reply", "structured": "reply", "reasoning": "reasoning"}  # kinds that are sanitized as one


class Chat:
    """Shows the deltas of one turn. `style` is the `style` section of the configuration."""

    def __init__(
        self,
        printer: "Printer",
        style: "Style",
        *,
        hide_reasoning: bool = False,
        hide_tool_calls: bool = False,
        environ: "Mapping[str, str] | None" = None,
    ) -> None:
        from jp.render.style import reasoning_style

        self._printer = printer
        self._style = style
        self._environ = environ
        self._reasoning_style = reasoning_style(style)
        self._hide_reasoning = hide_reasoning
        self._hide_tools = hide_tool_calls or not style.tool_call.show
        self._excerpt = self._new_excerpt()
        self._sanitizers = {content: Sanitizer(style.sanitize) for content in _CONTENT.values()}
        self._kind = ""  # of the block that is open
        self._block: Block | None = None
        self._messages = False  # some was shown
        self._anything = False
        self._last = ""  # what was shown last: a kind, or "tool"
        self._shade: str | None = None  # the background of the reasoning that the last tool lines belong to
        self._apart = False  # the last tool lines were several
        self._lead: dict[str, str] = {}  # white space that a block may begin with
        self._code: str | None = None  # the language of reasoning that is no markdown
        self._unfinished: set[Target] = set()  # where raw text has stopped in the middle of a line
        self._pacing = _pacing(style.typewriter)

    def message(self, delta: str) -> bool:
        """More of the reply, on stdout; whether something was shown."""
        return self._show("message", delta)

    def structured(self, delta: str) -> bool:
        """More of a structured reply (JSON), on stdout as it is; whether something was shown."""
        return self._show("structured", delta)

    def reasoning(self, delta: str, *, code: str | None = None) -> bool:
        """More of the reasoning, on stderr as far as it is to be shown; whether something was.

        It is markdown, or text and code in the language `code` ("": in none), as it is.
        """
        if self._kind != "reasoning":
            self._excerpt = self._new_excerpt()
            self._code = code
        text = self._excerpt.take(delta)
        return self._show("reasoning", text) if text else False

    def _new_excerpt(self) -> Excerpt:
        style = self._reasoning_style
        return Excerpt("hidden" if self._hide_reasoning else style.display, style.characters)

    def tool_call(
        self,
        name: str,
        arguments: "Mapping[str, Any] | None" = None,
        style: "ToolStyle | None" = None,
        *,
        formatted: str | None = None,
        configured: bool = False,
    ) -> bool:
        """The model calls a tool; whether something was shown.

        `name` is the tool's label, `style` its style without gaps (None: the built-in one), `formatted` the arguments
        as the tool itself formatted them, `configured` whether a configured command did (see `jp.render.tool.call`).
        """
        from jp.render import tool

        if self._hide_tools:
            return False
        style = style or tool.DEFAULT
        if self._printer.format.is_json:
            return self._record(tool.call_message(name, arguments or {}, style))
        look = self._look()
        return self._tool(tool.call(name, arguments or {}, style, look, formatted=formatted, configured=configured))

    def links_result(self, style: "ToolStyle", content: str, *, is_error: bool) -> bool:
        """Whether a result is shown cut, with a link to a file that has all of it."""
        from jp.render import tool

        return not self._hide_tools and tool.links(style, content, is_error=is_error)

    def tool_result(
        self,
        name: str,
        content: str = "",
        style: "ToolStyle | None" = None,
        *,
        is_error: bool = False,
        seconds: float = 0.0,
        file: "str | PurePath | None" = None,
    ) -> bool:
        """A tool is done, after `seconds`; whether something was shown. `file` is one that has the whole result."""
        from jp.render import tool

        if self._hide_tools:
            return False
        style = style or tool.DEFAULT
        if self._printer.format.is_json:
            return self._record(tool.result_message(name, style, is_error=is_error, seconds=seconds))
        look = self._look()
        return self._tool(tool.result(name, content, style, look, is_error=is_error, seconds=seconds, file=file))

    def lines(self, text: str, *, tool: bool = True) -> bool:
        """Whole lines that somebody else made, about a tool or not, set apart as those about tools are."""
        return not (tool and self._hide_tools) and self._tool(text, tool=tool)

    def raw(self, text: str, target: Target) -> None:
        """Text that is no block, on stdout or as chrome: exactly this, and what sets it apart is chrome."""
        if not text:
            return
        self.block_end()
        if target not in self._unfinished:
            self.fresh(target)
        if target is Target.OUT and self._last != "raw":
            if self._anything and self._one_screen():
                self._printer.chrome("\n")
            self._last, self._shade = "raw", None
            self._anything = self._messages = True
        (self._printer.out if target is Target.OUT else self._printer.chrome)(text)
        if text.endswith("\n"):
            self._unfinished.discard(target)
        else:
            self._unfinished.add(target)

    def fresh(self, target: Target) -> None:
        """What comes next on a channel begins a line: raw text before it may have left one open."""
        for on in [on for on in self._unfinished if on is target or self._one_screen()]:
            self._unfinished.discard(on)
            (self._printer.out if on is target is Target.OUT else self._printer.chrome)("\n")

    def _one_screen(self) -> bool:
        return self._printer.caps(Target.OUT).addressable and self._printer.caps(Target.ERR).addressable

    def block_end(self) -> None:
        """The open block (a message, some reasoning) is complete: its last line is ended."""
        block, self._block = self._block, None
        if block is not None:
            block.feed(self._sanitizers[_CONTENT[self._kind]].end())
            block.end()
        self._kind = ""

    def replied(self) -> None:
        """The person speaks next, on lines of their own; on stdout the next message is set apart all the same."""
        self.block_end()
        if self._anything and self._printer.caps(Target.OUT).addressable:
            self._printer.out("\n")
            self._messages = self._anything = False
            self._last = ""

    def end(self) -> None:
        """The turn is over."""
        self.block_end()

    def warm(self) -> None:
        """Load what the first words will need. Changes nothing; may run on any thread while the answer is awaited."""
        if self._printer.caps(Target.OUT).escapes or self._printer.caps(Target.ERR).escapes:
            from jp.render.markdown import MarkdownStream
            from jp.render.style import MarkdownStyle

            stream = MarkdownStream(MarkdownStyle())
            stream.feed("**a** `b` 端\n\n```python\nc\n```\n")

    def _show(self, kind: str, delta: str) -> bool:
        text = self._sanitizers[_CONTENT[kind]].feed(delta)
        if not text:
            return False
        if self._kind != kind:
            # White space alone begins no block, and none begins with an empty line.
            text = (self._lead.pop(kind, "") + text).lstrip("\n")
            if not text.strip():
                self._lead[kind] = text
                return False
            self.block_end()
            self._separate(kind)
            self._kind = self._last = kind
            self._block = self._open(kind)
        assert self._block is not None
        return self._block.feed(text)

    def _separate(self, kind: str) -> None:
        """An empty line between blocks: among messages it is part of what stdout gets."""
        self.fresh(Target.ERR if kind == "reasoning" else Target.OUT)
        if kind != "reasoning":
            if self._messages:
                self._printer.out("\n")
            elif self._anything:
                self._printer.chrome("\n")
            self._messages = True
        elif self._anything:
            self._chrome("\n")
        self._shade = None
        self._anything = True

    def _tool(self, text: str, *, tool: bool = True) -> bool:
        """Lines about a tool. Single ones stand together, several are set apart."""
        if not text:
            return False
        self.block_end()
        self.fresh(Target.ERR)
        before, self._last = self._last, "tool"
        if before != "tool" or not tool:
            self._shade = self._background() if before == "reasoning" and tool else None
        apart = text.count("\n") > 1
        if self._anything and (before != "tool" or apart or self._apart):
            text = "\n" + text
        self._chrome(text)
        self._anything = True
        self._apart = apart
        return True

    def _record(self, message: str) -> bool:
        if message:
            self._printer.note(message)
        return bool(message)

    def _chrome(self, text: str) -> None:
        """Lines between blocks, on the background of the reasoning that they belong to."""
        if self._shade is not None:
            from jp.render.shade import shaded

            text = shaded(text, self._shade, self._markdown(Target.ERR, "reasoning").width)
        self._printer.chrome(text)

    def _background(self) -> str | None:
        style = self._style.reasoning
        if not (style.extend_across_tool_calls and self._printer.caps(Target.ERR).escapes):
            return None
        return self._markdown(Target.ERR, "reasoning").background

    def _look(self) -> "Look":
        from jp.render.tool import Look

        printer = self._printer
        markdown = self._markdown(Target.ERR, "tool") if printer.caps(Target.ERR).escapes else None
        return Look(markdown, printer.width(Target.ERR), self._style.sanitize)

    def _open(self, kind: str) -> "Block":
        target = Target.ERR if kind == "reasoning" else Target.OUT
        write = self._printer.chrome if kind == "reasoning" else self._printer.out
        if kind == "structured" or not self._printer.caps(target).escapes:
            return Block(write)
        if kind == "reasoning" and self._code is not None:
            from jp.render.listing import Listing

            return Pretty(write, Listing(self._markdown(target, kind), self._code))
        from jp.render.markdown import MarkdownStream

        stream = MarkdownStream(self._markdown(target, kind))
        if kind == "message" and self._pacing is not None:
            return Typed(self._printer, stream, self._pacing)
        return Pretty(write, stream)

    def _markdown(self, target: Target, kind: str) -> "MarkdownStyle":
        import os

        from msgspec.structs import replace

        from jp.render.style import markdown_style

        printer = self._printer
        style = markdown_style(
            self._style,
            environ=os.environ if self._environ is None else self._environ,
            width=printer.width(target),
            colour=printer.colour(target),
        )
        if kind == "reasoning":
            background = self._reasoning_style.background if style.colour else None
            return replace(style, background=background, dim=background is None)
        return style


class Block:
    """One message on a channel without escapes: the source text as it comes, with exactly one line end at its end."""

    def __init__(self, write: "Write") -> None:
        self._write = write
        self._held = 0  # line ends behind the first one, which more text may follow
        self._open = False

    def feed(self, text: str) -> bool:
        """Show text; whether something was."""
        if not text:
            return False
        body = text.rstrip("\n")
        ends = len(text) - len(body)
        if not body:
            if self._open:
                self._write("\n")
                self._open = False
                ends -= 1
            self._held += ends
            return True
        self._write("\n" * self._held + body + ("\n" if ends else ""))
        self._open = not ends
        self._held = max(0, ends - 1)
        return True

    def end(self) -> None:
        """The message is complete."""
        if self._open:
            self._write("\n")
            self._open = False


class Pretty(Block):
    """One message as rendered markdown."""

    def __init__(self, write: "Write", stream: "MarkdownStream | Listing") -> None:
        super().__init__(write)
        self._stream = stream

    def feed(self, text: str) -> bool:
        """Show what can be rendered by now; whether something was."""
        shown = self._stream.feed(text)
        if shown:
            self._write(shown)
        return bool(shown)

    def end(self) -> None:
        """The message is complete: show what was waiting for more."""
        shown = self._stream.end()
        if shown:
            self._write(shown)


class Typed(Pretty):
    """Rendered markdown that appears letter by letter, prose and code at their own pace."""

    def __init__(self, printer: "Printer", stream: "MarkdownStream", pacing: tuple[float, float]) -> None:
        super().__init__(self._type, stream)
        self._printer = printer
        self._prose, self._code = pacing

    def _type(self, text: str) -> None:
        self._printer.typed(text, self._code if self._stream.in_code else self._prose)


def _pacing(typewriter: "Typewriter") -> tuple[float, float] | None:
    """Seconds a character of prose and of code takes; None where text is shown as it comes.

    Without a bound on its lag the typewriter falls behind any fast model, so it takes a `max_latency` to turn it on.
    """
    prose, code = typewriter.text_delay, typewriter.code_delay
    return (prose, code) if typewriter.max_latency and (prose or code) else None
