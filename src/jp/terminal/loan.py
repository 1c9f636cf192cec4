"""The terminal, handed to a prompt or an editor for a while."""

from jp.terminal.worker import Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from jp.terminal.tty import Tty

WAIT_SECS = 0.1


class Loan:
    """A context manager, made by `Printer.lend`. There is nothing to draw on when the printer has no terminal."""

    __slots__ = ("_begin", "_end", "_gate", "_state", "_write", "tty")

    def __init__(
        self,
        tty: "Tty | None",
        *,
        begin: "Callable[[Gate], object]",
        end: "Callable[[Gate], object]",
        write: "Callable[[str], object]",
    ) -> None:
        self.tty = tty
        self._begin = begin
        self._end = end
        self._write = write
        self._gate = Gate()
        self._state = "new"

    @property
    def fd(self) -> int | None:
        """The descriptor to read from; None without a terminal and in memory."""
        return self.tty.fd if self.tty is not None else None

    def write(self, text: str) -> None:
        """Draw on the terminal, in order, without blocking."""
        self._write(text)

    def begin(self) -> None:
        """Take the terminal; returns within 100 ms."""
        if self._state == "new":
            self._state = "lent"
            self._begin(self._gate)
            self._gate.wait(WAIT_SECS)

    def end(self) -> None:
        """Give the terminal back; a second call does nothing."""
        if self._state == "lent":
            self._state = "ended"
            self._end(self._gate)

    def __enter__(self) -> "Self":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
