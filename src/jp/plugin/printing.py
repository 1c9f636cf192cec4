"""What a plugin prints: each channel where and how JP shows its own, each format as the channel can carry it.

Plain text on stdout is byte for byte what came, but for what `style.sanitize` takes out; everything else is blocks,
set apart as in a turn. Nothing of markdown or highlighting is loaded for a channel without escapes.
"""

from typing import Any, cast

from jp.log import WARN, log
from jp.render.chat import Chat
from jp.terminal.sanitize import Sanitizer, one_line
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.config.sections.style import Style
    from jp.plugin.messages import Print
    from jp.render.excerpt import Excerpt
    from jp.render.style import MarkdownStyle
    from jp.terminal.printer import Printer

CHANNELS = ("content", "chrome", "tool_call", "tool_result", "reasoning", "error")
FORMATS = ("plain", "markdown", "json", "code")
LONGEST = 1 << 17  # characters that are rendered or highlighted; more are shown as they are
LONGEST_JSON = 1 << 20  # that are indented
DEEPEST = 100  # levels of them: what is indented grows with each
GROWN = 4  # times as long as it came may JSON become by that, and up to LONGEST in any case
_FLOWING = ("content", "chrome", "reasoning")  # channels whose plain text goes on from one message to the next
PIECE = 1 << 16  # characters: nothing bigger is sanitized in one call
_NO_MARKS = bytes(byte for byte in range(256) if byte not in b"[]{},")
_STEPS = bytes(1 if byte in b"[{" else 255 if byte in b"]}" else 0 for byte in range(256))  # 255 is -1
_RESET = "\x1b[0m"
_HARD = ("content", "error")  # what quiet does not silence
_NAMED = 60  # characters of a word that is logged


