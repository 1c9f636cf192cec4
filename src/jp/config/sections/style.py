"""`style`: how things look."""

import msgspec

from jp.config.containers import Word
from jp.config.kinds import Choice, Flag, Kind, Whole, ours
from jp.config.special import Duration, Truncation, colour, link_style
from jp.config.tables import Table


class Code(msgspec.Struct, frozen=True):
    """Code blocks."""

    color: bool
    line_numbers: bool
    file_link: str
    copy_link: str


class Markdown(msgspec.Struct, frozen=True):
    """Prose, tables and rules; widths are columns, 0 is no limit."""

    wrap_width: int
    table_max_column_width: int
    table_continuation_edge: bool
    hr_style: str
    theme: str | None = None


class Progress(msgspec.Struct, frozen=True):
    """A status line: whether it is shown, after how long, how often it is drawn."""

    show: bool
    delay_secs: int
    interval_ms: int


class BoundedProgress(msgspec.Struct, frozen=True):
    """A status line of something that ends after `timeout_secs`."""

    show: bool
    delay_secs: int
    interval_ms: int
    timeout_secs: int


class ReasoningStyle(msgspec.Struct, frozen=True):
    """How reasoning is shown; `display` is a word or the number of characters shown."""

    display: str | int
    extend_across_tool_calls: bool
    background: int | str | None = None


class Streaming(msgspec.Struct, frozen=True):
    """Waiting for a response."""

    progress: Progress


class ToolCall(msgspec.Struct, frozen=True):
    """Tool calls."""

    show: bool
    progress: Progress
    preparing: Progress


class Typewriter(msgspec.Struct, frozen=True):
    """Delays between characters and the most a character may lag behind, in seconds; 0 shows it as it comes."""

    text_delay: float
    code_delay: float
    max_latency: float


class Style(msgspec.Struct, frozen=True):
    """The style section as resolved from all sources."""

    code: Code
    markdown: Markdown
    mcp_startup: Progress
    reasoning: ReasoningStyle
    streaming: Streaming
    lock_wait: BoundedProgress
    tool_call: ToolCall
    typewriter: Typewriter
    sanitize: str


def progress(delay_secs: int, doc: str) -> Table:
    """The keys of a status line."""
    keys: dict[str, Kind] = {
        "show": Flag(True, "Whether it is shown."),
        "delay_secs": Whole(delay_secs, "Seconds before it appears; 0 is at once."),
        "interval_ms": Whole(100, "Milliseconds between two drawings; a minimum holds below it, for 0 too."),
    }
    return Table(keys, doc)


def bounded(doc: str, timeout: str) -> Table:
    """The keys of a status line of something that ends."""
    table = progress(1, doc)
    table.fields["timeout_secs"] = Whole(10, timeout)
    return table


def style() -> Table:
    """The keys of `style`."""
    words = ("full", "hidden", "summary", "static", "progress", "timer")
    typewriter: dict[str, Kind] = {
        "text_delay": Duration(0.003, "Between characters of prose."),
        "code_delay": Duration(0.0005, "Between characters of code."),
        "max_latency": Duration(0.0, "The most that text may lag behind; 0 shows it as it comes."),
    }
    return Table(
        {
            "code": Table(
                {
                    "color": Flag(True, "Highlight code."),
                    "line_numbers": Flag(False, "Number its lines."),
                    "file_link": link_style("osc8", "How the file with the code is linked."),
                    "copy_link": link_style("off", "A copy:// link, for terminals that are set up for it."),
                },
                "Code blocks.",
            ),
            "markdown": Table(
                {
                    "wrap_width": Whole(80, "Columns at which prose is wrapped; 0 is the terminal's width."),
                    "table_max_column_width": Whole(40, "Columns of a table cell before it is wrapped; 0 is no limit."),
                    "table_continuation_edge": Flag(True, "Mark the lines of a wrapped cell."),
                    "theme": Word("gruvbox-dark", "Colours of code."),
                    "hr_style": Choice(("line", "markdown"), "line", "A rule as a line, or as it is written."),
                },
                "Prose and tables.",
            ),
            "mcp_startup": progress(4, "While MCP servers start."),
            "reasoning": Table(
                {
                    "display": Truncation(words, "characters", "full", "How reasoning is shown."),
                    "background": colour(236, "Its background."),
                    "extend_across_tool_calls": Flag(True, "Keep the background over tool calls in between."),
                },
                "Reasoning.",
            ),
            "streaming": Table({"progress": progress(3, "While a response is awaited.")}, "Responses."),
            "lock_wait": bounded("While another process holds the conversation.", "Seconds before giving up."),
            "tool_call": Table(
                {
                    "show": Flag(True, "Show tool calls."),
                    "progress": progress(3, "While a tool runs."),
                    "preparing": progress(3, "While the model writes a call."),
                },
                "Tool calls.",
            ),
            "typewriter": Table(typewriter, "Text that appears letter by letter."),
            "sanitize": ours(
                Choice(
                    ("strip", "visualize", "off"),
                    "strip",
                    "What happens to control sequences in content.",
                    synonyms={False: "off"},  # what YAML makes of a bare off
                )
            ),
        },
        "How things look.",
    )
