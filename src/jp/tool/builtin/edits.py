"""Literal replacements in a text as bytes, and what to say when one does not apply; pure."""

from typing import NamedTuple

from jp.errors import JpError
from jp.tool.builtin.diff import line_ends

MAX_COMPARED = 20_000  # lines of a file that are looked at for a piece that was not found
MAX_LINE = 300
SHOWN = 3


class EditError(JpError):
    """An edit does not apply; the message says why and where to look."""

    code = "edit"


class Edit(NamedTuple):
    """Put `new` in the place of `old`, which must be there once, or wherever it is."""

    old: str
    new: str
    all: bool = False


def apply(path: str, text: bytes, edits: list[Edit]) -> bytes:
    """`text` with all the edits made, in order. Raises EditError, and then none is.

    In a text whose lines end with CRLF an edit may be worded with plain line feeds.
    """
    crlf = line_ends(text) == "CRLF"
    for number, edit in enumerate(edits, 1):
        which = f"edit {number} of {len(edits)}" if len(edits) > 1 else "the edit"
        old, new = _encoded(edit.old, which), _encoded(edit.new, which)
        if crlf:
            old, new = _with_crlf(old), _with_crlf(new)
        if not old:
            raise EditError(f"{which} of {path} can't be made: `old` is empty")
        if old == new:
            raise EditError(f"{which} of {path} changes nothing: `old` and `new` are the same")
        text = _replaced(path, text, old, new, edit.all, which)
    return text


def _replaced(path: str, text: bytes, old: bytes, new: bytes, everywhere: bool, which: str) -> bytes:
    first = text.find(old)
    if first < 0:
        raise EditError(f"{which} of {path} can't be made: `old` is not in the file{_nearest(text, old)}")
    if everywhere:
        return text.replace(old, new)
    second = text.find(old, first + 1)
    if second >= 0:
        places = ", ".join(map(str, _line_numbers(text, old)))
        raise EditError(
            f"{which} of {path} can't be made: `old` is there more than once (in lines {places}); give more of what is "
            f"around the one that is meant, or set `all` to replace each of them"
        )
    return text[:first] + new + text[first + len(old) :]


def _line_numbers(text: bytes, old: bytes, most: int = 5) -> list[str]:
    numbers: list[str] = []
    at = text.find(old)
    while at >= 0:
        if len(numbers) == most:
            return [*numbers, "…"]
        numbers.append(str(text.count(b"\n", 0, at) + 1))
        at = text.find(old, at + 1)
    return numbers


def _nearest(text: bytes, old: bytes) -> str:
    """The lines that were probably meant, to be put after "not in the file"."""
    lines = [line.decode("utf-8", "replace").rstrip("\r") for line in text.split(b"\n")[:MAX_COMPARED]]
    wanted = [line.rstrip("\r") for line in old.decode("utf-8", "replace").rstrip("\n").split("\n")]
    start = _ignoring_space(lines, wanted)
    if start is not None:
        found = _numbered(lines, start, min(start + len(wanted), start + 10))
        return f"; these lines differ from it in white space alone:\n{found}"
    start = _most_alike(lines, wanted)
    if start is None:
        return ""
    found = _numbered(lines, max(0, start - 1), start + SHOWN - 1)
    return f"; the nearest lines are:\n{found}"


def _ignoring_space(lines: list[str], wanted: list[str]) -> int | None:
    """Where all of `wanted` is when white space does not count."""
    have, want = ["".join(line.split()) for line in lines], ["".join(line.split()) for line in wanted]
    if not any(want):
        return None
    if len(want) == 1:
        return next((n for n, line in enumerate(have) if want[0] in line), None)
    for n in range(len(have) - len(want) + 1):
        last = n + len(want) - 1
        if have[n].endswith(want[0]) and have[n + 1 : last] == want[1:-1] and have[last].startswith(want[-1]):
            return n
    return None


def _most_alike(lines: list[str], wanted: list[str]) -> int | None:
    """The line that is most like the first line of `wanted` that says something."""
    from difflib import SequenceMatcher

    first = next((line.strip() for line in wanted if line.strip()), "")[:MAX_LINE]
    matcher = SequenceMatcher(None, b=first, autojunk=False)
    best, place = 0.5, None
    for n, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:MAX_LINE])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, place = matcher.ratio(), n
    return place


def _numbered(lines: list[str], start: int, end: int) -> str:
    return "\n".join(f"{n + 1:6}\t{lines[n][:MAX_LINE]}" for n in range(start, min(end, len(lines))))


def _encoded(text: str, which: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise EditError(f"{which} holds half of a character, which no file can") from None


def _with_crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
