"""`conversation.tools`: defaults for all tools (`'*'`) and the tools by name."""

from typing import Any, TypeVar

import msgspec

from jp.config.containers import REPLACE, Items, Text, Word
from jp.config.kinds import MISSING, Choice, Flag, Json, Kind, Mismatch, Whole, ours
from jp.config.sections.assistant import AssistantOverride, override
from jp.config.special import Enable, Truncation, link_style
from jp.config.tables import OneOf, Table

RUN_MODES = ("ask", "unattended", "edit", "skip")
RESULT_MODES = ("unattended", "ask", "edit", "skip")
DETACHED = ("deny", "defaults", "auto")
CANCELLED = (
    "This tool request was intentionally rejected by the user. Please evaluate and either ask the user why it was "
    "rejected, or infer the reason by looking at the historical messages in the conversation."
)


class Command(msgspec.Struct, frozen=True):
    """A program and its arguments, run without a shell unless `shell`."""

    program: str
    args: list[str]
    shell: bool


class EnableState(msgspec.Struct, frozen=True):
    """Whether a tool is enabled, and which `--tool` flags may change that (any, never, if_named, if_named_or_group)."""

    state: bool | None = None
    allow_toggle: str | None = None


class ErrorStyle(msgspec.Struct, frozen=True):
    """How a failed call is shown differently."""

    inline_results: str | int | None = None
    results_file_link: str | None = None


class ToolStyle(msgspec.Struct, frozen=True):
    """How a tool's calls and results are shown; None where the defaults of `'*'` hold."""

    hidden: bool | None = None
    inline_results: str | int | None = None
    results_file_link: str | None = None
    parameters: str | Command | None = None
    error: ErrorStyle | None = None


class Detached(msgspec.Struct, frozen=True):
    """What happens without a user: for approving a run, delivering a result, and a tool's own questions."""

    run: str | None = None
    deliver: str | None = None
    tool: str | None = None


class Parameter(msgspec.Struct, frozen=True, rename={"kind": "type", "enumeration": "enum"}):
    """One parameter of a tool, after JSON schema."""

    kind: str | list[str] | None = None
    default: Any = None
    required: bool | None = None
    summary: str | None = None
    description: str | None = None
    examples: str | None = None
    enumeration: list[Any] | None = None
    items: "Parameter | None" = None
    properties: "dict[str, Parameter] | None" = None


class Question(msgspec.Struct, frozen=True):
    """How a tool's question is answered: by whom, or by a fixed answer."""

    target: str | AssistantOverride
    answer: Any = None
    exclusive: bool | None = None


class FileRule(msgspec.Struct, frozen=True):
    """What a tool may do at and below a path of the workspace."""

    path: str
    external: bool | None = None
    read: bool | None = None
    write: bool | None = None
    create: bool | None = None
    update: bool | None = None
    delete: bool | None = None
    execute: bool | None = None


class Access(msgspec.Struct, frozen=True):
    """What a local tool may touch; the most specific rule holds."""

    fs: list[FileRule]


class ToolDefaults(msgspec.Struct, frozen=True):
    """What holds for every tool that says nothing else."""

    run: str
    result: str
    cancellation_response: str
    style: ToolStyle
    detached: str | Detached
    enable: EnableState | None = None
    format: str | None = None
    timeout_secs: int = 600


class Tool(msgspec.Struct, frozen=True):
    """A tool as configured; None where the defaults hold (`Tools.get` joins the two)."""

    source: str | None = None
    enable: EnableState | None = None
    command: str | Command | None = None
    summary: str | None = None
    description: str | None = None
    examples: str | None = None
    parameters: dict[str, Parameter] = {}
    run: str | None = None
    format: str | None = None
    result: str | None = None
    cancellation_response: str | None = None
    style: ToolStyle | None = None
    questions: dict[str, Question] = {}
    options: dict[str, Any] = {}
    access: Access | None = None
    detached: str | Detached | None = None
    timeout_secs: int | None = None


class Tools(msgspec.Struct, frozen=True):
    """All tools: `tools["name"]`, `name in tools`, iteration over names."""

    defaults: ToolDefaults
    named: dict[str, Tool]

    def __getitem__(self, name: str) -> Tool:
        return self.named[name]

    def __contains__(self, name: object) -> bool:
        return name in self.named

    def get(self, name: str) -> Tool | None:
        """A tool with the defaults filled in, key by key; None where there is none of that name."""
        tool = self.named.get(name)
        return None if tool is None else _joined(tool, self.defaults)


