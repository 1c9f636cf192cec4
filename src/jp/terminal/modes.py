"""Terminal modes: each borrowing saves what it finds and puts that back; nothing else is ever touched.

Whoever wants modes of his own holds a `Lend`; while a turn streams, `Streaming` holds two bits. Both stand in
`jp.interrupt.end.restores` for as long as they last, so that every way out of the process puts them back, and both are
taken off around a stop (Ctrl-Z) and put on again afterwards, in the foreground only: from the background it would stop
the process or damage the shell's modes.
"""

from jp.interrupt import end
from jp.terminal import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, Self

    Modes = list[Any]

    class Stops(Protocol):
        """What is asked of the router."""

        def on_stop(self, fn: Callable[[], object]) -> Callable[[], None]: ...
        def on_continue(self, fn: Callable[[], object]) -> Callable[[], None]: ...


_lent: dict[int, int] = {}  # descriptor -> lends outstanding
_streaming: "dict[int, tuple[Modes, Modes]]" = {}  # descriptor -> modes before and with the bits of `Streaming`


def in_use_by_another(fd: int) -> bool:
    """Whether somebody else has taken the terminal: it reads key by key and no lend of ours is the reason."""
    modes = system.read_modes(fd)
    return modes is not None and not _lent.get(fd) and not system.is_canonical(modes)


def discard_input(fd: int) -> None:
    """Throw away what was typed ahead, before a question whose answer must not be an accident."""
    system.discard_input(fd)


def waiting(fd: int) -> int:
    """How many bytes were typed and not read."""
    return system.waiting(fd)


class _Change:
    """A change of one terminal's modes that every way out undoes."""

    __slots__ = ("_key", "_unlisten", "fd")

    def __init__(self, fd: int, router: "Stops | None") -> None:
        self.fd = fd
        self._key = id(self)
        self._unlisten: list[Callable[[], None]] = []
        if router is not None:
            self._unlisten = [router.on_stop(self.suspend), router.on_continue(self.resume)]

    def suspend(self) -> None:
        """Put the found modes back for a while."""
        raise NotImplementedError

    def resume(self) -> None:
        """Take the terminal again as before `suspend`; the modes found now are the ones to put back."""
        raise NotImplementedError

    def end(self) -> None:
        """Put the found modes back; a second call does nothing."""
        self.suspend()
        for unlisten in self._unlisten:
            unlisten()
        self._unlisten = []

    def __enter__(self) -> "Self":
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _register(self, undo: "Callable[[], object]", escapes: bytes = b"") -> None:
        end.restores[self._key] = end.Restore(self.fd, undo, escapes)

    def _unregister(self) -> None:
        end.restores.pop(self._key, None)


class Lend(_Change):
    """The modes of a terminal, borrowed for a prompt.

    `change` makes of the modes found those that are wanted: `keys`, `lines`, `hidden`, or None for as they are. A
    context manager. Lends nest: the inner one puts back what the outer one had set.
    """

    __slots__ = ("_change", "_escapes", "_found", "_given")

    def __init__(
        self, fd: int, change: "Callable[[Modes], Modes] | None" = system.cbreak, router: "Stops | None" = None
    ) -> None:
        super().__init__(fd, router)
        self._change = change
        self._escapes = b""
        self._found: Modes | None = None
        self._given = False

    @property
    def found(self) -> "Modes | None":
        """The modes that will be put back; None while nothing is borrowed."""
        return self._found

    def undo_with(self, escapes: bytes) -> None:
        """Escapes that undo what was switched on by escape (cursor, paste mode), for an end in the middle of it."""
        self._escapes = escapes
        if self._found is not None:
            self._register(self._put_back, escapes)

    def use(self, change: "Callable[[Modes], Modes] | None") -> None:
        """Want other modes from here on; of the same found ones."""
        self._change = change
        self._set()

    def resume(self) -> None:
        """Save the modes found and set ours; in the background nothing happens.

        Borrowed already, ours are set once more: whoever stopped us with SIGSTOP has put others there.
        """
        if self._given or not system.foreground(self.fd):
            return
        if self._found is None:
            found = system.read_modes(self.fd)
            if found is None:
                return
            self._found = found
            _lent[self.fd] = _lent.get(self.fd, 0) + 1
            self._register(self._put_back, self._escapes)
        self._set()

    def suspend(self) -> None:
        """Put back what was found."""
        if self._found is None or self._given:
            return
        if system.foreground(self.fd):
            self._put_back()
        self._found = None
        _lent[self.fd] -= 1
        self._unregister()

    def give(self) -> None:
        """Let another program (an editor) have the terminal as it was before us; stops of the job are its affair."""
        self._put_back()
        now = system.read_modes(self.fd)
        if now is not None and self.fd in _streaming:
            system.write_modes(self.fd, system.without_change(now, *_streaming[self.fd]))
        self._given = True  # from here on what is found is put back as a whole: the program may leave anything behind

    def retake(self) -> None:
        """Take it back, whatever modes that program has left; those found before it are still the ones to put back."""
        if system.foreground(self.fd):
            self._put_back()
            self._set()
        self._given = False

    def end(self) -> None:
        """Put the found modes back; a second call does nothing."""
        if self._given:
            self._put_back()
            self._given = False
        super().end()

    def _set(self) -> None:
        if self._found is not None and self._change is not None:
            system.write_modes(self.fd, self._change(self._found))

    def _put_back(self) -> None:
        """What we have changed; another process on this terminal may have changed the rest meanwhile."""
        if self._found is None:
            return
        now = None if self._given or self._change is None else system.read_modes(self.fd)
        modes = self._found
        if now is not None and self._change is not None:
            modes = system.with_found(now, self._found, self._change(self._found))
        system.write_modes(self.fd, modes)


keys = system.cbreak


def lines(modes: "Modes") -> "Modes":
    """Whole lines, shown as they are typed."""
    return system.whole_lines(modes, True)


def hidden(modes: "Modes") -> "Modes":
    """Whole lines that are not shown."""
    return system.whole_lines(modes, False)


class Streaming(_Change):
    """Two bits while a command writes to the terminal: Ctrl-C drops no accepted output, and no key is echoed into it.

    Put back bit by bit: what somebody else changed meanwhile stays. Who is given the terminal gets it without them.
    """

    __slots__ = ("_before", "_ours")

    def __init__(self, fd: int, router: "Stops | None" = None) -> None:
        super().__init__(fd, router)
        self._before: Modes | None = None
        self._ours: Modes | None = None

    def resume(self) -> None:
        """Set the two bits, in the foreground only."""
        if self._before is not None or not system.foreground(self.fd):
            return
        before = system.read_modes(self.fd)
        if before is None:
            return
        ours = system.streaming_bits(before)
        if ours == before:
            return
        self._before, self._ours = before, ours
        _streaming[self.fd] = (before, ours)
        self._register(self._put_back)
        system.write_modes(self.fd, ours)

    def suspend(self) -> None:
        """Take the two bits back."""
        if self._before is None:
            return
        if system.foreground(self.fd):
            self._put_back()
        self._before = self._ours = None
        _streaming.pop(self.fd, None)
        self._unregister()

    def _put_back(self) -> None:
        now = system.read_modes(self.fd)
        if now is not None and self._before is not None and self._ours is not None:
            system.write_modes(self.fd, system.without_change(now, self._before, self._ours))
