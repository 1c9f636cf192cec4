"""Operating system commands that JP itself writes: hyperlinks and the window title.

They go only to a channel with escape capability; what others wrote inside them loses every control character first,
or a title with a string terminator in it would end the sequence and begin another one.
"""

from jp.terminal.sanitize import osc_text

_URL_LIMIT = 2083  # terminals drop longer targets
_TITLE_LIMIT = 200


def hyperlink(url: str, text: str) -> str:
    """`text` as a link to `url` (OSC 8); `text` alone when the target is too long or empty.

    Characters outside printable ASCII are percent-encoded, as the protocol wants. `text` is printed as it is.
    """
    target = percent(osc_text(url))
    if not target or len(target) > _URL_LIMIT:
        return text
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def percent(url: str) -> str:
    """`url` in printable ASCII; what is percent-encoded already stays as it is."""
    if url.isascii() and " " not in url:
        return url
    encoded = url.encode("utf-8", "replace")
    return "".join(chr(byte) if 0x21 <= byte < 0x7F else f"%{byte:02X}" for byte in encoded)


def window_title(text: str) -> str:
    """Set the window's title (OSC 2)."""
    return f"\x1b]2;{osc_text(text)[:_TITLE_LIMIT]}\x1b\\"
