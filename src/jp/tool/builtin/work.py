"""What a built-in tool is given: where it works, what it was called with, and the word to stop."""

import itertools
import os
import threading

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from jp.interrupt.children import Child
    from jp.tool.confined import Root
    from jp.tool.definition import Definition, Invocation

    Stop = Callable[[bool], object]


MAX_SHOWN = 1000
SEARCHES = 4  # at once: each is a process that is busy


class Abandoned(BaseException):
    """The run was cancelled: nobody listens any more. Not an Exception, so that no tool takes it for a failure."""


class BadArgument(JpError):
    """An argument is missing or not of the kind that the schema says."""

    code = "bad_argument"


class Place:
    """What all runs share: the workspace, the environment of what is started, and the tools that there are.

    `hidden` names variables of `environ` that no program which a tool starts gets to see. `describe` returns the
    definitions of the tools that the model has. Output that is too long for a model is kept whole in `spill_dir`.
    """

    def __init__(
        self,
        root: "Callable[[], Root]",
        environ: "Mapping[str, str]",
        describe: "Callable[[], Iterable[Definition]]",
        hidden: "Iterable[str]" = (),
        spill_dir: str = "",
    ) -> None:
        self._root = root
        self.environ = environ
        self.describe = describe
        self.hidden = frozenset(hidden)
        self.spill_dir = spill_dir
        self.searches = threading.BoundedSemaphore(SEARCHES)
        self._shown: dict[tuple[str, str], int] = {}

    @property
    def root(self) -> "Root":
        """The workspace. Raises ConfinedError when it can't be opened."""
        return self._root()

    def opened(self, path: str) -> int:
        """A descriptor to read a file from, which the caller closes: one of the workspace, or what JP itself has kept
        of a long output. Raises ConfinedError."""
        if self.spill_dir and os.path.isabs(path) and os.path.dirname(os.path.normpath(path)) == self.spill_dir:
            from jp.tool.confined import ConfinedError, Root
            from jp.tool.kept import opened

            try:
                fd = opened(self.spill_dir)
            except OSError as error:
                raise ConfinedError(f"{path} can't be read: {error.strerror or error}") from error
            found = os.fstat(fd)
            os.close(fd)
            with Root(self.spill_dir, identity=(found.st_dev, found.st_ino)) as kept:
                return kept.opened(path)
        return self.root.opened(path)

    @property
    def visible(self) -> dict[str, str]:
        """The environment for programs."""
        return {name: value for name, value in self.environ.items() if name not in self.hidden}

    def show(self, call_id: str, path: str, file: str, content: bytes | None) -> None:
        """The person who approves the call is shown what it does to `file`, to which `path` leads and which holds
        `content`."""
        for old in list(self._shown)[:-MAX_SHOWN]:
            self._shown.pop(old, None)
        self._shown[call_id, path] = hash((file, content))

    def was_shown(self, call_id: str, path: str, file: str, content: bytes | None) -> bool:
        """Whether that is what was shown, or nothing was."""
        mark = hash((file, content))
        return self._shown.get((call_id, path), mark) == mark


class Work:
    """One run of a tool, on its own thread. `checkpoint` is called in every loop of it.

    `left_behind` are children that were killed and whose groups may not be gone yet.
    """

    def __init__(self, place: Place, invocation: "Invocation") -> None:
        self.place = place
        self.invocation = invocation
        self.cancelled = False
        self.hurried = False  # the cancel was to act at once
        self._stops: dict[int, Stop] = {}
        self._next = itertools.count().__next__
        self._lock = threading.RLock()  # once a context has been left, what it was to stop is not touched any more
        self.left_behind: list[Child] = []

    @property
    def root(self) -> "Root":
        """The workspace."""
        return self.place.root

    def checkpoint(self) -> None:
        """Raises Abandoned once the run is cancelled."""
        if self.cancelled:
            raise Abandoned

    def cancel(self, now: bool) -> None:
        """Any thread; never blocks. What is called here must not block either."""
        with self._lock:
            self.cancelled = True
            self.hurried = self.hurried or now
            for stop in list(self._stops.values()):
                stop(now)

    def stopping(self, stop: "Stop") -> "Stopping":
        """A context in which a cancel calls `stop(now)`; at once when there has been one."""
        return Stopping(self, stop)

    def steps(self, things: "Iterable[Any]", every: int = 256) -> "Iterator[Any]":
        """`things`, with a checkpoint now and then."""
        for number, thing in enumerate(things):
            if number % every == 0:
                self.checkpoint()
            yield thing

    # --- arguments ---

    def text(self, name: str, default: str | None = None) -> str:
        """A string; raises BadArgument when there is none and no default."""
        return str(self._get(name, str, default, "a string"))

    def number(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number, brought into the bounds."""
        value = self._get(name, (int, float), default, "a whole number")
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            raise BadArgument(f"the argument `{name}` must be a whole number")
        return min(max(int(value), least), most)

    def flag(self, name: str) -> bool:
        """True or false; false when it is not given."""
        return bool(self._get(name, bool, False, "true or false"))

    def texts(self, name: str) -> list[str]:
        """A list of strings; empty when it is not given. One string is taken for a list of it."""
        value = self._get(name, (list, str), [], "a list of strings")
        items = [value] if isinstance(value, str) else value
        if not all(isinstance(item, str) for item in items):
            raise BadArgument(f"the argument `{name}` must be a list of strings")
        return list(items)

    def items(self, name: str) -> list[object]:
        """A list of anything."""
        return list(self._get(name, list, None, "a list"))

    def _get(self, name: str, kind: "type | tuple[type, ...]", default: object, words: str) -> "Any":
        value = self.invocation.arguments.get(name)
        if value is None:
            value = default
        if value is None:
            raise BadArgument(f"the argument `{name}` is missing")
        if not isinstance(value, kind):
            raise BadArgument(f"the argument `{name}` must be {words}")
        return value


class Stopping:
    """See `Work.stopping`."""

    def __init__(self, work: Work, stop: "Stop") -> None:
        self._work = work
        self._stop = stop
        self._key = -1

    def __enter__(self) -> None:
        with self._work._lock:
            self._key = self._work._next()
            self._work._stops[self._key] = self._stop
            if self._work.cancelled:
                self._stop(self._work.hurried)

    def __exit__(self, *_: object) -> None:
        with self._work._lock:
            self._work._stops.pop(self._key, None)
