"""The order of responses (decisions, "Plugins"): with an id as soon as one is ready, without in order of requests."""

from collections import deque
from collections.abc import Callable, Iterator

from jp.plugin.messages import Id

Data = bytes | Iterator[bytes]
FULL = 8 * 1024 * 1024  # bytes that wait for their turn


class Slot:
    """The place of one response."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data: Data | None = None


class Order:
    """Hands responses on to `send`, each when its turn has come."""

    def __init__(self, send: Callable[[Data], object]) -> None:
        self._send = send
        self._slots: deque[Slot] = deque()
        self._size = 0

    def place(self, ident: Id | None) -> Slot | None:
        """The place of the response to a request that has just come; None where it needs none."""
        if ident is not None:
            return None
        slot = Slot()
        self._slots.append(slot)
        return slot

    def respond(self, slot: Slot | None, data: Data) -> None:
        """A response is ready."""
        if slot is None:
            self._send(data)
            return
        slot.data = data
        self._size += _weight(data)
        while self._slots and self._slots[0].data is not None:
            ready = self._slots.popleft().data
            assert ready is not None
            self._size -= _weight(ready)
            self._send(ready)

    @property
    def full(self) -> bool:
        """Whether so much waits for its turn that nothing more should be asked for."""
        return self._size > FULL


def _weight(data: Data) -> int:
    """About how many bytes of memory it takes."""
    return len(data) + 200 if isinstance(data, bytes) else FULL // 8
