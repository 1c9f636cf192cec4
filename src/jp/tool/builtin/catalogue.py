"""The built-in tools as data: what the model is told about them and how they are handled unless configured otherwise.

Nothing here costs anything to import; a tool's own module is imported when it runs.
"""

from typing import Any

import msgspec

UNATTENDED, ASK = "unattended", "ask"

_MODULES = "jp.tool.builtin."
_SHORT: dict[str, Any] = {"parameters": "function_call", "inline_results": 5, "results_file_link": "off"}
_CHANGE: dict[str, Any] = {
    "parameters": "json",
    "inline_results": 5,
    "results_file_link": "off",
}  # a diff or a command takes their place


class Builtin(msgspec.Struct, frozen=True):
    """A built-in tool.

    `parameters` is a JSON schema of type object; `run` and `style` are defaults, `style` by the keys of the
    configuration. `always_ask`: no "yes" is remembered for the next call. `formats`: the tool words its own arguments
    for approval (an invocation that FORMATs). `module` holds a function of the tool's name, and `format_<name>`.
    """

    name: str
    summary: str
    module: str
    parameters: dict[str, Any]
    description: str = ""
    examples: str = ""
    run: str = ASK
    style: dict[str, Any] = msgspec.field(default_factory=lambda: dict(_SHORT))
    always_ask: bool = False
    formats: bool = False


def _object(required: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _number(description: str, least: int = 1) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "description": description}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def _texts(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}


_PATH = "Path of the file, relative to the workspace."