class Printing:
    """Shows the `print` messages of one run of a plugin through the Printer.

    `style` is that section of the configuration, `plugin` the plugin's name, which its errors begin with.
    """

    def __init__(self, printer: "Printer", style: "Style", environ: "Mapping[str, str]", plugin: str) -> None:
        from msgspec.structs import replace

        counted = _Counted(printer)
        self._printer = printer = cast("Printer", counted)
        self._counted = counted
        self._style = style
        self._environ = environ
        self._plugin = one_line(plugin)
        self._sanitizers = {channel: Sanitizer(style.sanitize) for channel in CHANNELS}
        self._chat = Chat(printer, replace(style, sanitize="off"), environ=environ)  # it gets what is sanitized
        self._styled: Target | None = None  # where plain text has left a colour or style in force
        self._excerpt: Excerpt | None = None  # of reasoning that may go on in the next record

    def show(self, message: "Print") -> int:
        """Show a message, each complete but for plain text, which may go on in the next one; the characters written."""
        before = self._counted.characters
        self._show(message)
        return self._counted.characters - before

    def pieces(self, message: "Print") -> "list[Print]":
        """`message` as several, each of which is shown in a moment, where that comes to the same."""
        text, format_ = message.text, message.format
        plain = format_ == "plain" or format_ not in FORMATS
        if len(text) <= PIECE or not plain or message.channel not in _FLOWING or self._printer.format.is_json:
            return [message]
        from msgspec.structs import replace

        return [replace(message, text=text[start : start + PIECE]) for start in range(0, len(text), PIECE)]

    def _show(self, message: "Print") -> None:
        channel = message.channel if message.channel in CHANNELS else "content"
        format_ = message.format if message.format in FORMATS else "plain"
        if channel != message.channel or format_ != message.format:
            named = {"channel": message.channel[:_NAMED], "format": message.format[:_NAMED]}
            log(WARN, "plugin", "a print with an unknown channel or format", plugin=f"jp-{self._plugin}", **named)
        if self._printer.quiet and channel not in _HARD:
            return
        language = message.language if isinstance(message.language, str) else None
        if self._printer.format.is_json:
            self._record(channel, format_, message.text, language)
        elif format_ == "plain":
            self._plain(channel, message.text)
        else:
            self._block(channel, format_, message.text, language)

    def end(self) -> None:
        """The run is over: what was held back is shown, and no colour or style stays in force."""
        if self._printer.format.is_json:
            return
        for channel, sanitizer in self._sanitizers.items():
            self._shown(channel, sanitizer.end())
        self._chat.end()
        self._unstyle()

    # -- records ----------------------------------------------------------------------------------------------------

    def _record(self, channel: str, format_: str, text: str, language: str | None) -> None:
        """A record on the channel's stream: data, so as it came but for the reasoning that is not to be shown."""
        if channel in ("tool_call", "tool_result") and not self._style.tool_call.show:
            return
        if channel != "reasoning":
            self._excerpt = None
        else:
            text = self._excerpted(text, goes_on=format_ == "plain")
            if not text:
                return
        record = {"type": "print", "channel": channel, "format": format_, "text": text}
        if language is not None:
            record["language"] = language
        if channel == "content":
            from msgspec import json

            self._printer.record(json.encode(record))
        else:
            self._printer.error(record, "")  # under JSON this is a record on stderr, whatever it says

    def _excerpted(self, text: str, *, goes_on: bool) -> str:
        """What of reasoning is to be shown; what is plain text may go on in the next message."""
        from jp.render.excerpt import Excerpt
        from jp.render.style import reasoning_style

        excerpt = self._excerpt if goes_on else None
        if excerpt is None:
            style = reasoning_style(self._style)
            excerpt = Excerpt(style.display, style.characters)
        self._excerpt = excerpt if goes_on else None
        return excerpt.take(text)

    # -- plain text -------------------------------------------------------------------------------------------------

    def _plain(self, channel: str, text: str) -> None:
        sanitizer = self._sanitizers[channel]
        if channel in ("content", "chrome"):
            for start in range(0, len(text), PIECE):
                self._shown(channel, sanitizer.feed(text[start : start + PIECE] if len(text) > PIECE else text))
        else:
            self._shown(channel, sanitizer.feed(text))

    def _shown(self, channel: str, text: str) -> None:
        """Show plain text that is sanitized."""
        if not text:
            return
        if channel in ("content", "chrome"):
            target = Target.OUT if channel == "content" else Target.ERR
            if self._styled is not target:
                self._unstyle()
            self._chat.raw(text, target)
            if "\x1b[" in text:
                last = text.rpartition("\x1b[")[2]
                self._styled = None if last.startswith(("m", "0m")) else target
            return
        self._unstyle()
        if channel == "reasoning":
            self._chat.reasoning(text, code="")
        elif channel == "error":
            self._error(text)
        else:
            self._tool(channel, _ended(text))

    def _unstyle(self) -> None:
        """What comes next is not in the style that plain text has set and not ended."""
        target, self._styled = self._styled, None
        if target is not None and self._printer.caps(target).escapes:
            (self._printer.out if target is Target.OUT else self._printer.chrome)(_RESET)

    def _tool(self, channel: str, text: str) -> None:
        """Whole lines on a channel of tools; what a tool wrote is indented."""
        if text and channel == "tool_result":
            from jp.render.tool import INDENT

            text = "".join([f"{INDENT}{line}".rstrip(" ") + "\n" for line in text.removesuffix("\n").split("\n")])
        self._chat.lines(text)

    def _error(self, text: str, *, block: bool = False) -> None:
        """As JP's errors look: who it is from, and what is wrong; a block stands below that."""
        if not text.strip():
            return
        self._chat.block_end()
        self._chat.fresh(Target.ERR)
        head = f"jp-{self._plugin}:"
        if self._printer.colour(Target.ERR):
            head = f"\x1b[1;31m{head}{_RESET}"
        body = "\n" + text if block else " " + "\n    ".join(_ended(text.strip("\n"))[:-1].split("\n"))
        self._printer.error({}, head + body)

    # -- blocks -----------------------------------------------------------------------------------------------------

    def _block(self, channel: str, format_: str, text: str, language: str | None) -> None:
        """Text in a format, complete in this message."""
        if format_ == "json":
            pretty = _pretty(text)
            if pretty is None:
                self._plain(channel, text)
                return
            text, language = pretty, "json"
        sanitizer = self._sanitizers[channel]
        self._shown(channel, sanitizer.end())  # what plain text has left open does not go on in a block
        text = (sanitizer.feed(text) + sanitizer.end()).strip("\n")
        if not text.strip():
            return
        self._unstyle()
        self._chat.block_end()
        code = None if format_ == "markdown" else (language or "").strip()[:_NAMED] or "text"
        if len(text) > LONGEST:
            code = ""
        if channel == "content" and code is None:
            self._chat.message(text)
        elif channel == "content":
            self._chat.structured(self._rendered(text, code, Target.OUT))
        elif channel == "reasoning":
            self._chat.reasoning(text, code=code)
        elif channel == "error":
            self._error(self._rendered(text, code, Target.ERR), block=True)
        elif channel == "chrome":
            self._chat.lines(self._rendered(text, code, Target.ERR), tool=False)
        else:
            self._tool(channel, self._rendered(text, code, Target.ERR, indented=channel == "tool_result"))
        self._chat.block_end()

    def _rendered(self, text: str, code: str | None, target: Target, *, indented: bool = False) -> str:
        """Whole lines: markdown where `code` is None, else code in that language; the source without escapes."""
        if not self._printer.caps(target).escapes or code == "":
            return _ended(text)
        style = self._markdown(target, indented=indented)
        if code is None:
            from jp.render.markdown import MarkdownStream

            markdown = MarkdownStream(style)
            return markdown.feed(text) + markdown.end()
        from jp.render.listing import Listing

        listing = Listing(style, code)
        return listing.feed(text) + listing.end()

    def _markdown(self, target: Target, *, indented: bool) -> "MarkdownStyle":
        from jp.render.style import markdown_style
        from jp.render.tool import INDENT

        printer = self._printer
        width = printer.width(target)
        if width is not None and indented:
            width = max(1, width - len(INDENT))
        return markdown_style(self._style, environ=self._environ, width=width, colour=printer.colour(target))


