"""Tool calls and their results as a person sees them. Pure: from a call or a result and a style to text.

Every function returns whole lines, each with its end, or "" where nothing is to be shown. What models and tools wrote
is cut and sanitized here. Names are as `label` makes them.
"""

import re
from pathlib import PurePath

import msgspec

from jp.config.sections.tools import ToolStyle
from jp.render.arguments import compact, in_parentheses, in_parentheses_within, pretty
from jp.render.cutting import ESCAPED, RESET, first_lines, more_lines
from jp.render.style import MarkdownStyle
from jp.render.visible import visible
from jp.terminal.sanitize import one_line
from jp.terminal.width import display_width, head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PREVIEW_LINES = 200  # of a call's arguments
APPROVAL_ROWS = 60  # of the terminal, before the question whether a tool may run
UNKNOWN_COLUMNS = 200  # of a channel that has no width
SLOW_SECS = 1.0  # a tool that took longer is said to have
INDENT = "  "  # before what a tool wrote: it can't look like a line of ours
DEFAULT = ToolStyle(hidden=False, inline_results=10, results_file_link="full", parameters="json")

_TAB = 4
_PARAGRAPH = 5000  # columns of a line that is markdown
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_DIFF = {"+": "32", "-": "31", "@": "36"}


class Look(msgspec.Struct, frozen=True):
    """The channel that text is made for.

    `markdown` is how markdown looks there, None where it takes no escapes; `columns` is its width where that is known;
    `sanitize` is `style.sanitize`.
    """

    markdown: MarkdownStyle | None = None
    columns: int | None = None
    sanitize: str = "strip"

    @property
    def colour(self) -> bool:
        """Whether there may be colour."""
        return self.markdown is not None and self.markdown.colour


def label(name: str, source: str | None = None) -> str:
    """A tool's name as it is shown: `server/tool` for one whose `source` is an MCP server."""
    if source is not None and source.startswith("mcp."):
        server, _, tool = source.removeprefix("mcp.").partition(".")
        name = f"{server}/{tool or name}"
    return one_line(name)


def call(
    name: str,
    arguments: "Mapping[str, Any]",
    style: ToolStyle,
    look: Look,
    *,
    formatted: str | None = None,
    configured: bool = False,
) -> str:
    """A call's header. `formatted` is what the tool made of the arguments, where it formats them itself.

    `configured`: a configured command made it, so that it may be markdown and coloured; any other text is just that.
    """
    if style.hidden:
        return ""
    name = one_line(name)
    title = f"Calling tool {_bold(name, look)}"
    if style.parameters == "off":
        return title + "\n"
    if formatted is not None:
        return f"{title}\n{_formatted(formatted, look, configured=configured, escaped=_escapes(arguments))}"
    if style.parameters == "function_call":
        room = (look.columns or UNKNOWN_COLUMNS) - display_width(f"Calling tool {name}")
        return f"{title}{in_parentheses_within(arguments, room)}\n"
    if not arguments:
        return f"{title}()\n"
    lines, more = first_lines(pretty(arguments), PREVIEW_LINES, sanitize=look.sanitize)
    return f"{title}({_joined(_highlighted(lines, look))}{_more(more, look) or ')'}\n"


def result(
    name: str,
    content: str,
    style: ToolStyle,
    look: Look,
    *,
    is_error: bool = False,
    seconds: float = 0.0,
    file: "str | PurePath | None" = None,
) -> str:
    """What came of a call: that it is done, the beginning of its result, and the `file` that has all of it."""
    if style.hidden:
        return ""
    shown = inline(style, is_error=is_error)
    link = _file_link(style, is_error)
    text = _done(_bold(one_line(name), look), is_error, seconds, look) + "\n"
    if shown != "off":
        limit = shown if isinstance(shown, int) else None
        lines, more = first_lines(content, limit, sanitize=look.sanitize, colour=look.colour)
        text += "".join([f"{INDENT}{line}".rstrip(" ") + "\n" for line in lines])
        if more:
            text += f"{INDENT}{_dim(more_lines(more), look)}\n"
    if file and link != "off":
        text += f"{INDENT}{_dim('All of it:', look)} {_link(PurePath(file), link, look)}\n"
    return text


