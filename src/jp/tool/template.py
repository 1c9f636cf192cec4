"""A tool's command line from its template: words first, values after (contracts, section 9).

What does not work: rendering the whole text and splitting it then (a value with a blank in it becomes two words), and
splitting at every blank (`{{ x | default('') }}` is one tag). So the command is split by the shell's quoting rules with
its tags kept whole, and each word is rendered on its own. Where a shell is asked for, the values never become part of
its text at all (`jp.tool.shell`).

Values print as they are, objects and lists as JSON, null as nothing. What is undefined is an error.
"""

import json
import re
import shlex

from jp.errors import JpError
from jp.tool.shell import UnclearError, Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from minijinja import Environment

    from jp.config.sections.tools import Command
    from jp.tool.definition import Invocation

DEPTH = 100  # levels of nesting in a value; the engine itself would crash at some 10,000
_FUEL = 1_000_000  # steps of the engine, some 40 ms

_STRINGS = r"(?>\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\])*+'|.)"
_TAG = re.compile(rf"\{{\{{(?:(?!\}}\}}){_STRINGS})*+\}}\}}|\{{%(?:(?!%\}}){_STRINGS})*+%\}}|\{{#.*?#\}}", re.DOTALL)
_HELD = re.compile("\ue000(\\d+)\ue001")


class TemplateError(JpError):
    """A command that can't be rendered: what is wrong with it, or with the values it was given."""

    code = "tool_template"


def render(command: "str | Command", invocation: "Invocation", context: "Mapping[str, Any]") -> list[str]:
    """The argument list of `command` for this run; raises TemplateError.

    `context` is what the template knows as `context`; `tool` comes of the invocation.
    """
    tool = {
        "name": invocation.tool.name,
        "arguments": invocation.arguments,
        "answers": invocation.answers,
        "options": invocation.tool.settings.options,
    }
    names = {"tool": _clean(tool), "context": _clean(dict(context))}
    if not isinstance(command, str) and command.shell:
        return _render_shell(" ".join([command.program, *command.args]), names)
    words = split(command) if isinstance(command, str) else [command.program, *command.args]
    engine = _engine(printed)
    rendered = [_one(engine, word, names) for word in words]
    if not rendered or not rendered[0].strip():
        raise TemplateError("it names no program")
    for word in rendered:
        if "\0" in word:
            raise TemplateError("a value has a NUL character, which a command line can't hold")
    return rendered


def split(text: str) -> list[str]:
    """The words of `text` by the shell's quoting rules, template tags kept as they are; raises TemplateError."""
    tags: list[str] = []

    def hold(tag: "re.Match[str]") -> str:
        tags.append(tag[0])
        return f"\ue000{len(tags) - 1}\ue001"

    if _HELD.search(text):
        raise TemplateError("it has private characters (U+E000) in it")
    lexer = shlex.shlex(_TAG.sub(hold, text), posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise TemplateError(str(error).lower()) from None
    return [_HELD.sub(lambda found: tags[int(found[1])], word) for word in words]


def printed(value: object) -> str:
    """A value as a template prints it."""
    if isinstance(value, str):
        return str(value)
    return "" if value is None else _json(value)


def _json(value: object, *_: object, **__: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=list)


def _render_shell(text: str, names: "dict[str, Any]") -> list[str]:
    values = Values()

    def finalizer(value: object) -> str:
        return value if _is_safe(value) else values.put(printed(value))  # type: ignore[return-value]

    rendered = _one(_engine(finalizer), text, names)
    if not rendered.strip():
        raise TemplateError("it names no program")
    if "\0" in rendered or any("\0" in value for value in values.all):
        raise TemplateError("a value has a NUL character, which a command line can't hold")
    try:
        return values.argv(rendered)
    except UnclearError as error:
        raise TemplateError(str(error)) from None


def _is_safe(value: object) -> bool:
    """Whether the template has said `|safe`: nothing else makes such a string here (`_engine`)."""
    from minijinja import Markup

    return isinstance(value, Markup)


def _engine(finalizer: "Callable[[object], str]") -> "Environment":
    from minijinja import Environment

    # The engine's own would mark what they make as safe, which is meant for HTML.
    return Environment(
        finalizer=finalizer,
        filters={"tojson": _json, "escape": printed, "e": printed},
        undefined_behavior="strict",
        auto_escape_callback=lambda _: None,
        keep_trailing_newline=True,
        fuel=_FUEL,
    )


def _one(engine: "Environment", template: str, names: "dict[str, Any]") -> str:
    import minijinja

    try:
        return engine.render_str(template, "command", **names)
    except minijinja.TemplateError as error:
        raise TemplateError(f"`{template}`: {_reason(error)}") from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TemplateError(f"`{template}`: {error}") from None


def _reason(error: "Any") -> str:
    return str(error.message).partition(" (in command:")[0]


def _clean(value: "Any", level: int = 0) -> "Any":
    """A copy without lone surrogates, which no command line can hold; raises TemplateError for what nests too deep."""
    if level > DEPTH:
        raise TemplateError(f"the values are nested more than {DEPTH} levels deep")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {_clean(key, level): _clean(each, level + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each, level + 1) for each in value]
    return value
