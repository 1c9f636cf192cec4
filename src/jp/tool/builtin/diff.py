"""A unified diff, of two texts as bytes, for a person who approves a change; pure."""

import difflib
from collections import Counter

CONTEXT = 3
MAX_WORK = 2_000_000  # pairs of equal lines; beyond that the comparison could take minutes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Opcode = tuple[str, int, int, int, int]


def unified(path: str, old: bytes | None, new: bytes) -> str:
    """What changes, with three lines of context; `old` is None for a file that there is not yet."""
    before, after = _lines(old or b""), _lines(new)
    head = [f"--- {'/dev/null' if old is None else 'a/' + path}", f"+++ b/{path}"]
    rows = [row for group in _groups(_opcodes(before, after)) for row in _hunk(group, before, after)]
    return "\n".join([*head, *rows]) + "\n"


def counted(old: bytes, new: bytes) -> tuple[int, int]:
    """How many lines are added and removed."""
    changes = [code for code in _opcodes(_lines(old), _lines(new)) if code[0] != "equal"]
    return sum(code[4] - code[3] for code in changes), sum(code[2] - code[1] for code in changes)


def line_ends(text: bytes) -> str:
    """What the lines of a text end with: "LF", "CRLF", "mixed", or "" when it has no line ends."""
    lines, carriages = text.count(b"\n"), text.count(b"\r\n")
    if not lines:
        return ""
    return "LF" if not carriages else "CRLF" if carriages == lines else "mixed"


def _lines(text: bytes) -> list[bytes]:
    """With their ends; unlike `splitlines`, only a line feed ends a line."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _opcodes(a: list[bytes], b: list[bytes]) -> list[Opcode]:
    """As difflib has them; what is equal at both ends costs nothing, and what costs too much is replaced as a whole."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    counts = Counter(middle_a)
    codes: list[Opcode] = [("equal", 0, start, 0, start)] if start else []
    if sum(counts[line] for line in middle_b) > MAX_WORK:
        codes.append(("replace", start, len(a) - end, start, len(b) - end))
    elif middle_a or middle_b:
        found = difflib.SequenceMatcher(None, middle_a, middle_b).get_opcodes()
        codes += [(tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in found]
    if end:
        codes.append(("equal", len(a) - end, len(a), len(b) - end, len(b)))
    return codes


def _groups(codes: list[Opcode]) -> "Iterator[list[Opcode]]":
    """The changes that are shown together, each with its context."""
    group: list[Opcode] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        before, after = place > 0, place < len(codes) - 1  # whether there is a change
        if before and after and i2 - i1 <= 2 * CONTEXT:
            group.append((tag, i1, i2, j1, j2))
            continue
        if before:
            group.append((tag, i1, min(i2, i1 + CONTEXT), j1, min(j2, j1 + CONTEXT)))
            yield group
            group = []
        if after:
            group.append((tag, max(i1, i2 - CONTEXT), i2, max(j1, j2 - CONTEXT), j2))
    if group:
        yield group


def _hunk(group: list[Opcode], a: list[bytes], b: list[bytes]) -> "Iterator[str]":
    first, last = group[0], group[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from _rows(" ", a[i1:i2])
        else:
            yield from _rows("-", a[i1:i2])
            yield from _rows("+", b[j1:j2])


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _rows(sign: str, lines: list[bytes]) -> "Iterator[str]":
    for line in lines:
        yield sign + line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
        if not line.endswith(b"\n"):
            yield "\\ No newline at end of file"