def _joined(tool: Tool, defaults: ToolDefaults) -> Tool:
    """A tool that says nothing about something does as the defaults say; formatting follows `run`."""
    run = tool.run or defaults.run
    enable = _over(tool.enable or EnableState(), defaults.enable or EnableState())
    return msgspec.structs.replace(
        tool,
        enable=_over(enable, EnableState(state=True, allow_toggle="any")),
        summary=tool.summary or tool.description,
        run=run,
        format=tool.format or defaults.format or ("unattended" if run == "unattended" else "ask"),
        result=tool.result or defaults.result,
        cancellation_response=tool.cancellation_response or defaults.cancellation_response,
        style=_over(tool.style or ToolStyle(), defaults.style),
        detached=_detachment(tool.detached, defaults.detached),
        timeout_secs=defaults.timeout_secs if tool.timeout_secs is None else tool.timeout_secs,
    )


S = TypeVar("S", ToolStyle, EnableState)


def _over(own: S, below: S) -> S:
    """`own` with its gaps filled from `below`."""
    gaps = {name: getattr(below, name) for name in own.__struct_fields__ if getattr(own, name) is None}
    return msgspec.structs.replace(own, **gaps)


def _detachment(own: str | Detached | None, defaults: str | Detached) -> Detached:
    """The policy per kind: the tool's own, else the default, else deny."""
    policies = []
    for policy in (own, defaults, "deny"):
        kinds = (policy.run, policy.deliver, policy.tool) if isinstance(policy, Detached) else (policy,) * 3
        policies.append(kinds)
    run, deliver, tool = (next(each for each in column if each is not None) for column in zip(*policies, strict=True))
    return Detached(run, deliver, tool)


def command(doc: str) -> OneOf:
    """A command: a text that is split like a shell would, or a program with its arguments."""
    table = Table(
        {
            "program": Word(MISSING, "The program."),
            "args": Items(Word(), [], "Its arguments.", joining=REPLACE),
            "shell": Flag(False, "Run it by a shell."),
        },
        required=("program",),
    )
    return OneOf((Word(), table), doc=doc)


def _style(defaults: bool) -> Table:
    """The keys of a tool's style; with defaults for `'*'`, without for one tool."""
    keys: dict[str, Kind] = {
        "hidden": Flag(False if defaults else MISSING, "Run, but show nothing."),
        "inline_results": Truncation(
            ("off", "full"), "lines", 10 if defaults else MISSING, "How much of a result is shown."
        ),
        "results_file_link": link_style(
            "full" if defaults else MISSING, "How the file with the whole result is linked."
        ),
        "parameters": OneOf(
            (Choice(("json", "function_call", "off"), synonyms={False: "off"}), command("")),
            "json" if defaults else MISSING,
            'How arguments are shown: "json", "function_call", "off", or a command that formats them.',
        ),
    }
    error = Table(
        {
            "inline_results": Truncation(("off", "full"), "lines", MISSING, "How much of a failure is shown."),
            "results_file_link": link_style(MISSING, "How the file with the whole failure is linked."),
        },
        "Where a failed call is shown differently.",
        optional=True,
    )
    keys["error"] = error
    return Table(keys, "How calls and results are shown.", optional=not defaults)


def _detached(default: Any) -> OneOf:
    per_kind = {
        "run": Choice(DETACHED, MISSING, "Approving a run."),
        "deliver": Choice(DETACHED, MISSING, "Delivering a result."),
        "tool": Choice(DETACHED, MISSING, "A tool's own questions."),
    }
    doc = 'What happens when nobody can be asked: "deny", "defaults" or "auto", for all or per kind.'
    return ours(OneOf((Choice(DETACHED), Table(per_kind)), default, doc))


