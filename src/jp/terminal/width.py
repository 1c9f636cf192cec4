"""How many columns text takes on a terminal. Pure; ASCII never loads the tables."""

ELLIPSIS = "…"


def display_width(text: str) -> int:
    """Columns that `text` takes; control characters take none."""
    if text.isascii():
        return len(text) if text.isprintable() else sum(1 for character in text if character.isprintable())
    from wcwidth import wcswidth

    width: int = wcswidth(text)
    if width >= 0:
        return width
    return max(0, wcswidth("".join(character for character in text if not _control(character))))


def truncate(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """`text`, cut so that it takes at most `width` columns with the ellipsis that says so."""
    if display_width(text) <= width:
        return text
    room = width - display_width(ellipsis)
    return head(text, room) + ellipsis if room >= 0 else ""


def head(text: str, width: int) -> str:
    """The longest beginning of `text` that takes at most `width` columns, without cutting a character in two."""
    if text.isascii() and text.isprintable():
        return text[: max(0, width)]
    from wcwidth import wcwidth

    taken, end = 0, len(text)
    for position, character in enumerate(text):
        taken += max(0, wcwidth(character))
        if taken > width:
            end = position
            break
    while end and display_width(text[:end]) > width:  # a mark may take a column because of what stands before it
        end -= 1
    return text[:end].rstrip("\u200d") if end < len(text) else text


def _control(character: str) -> bool:
    return character < " " or "\x7f" <= character < "\xa0"
