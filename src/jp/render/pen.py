"""SGR for what is on the page: a small set of flags, turned into escapes once and remembered.

A style is an int of flags. What is written is always a change from the style before it, so that the bytes depend on
the text alone and not on how it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jp.render.style import MarkdownStyle

BOLD = 1
DIM = 2
ITALIC = 4
UNDERLINE = 8
STRIKE = 16
CODE = 32
HEADING = 64
LINK = 128
MUTED = 256  # what the page itself adds: bars, fences, borders
MARKER = 512  # bullets and numbers

_ATTRIBUTES = ((BOLD, "1"), (DIM, "2"), (ITALIC, "3"), (UNDERLINE, "4"), (STRIKE, "9"))
_ROLES = (  # the later one's colour wins
    (MUTED, "Token.Comment"),
    (MARKER, "Token.Name.Builtin"),
    (HEADING, "Token.Name.Attribute"),
    (LINK, "Token.Name.Function"),
    (CODE, "Token.Literal.String"),
)
# Without a theme's colours these still set their parts apart.
_WITHOUT_COLOUR = {MUTED: "2", MARKER: "", HEADING: "", LINK: "", CODE: ""}
_ALWAYS = {HEADING: "1", LINK: "4"}


class Palette:
    """The escapes of one markdown style: `change(before, after)` is what to write between two pieces of text."""

    __slots__ = ("_base", "_changes", "_colours", "_style")

    def __init__(self, style: MarkdownStyle) -> None:
        self._style = style
        base = []
        if style.dim:
            base.append("2")
        if style.background is not None and style.colour:
            base.append(style.background)
        self._base = ";".join(base)
        self._changes: dict[tuple[int, int], str] = {}
        self._colours: dict[int, str] | None = None

    @property
    def base(self) -> str:
        """What a line begins with: the background and the dimness that lie under all text of it."""
        return f"\x1b[{self._base}m" if self._base else ""

    @property
    def reset(self) -> str:
        """What a line ends with."""
        return "\x1b[0m"

    def change(self, before: int, after: int) -> str:
        """The escape that turns text in style `before` into text in style `after`, both on top of the base."""
        found = self._changes.get((before, after))
        if found is None:
            old, new = self._parameters(before), self._parameters(after)
            parameters = ["0", self._base, new] if old else [new]
            joined = ";".join(part for part in parameters if part)
            found = f"\x1b[{joined}m" if joined and old != new else ""
            self._changes[before, after] = found
        return found

    def _parameters(self, flags: int) -> str:
        parts = [code for flag, code in _ATTRIBUTES if flags & flag]
        for role, _token in _ROLES:
            if flags & role and role in _ALWAYS and _ALWAYS[role] not in parts:
                parts.append(_ALWAYS[role])
        colour = ""
        for role, _token in _ROLES:
            if flags & role:
                colour = self._colour(role) or colour
        return ";".join(part for part in (*parts, colour) if part)

    def _colour(self, role: int) -> str:
        if not self._style.colour:
            return _WITHOUT_COLOUR[role]
        if self._colours is None:
            from jp.render.theme import Theme

            theme = Theme(self._style.theme, truecolor=self._style.truecolor)
            self._colours = {flag: theme.colour(token) for flag, token in _ROLES}
        return self._colours[role]
