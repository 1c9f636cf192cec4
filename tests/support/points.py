"""Signals that arrive at named points of the real program.

A point is the n-th call of a function, named `module:qualname`. There the process sends itself the signals given, or
stops itself, so that a test can send them and let it go on. The program is not touched and imports what it imports when
it does: each module's functions are wrapped right after the module has run.

    Terminal(argv(at("jp.storage.journal:TurnWriter.fold", signals=["INT"]), args=["q", "hi"]))

`python tests/support/points.py SPEC -- ARGUMENT…` is the program with the points of SPEC, which `argv` builds.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any, NoReturn


def at(
    name: str, *, signals: "Sequence[str]" = (), when: str = "before", call: int = 1, delay_ms: float = 5
) -> dict[str, object]:
    """A point: at the entry to the function (`before`), at the exit from it, also by an exception (`after`).

    `signals` are names (`INT`, `STOP`, …), `delay_ms` apart. With `when="stop"` the process stops at the entry and
    waits for SIGCONT; with `hang` the thread goes no further, for ever. `call` is which call of the function is meant,
    from 1.
    """
    if when not in ("before", "after", "stop", "hang"):
        raise ValueError(when)
    return {"at": name, "signals": list(signals), "when": when, "call": call, "delay_ms": delay_ms}


def argv(*points: dict[str, object], args: "Sequence[str]", reached: "Path | str | None" = None) -> list[str]:
    """The command that runs the program on `args` with these points; each one reached is a line in the file given."""
    import json

    spec = json.dumps({"points": points, "reached": str(reached) if reached else None})
    return [sys.executable, os.path.abspath(__file__), spec, "--", *args]


class _Point:
    def __init__(self, fields: "dict[str, Any]", reached: str | None) -> None:
        import signal

        self.module, _, self.name = fields["at"].partition(":")
        self._after = fields["when"] == "after"
        self._hang = fields["when"] == "hang"
        names = ["STOP"] if fields["when"] == "stop" else fields["signals"]
        self._signals = [signal.Signals[f"SIG{name}"] for name in names]
        self._left = fields["call"]
        self._delay = fields["delay_ms"] / 1000
        self._reached = reached

    def wrapped(self, fn: "Callable[..., Any]") -> "Callable[..., Any]":
        def call(*args: object, **options: object) -> object:
            if not self._after:
                self._pass()
            try:
                return fn(*args, **options)
            finally:
                if self._after:
                    self._pass()

        for name in ("__name__", "__qualname__", "__doc__", "__module__", "__wrapped__"):
            setattr(call, name, getattr(fn, name, fn))
        return call

    def _pass(self) -> None:
        self._left -= 1
        if self._left:
            return
        if self._reached:
            fd = os.open(self._reached, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(fd, f"{self.module}:{self.name}\n".encode())
            os.close(fd)
        import time

        for number, sig in enumerate(self._signals):
            if number:
                time.sleep(self._delay)
            os.kill(os.getpid(), sig)
        while self._hang:
            time.sleep(60)

    def put(self, module: object) -> None:
        """Wrap the function in its module; a name that is not there is a mistake in the test, and said."""
        *path, last = self.name.split(".")
        owner: Any = module
        for part in path:
            owner = getattr(owner, part)
        found = vars(owner)[last]
        if isinstance(found, property):
            setattr(owner, last, property(self.wrapped(found.fget), found.fset, found.fdel))  # type: ignore[arg-type]
        elif isinstance(found, (staticmethod, classmethod)):
            setattr(owner, last, type(found)(self.wrapped(found.__func__)))
        else:
            setattr(owner, last, self.wrapped(found))


class _Finder:
    """Finds the modules with points as everybody else does, and has the points put in once one has run."""

    def __init__(self, points: "Sequence[_Point]") -> None:
        self._points = points

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        points = [point for point in self._points if point.module == name]
        if not points:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)  # type: ignore[arg-type]
            if spec is not None and spec.loader is not None:
                break
        else:
            return None
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: object) -> None:
            run(module)
            for point in points:
                point.put(module)

        loader.exec_module = exec_module
        return spec


def main() -> "NoReturn":
    """Run the program with the points of the first argument."""
    import json

    spec, dashes, *args = sys.argv[1:]
    if dashes != "--":
        raise SystemExit("usage: points.py SPEC -- ARGUMENT…")
    del sys.path[0]  # this directory has modules of common names
    fields = json.loads(spec)
    points = [_Point(each, fields["reached"]) for each in fields["points"]]
    sys.meta_path.insert(0, _Finder(points))  # type: ignore[arg-type]
    sys.argv = ["jp", *args]
    from jp.boot import main as program

    program()


if __name__ == "__main__":
    main()
