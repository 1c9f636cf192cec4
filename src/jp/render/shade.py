"""The background of reasoning behind lines that something else made, so that it is not torn by them. Pure."""

import re

from jp.terminal.width import display_width

_SGR = re.compile("\x1b\\[([0-9;:]*)m")
_OTHER = re.compile("\x1b\\]8;[^\x1b]*\x1b\\\\")
_ENDS = frozenset(("", "0", "00", "49"))


def shaded(text: str, background: str, columns: int) -> str:
    """Whole lines on a background (SGR parameters), painted up to `columns`."""
    base = f"\x1b[{background}m"
    return "".join([_line(line, base, columns) for line in text.removesuffix("\n").split("\n")])


def _line(line: str, base: str, columns: int) -> str:
    def again(found: "re.Match[str]") -> str:
        return found[0] + base if _ENDS & set(found[1].split(";")) else found[0]

    plain = _OTHER.sub("", _SGR.sub("", line)) if "\x1b" in line else line
    missing = max(0, columns - display_width(plain))
    return f"{base}{_SGR.sub(again, line)}{' ' * missing}\x1b[0m\n"
