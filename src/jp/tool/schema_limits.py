"""How much work a JSON schema makes, which may be a stranger's; pure.

A few lines of one can mean more work than there is time: `$ref`s that double, branches that are all tried, patterns
that are large once they are written out. The validator can't be stopped, and holds the interpreter. So a schema is
looked at once (`refusal`), and what it makes of the arguments of a call is counted (`work`) before it is done.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Node = Any
    Pointers = dict[str, Any]

SIZE = 5_000  # values in a schema
EXPANDED = 10_000  # schemas in it, with all that they refer to written out
DEPTH = 100  # levels of nesting, of references too
PATTERNS = 100
PATTERN = 1000  # characters
WRITTEN_OUT = 3000  # characters of all patterns, repetitions written out
_UNICODE = 50  # characters that a class of Unicode counts for
_TRIED = 100
_MOST = 1 << 30

_SAME_MANY = ("allOf", "anyOf", "oneOf")  # a value is held against each of these
_SAME_ONE = ("not", "if", "then", "else")
_INNER_ONE = (
    "items", "additionalItems", "contains", "propertyNames", "additionalProperties", "unevaluatedItems",
    "unevaluatedProperties",
)  # fmt: skip
_INNER_EACH = ("items", "additionalItems", "unevaluatedItems", "contains")
_INNER_MANY = ("prefixItems", "items")
_INNER_NAMED = ("properties", "patternProperties")
_SAME_NAMED = ("dependentSchemas", "dependencies")
_UNUSED_NAMED = ("$defs", "definitions")

_LOOKS = re.compile(r"\(\?[=!<>]|\\[1-9kgG]|[*+?}]\+")
_COUNT = re.compile(r"\{(\d{1,6})(?:,(\d{0,6}))?\}")


class _Refused(Exception):
    """Why."""


def refusal(schema: "dict[str, Any]") -> str:
    """Why a schema can't be used, as the end of a sentence that begins with it; empty where it can."""
    try:
        if values(schema, SIZE) > SIZE:
            raise _Refused(f"is too large: more than {SIZE:,} values")
        nodes = _reachable(schema)
        _no_other_bases(schema, nodes)
        _patterns(nodes)
        if _Expanded(schema).size(schema) > EXPANDED:
            raise _Refused(f"is too large: more than {EXPANDED:,} schemas once its references are followed")
    except _Refused as refused:
        return str(refused)
    return ""


def work(schema: "dict[str, Any]", value: "Any", most: int) -> int:
    """How often a schema is held against a value, counted until it is more than `most`.

    Everything is counted that a validator might look at, also where the outcome is clear before.
    """
    pointers: Pointers = {}
    plans: dict[int, _Plan] = {}
    left: list[tuple[Node, Any]] = [(schema, value)]
    done = 0
    while left and done <= most:
        node, here = left.pop()
        done += 1
        if not isinstance(node, dict):
            continue
        plan = plans.get(id(node))
        if plan is None:
            plan = plans[id(node)] = _Plan(node, list(_same(node, schema, pointers)))
        done += plan.own
        if plan.same:
            left += [(each, here) for each in plan.same]
        if isinstance(here, dict):
            done += len(here) + plan.of_object(here, left)
        elif isinstance(here, list):
            done += len(here) * (1 + plan.unique)
            plan.of_array(here, left)
        elif isinstance(here, str):
            done += plan.matching + (len(here) >> (3 if plan.matching else 8))
        if len(left) > most:
            return done + len(left)
    return done


class _Plan:
    """What one schema holds against what."""

    def __init__(self, node: "Node", same: "list[Node]") -> None:
        self.same = same
        listed = sum(len(each) for key in ("enum", "required") if isinstance(each := node.get(key), list))
        named = sum(len(each) for key in (*_INNER_NAMED, *_SAME_NAMED) if isinstance(each := node.get(key), dict))
        self.own = (listed + named) // 4  # what is listed in it is looked at, too
        self.matching = _matching(node["pattern"]) if "pattern" in node else 0
        self.unique = bool(node.get("uniqueItems"))
        known = node.get("properties")
        self._known: dict[str, Node] = known if isinstance(known, dict) else {}
        patterns = node.get("patternProperties")
        self._patterns = sum([_matching(each) for each in patterns]) if isinstance(patterns, dict) else 0
        self._rest = [node[key] for key in ("additionalProperties", "unevaluatedProperties") if _holds(node, key)]
        self._rest += list(patterns.values()) if isinstance(patterns, dict) else []
        self._names = node["propertyNames"] if _holds(node, "propertyNames") else None
        self._first: list[Node] = next((node[key] for key in _INNER_MANY if isinstance(node.get(key), list)), [])
        self._each = [node[key] for key in _INNER_EACH if _holds(node, key)]

    def of_object(self, here: "dict[str, Any]", left: "list[tuple[Node, Any]]") -> int:
        """What is to be done for an object goes to `left`; how much is done for its names."""
        for name, value in here.items():
            if name in self._known:
                left.append((self._known[name], value))
            left += [(each, value) for each in self._rest]
            if self._names is not None:
                left.append((self._names, name))
        return self._patterns * sum([1 + (len(name) >> 3) for name in here]) if self._patterns else 0

    def of_array(self, here: "list[Any]", left: "list[tuple[Node, Any]]") -> None:
        """The same for an array."""
        left += zip(self._first, here, strict=False)
        for each in self._each:
            left += [(each, value) for value in here]


def _holds(node: "Node", key: str) -> bool:
    return isinstance(node.get(key), dict)


def _matching(pattern: object) -> int:
    """For a pattern; one that looks around or back may be tried in many ways."""
    return _TRIED if _LOOKS.search(str(pattern)) else 1


# --- one schema and those in it


