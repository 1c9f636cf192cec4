"""What rendering has to be told: plain values, so that no renderer knows the configuration or a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.config.sections.style import Style


class MarkdownStyle(msgspec.Struct, frozen=True):
    """How markdown looks. Widths are columns.

    `colour` off keeps bold, underline and the like: they are no colours (NO_COLOR). `hyperlinks` says that OSC 8 may
    be written; otherwise a link's target is shown behind its text. `background` is the SGR parameters of a colour that
    is painted behind every line up to `width`.
    """

    width: int = 80
    table_width: int = 0  # 0: as wide as text
    colour: bool = True
    truecolor: bool = False
    hyperlinks: bool = True
    theme: str = "gruvbox-dark"
    code_colour: bool = True
    line_numbers: bool = False
    hr: str = "line"
    table_max_column_width: int = 40
    table_continuation_edge: bool = True
    background: str | None = None
    dim: bool = False


class ReasoningStyle(msgspec.Struct, frozen=True):
    """How the model's reasoning is shown.

    `display`: full, truncate (the first `characters`), summary (the first paragraph), static (a line that says so), or
    progress, timer and hidden, which show nothing of it.
    """

    display: str = "full"
    characters: int = 0
    background: str | None = None


def wrap_width(wanted: int, available: int | None) -> int:
    """The column to wrap at: the wanted one (0: none in particular), never wider than what is available."""
    if available is None or available <= 0:
        return wanted or 80
    return min(wanted, available) if wanted else available


def markdown_style(
    style: Style, *, environ: Mapping[str, str], width: int | None, colour: bool = True
) -> MarkdownStyle:
    """The `style` section of the configuration as values for markdown on one channel.

    Not followed: `code.file_link` and `code.copy_link`. They want each block in a file of its own, and a terminal with
    a handler for `copy:` addresses; a block is printed without anything beside it, so that it can be copied as it is.

    `width` is that of the channel, None where it is not known; `colour` is whether it may be used there.
    """
    markdown = style.markdown
    wrap = wrap_width(markdown.wrap_width, width)
    return MarkdownStyle(
        width=wrap,
        table_width=width or wrap,
        colour=colour,
        truecolor=environ.get("COLORTERM", "") in ("truecolor", "24bit"),
        # Where a link can't be followed, its target is worth more than none.
        hyperlinks=environ.get("TERM_PROGRAM") != "Apple_Terminal" and environ.get("TERM") != "linux",
        theme=markdown.theme or MarkdownStyle().theme,
        code_colour=style.code.color,
        line_numbers=style.code.line_numbers,
        hr=markdown.hr_style,
        table_max_column_width=markdown.table_max_column_width,
        table_continuation_edge=markdown.table_continuation_edge,
    )


def reasoning_style(style: Style) -> ReasoningStyle:
    """`style.reasoning`: a mode, or the number of characters that are shown."""
    display = style.reasoning.display
    background = background_code(style.reasoning.background)
    if isinstance(display, int):
        return ReasoningStyle("truncate", display, background)
    return ReasoningStyle(display, 0, background)


def background_code(value: int | str | None) -> str | None:
    """The SGR parameters of a background: an index of the 256 colour table or `#rrggbb`; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return f"48;5;{value}"
    if isinstance(value, str) and len(value) == 7 and value[0] == "#":
        try:
            red, green, blue = bytes.fromhex(value[1:])
        except ValueError:
            return None
        return f"48;2;{red};{green};{blue}"
    return None
