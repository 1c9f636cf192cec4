"""`write_file` and `modify_file`: what will be in the file, shown as a diff first, and put there at once."""

import os
import re
from typing import NamedTuple

from jp.tool.builtin.diff import counted, line_ends, unified
from jp.tool.builtin.edits import Edit, EditError, apply
from jp.tool.builtin.reading import SNIFFED, is_binary
from jp.tool.builtin.work import BadArgument
from jp.tool.confined import ABSENT, ConfinedError
from jp.tool.outcome import Failure, Success

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.builtin.work import Work
    from jp.tool.confined_walk import Version
    from jp.tool.outcome import Outcome

LIMIT = 16 << 20
ATTEMPTS = 3
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029]")


class Target(NamedTuple):
    """The file that is written: `path` in the workspace, without links; `shown` says that it is not what was named."""

    path: str
    shown: str


def format_write_file(work: "Work") -> "Outcome":
    """The diff to what is there now."""
    target, content = _target(work), _content(work)
    work.root.may_write(target.path)
    old, _ = _there(work, target.path)
    work.place.show(work.invocation.call_id, work.text("path"), target.path, old)
    if old is None and not content:
        return Success(f"{target.shown}new file {target.path}, which is empty\n")
    if old is None:
        return Success(f"{target.shown}new file {target.path}\n{unified(target.path, None, content)}")
    return Success(target.shown + _diff(target.path, old, content))


def write_file(work: "Work") -> "Outcome":
    """Put all of the content there. Fails when the file is not the one any more that the diff was shown for."""
    target, content = _target(work), _content(work)
    path = target.path
    old, version = _there(work, path)
    if old == content:
        return Success(f"{path} holds that already")
    if not work.place.was_shown(work.invocation.call_id, work.text("path"), path, old):
        return Failure(f"{path} was changed after the diff was shown, so nothing was written; read it again")
    work.checkpoint()
    work.root.write(path, content, parents=True, over=version)
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    return Success(f"{'made' if old is None else 'replaced'} {path} ({lines} lines)")


def format_modify_file(work: "Work") -> "Outcome":
    """The diff that the edits make; a failure when one of them does not apply."""
    target, edits = _target(work), _edits(work)
    work.root.may_write(target.path)
    old, _ = work.root.load(target.path, LIMIT)
    work.place.show(work.invocation.call_id, work.text("path"), target.path, None)
    return Success(target.shown + _diff(target.path, old, _applied(target.path, old, edits)))


def modify_file(work: "Work") -> "Outcome":
    """Make the edits, all or none, on what the file holds at that moment."""
    path, edits = _target(work).path, _edits(work)
    if not work.place.was_shown(work.invocation.call_id, work.text("path"), path, None):
        return Failure(f"{work.text('path')} leads to another file since the diff was shown, so nothing was changed")
    for attempt in range(1, ATTEMPTS + 1):
        work.checkpoint()
        old, version = work.root.load(path, LIMIT)
        new = _applied(path, old, edits)
        try:
            work.root.write(path, new, over=version)
        except ConfinedError as error:
            if not error.changed or attempt == ATTEMPTS:
                raise
        else:
            break
    added, removed = counted(old, new)
    many = f"{len(edits)} edits" if len(edits) > 1 else "1 edit"
    return Success(f"modified {path}: {many}, +{added} −{removed} lines")


def _target(work: "Work") -> Target:
    """Where `path` leads. What could look like another line, of a diff for one, is no name of a file to write."""
    named = work.text("path")
    path = work.root.destination(_on_one_line(named))
    within = os.path.normpath(named).removeprefix(os.path.normpath(work.root.path) + "/")
    return Target(path, "" if within == path else f"{named} -> {_on_one_line(path)}\n")


def _on_one_line(path: str) -> str:
    if _CONTROL.search(path):
        raise BadArgument(f"{path!r} has control characters or ends of lines in it; no such file is written")
    return path


def _there(work: "Work", path: str) -> "tuple[bytes | None, Version]":
    """What a file holds now; None for one that there is not, or whose directory there is not."""
    try:
        return work.root.load(path, LIMIT)
    except ConfinedError as error:
        if not error.missing:
            raise
        return None, ABSENT


def _diff(path: str, old: bytes, new: bytes) -> str:
    if old == new:
        return f"{path} stays as it is\n"
    notes = []
    ends = line_ends(old), line_ends(new)
    if ends[0] != ends[1] and all(ends):
        notes.append(f"line ends change from {ends[0]} to {ends[1]}\n")
    if is_binary(old[:SNIFFED]):
        return f"{path}, which is not a text file ({len(old)} bytes), is replaced\n{unified(path, None, new)}"
    return "".join(notes) + unified(path, old, new)


def _applied(path: str, old: bytes, edits: list[Edit]) -> bytes:
    if is_binary(old[:SNIFFED]):
        raise EditError(f"{path} is not a text file ({len(old)} bytes)")
    new = apply(path, old, edits)
    if new == old:
        raise EditError(f"the edits of {path} cancel each other: nothing would change")
    return new


def _content(work: "Work") -> bytes:
    try:
        content = work.text("content").encode()
    except UnicodeEncodeError:
        raise BadArgument("`content` holds half of a character, which no file can") from None
    if len(content) > LIMIT:
        raise BadArgument(f"`content` is too large: {len(content)} bytes, and the limit is {LIMIT}")
    return content


def _edits(work: "Work") -> list[Edit]:
    edits = []
    for item in work.items("edits"):
        known = item if isinstance(item, dict) else {}
        old, new, everywhere = known.get("old"), known.get("new"), known.get("all") or False
        if not (isinstance(old, str) and isinstance(new, str) and isinstance(everywhere, bool)):
            raise BadArgument("each of the `edits` must have `old` and `new`, which are strings, and may have `all`")
        edits.append(Edit(old, new, everywhere))
    if not edits:
        raise BadArgument("there is nothing to do: `edits` is empty")
    return edits
