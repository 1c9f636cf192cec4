"""The text of a query: words, a file, what is piped in."""

import os

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from jp.cli.context import Context


class UnreadableQueryError(JpError):
    """The file that the query should come from cannot be read; nothing has been made or changed."""

    code = "unreadable_query"


class NoQueryError(JpError):
    """There is no text to send."""

    code = "no_query"

    def __init__(self) -> None:
        super().__init__(
            "there is nothing to ask: no text was given and nothing was piped in",
            hints=['give it as words (`jp query "…"`), from a file (`jp query @file`), or pipe it in'],
        )


def from_words(words: "Sequence[str]", ctx: "Context") -> str:
    """The words as text; `@FILE` alone is the content of that file, a lone `@` the character.

    Raises UnreadableQueryError, TooMuchTextError and, from a file that is waited for, Shutdown.
    """
    if len(words) == 1 and words[0].startswith("@") and len(words[0]) > 1:
        return _from_file(os.path.join(ctx.cwd, os.path.expanduser(words[0][1:])), ctx)
    # What the shell hands over may be no UTF-8; it has to become JSON.
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _from_file(path: str, ctx: "Context") -> str:
    from jp.cli.stdin import read, text_of

    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))  # a FIFO: waits for its writer
        try:
            return text_of(read(ctx, fd, path)).rstrip("\n")
        finally:
            os.close(fd)
    except OSError as error:
        raise UnreadableQueryError(
            f"can't read the query from {path}: {error.strerror}",
            hints=["a query that begins with `@` names a file; put a word before it to mean the character"],
            metadata={"path": path},
        ) from error


def joined(words: str, piped: str) -> str:
    """The words, then what was piped; empty when both are."""
    parts = [part for part in (words, piped.rstrip("\n")) if part.strip()]
    return "\n\n".join(parts)
