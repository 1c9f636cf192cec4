"""Attachments: files whose text goes with every request (contracts, `conversation.attachments`).

Written as a path, a `file:` URL (relative to the workspace), or a table `{type, path, params}`. Commands and the other
kinds of the original are not in effect yet; whoever asks is told, and the conversation goes on without them.
"""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import msgspec

from jp.errors import JpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class AttachmentError(JpError):
    """An attachment that can't be had; nothing was sent."""

    code = "attachment"


class Attachment(msgspec.Struct):
    """A text with the place it comes from."""

    source: str
    content: str
    description: str | None = None


class Wanted(msgspec.Struct):
    """An entry of the configuration: its kind (`file`, `cmd`, …), path and description."""

    kind: str
    path: str
    description: str | None = None


def parse(entry: Any) -> Wanted:
    """What an entry asks for: a string, or something with `kind` (or `type`), `path` and `params`."""
    if not isinstance(entry, str):
        fields = entry if isinstance(entry, dict) else msgspec.structs.asdict(entry)
        kind = fields.get("kind") or fields.get("type")
        described = (fields.get("params") or {}).get("description")
        return Wanted(str(kind), str(fields.get("path")), described if isinstance(described, str) else None)
    scheme, colon, rest = entry.partition(":")
    if not colon or len(scheme) < 2 or not scheme.isascii() or not scheme.replace("+", "a").isalpha():
        return Wanted("file", entry)
    rest, _, query = rest.removeprefix("//").partition("?")
    described = parse_qs(query).get("description", [""])[0]
    return Wanted(scheme.lower(), unquote(rest) if scheme == "file" else rest, described or None)


def load(entries: Iterable[Any], root: str) -> tuple[list[Attachment], list[str]]:
    """The attachments of the entries that are files, and a sentence for each entry that is not in effect.

    Paths are relative to `root`; a path with `*`, `?` or `[` that is no file stands for all it matches. Raises
    `AttachmentError` for a file that can't be read as text.
    """
    found: list[Attachment] = []
    notices: list[str] = []
    for entry in entries:
        wanted = parse(entry)
        if wanted.kind == "file":
            found += [_read(path, root, wanted) for path in _paths(wanted.path, root)]
        elif wanted.kind == "cmd":
            notices.append(f"the attachment cmd:{wanted.path} runs a command; it needs trust and is not in effect")
        else:
            notices.append(f"attachments of the kind {wanted.kind!r} are not supported yet: {wanted.path}")
    return found, notices


def _paths(path: str, root: str) -> Sequence[str]:
    full = os.path.join(root, os.path.expanduser(path))
    if os.path.exists(full) or not glob.has_magic(path):
        return [full]
    found = sorted(one for one in glob.glob(full, recursive=True) if os.path.isfile(one))
    if not found:
        raise AttachmentError(f"the attachment {path} matches no file", metadata={"path": path})
    return found


def _read(path: str, root: str, wanted: Wanted) -> Attachment:
    try:
        with open(path, "rb") as file:
            data = file.read()
        content = data.decode()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, "it is not text in UTF-8") from error
    below = os.path.relpath(path, root)
    return Attachment(path if below.startswith("..") else below, content, wanted.description)


def _unreadable(path: str, reason: str) -> AttachmentError:
    return AttachmentError(
        f"can't attach {path}: {reason}",
        hints=["Attachments are set in `conversation.attachments`."],
        metadata={"path": path, "reason": reason},
    )