_ALL = (
    Builtin(
        name="read_file",
        summary="Read a text file of the workspace, whole or some of its lines; the lines are numbered.",
        description=(
            "The text comes with a line number and a tab before each line, which are not part of the file. At most "
            "2,000 lines or 128 KiB come at once; a note says how to read on. Lines that are longer than 2,000 "
            "characters are cut. Files that are not text are refused with their size."
        ),
        examples='{"path": "src/main.py"}\n{"path": "CHANGELOG.md", "start_line": 100, "end_line": 160}',
        module=_MODULES + "reading",
        parameters=_object(
            "path",
            path=_text(_PATH),
            start_line=_number("First line to read, from 1."),
            end_line=_number("Last line to read, included."),
        ),
        run=UNATTENDED,
    ),
    Builtin(
        name="list_files",
        summary="List the files of the workspace, or of a directory in it, without those that git ignores.",
        description=(
            "One path a line, relative to the workspace; what ends with / is a directory. At most 500 are listed. What "
            "a .gitignore names is left out, and outside of a git work tree the usual build and package directories."
        ),
        examples='{}\n{"path": "src", "depth": 1}\n{"pattern": "*.py"}\n{"pattern": "tests/**/test_*.py"}',
        module=_MODULES + "finding",
        parameters=_object(
            path=_text("Directory to list; the workspace when left out."),
            pattern=_text("Only what matches: *.py for a name anywhere, src/**/*.py for a path in the workspace."),
            depth=_number("How deep to go; 1 lists what is directly in the directory."),
        ),
        run=UNATTENDED,
    ),
    Builtin(
        name="grep_files",
        summary="Search the text files of the workspace for a regular expression.",
        description=(
            "The pattern is a regular expression of Python and is looked for line by line. Each match comes as "
            "path:line:text, lines of context as path-line-text. At most 200 matches come. Files that git ignores and "
            "files that are not text are left out. A search is given up after 10 seconds."
        ),
        examples=(
            '{"pattern": "def main\\\\("}\n{"pattern": "todo", "ignore_case": true, "paths": ["src"], "context": 2}'
        ),
        module=_MODULES + "searching",
        parameters=_object(
            "pattern",
            pattern=_text("Regular expression."),
            paths=_texts("Files and directories to search; the workspace when left out."),
            context=_number("Lines to show around each match.", 0),
            ignore_case=_flag("Whether upper and lower case are the same."),
        ),
        run=UNATTENDED,
    ),
    Builtin(
        name="write_file",
        summary="Make a new file in the workspace, or replace all of an existing one. Prefer modify_file for changes.",
        description=(
            "The file will hold exactly `content`; missing directories are made. The file is replaced at once, never "
            "half. Nothing is written in .git and .jp, nor to .jp.toml."
        ),
        examples='{"path": "docs/notes.md", "content": "# Notes\\n"}',
        module=_MODULES + "writing",
        parameters=_object("path content", path=_text(_PATH), content=_text("All of the new content.")),
        style=_CHANGE,
        formats=True,
    ),
    Builtin(
        name="modify_file",
        summary="Change parts of a file in the workspace, by replacing exact pieces of its text with others.",
        description=(
            "Each edit replaces `old` with `new`; both are literal text, white space included, line numbers not. "
            "`old` must be in the file exactly once, unless `all` is true; include lines around it to make it unique. "
            "Edits are made in order, each on the outcome of those before it, and either all are made or none."
        ),
        examples=(
            '{"path": "src/main.py", "edits": [{"old": "print(x)\\n", "new": "log(x)\\n"}]}\n'
            '{"path": "src/main.py", "edits": [{"old": "colour", "new": "color", "all": true}]}'
        ),
        module=_MODULES + "writing",
        parameters=_object(
            "path edits",
            path=_text(_PATH),
            edits={
                "type": "array",
                "minItems": 1,
                "description": "The changes, in order.",
                "items": _object(
                    "old new",
                    old=_text("The text to replace, exactly as it is in the file.", minLength=1),
                    new=_text("What to put in its place."),
                    all=_flag("Replace every place where it is; otherwise it must be there exactly once."),
                ),
            },
        ),
        style=_CHANGE,
        formats=True,
    ),
    Builtin(
        name="run_command",
        summary="Run a shell command in the root of the workspace and get its output and exit status.",
        description=(
            "Runs `sh -c command` without a terminal and without input. Output and errors come in the order in which "
            "they were written. A command that runs for longer than `timeout_secs` (120 unless given) is ended. What "
            "is left in the background is ended with it, unless it has become a daemon (setsid)."
        ),
        examples='{"command": "git status --short"}\n{"command": "make test", "timeout_secs": 600}',
        module=_MODULES + "commands",
        parameters=_object(
            "command",
            command=_text("The command, for sh."),
            timeout_secs=_number(
                "Seconds after which it is ended; 120 when left out, and never more than the user allows."
            ),
        ),
        style={"parameters": "json", "inline_results": 10},
        always_ask=True,
        formats=True,
    ),
    Builtin(
        name="fetch_page",
        summary="Fetch a web page by http or https and get its text.",
        description=(
            "HTML is turned into text that keeps headings, lists, links and code; `raw` gives it as it is. Other text "
            "is given as it is, and anything else is refused. At most 1 MiB is read. A redirect to "
            "another host is not followed but named."
        ),
        examples='{"url": "https://example.org/guide"}\n{"url": "https://example.org/data.json", "raw": true}',
        module=_MODULES + "fetching",
        parameters=_object(
            "url",
            url=_text("Where the page is, beginning with https:// or http://."),
            raw=_flag("Give HTML as it is."),
        ),
    ),
    Builtin(
        name="describe_tools",
        summary="Get the full descriptions and examples of tools, by their names.",
        examples='{"names": ["grep_files"]}',
        module=_MODULES + "asking",
        parameters=_object("names", names=_texts("Names of tools.", minItems=1)),
        run=UNATTENDED,
    ),
    Builtin(
        name="ask_user",
        summary="Ask the user one question and wait for the answer. For decisions that only the user can make.",
        description=(
            "`kind` is text (the default), boolean for yes or no, or select for one of `options`. The answer is what "
            "the user says, and nobody else answers."
        ),
        examples=(
            '{"question": "What should the command be called?"}\n'
            '{"question": "Which database?", "kind": "select", "options": ["sqlite", "postgres"]}'
        ),
        module=_MODULES + "asking",
        parameters=_object(
            "question",
            question=_text("The question."),
            kind=_text("What kind of answer is wanted.", enum=["text", "boolean", "select"]),
            options=_texts("What can be chosen, for select."),
        ),
        run=UNATTENDED,
        style={"parameters": "off", "inline_results": "off", "results_file_link": "off"},
    ),
)

CATALOGUE: dict[str, Builtin] = {tool.name: tool for tool in _ALL}
