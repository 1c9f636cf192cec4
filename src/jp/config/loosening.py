"""Which values of a workspace's own files loosen what the user's own configuration, or the defaults, let tools do.

A workspace may make tools stricter, and say how they look. It may not have one run without a question that would ask
one, answer questions itself, or change what a tool of the user's is. A value is held against two things, and must
loosen both to wait for trust: what the user's own sources say alone, and what holds below it (what was trusted before).

The built-in tools that only read run unasked because of what they are: where a workspace makes something else of such a
name, that allowance is gone, and that it does is shown.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from jp.config.attached import leads_outside
from jp.config.containers import bare
from jp.config.kinds import MISSING, UNSET
from jp.config.units import Path, at, content, resolved

Found = Iterator[tuple[Path, Any]]

TOOLS = ("conversation", "tools")
LABELS = ("conversation", "labels")
UNASKED = frozenset(("read_file", "list_files", "grep_files", "describe_tools", "ask_user"))
"""The built-in tools that run without a question unless configured otherwise."""

BUILTIN = UNASKED | {"write_file", "modify_file", "run_command", "fetch_page"}

ON = {"state": True, "allow_toggle": "any"}
SWITCHED_OFF = {"state": False, "allow_toggle": "if_named"}
"""How the built-in tools are where the user has tools of his own: on when they are named, on the command line."""

_ASKING = {"skip": 0, "ask": 1, "edit": 1, "unattended": 2}
_LABEL = {"deny": 0, "ask": 1, "unattended": 2}
_DETACHED = {"deny": 0, "defaults": 1, "auto": 2}
_TOGGLE = {"never": 0, "if_named": 1, "if_named_or_group": 2, "any": 3}
_EXCLUSIVE = {True: 0, None: 1, False: 2}
_PLAIN = ("run", "format", "result", "detached", "enable", "access", "source")
_NAMED = ("options", "parameters")
_QUESTION = ("answer", "target", "exclusive")


def policies(form: Mapping[str, Any]) -> Found:
    """The keys of a tree that may loosen something, with their values (`UNSET` where one is taken back)."""
    if form.get("conversation") is UNSET:
        yield TOOLS[:1], UNSET
    if _table(form, "conversation").get("tools") is UNSET:
        yield TOOLS, UNSET
    for name, tool in _tools(form).items():
        if tool is UNSET:
            yield (*TOOLS, name), UNSET
        yield from _of_tool((*TOOLS, name), bare(tool))
    for name, label in _table(_table(form, "conversation"), "labels").items():
        if "run" in _table({"": label}, ""):
            yield (*LABELS, name, "run"), bare(label)["run"]
    for path in (("style", "tool_call", "show"), ("plugins", "auto_install")):
        if (value := at(form, path)) is not MISSING:
            yield path, value


def _of_tool(path: Path, tool: Any) -> Found:
    if not isinstance(tool, dict):
        return
    for key in _PLAIN:
        if key in tool:
            yield (*path, key), tool[key]
    for key in (*_NAMED, "questions"):
        if tool.get(key) is UNSET:
            yield (*path, key), UNSET
    for key in _NAMED:
        yield from (((*path, key, name), value) for name, value in _table(tool, key).items())
    for name, question in _table(tool, "questions").items():
        if question is UNSET:
            yield (*path, "questions", name), UNSET
        for key in _QUESTION:
            if key in _table({"": question}, ""):
                yield (*path, "questions", name, key), bare(question)[key]
    if "hidden" in _table(tool, "style"):
        yield (*path, "style", "hidden"), _table(tool, "style")["hidden"]


class Standing(NamedTuple):
    """What a value is held against.

    `state` is what lower sources resolved to, `own` what the user's sources say alone (None: not known, and whatever
    could loosen anything of theirs does), `builtin` whether a tool of that name is the built-in one.
    """

    state: Mapping[str, Any] | None
    own: Mapping[str, Any] | None
    builtin: Callable[[str], bool]


def loosens(path: Path, value: Any, standing: Standing) -> bool:
    """Whether a value of `policies`, laid over what holds, loosens that, and also what the user's own sources say."""
    state, own, builtin = standing
    if _takes_back(path, value):
        return own is None or bool(content(at(own, path)))
    others = has_tools(own)
    after = Said(state or {}, Change(path, value), builtin=builtin, others=others)
    befores = [Said(each or {}, builtin=builtin, others=others) for each in (state, own)]
    if path[:2] == TOOLS and path[3] in (*_NAMED, "source", "access"):
        return _of_the_user(path, after, own) and _differs(path, after, befores)
    if path[-1] == "answer" and path[3:4] == ("questions",):
        return after.get(path) is not None and _differs(path, after, befores)
    if path[-1] == "target" and path[3:4] == ("questions",) and _steers(after.get(path)):
        return _differs(path, after, befores)
    levels = _levels(path)
    reached = levels(after)
    return all(any(new > old for new, old in zip(reached, levels(before), strict=True)) for before in befores)


