"""What a `.gitignore` says of a path, as gitignore(5) has it; pure.

The file may be a stranger's, so nothing of it may take long. What does not work: `pathspec` and `re` over a whole
pattern go back and forth between its stars, and `*a*a*a*a*a*a*b` takes minutes, with the interpreter held. Here a
pattern is taken apart at its slashes, and what is between two stars never moves again once it is found: the first
place where it fits is as good as any.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 64 * 1024  # bytes of a file that are read
LONGEST = 1000  # characters of a line that is a rule
ANY = "**"

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_SPECIAL = frozenset("*?[\\")


class Rule:
    """One line: what it matches is ignored, or (`keeps`) is not. `steps` are the parts of the path, from the last."""

    __slots__ = ("anchored", "directory", "keeps", "last", "steps")

    def __init__(self, line: str) -> None:
        """Raises ValueError for a pattern that matches nothing."""
        self.keeps = line.startswith("!")
        line = line[self.keeps :]
        self.directory = line.endswith("/")
        line = line[: len(line) - self.directory]
        self.anchored = "/" in line
        parts = line.removeprefix("/").split("/")
        self.last = parts[-1]
        if not self.last:
            raise ValueError(line)
        self.steps: list[str | re.Pattern[str]] = [_step(part) for part in reversed(parts)]

    def fits_above(self, parents: list[str]) -> bool:
        """Whether the directories above match what is above the last part."""
        if not self.anchored:
            return True
        reached = {len(parents)}  # how many of them are left, whatever the stars stand for
        wild = self.steps[0] == ANY
        if wild:
            reached = set(range(len(parents) + 1))
        for step in self.steps[1:]:
            if step == ANY:
                reached = set(range(max(reached, default=-1) + 1))
            else:
                reached = {n - 1 for n in reached if n and _same(step, parents[n - 1])}
        return 0 in reached


class Rules:
    """Those of one file."""

    def __init__(self, content: bytes) -> None:
        # By the last part of their paths, so that what has nothing to do with a name costs nothing.
        self._rules: list[Rule] = []
        self._names: dict[str, list[int]] = {}
        self._endings: dict[str, list[int]] = {}
        self._others: list[tuple[int, re.Pattern[str] | None]] = []
        for line in _lines(content):
            try:
                rule = Rule(line)
            except ValueError:
                continue
            at, last = len(self._rules), rule.steps[0]
            self._rules.append(rule)
            if isinstance(last, re.Pattern):
                ending = _ending(rule.last)
                if ending:
                    self._endings.setdefault(ending, []).append(at)
                else:
                    self._others.append((at, last))
            elif last == ANY:
                self._others.append((at, None))
            else:
                self._names.setdefault(last, []).append(at)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def ignored(self, parts: list[str], *, directory: bool) -> bool | None:
        """Whether a path, from the directory of the file, is ignored; None where nothing is said of it."""
        name, parents = parts[-1], parts[:-1]
        found = list(self._names.get(name, ()))
        if self._endings:
            dot = name.find(".")
            while dot >= 0:
                found += self._endings.get(name[dot:], ())
                dot = name.find(".", dot + 1)
        found += [at for at, pattern in self._others if pattern is None or pattern.match(name)]
        for at in sorted(found, reverse=True):  # the last one decides
            rule = self._rules[at]
            if (directory or not rule.directory) and rule.fits_above(parents):
                return not rule.keeps
        return None


def _lines(content: bytes) -> "Iterator[str]":
    text = content[:LIMIT].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    for line in text.split("\n"):
        kept = line.removesuffix("\r")
        bare = kept.rstrip(" ")
        if len(bare) < len(kept) and (len(bare) - len(bare.rstrip("\\"))) % 2:
            bare += " "  # which is escaped
        if bare and not bare.startswith("#") and len(bare) <= LONGEST:
            yield bare


def _ending(last: str) -> str:
    """The `.py` of `*.py`; "" for any other pattern."""
    return last[1:] if last.startswith("*.") and not _SPECIAL.intersection(last[1:]) else ""


def _same(step: "str | re.Pattern[str]", name: str) -> bool:
    return step == name if isinstance(step, str) else step.match(name) is not None


def _step(part: str) -> "str | re.Pattern[str]":
    """One part of a pattern: a name, `**`, or a pattern for a name. Raises ValueError."""
    if len(part) > 1 and not part.strip("*"):
        return ANY
    if not _SPECIAL.intersection(part):
        return part
    pieces: list[list[str]] = [[]]  # what is between stars, by characters
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            pieces.append([])
        elif char == "?":
            pieces[-1].append(".")
        elif char == "[":
            found, at = _bracket(part, at)
            pieces[-1].append(found)
        elif char == "\\":
            pieces[-1].append(re.escape(part[at] if at < len(part) else _nothing(part)))
            at += 1
        else:
            pieces[-1].append(re.escape(char))
    first, *middle = ["".join(piece) for piece in pieces]
    if not middle:
        return re.compile(rf"{first}\Z", re.DOTALL)
    found = first + "".join([f"(?>.*?{one})" for one in middle[:-1] if one])
    if middle[-1]:
        # It stands at the end, and how long it is is known: nothing has to be tried.
        found += rf"(?=.{{{len(pieces[-1])}}})(?>.*)(?<={middle[-1]})\Z"
    return re.compile(found, re.DOTALL)


def _bracket(part: str, at: int) -> tuple[str, int]:
    """A set of characters, behind its `[`, as one of `re`; and where it ends."""
    negated = part[at : at + 1] in ("!", "^")
    at += negated
    body = ""
    first = True
    while True:
        if at >= len(part):
            _nothing(part)
        char = part[at]
        if char == "]" and not first:
            break
        first = False
        named = re.compile(r"\[:([a-z]*):\]").match(part, at)
        if named:
            body += _CLASSES.get(named[1]) or _nothing(part)
            at = named.end()
            continue
        low, at = _character(part, at)
        if part[at : at + 1] == "-" and part[at + 1 : at + 2] not in ("]", ""):
            high, at = _character(part, at + 1)
            body += f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low)
        else:
            body += re.escape(low)
    return f"[{'^' * negated}{body}]", at + 1


def _character(part: str, at: int) -> tuple[str, int]:
    if part[at] == "\\":
        at += 1
        if at >= len(part):
            _nothing(part)
    return part[at], at + 1


def _nothing(part: str) -> str:
    raise ValueError(f"{part} matches nothing")