def _parameter() -> Table:
    """The keys of a parameter; `items` and `properties` hold parameters again."""
    table = Table(
        {
            "type": OneOf((Word(), Items(Word(), joining=REPLACE)), doc="JSON type, or a list of them."),
            "default": Json(MISSING, "The value when it is left out."),
            "required": Flag(MISSING, "Whether it must be given."),
            "summary": Word(MISSING, "What it is for, in a sentence; sent to the model."),
            "description": Word(MISSING, "What it is for, at length; told on request."),
            "examples": Word(MISSING, "How it is used; told on request."),
            "enum": Items(Json(), MISSING, "The values allowed.", joining=REPLACE),
        },
        optional=True,
    )
    table.fields["items"] = table
    table.fields["properties"] = Table({}, "The fields of an object.", rest=table, optional=True)
    return table


def _access() -> Table:
    words = {
        "external": "It may lead out of the workspace.",
        "read": "Read files and list directories.",
        "write": "Create, update and delete.",
        "create": "Create files and directories.",
        "update": "Change files.",
        "delete": "Remove files and directories.",
        "execute": "Run files.",
    }
    keys: dict[str, Kind] = {"path": Word(MISSING, "Path in the workspace; . is all of it.")}
    keys |= {name: Flag(MISSING, doc) for name, doc in words.items()}
    rule = Table(keys, required=("path",), from_text="path")
    return Table(
        {"fs": Items(rule, [], "Rules for files; one rule makes everything else forbidden.", wrapped=True)},
        "What a local tool may touch.",
        optional=True,
    )


def _shared(defaults: bool) -> dict[str, Kind]:
    """The keys that a tool and the defaults for all tools have both."""
    run: Any = "ask" if defaults else MISSING
    result: Any = "unattended" if defaults else MISSING
    response: Any = CANCELLED if defaults else MISSING
    return {
        "run": Choice(RUN_MODES, run, "Whether a call is approved first."),
        "format": Choice(("ask", "unattended"), MISSING, "Whether a command formats arguments before the approval."),
        "result": Choice(RESULT_MODES, result, "Whether a result is looked at before the model gets it."),
        "cancellation_response": Text(response, "What the model is told about a call that was cancelled."),
        "style": _style(defaults),
        "timeout_secs": ours(
            Whole(600 if defaults else MISSING, "After how many seconds a local or MCP tool is ended; 0 is never.")
        ),
    }


def _source(value: str) -> bool:
    kind, _, rest = value.partition(".")
    return kind in ("builtin", "local") or (kind == "mcp" and bool(rest.partition(".")[0]))


class Source(Word):
    """Where a tool comes from."""

    __slots__ = ()
    allowed = '"builtin", "local", or "mcp.<server>.<tool>"'

    def read(self, value: object, lenient: bool = False) -> str:  # noqa: ARG002
        if isinstance(value, str) and _source(value):
            return value
        raise Mismatch(value, self.allowed)


def tools() -> Table:
    """The keys of `conversation.tools`."""
    question = Table(
        {
            "target": OneOf(
                (Choice(("user", "assistant")), override("")), "user", 'Who answers: "user", "assistant", or a model.'
            ),
            "answer": Json(MISSING, "A fixed answer; nobody is asked."),
            "exclusive": ours(Flag(MISSING, "Only a user may answer.")),
        }
    )
    keys: dict[str, Kind] = {
        "source": Source(MISSING, 'Where the tool comes from: "builtin", "local", or "mcp.<server>.<tool>".'),
        "enable": Enable("Whether the tool is enabled, and which flags may change it."),
        "command": command("What a local tool runs."),
        "summary": Text(MISSING, "What the tool does, in a sentence; sent to the model."),
        "description": Text(MISSING, "What the tool does, at length; told on request."),
        "examples": Text(MISSING, "How it is used; told on request."),
        "parameters": Table({}, "What it takes.", rest=_parameter(), optional=True),
        **_shared(False),
        "questions": Table({}, "How its questions are answered, by their id.", rest=question, optional=True),
        "options": Table({}, "Options that are handed to the tool.", rest=Json(), optional=True),
        "access": _access(),
        "detached": _detached(MISSING),
    }
    enable = Enable("Whether tools are enabled.")
    defaults: dict[str, Kind] = {"enable": enable, **_shared(True), "detached": _detached("deny")}
    return Table(
        {"*": Table(defaults, "What holds for every tool that says nothing else.")},
        "The tools a model may call.",
        rest=Table(keys, "A tool."),
    )