def turned_on(name: str, tool: Any) -> bool:
    """Whether a tool is turned on by being named in a table that does not say whether it is."""
    return name in BUILTIN and isinstance(bare(tool), dict) and "enable" not in bare(tool)


def has_tools(own: Mapping[str, Any] | None) -> bool:
    """Whether the user has tools of his own, beside which the built-in ones are off."""
    sources = [str(content(at(tool, ("source",)))) for tool in _tools(own or {}).values()]
    return any(source.partition(".")[0] in ("local", "mcp") for source in sources)


def _takes_back(path: Path, value: Any) -> bool:
    """Whether it takes back a whole table, of which single keys say how much they allow."""
    if value is not UNSET or path[:1] != TOOLS[:1]:
        return False
    return len(path) <= 3 or path[3:] in (("questions",), ("options",), ("parameters",)) or path[3:-1] == ("questions",)


def _differs(path: Path, after: "Said", befores: "list[Said]") -> bool:
    return all(after.get(path) != before.get(path) for before in befores)


def _steers(target: Any) -> bool:
    """Whether who answers a question is told more than the question, or its provider more than numbers."""
    if not isinstance(target, dict):
        return False
    other = at(target, ("model", "parameters", "other"))
    told = content(other) or {}
    return bool(set(target) - {"model"}) or any(
        isinstance(item, bool) or not isinstance(item, int | float) for item in told.values()
    )


def _of_the_user(path: Path, after: "Said", own: Mapping[str, Any] | None) -> bool:
    """Whether a change of what a tool is, or may touch, is one of a tool that the user has without the workspace."""
    name, key = path[2], path[3]
    if own is None:
        # What a local tool runs is a command, which waits itself.
        return key != "source" or name in BUILTIN or after.get(path) != "local"
    tool = _table(_tools(own), name)
    if key == "access":
        rules = (after.get(path) or {}).get("fs", [])
        widens = any(rule.get("external") or leads_outside(rule["path"], None) for rule in rules)
        return widens or bool((Said(own).get(path) or {}).get("fs"))
    if key == "source":
        kind, _, rest = (after.get(path) or "").partition(".")
        server = rest.partition(".")[0]
        if kind == "mcp" and server in _table(_table(own, "providers"), "mcp"):
            return True
        return "source" in tool or "command" in tool or (name in BUILTIN and kind not in ("", "builtin"))
    return name in BUILTIN or "command" in tool or "source" in tool


class Change(NamedTuple):
    """One value, read from a layer, at its key."""

    path: Path
    value: Any