class _Counted:
    """A Printer that counts what is written through it: rendered, in colour or as a record it is more than came."""

    def __init__(self, printer: "Printer") -> None:
        self._printer = printer
        self.characters = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._printer, name)

    def out(self, text: str) -> None:
        self.characters += len(text)
        self._printer.out(text)

    def typed(self, text: str, delay: float) -> None:
        self.characters += len(text)
        self._printer.typed(text, delay)

    def chrome(self, text: str) -> None:
        self.characters += len(text)
        self._printer.chrome(text)

    def record(self, record: "bytes | str") -> None:
        self.characters += len(record)
        self._printer.record(record)

    def error(self, record: "Mapping[str, object]", text: str) -> None:
        self.characters += len(text or str(record))
        self._printer.error(record, text)


def _ended(text: str) -> str:
    """Text as whole lines: one line end at its end, and no style that goes on behind it."""
    text = text.rstrip("\n")
    if not text:
        return ""
    return text + (_RESET if "\x1b[" in text and not text.endswith(_RESET) else "") + "\n"


def _pretty(text: str) -> str | None:
    """JSON, indented; as it came where that would make too much of it; None for what is no JSON."""
    import msgspec

    try:
        msgspec.json.decode(text, type=msgspec.Raw)
        if len(text) > LONGEST_JSON or not _is_modest(text):
            return text
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_modest(text: str) -> bool:
    """Whether valid JSON is to be indented: by a bound of how long that makes it, which is found in C, in a moment."""
    from array import array
    from itertools import accumulate

    parts = text.replace("\\\\", "").replace('\\"', "").split('"')  # every other one is a string
    marks = "".join(parts[::2]).encode().translate(None, _NO_MARKS)
    depth = max(accumulate(array("b", marks.translate(_STEPS, b","))), default=0)
    longest = len(text) + len(marks) * (2 + 2 * depth)  # at a mark: a line end, two spaces a level, one behind a colon
    return depth <= DEEPEST and longest <= max(LONGEST, GROWN * len(text))