def _same(node: "Node", root: "Node", pointers: "Pointers") -> "Iterator[Node]":
    """The schemas that the same value is held against."""
    for key in _SAME_MANY:
        if isinstance(each := node.get(key), list):
            yield from each
    yield from [node[key] for key in _SAME_ONE if key in node]
    for key in _SAME_NAMED:
        if isinstance(each := node.get(key), dict):
            yield from each.values()
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference not in pointers:
            pointers[reference] = _target(root, reference)
        yield pointers[reference]


def _inner(node: "Node") -> "Iterator[Node]":
    """The schemas that parts of the value are held against."""
    yield from [node[key] for key in _INNER_ONE if isinstance(node.get(key), dict)]
    for key in _INNER_MANY:
        if isinstance(each := node.get(key), list):
            yield from each
    for key in _INNER_NAMED:
        if isinstance(each := node.get(key), dict):
            yield from each.values()


def _target(root: "Node", reference: str) -> "Node":
    """What a reference leads to; nothing where there is nothing, which the validator will say."""
    place, _, pointer = reference.partition("#")
    if place:
        raise _Refused(f"refers to {_short(reference)}, which is not fetched")
    if pointer and not pointer.startswith("/"):
        raise _Refused(f"refers to {_short(reference)}; only references that begin with #/ can be followed")
    from urllib.parse import unquote

    here = root
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and name.isdecimal() and name.isascii() and int(name[:9]) < len(here):
            here = here[int(name[:9])]
        else:
            return None
    return here


def _reachable(root: "Node") -> "list[Node]":
    """All schemas that are in one or that it refers to, each once."""
    pointers: Pointers = {}
    seen: dict[int, Node] = {}
    left = [root]
    while left:
        node = left.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen[id(node)] = node
        left += [*_same(node, root, pointers), *_inner(node)]
        for key in _UNUSED_NAMED:
            if isinstance(each := node.get(key), dict):
                left += each.values()
    return list(seen.values())


def _no_other_bases(root: "Node", nodes: "list[Node]") -> None:
    """From those on, `#/` would lead somewhere else, and a dynamic reference leads anywhere."""
    for node in nodes:
        for key in ("$dynamicRef", "$recursiveRef"):
            if key in node:
                raise _Refused(f"has a {key}, which can't be followed")
        if node is not root and any(isinstance(node.get(key), str) for key in ("$id", "id")):
            raise _Refused("has another schema with an id of its own in it, which can't be followed")


class _Expanded:
    """How many schemas one is with all references written out; what holds itself counts once for each time."""

    def __init__(self, root: "Node") -> None:
        self._root = root
        self._pointers: Pointers = {}
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def size(self, node: "Node", depth: int = 0) -> int:
        """Of one; at most _MOST."""
        if not isinstance(node, dict) or id(node) in self._open:
            return 1
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if depth > DEPTH:
            raise _Refused(f"is nested more than {DEPTH} levels deep")
        self._open.add(id(node))
        inner = [*_same(node, self._root, self._pointers), *_inner(node)]
        size = 1 + sum(self.size(each, depth + 1) for each in inner)
        self._open.remove(id(node))
        self._sizes[id(node)] = min(size, _MOST)
        return min(size, _MOST)


def values(value: "Any", most: int) -> int:
    """Values in a value, counted until they are more than `most`."""
    left, count = [value], 0
    while left and count <= most:
        each = left.pop()
        count += 1
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        if len(left) > most:
            return count + len(left)
    return count


# --- patterns


def _patterns(nodes: "list[Node]") -> None:
    found: list[str] = []
    for node in nodes:
        if isinstance(pattern := node.get("pattern"), str):
            found.append(pattern)
        if isinstance(named := node.get("patternProperties"), dict):
            found += named
    if len(found) > PATTERNS:
        raise _Refused(f"has more than {PATTERNS} patterns")
    if any(len(each) > PATTERN for each in found):
        raise _Refused(f"has a pattern of more than {PATTERN:,} characters")
    if sum(written_out(each) for each in found) > WRITTEN_OUT:
        raise _Refused("has patterns that are too large once their repetitions are written out")


def written_out(pattern: str) -> int:
    """About how many characters a regular expression has with its repetitions written out."""
    levels, last, at = [0], 0, 0
    while at < len(pattern):
        char = pattern[at]
        count = _COUNT.match(pattern, at) if char == "{" else None
        if count:
            at = count.end()
            more = last * (max(int(count[1]), int(count[2] or 0), 1) - 1)
            levels[-1] += more
            last += more
            continue
        if char == "(":
            levels.append(0)
            last, at = 0, at + 1
        elif char == ")" and len(levels) > 1:
            last, at = levels.pop() + 1, at + 1
            levels[-1] += last
        else:
            last, at = _atom(pattern, at)
            levels[-1] += last
        if sum(levels) > _MOST:
            break
    size = sum(levels)
    # Upper and lower case of every script.
    return size * _UNICODE if re.search(r"\(\?[a-zA-Z-]", pattern) else size


def _atom(pattern: str, at: int) -> tuple[int, int]:
    """What one character, escape or class counts for, and where it ends."""
    end = at + 1
    if pattern[at] == "[":
        end = at + 2
        while end < len(pattern) and pattern[end] != "]":
            end += 1 + (pattern[end] == "\\")
        end += 1
    elif pattern[at] == "\\":
        end = at + 2
        if pattern[at + 1 : end] in ("p", "P"):
            end = (pattern.find("}", end) if pattern[end : end + 1] == "{" else end) + 1 or len(pattern)
    atom = pattern[at:end]
    wide = sum(atom.count(each) for each in ("\\p", "\\P", "[:", "\\X", "\\R"))
    return (wide * _UNICODE or 1 + (not atom.isascii()) * _UNICODE), end


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
