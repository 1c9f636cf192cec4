"""Arguments of any size, cut to what can be shown in a moment: what is left out is said in its place. Pure."""

from typing import Any

ITEMS, CHARACTERS, DEPTH = 200, 20_000, 50


def abridged(value: Any, *, items: int = ITEMS, characters: int = CHARACTERS) -> Any:
    """A JSON value with at most so many items in each list and object, and so many characters in each text.

    All of it together is bounded as well: by `items` squared.
    """
    return _Cut(items, characters).cut(value, DEPTH)


class _Cut:
    def __init__(self, items: int, characters: int) -> None:
        self._items = items
        self._characters = characters
        self._left = items * items

    def cut(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if isinstance(value, str) and len(value) > self._characters:
            half = self._characters // 2
            return f"{value[:half]}… {len(value) - 2 * half} more characters …{value[-half:]}"
        if not isinstance(value, dict | list):
            return value
        if depth == 0 or self._left < 0:
            return f"… {len(value)} more items"
        if isinstance(value, list):
            kept = [self.cut(one, depth - 1) for one in value[: self._items]]
            return [*kept, f"… {len(value) - len(kept)} more items"] if len(kept) < len(value) else kept
        pairs = list(value.items())
        shown = {key: self.cut(one, depth - 1) for key, one in pairs[: self._items]}
        if len(shown) < len(pairs):
            shown["…"] = f"{len(pairs) - len(shown)} more items"
        return shown
