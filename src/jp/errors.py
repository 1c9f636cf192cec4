"""The one tree of errors.

Every package raises a leaf of its own and prints nothing; the shell renders it once, per format, and turns it into the
exit status (contracts, section 2). A message says what happened and where, the hints say what to do next.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DONE = 0
FAILED = 1
USAGE = 2
DENIED = 3
LOCKED = 4


class JpError(Exception):
    """An error with a stable `code`, for people and for programs.

    `message` is one sentence without a final full stop; `hints` are sentences that say what to do next; `metadata`
    holds JSON values for the record that `--format json` prints.
    """

    code = "error"
    status = FAILED

    def __init__(
        self, message: str, *, hints: "Sequence[str]" = (), metadata: "Mapping[str, object] | None" = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)
        self.metadata = dict(metadata or {})


class UsageError(JpError):
    """The command line says something that cannot be meant; exit status 2."""

    code = "usage"
    status = USAGE


def nearest(word: str, known: "Sequence[str]") -> str | None:
    """The one of `known` that `word` was most likely meant to be, or None."""
    from difflib import get_close_matches

    swapped = [name for name in known if sorted(name) == sorted(word)]
    found = swapped or get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