def links(style: ToolStyle, content: str, *, is_error: bool) -> bool:
    """Whether less is shown of a result than there is, and a file that has all of it is wanted."""
    shown, link = inline(style, is_error=is_error), _file_link(style, is_error)
    if style.hidden or link in (None, "off") or shown == "full" or not content:
        return False
    return not isinstance(shown, int) or content.rstrip("\n").count("\n") >= shown


def _file_link(style: ToolStyle, is_error: bool) -> str | None:
    own = style.error.results_file_link if is_error and style.error else None
    return own or style.results_file_link


def inline(style: ToolStyle, *, is_error: bool) -> str | int | None:
    """How much of a result is shown: "off", "full" or a number of lines; `style.error` holds for failures."""
    own = style.error.inline_results if is_error and style.error else None
    return style.inline_results if own is None else own


def approval(
    name: str,
    arguments: "Mapping[str, Any]",
    style: ToolStyle,
    formatted: str | None = None,
    *,
    configured: bool = False,
    look: Look = Look(),  # noqa: B008 (it is immutable)
    rows: int | None = APPROVAL_ROWS,
) -> str:
    """What stands above the question whether a tool may run: the header, with nothing left out that is not counted.

    It is shown whatever the style hides, in at most `rows` rows (None: all of them). What would not be seen, such as
    a character that reverses the text behind it, is shown as an escape. `configured`: a configured command made what is
    `formatted`, so colours in it are left out; those of a built-in tool's text, or brought by the arguments, are none.
    """
    name = visible(name)
    title = f"Calling tool {_bold(name, look)}"
    if formatted is not None and formatted.strip():
        lines, more = _rows(formatted.strip("\r\n"), look, rows, styled=configured and not _escapes(arguments))
        lines = _diff(lines) if look.colour and _is_diff(formatted) else lines
        return f"{title}\n{_joined(lines)}\n{_unshown(more, look)}"
    if not arguments:
        return f"{title}()\n"
    if style.parameters == "function_call":
        body, more = _rows(in_parentheses(arguments), look, rows)
        if not more:
            return f"{title}{_joined(body)}\n"
    lines, more = _rows(pretty(arguments), look, rows)
    if more:
        # What is short comes first, so that nothing long pushes it out of sight.
        by_size = dict(sorted(arguments.items(), key=lambda item: len(compact(item[1]))))
        lines, more = _rows(pretty(by_size), look, rows)
    text = f"{title}({_joined(_highlighted(lines, look))}"
    return f"{text}\n{_unshown(more, look)}" if more else f"{text})\n"


def call_message(name: str, arguments: "Mapping[str, Any]", style: ToolStyle) -> str:
    """A call as the one line of a `{"message": …}` record; "" where it is hidden."""
    if style.hidden:
        return ""
    if style.parameters == "off":
        return f"Calling tool {one_line(name)}"
    return f"Calling tool {one_line(name)}{in_parentheses_within(arguments, UNKNOWN_COLUMNS)}"


def result_message(name: str, style: ToolStyle, *, is_error: bool = False, seconds: float = 0.0) -> str:
    """A result as the one line of a `{"message": …}` record; "" where it is hidden."""
    return "" if style.hidden else _done(one_line(name), is_error, seconds, Look())


def _done(name: str, is_error: bool, seconds: float, look: Look) -> str:
    how = "is done"
    if is_error:
        how = "\x1b[31mfailed\x1b[39m" if look.colour else "failed"
    return f"Tool {name} {how}" + (f" ({seconds:.1f}s)" if seconds > SLOW_SECS else "")


# -- what a tool formatted itself


def _escapes(value: object) -> bool:
    """Whether a value, as deep as it is, brings escape characters: they come from the model."""
    from collections.abc import Mapping, Sequence

    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if "\x1b" in each or "\x9b" in each:
                return True
        elif isinstance(each, Mapping):
            left += [*each.keys(), *each.values()]
        elif isinstance(each, Sequence):
            left += each
    return False


