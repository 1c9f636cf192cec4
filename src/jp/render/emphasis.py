"""Emphasis: runs of `*`, `_` and `~~` that open and close, matched as CommonMark does, one run at a time.

The batch algorithm of the specification looks at closers from left to right and at openers from the nearest one
backwards, so it can run while the text comes. A memory of where no opener was found keeps it linear: without one,
`a* a* a* …` looks at every opener for every closer.
"""

from __future__ import annotations

import unicodedata


class Delimiter:
    """A run of one delimiter character; matching turns parts of it into `opens` and `closes`, the rest is text."""

    __slots__ = ("can_close", "can_open", "char", "closes", "count", "index", "length", "line", "opens")

    def __init__(self, char: str, length: int, index: int, line: int) -> None:
        self.char = char
        self.length = length  # as written
        self.count = length  # still unmatched
        self.index = index  # of its node
        self.line = line
        self.can_open = False
        self.can_close = False
        self.opens: list[int] = []  # lengths: 1 emphasis, 2 strong (or struck out)
        self.closes: list[int] = []

    def flank(self, before: str, after: str) -> None:
        """Decide from the characters beside it (empty: none) what this run can do."""
        space_before, space_after = not before or before.isspace(), not after or after.isspace()
        mark_before, mark_after = not space_before and is_mark(before), not space_after and is_mark(after)
        # Beside scripts without spaces a mark says nothing: `**注意：**请` is strong, other than in the specification.
        left = not space_after and (not mark_after or space_before or mark_before or _is_free(before))
        right = not space_before and (not mark_before or space_after or mark_after or _is_free(after))
        if self.char == "_":
            self.can_open = left and (not right or mark_before)
            self.can_close = right and (not left or mark_after)
        else:
            self.can_open, self.can_close = left, right
        if self.char == "~" and self.length != 2:
            self.can_open = self.can_close = False


def _three(opener: Delimiter, closer: Delimiter) -> bool:
    """CommonMark's rule of three: runs that can do both match only when their lengths are no odd sum of three."""
    if not (closer.can_open or opener.can_close):
        return False
    return (opener.length + closer.length) % 3 == 0 and bool(opener.length % 3 or closer.length % 3)


def is_mark(char: str) -> bool:
    """Whether it is punctuation or a symbol, which emphasis leans on."""
    if char.isascii():
        return not char.isalnum() and char.isprintable() and char != " "
    return unicodedata.category(char)[0] in "PS"


def _is_free(char: str) -> bool:
    return "\u2e80" <= char <= "\uffef" or char >= "\U00020000"


class Openers:
    """The runs that may still be closed, nearest last."""

    __slots__ = ("_nothing_below", "stack")

    def __init__(self) -> None:
        self.stack: list[Delimiter] = []
        self._nothing_below: dict[tuple[str, bool, int], int] = {}

    def add(self, run: Delimiter) -> None:
        """Match a run with the openers before it; what is left of it may open."""
        while run.can_close and run.count:
            at = self._find(run)
            if at < 0:
                break
            opener = self.stack[at]
            used = 2 if run.char == "~" or (opener.count >= 2 and run.count >= 2) else 1
            opener.count -= used
            run.count -= used
            opener.opens.append(used)
            run.closes.append(used)
            self._cut(at + 1 if opener.count else at)
        if run.count and run.can_open:
            self.stack.append(run)

    def expire(self, line: int) -> None:
        """Forget the openers on lines up to `line`: they are text now."""
        stack = self.stack
        keep = 0
        while keep < len(stack) and stack[keep].line <= line:
            keep += 1
        if keep:
            del stack[:keep]
            self._nothing_below.clear()

    def _find(self, closer: Delimiter) -> int:
        stack = self.stack
        key = (closer.char, closer.can_open, closer.length % 3)
        bottom = self._nothing_below.get(key, 0)
        for at in range(len(stack) - 1, bottom - 1, -1):
            opener = stack[at]
            if opener.char != closer.char:
                continue
            if closer.char == "~" or not _three(opener, closer):
                return at
        self._nothing_below[key] = len(stack)
        return -1

    def _cut(self, length: int) -> None:
        del self.stack[length:]
        for key, bottom in self._nothing_below.items():
            if bottom > length:
                self._nothing_below[key] = length
