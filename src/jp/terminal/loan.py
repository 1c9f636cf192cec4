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

    __slots__ = ("_begin", "_drawn", "_end", "_gate", "_state", "_write", "tty")

    def __init__(
        self,
        tty: "Tty | None",
        *,
        begin: "Callable[[Gate], object]",
        end: "Callable[[Gate, bool], object]",
        write: "Callable[[str], object]",
        drawn: "Callable[[Gate], object]",
    ) -> None:
        self.tty = tty
        self._begin = begin
        self._end = end
        self._write = write
        self._drawn = drawn
        self._gate = Gate()
        self._state = "new"

    @property
    def fd(self) -> int | None:
        """The descriptor to read from; None without a terminal and in memory."""
        return self.tty.fd if self.tty is not None else None

    def write(self, text: str) -> None:
        """Draw on the terminal, in order, without blocking."""
        self._write(text)

    def drawn(self) -> None:
        """Wait until all that was written is on the terminal; for 100 ms at most, should it not move."""
        gate = Gate()
        self._drawn(gate)
        gate.wait(WAIT_SECS)

    def begin(self) -> None:
        """Take the terminal; returns within 100 ms."""
        if self._state == "new":
            self._state = "lent"
            self._begin(self._gate)
            self._gate.wait(WAIT_SECS)

    def end(self, clean: bool = False) -> None:
        """Give the terminal back; a second call does nothing.

        With `clean`, all that was drawn is erased and the cursor stands at column 0 of the row where it stood when
        the lend began: an unfinished line goes on where it stopped. Without, it is written again.
        """
        if self._state == "lent":
            self._state = "ended"
            self._end(self._gate, clean)

    def __enter__(self) -> "Self":
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
