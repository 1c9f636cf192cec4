"""Attachments: files whose text goes with every request (contracts, `conversation.attachments`).

Written as a path, a `file:` URL (relative to the workspace), or a table `{type, path, params}`. Commands and the other
kinds of the original are not in effect yet; whoever asks is told, and the conversation goes on without them. Files
outside the workspace are read when the user has named them (`jp.config.guarded` holds back what the workspace names); a
path inside it that a link takes out is not followed, whoever names it: a cloned repository brings its links with it.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import msgspec

from jp.config.attached import Wanted, full_path, leads_outside, parse
from jp.config.paths import is_below
from jp.errors import JpError
from jp.interrupt.checkpoint import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Attachment", "AttachmentError", "Wanted", "load", "parse"]

MOST_BYTES = 16 * 2**20
PIECE = 2**18


class AttachmentError(JpError):
    """An attachment that can't be had; nothing was sent."""

    code = "attachment"


class Attachment(msgspec.Struct):
    """A text with the place it comes from."""

    source: str
    content: str
    description: str | None = None


def load(entries: Iterable[Any], root: str) -> tuple[list[Attachment], list[str]]:
    """The attachments of the entries that are files, and a sentence for each entry that is not in effect.

    Paths are relative to `root`; a path with `*`, `?` or `[` that is no file stands for all it matches. Raises
    `AttachmentError` for what can't be read as text, is no regular file, or makes the attachments larger than
    `MOST_BYTES` together.
    """
    found: list[Attachment] = []
    notices: list[str] = []
    left = MOST_BYTES
    for entry in entries:
        wanted = parse(entry)
        if wanted.kind == "cmd":
            notices.append(f"the attachment cmd:{wanted.path} runs a command; it needs trust and is not in effect")
        elif wanted.kind != "file":
            notices.append(f"attachments of the kind {wanted.kind!r} are not supported yet: {wanted.path}")
        else:
            for path in _paths(wanted.path, root):
                name = _named(path, root)
                if not leads_outside(wanted.path, root) and not _really_inside(path, root):
                    notices.append(
                        f"the attachment {name} is not in effect: a link leads from it out of the workspace; "
                        "name the file itself to attach it"
                    )
                    continue
                data = _read(path, left)
                left -= len(data)
                found.append(Attachment(name, _text(path, data), wanted.description))
    return found, notices


def _paths(path: str, root: str) -> Sequence[str]:
    full = full_path(path, root)
    if os.path.lexists(full) or not any(char in path for char in "*?["):
        return [full]
    from jp.config.globs import Budget, TooMuch, find

    try:
        found = find(os.path.abspath(full), ("",), Budget(), os.path.abspath(root))
    except TooMuch as error:
        raise AttachmentError(f"the attachment {path} matches {error}", metadata={"path": path}) from None
    if not found:
        raise AttachmentError(f"the attachment {path} matches no file", metadata={"path": path})
    return found


def _named(path: str, root: str) -> str:
    """A path as the model is told it: below the workspace where it is in it."""
    full, top = os.path.abspath(path), os.path.abspath(root)
    return os.path.relpath(full, top) if is_below(full, top) else path


def _really_inside(path: str, root: str) -> bool:
    try:
        return is_below(os.path.realpath(path), os.path.realpath(root))
    except ValueError:  # no path of this system; reading it says so
        return True


def _read(path: str, left: int) -> bytes:
    """The bytes of a regular file, at most `left`; a FIFO's writer is not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except ValueError as error:
        raise _unreadable(path, "it is no path") from error
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise _unreadable(path, "it is a directory" if stat.S_ISDIR(mode) else "it is not a regular file")
        return _bounded(path, fd, left)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(fd)


def _bounded(path: str, fd: int, left: int) -> bytes:
    data = bytearray()
    while piece := os.read(fd, PIECE):
        checkpoint()
        data += piece
        if len(data) > left:
            raise _unreadable(path, f"the attachments would be larger than {MOST_BYTES // 2**20} MiB together")
    return bytes(data)


def _text(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not text in UTF-8") from error


def _unreadable(path: str, reason: str) -> AttachmentError:
    return AttachmentError(
        f"can't attach {path}: {reason}",
        hints=["Attachments are set in `conversation.attachments`."],
        metadata={"path": path, "reason": reason},
    )
