"""A plugin's output, at the pace of whoever takes it: a plugin that prints faster waits (decisions, "Backpressure")."""

import _thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from jp.plugin.messages import Print

    class Output(Protocol):
        """What shows a plugin's text, as `jp.plugin.printing` does: `show` tells how many characters it wrote."""

        def show(self, message: Print) -> int: ...
        def pieces(self, message: Print) -> list[Print]: ...
        def end(self) -> None: ...


AHEAD = 1024 * 1024  # characters that are written, whatever came, before the plugin waits for them


class Flushed:
    """What was printed is out."""


class Paced:
    """Shows text by `output`; `flush(None)` returns when all of it is written. `post` gets `Flushed`."""

    def __init__(
        self, output: "Output", flush: "Callable[[float | None], bool]", post: "Callable[[object], object]"
    ) -> None:
        self._output = output
        self._flush = flush
        self._post = post
        self._printed = 0
        self._flushing = False
        self.pieces = output.pieces
        self.end = output.end

    def show(self, message: "Print") -> None:
        """Show it, now or behind what waits."""
        self._printed += self._output.show(message)
        if self.behind and not self._flushing:
            self._flushing = True
            _thread.start_new_thread(self._await, ())

    @property
    def behind(self) -> bool:
        """Whether the plugin is to wait."""
        return self._printed > AHEAD

    def flushed(self) -> None:
        """All that was shown before is out."""
        self._flushing, self._printed = False, 0

    def _await(self) -> None:
        self._flush(None)
        self._post(Flushed())