class Said:
    """What a state says of tools, and what holds where it says nothing; `change` is laid over it.

    `builtin` says whether a tool is the built-in one of its name, `others` whether these are off where nobody names
    them.
    """

    def __init__(
        self,
        state: Mapping[str, Any],
        change: Change | None = None,
        *,
        builtin: Callable[[str], bool] = lambda name: name in BUILTIN,
        others: bool = False,
    ) -> None:
        self._state = state
        self._change = change
        self._builtin = builtin
        self._others = others

    def get(self, path: Path) -> Any:
        """The resolved value at a key; None where nothing is said."""
        there = at(self._state, path)
        if self._change is not None and self._change.path == path:
            return resolved(path, there, self._change.value)
        return resolved(path, there)

    def tool(self, name: str, *key: str) -> Any:
        """What is said of one tool."""
        return self.get((*TOOLS, name, *key))

    def run(self, name: str) -> str:
        """How a call is approved. That all tools ask, as is ordinary, counts for none that runs unasked by default."""
        said = self.tool(name, "run")
        if said is None:
            said = self.tool("*", "run")
            said = "unattended" if said == "ask" and name in UNASKED and self._builtin(name) else said
        return str(said)

    def format(self, name: str) -> str:
        """Whether a command formats the arguments before the approval."""
        said = self.tool(name, "format") or self.tool("*", "format")
        return said or ("unattended" if self.run(name) == "unattended" else "ask")

    def detached(self, name: str) -> tuple[str, ...]:
        """What happens where nobody can be asked: for approving, delivering, and a tool's own questions."""
        words = []
        for said in (self.tool(name, "detached"), self.tool("*", "detached"), "deny"):
            kinds = said if isinstance(said, dict) else dict.fromkeys(("run", "deliver", "tool"), said)
            words.append([kinds.get(kind) for kind in ("run", "deliver", "tool")])
        return tuple(next(word for word in column if word is not None) for column in zip(*words, strict=True))

    def enable(self, name: str) -> tuple[bool, str]:
        """Whether it is enabled, and what may change that."""
        own = self.tool(name, "enable") or {}
        if not own and self._others and name in BUILTIN and at(self._state, (*TOOLS, name)) is MISSING:
            own = SWITCHED_OFF
        said = [own, self.tool("*", "enable") or {}, ON]
        state, toggle = (next(s[key] for s in said if s.get(key) is not None) for key in ("state", "allow_toggle"))
        return bool(state), str(toggle)


Levels = Callable[[Said], tuple[int, ...]]


def _levels(path: Path) -> Levels:
    """How much is let happen at a key: numbers, of which a greater one is looser."""
    if path[:2] == LABELS:
        return lambda said: (_LABEL[str(said.get(path))],)
    if path[:2] != TOOLS:
        return lambda said: (said.get(path) is (path[0] == "plugins"),)
    name, key = path[2], path[3]
    levels: dict[str, Levels] = {
        "run": lambda said: tuple(_ASKING[said.run(each)] for each in ((name, *UNASKED) if name == "*" else (name,))),
        "format": lambda said: (said.format(name) == "unattended",),
        "result": lambda said: (_ASKING[said.tool(name, "result") or said.tool("*", "result")],),
        "detached": lambda said: tuple(_DETACHED[word] for word in said.detached(name)),
        "enable": lambda said: _enabled(*said.enable(name)),
        "style": lambda said: (said.get(path) is True,),
        "questions": lambda said: _question(path[5], said.get(path)),
    }
    return levels[key]


def _enabled(state: bool, toggle: str) -> tuple[int, ...]:
    """Whether it is on, how easily a flag puts it on, and whether none puts it off."""
    return state, 3 if state else _TOGGLE[toggle], state and toggle == "never"


def _question(key: str, value: Any) -> tuple[int, ...]:
    if key == "exclusive":
        return (_EXCLUSIVE[value],)
    return (0 if value in (None, "user") else 1,)


# --- trees


def _table(form: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = bare(form.get(key))
    return found if isinstance(found, dict) else {}


def _tools(form: Mapping[str, Any]) -> dict[str, Any]:
    return _table(_table(form, "conversation"), "tools")
