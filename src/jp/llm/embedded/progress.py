"""How an installation shows itself: one status line where it can be repainted, else a plain line now and then."""

import time
from typing import Self

from jp.llm.embedded.install import Installed, Notice, Progress
from jp.llm.embedded.shelf import human_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.llm.embedded.catalogue import Model
    from jp.terminal.printer import Printer
    from jp.terminal.status import StatusHandle

SOONEST, LATEST = 2.0, 30.0  # seconds between two lines


class Meter:
    """Turns progress into words; pure but for the times it is given."""

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None

    def words(self, progress: Progress, now: float) -> str:
        """`412 MB of 1.12 GB, 37 %, 41 MB/s, 17 s left`; rate and rest once they mean something."""
        parts = [f"{human_size(progress.done)} of {human_size(progress.total)}"]
        parts.append(f"{progress.done * 100 // progress.total} %")
        if progress.doing == "fetching":
            if self._began is None:
                self._began = (now, progress.done)
            began, start = self._began
            seconds, came = now - began, progress.done - start
            if seconds >= 1 and came > 0:
                rate = came / seconds
                parts.append(f"{human_size(int(rate))}/s")
                parts.append(f"{duration((progress.total - progress.done) / rate)} left")
        return ", ".join(parts)


class Progression:
    """A context manager around an installation; `report` is what `install` calls."""

    def __init__(self, model: "Model", printer: "Printer", clock: "Callable[[], float]" = time.monotonic) -> None:
        self._model = model
        self._printer = printer
        self._clock = clock
        self._meter = Meter()
        self._status: StatusHandle | None = None
        self._announced = False
        self._line_at = 0.0
        self._tenth = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_status()

    def report(self, event: Progress | Notice) -> None:
        """Show `event`."""
        if isinstance(event, Notice):
            self._end_status()
            self._printer.note(event.text)
            return
        if event.doing == "fetching" and not self._announced:
            self._announce(event)
        words = self._meter.words(event, self._clock())
        if self._printer.can_repaint:
            if self._status is None:
                self._status = self._printer.status(f"Installing {self._model.name}")
            self._status.detail(f"{event.doing} {words}")
        else:
            self._line(event, words)

    def _announce(self, event: Progress) -> None:
        self._announced = True
        model = self._model
        there = f"; {human_size(event.done)} of it are there" if event.done else ""
        self._end_status()
        self._printer.note(f"Installing {model.name}: {model.title}, {human_size(model.size)}, {model.licence}{there}.")
        self._line_at = self._clock()
        self._tenth = event.done * 10 // event.total

    def _line(self, event: Progress, words: str) -> None:
        """A line for each tenth of the way, in the rhythm that a person reads a log in."""
        now = self._clock()
        since = now - self._line_at
        tenth = event.done * 10 // event.total
        if (
            event.doing != "fetching"
            or event.done == event.total
            or since < SOONEST
            or (tenth <= self._tenth and since < LATEST)
        ):
            return
        self._line_at, self._tenth = now, tenth
        self._printer.note(f"{event.doing} {self._model.name} from {event.source}: {words}")

    def _end_status(self) -> None:
        if self._status is not None:
            self._status.end()
            self._status = None


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def summary(model: "Model", done: Installed) -> str:
    """The last word of an installation."""
    if not done.seconds:
        return f"{model.name} is installed already: {done.path}"
    if not done.fetched:
        return f"{model.name} is whole and verified ({human_size(model.size)}, {duration(done.seconds)}): {done.path}"
    rest = f", {human_size(done.resumed)} were there" if done.resumed else ""
    came = f"{human_size(done.fetched)} in {duration(done.seconds)}{rest}"
    return f'Installed {model.name}, verified ({came}): {done.path}\nAsk it: jp query -m {model.id} "…"'
