"""Editing by what a person takes for one character: no key stands in or cuts a cluster of code points
(accents, families, flags, skin tones).

prompt_toolkit counts code points. What it asks of a document and sets in a buffer is rounded here.
"""

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.cache import FastDictCache
from prompt_toolkit.document import Document
from prompt_toolkit.selection import SelectionState
from wcwidth import iter_graphemes

_FLAGS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_NEAR = 128  # code points that are looked at around a place; longer clusters are nobody's text


def before(text: str, position: int) -> int:
    """Where the cluster begins in which `position` is, or `position` if it is between two."""
    near = max(0, position - _NEAR)
    while near and text[near] in _FLAGS:  # which of them are pairs is told by the first of the row
        near -= 1
    around = text[near : position + 1]
    if around.isascii() or position >= len(text):
        return position
    line = around.rfind("\n", 0, position - near) + 1
    at = near + line
    for cluster in iter_graphemes(around[line:]):
        if at + len(cluster) > position:
            return at
        at += len(cluster)
    return position


def after(text: str, position: int) -> int:
    """Where the cluster ends in which `position` is, or `position` if it is between two."""
    start = before(text, position)
    return position if start == position else start + _length(text, start)


def _length(text: str, start: int) -> int:
    """How many code points the cluster has that begins at `start`."""
    near = text[start : start + _NEAR]
    if not near or near[:2].isascii():
        return min(1, len(near))
    return len(next(iter_graphemes(near)))


class ClusterDocument(Document):
    """A document in which left and right are clusters."""

    def get_cursor_left_position(self, count: int = 1) -> int:
        """How far `count` clusters to the left are, within the line."""
        if count < 0:
            return self.get_cursor_right_position(-count)
        line = self.current_line_before_cursor
        if line.isascii():
            return -min(count, len(line))
        at = len(line)
        for _ in range(min(count, len(line))):
            at = before(line + "\n", at - 1) if at else 0
        return at - len(line)

    def get_cursor_right_position(self, count: int = 1) -> int:
        """How far `count` clusters to the right are, within the line."""
        if count < 0:
            return self.get_cursor_left_position(-count)
        line = self.current_line_after_cursor
        if line.isascii():
            return min(count, len(line))
        at = 0
        for _ in range(min(count, len(line))):
            at += _length(line, at)
        return at


class ClusterBuffer(Buffer):
    """A buffer whose cursor is never within a cluster, and which deletes none in part."""

    _documents: FastDictCache[tuple[str, int, SelectionState | None], Document] | None = None

    @property
    def document(self) -> Document:
        """The text with its cursor."""
        if self._documents is None:
            self._documents = FastDictCache(ClusterDocument, size=10)
        return self._documents[self.text, self.cursor_position, self.selection_state]

    @document.setter
    def document(self, value: Document) -> None:
        self.set_document(value)

    @property
    def cursor_position(self) -> int:
        """Where the cursor is, in code points."""
        position: int = Buffer.cursor_position.fget(self)  # type: ignore[attr-defined]
        return position

    @cursor_position.setter
    def cursor_position(self, value: int) -> None:
        old, text = self.cursor_position, self.text
        value = max(0, min(value, len(text)))
        start = before(text, value)
        if start != value:
            value = after(text, value) if start <= old < value else start
        Buffer.cursor_position.fset(self, value)  # type: ignore[attr-defined]

    def delete_before_cursor(self, count: int = 1) -> str:
        """Delete at least `count` code points before the cursor, no cluster in part; returns them."""
        start = before(self.text, max(0, self.cursor_position - count))
        return super().delete_before_cursor(self.cursor_position - start)

    def delete(self, count: int = 1) -> str:
        """Delete at least `count` code points behind the cursor, no cluster in part; returns them."""
        end = after(self.text, min(len(self.text), self.cursor_position + count))
        return super().delete(end - self.cursor_position)