def _formatted(text: str, look: Look, *, configured: bool, escaped: bool) -> str:
    """Markdown where it has a fence, a diff, or lines."""
    if escaped or not configured:
        look = msgspec.structs.replace(look, sanitize=ESCAPED)
    markdown = look.markdown if configured and _FENCE.search(text) else None
    width = _PARAGRAPH if markdown is not None else None
    lines, more = _first(text.lstrip("\n"), look, width)
    if markdown is not None:
        from jp.render.markdown import MarkdownStream

        stream = MarkdownStream(markdown)
        shown = stream.feed(_joined(lines)) + stream.end()
    else:
        if look.colour and _is_diff(text) and not any("\x1b" in line for line in lines):
            lines = _diff(lines)
        shown = "".join([line + "\n" for line in lines])
    return shown + (_dim(more_lines(more), look) + "\n" if more else "")


def _first(text: str, look: Look, width: int | None) -> tuple[list[str], int]:
    if width is None:
        return first_lines(text, PREVIEW_LINES, sanitize=look.sanitize, colour=look.colour)
    return first_lines(text, PREVIEW_LINES, sanitize=look.sanitize, colour=look.colour, columns=width)


def _is_diff(text: str) -> bool:
    return _HUNK.search(text) is not None


def _diff(lines: list[str]) -> list[str]:
    return [f"\x1b[{_DIFF[line[0]]}m{line}{RESET}" if line[:1] in _DIFF else line for line in lines]


# -- pieces


def _highlighted(lines: list[str], look: Look) -> list[str]:
    """Lines of JSON in the theme's colours."""
    style = look.markdown
    if style is None or not (style.colour and style.code_colour):
        return lines
    from jp.render.code import Effort
    from jp.render.highlight import highlighter

    json = highlighter("json", style.theme, truecolor=style.truecolor)
    effort = Effort()
    shown: list[str] = []
    for line in lines:
        if json is None or not effort.allows(line):
            shown.append(line)
            continue
        before = json.tries
        shown.append(json.line(line))
        effort.spend(json.tries - before)
    return shown


def _rows(text: str, look: Look, rows: int | None, *, styled: bool = False) -> tuple[list[str], int]:
    """The visible lines of a text that take at most `rows` rows, the last one cut at the end of one; how many are left.

    `styled`: the text may have brought colours, which are left out.
    """
    columns = look.columns or 80
    lines = text.split("\n")
    shown: list[str] = []
    taken = 0
    for index, line in enumerate(lines):
        # By characters first: there are some that take no column at all.
        room = len(line) if rows is None else (rows - taken) * columns
        piece = visible(line[:room].expandtabs(_TAB), styled=styled)
        if rows is not None:
            width = display_width(piece)
            if len(line) > room or width > room or not room:
                kept = head(piece, room)
                rest = [_height(len(each), columns) for each in lines[index + 1 :]]
                return [*shown, *([kept] if kept else [])], sum(rest) + _height(len(line) - len(kept), columns)
            taken += _height(width, columns)
        shown.append(piece)
    return shown, 0


def _height(width: int, columns: int) -> int:
    return max(1, -(-width // columns))


def _unshown(more: int, look: Look) -> str:
    return _dim(f"{more_lines(more)}; p prints all", look) + "\n" if more else ""


def _more(more: int, look: Look) -> str:
    return "\n" + _dim(more_lines(more), look) if more else ""


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)


def _link(path: PurePath, how: str | None, look: Look) -> str:
    shown = one_line(str(path))
    if how == "osc8" and look.markdown is not None and look.markdown.hyperlinks and path.is_absolute():
        from jp.terminal.osc import hyperlink

        return hyperlink(path.as_uri(), one_line(path.name))
    return shown


def _bold(text: str, look: Look) -> str:
    return text if look.markdown is None else f"\x1b[1m{text}{RESET}"


def _dim(text: str, look: Look) -> str:
    return text if look.markdown is None else f"\x1b[2m{text}{RESET}"
