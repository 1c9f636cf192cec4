"""Colours of a pygments style as SGR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT = "gruvbox-dark"
_CUBE = (0, 95, 135, 175, 215, 255)


class Theme:
    """A pygments style as SGR; an unknown name is the default one."""

    def __init__(self, name: str, *, truecolor: bool) -> None:
        from pygments.styles import get_style_by_name
        from pygments.token import Token
        from pygments.util import ClassNotFound

        try:
            self._style = get_style_by_name(name)
        except ClassNotFound:
            self._style = get_style_by_name(DEFAULT)
        self._truecolor = truecolor
        self._known = {token for token, _style in self._style}
        self._text = self._style.style_for_token(Token)["color"]
        self._escapes: dict[Any, str] = {}

    def colour(self, token: str) -> str:
        """The SGR parameters of a token's colour, named like `Token.Literal.String`."""
        from pygments.token import string_to_tokentype

        wanted = self._style.style_for_token(string_to_tokentype(token.removeprefix("Token.")))
        return self._rgb(wanted["color"])

    def escape(self, token: Any) -> str:
        """What to write before a token of this type; nothing where it looks like plain text."""
        found = self._escapes.get(token)
        if found is None:
            known = token
            while known.parent is not None and known not in self._known:  # lexers have types of their own
                known = known.parent
            wanted = self._style.style_for_token(known)
            flags = (("bold", "1"), ("italic", "3"), ("underline", "4"))
            parts = [code for name, code in flags if wanted[name]]  # type: ignore[literal-required]
            if wanted["color"] != self._text:  # ordinary text keeps the terminal's own colour
                parts.append(self._rgb(wanted["color"], wanted["bgcolor"]))
            joined = ";".join(part for part in parts if part)
            found = self._escapes[token] = f"\x1b[{joined}m" if joined else ""
        return found

    def _rgb(self, colour: str | None, background: str | None = None) -> str:
        # Text that a style draws in its background's colour on a patch of colour (diffs) is drawn in the patch's.
        colour = background or colour
        if not colour:
            return ""
        red, green, blue = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
        return f"38;2;{red};{green};{blue}" if self._truecolor else f"38;5;{nearest(red, green, blue)}"


def nearest(red: int, green: int, blue: int) -> int:
    """The colour of the 256 colour table that is nearest to an RGB one."""
    steps = [min(range(6), key=lambda step: abs(_CUBE[step] - value)) for value in (red, green, blue)]
    grey = max(0, min(23, round(((red + green + blue) / 3 - 8) / 10)))
    wanted = (red, green, blue)

    def distance(candidate: Iterable[int]) -> int:
        return sum((one - other) ** 2 for one, other in zip(candidate, wanted, strict=True))

    if distance([8 + 10 * grey] * 3) < distance([_CUBE[step] for step in steps]):
        return 232 + grey
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
