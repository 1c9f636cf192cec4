"""What an emulated terminal was made to do beside printing."""

from pyghostty import Terminal, ffi  # type: ignore[import-untyped]

_MODES = (1, 6, 7, 12, 25, 47, 1000, 1002, 1003, 1004, 1006, 1049, 2004, 2026)


def title(emulator: Terminal) -> bytes:
    """The window's title."""
    found = emulator.get("title", "GhosttyString")
    return bytes(ffi.buffer(found.ptr, found.len)) if found.len else b""


class Watched:
    """A terminal that notes whatever it does beside printing, new lines and styles."""

    def __init__(self, columns: int = 40, rows: int = 12) -> None:
        self.emulator = Terminal(columns, rows)
        self.replies: list[bytes] = []
        self.unknown: list[object] = []
        self.emulator.on_reply(self._reply)
        self.emulator.on_unknown_sequence(self._unknown)

    def _reply(self, data: bytes) -> None:
        self.replies.append(data)

    def _unknown(self, sequence: object) -> None:
        self.unknown.append(sequence)

    def state(self) -> tuple[object, ...]:
        """Everything that only a control sequence changes."""
        modes = tuple(bool(self.emulator.mode(number)) for number in _MODES)
        return (title(self.emulator), modes, tuple(self.replies), tuple(self.unknown))
