"""The host's side of the pipes to a plugin, for whoever tries one: on one thread, never blocked, line by line."""

import os
import select

from jp.plugin import wire

_READ = 1 << 16
_KEPT = 1 << 16  # bytes of stderr


class Exchange:
    """`sink` goes to the plugin, `source` comes from it, and `errors` is its stderr. Closes all of them."""

    def __init__(self, sink: int, source: int, errors: int | None = None) -> None:
        self.errors = bytearray()  # the end of what it wrote to stderr
        self.over = False  # it has closed its standard output
        self._sink: int | None = sink
        self._open = {source} if errors is None else {source, errors}
        self._source = source
        self._lines = wire.Lines()
        self._outgoing = bytearray()
        self._last = False  # nothing is sent any more
        os.set_blocking(sink, False)

    def send(self, data: bytes) -> None:
        """Write `data` as soon as the plugin takes it; dropped where it has closed its standard input."""
        if self._sink is not None:
            self._outgoing += data

    def hang_up(self) -> None:
        """Close the plugin's standard input, once it has taken what was sent."""
        self._last = True
        if not self._outgoing:
            self._shut()

    def _shut(self) -> None:
        if self._sink is not None:
            os.close(self._sink)
        self._sink = None
        self._outgoing.clear()

    def step(self, seconds: float) -> list[bytes]:
        """The lines that come first, within so many seconds. Raises MalformedError for one that is too long."""
        waiting = [self._sink] if self._sink is not None and self._outgoing else []
        readable, writable, _ = select.select(list(self._open), waiting, [], max(0.0, seconds))
        if writable:
            self._write()
        lines: list[bytes] = []
        for fd in readable:
            data = os.read(fd, _READ)
            if not data:
                self._open.discard(fd)
                os.close(fd)
                self.over = self.over or fd == self._source
            elif fd == self._source:
                lines += self._lines.feed(data)
            else:
                self.errors += data
                del self.errors[:-_KEPT]
        return lines

    @property
    def unfinished(self) -> bytes:
        """What it wrote behind its last line end."""
        return self._lines.unfinished

    def close(self) -> None:
        """Close every pipe."""
        self._shut()
        for fd in self._open:
            os.close(fd)
        self._open.clear()
        self.over = True

    def _write(self) -> None:
        assert self._sink is not None
        try:
            del self._outgoing[: os.write(self._sink, self._outgoing)]
        except BlockingIOError:
            return
        except OSError:
            self._shut()
        if self._last and not self._outgoing:
            self._shut()
