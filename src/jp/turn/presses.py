"""What a turn makes of presses: a scope while the answer streams, one while tools run, one for the gaps, and where
each is looked at.

A press is a flag until main looks: between two pieces of an answer, and at the poll points of a gap. The work that is
being done is never cut short (RFD 092, "Poll boundaries").
"""

from contextlib import contextmanager

from jp.interrupt import ladder
from jp.interrupt.router import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jp.ask.asker import Asker
    from jp.ask.interruption import Decision, Interruption
    from jp.interrupt.router import Router, ScopeHandle


class Presses:
    """The scopes of one turn. The asker and the interruptions are made when there is a press; `wake` wakes main.

    `keep` is given a question whose answer is aborted, before it is forgotten.
    """

    def __init__(
        self,
        router: "Router",
        asker: "Callable[[], Asker]",
        streaming: "Callable[[], Interruption]",
        tools: "Callable[[], Interruption]",
        gaps: "Callable[[], Interruption]",
        keep: "Callable[[str], object]",
    ) -> None:
        self._router = router
        self._asker = asker
        self._streaming = streaming
        self._tools = tools
        self._gaps = gaps
        self.keep = keep
        self._open: list[tuple[ScopeHandle, Callable[[], Interruption]]] = []
        self.wake: Callable[[], object] = lambda: None

    @contextmanager
    def in_gap(self) -> "Iterator[None]":
        """A press means the turn menu."""
        with self._scope("turn", self._gaps):
            yield

    @contextmanager
    def while_streaming(self) -> "Iterator[None]":
        """A press means the streaming menu."""
        with self._scope("streaming", self._streaming):
            yield

    @contextmanager
    def while_running(self) -> "Iterator[None]":
        """A press means the tool menu."""
        with self._scope("tools", self._tools):
            yield

    @contextmanager
    def _scope(self, name: str, menu: "Callable[[], Interruption]") -> "Iterator[None]":
        with self._router.push(Scope(ladder.MENU, self.wake, name, menu=menu)) as handle:
            self._open.append((handle, menu))
            try:
                yield
            finally:
                self._open.pop()

    def look(self) -> "Decision | None":
        """Answer a press that waits for one of the scopes; None where none does, or the work just goes on.

        Main thread; raises Shutdown.
        """
        if not any(handle.pending for handle, _ in self._open):
            return None
        from jp.ask.menus import What

        for handle, menu in reversed(self._open):  # one that is declined goes to the next
            if handle.pending:
                decision = self._asker().decide(handle, menu())
                if decision.what is not What.CONTINUE:
                    return decision
        return None

    def warm(self) -> None:
        """Load what a menu needs, so that the first one is there at once. Any thread."""
        self._asker().warm()
