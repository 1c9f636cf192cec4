"""What is wrong with a run, in words: where it is, and what to do about it. Pure."""

from typing import get_args

import msgspec
from msgspec import inspect

from jp.errors import nearest
from jp.interrupt.signals import name_of
from jp.plugin import asking, messages
from jp.plugin.check_run import Line, Record, shortened
from jp.plugin.discovery import PREFIX, is_command
from jp.plugin.errors import RequestError
from jp.plugin.messages import Message, Request, type_of
from jp.plugin.wire import Faulty
from jp.terminal.sanitize import one_line

Said = tuple[str, str | None]

MAX_FAULTS = 5
_TYPES: dict[str, type[Message]] = {type_of(each): each for each in get_args(messages.PluginMessage)}
CHANNELS = ("content", "chrome", "tool_call", "tool_result", "reasoning", "error")
FORMATS = ("plain", "markdown", "json", "code")


def incomplete(record: Record, seconds: float) -> str | None:
    """Why a run did not come to its end; None where it did."""
    if record.given_up:
        return record.given_up
    if record.stopped is not None:
        return f"it was stopped by signal {record.stopped}"
    if record.status is None:
        return f"it was not over after {seconds:g} s" if record.exit is None else "it ran on after `exit`"
    if record.exit is None:
        return f"it ended without `exit` ({_how(record.status)})"
    return None


def still_running(record: Record, what: str, seconds: float) -> str:
    """What is wrong with a run that should have ended after something, however it did."""
    if record.given_up:
        return record.given_up
    return "" if record.status is not None else f"it still ran {seconds:g} s after {what}"


def interrupted(record: Record, seconds: float) -> Said:
    """What is wrong with a run that was interrupted; nothing where it died, or went on to its end."""
    if record.exit is None and record.status is not None and (record.status < 0 or record.status == 130):
        return "", None
    hint = "let SIGINT end it as it does by default, or go on and end with `exit`"
    return incomplete(record, seconds) or "", hint


def said_last(record: Record) -> str | None:
    """Where a run stood when it ended: the last request, which was answered."""
    asked = [each for each in record.said if isinstance(each, Request)]
    if record.exit is not None or not asked:
        return None
    return f"its last request was `{type_of(asked[-1])}`; each request gets one line in response"


def unfit_beginning(record: Record) -> Said:
    """What is wrong with how it began."""
    if not record.lines:
        return "it wrote nothing after `init`", "write `ready`, requests, and `exit` at the end; flush after each line"
    if isinstance(record.lines[0].message, messages.Description):
        return "it described itself, though it was not asked to", "that is the answer to `describe` alone"
    return "", None


def about_description(said: messages.Description, filename: str) -> Said:
    """What is wrong with a description, or what else there is to say about it."""
    for name in ("name", "version", "description"):
        value = getattr(said, name)
        if not value.strip() or one_line(value) != value:
            return f"`{name}` is empty, or more than one line of text", f"`jp --help` shows `{name}` on one line"
    if isinstance(said.command, list) and not is_command(said.command):
        return (
            "`command` can't be typed",
            "`command` is a list of the words of the command, without white space and not beginning with a dash",
        )
    if not filename.startswith(PREFIX):
        return "", f"JP finds it under a name that begins with `{PREFIX}` only"
    return "", None


def about_lines(records: list[Record]) -> tuple[list[Said], str]:
    """The lines that are wrong, each kind of fault once, and what else there is to say about those that are right."""
    wrong: dict[str, Said] = {}
    advice: dict[str, str] = {}
    for record in records:
        for line in record.lines:
            fault = line.fault or _prompt_fault(line.message)
            where = f"{record.about}, line {line.number}"
            if fault:
                shown = "" if line.message is None else f"{line.excerpt}: "
                wrong.setdefault(fault, (f"{where}: {shown}{one_line(fault)}", _allowed(line.message)))
            elif isinstance(line.message, Message):
                for each in _passed_over(line, line.message):
                    advice.setdefault(each, f"{where}: {each}")
        if record.unfinished.strip() and not record.given_up:
            wrong.setdefault(
                "", (f"{record.about}: no line end behind {shortened(record.unfinished)}", "end it with \\n")
            )
    return list(wrong.values())[:MAX_FAULTS], "; ".join(list(advice.values())[:MAX_FAULTS])


def _prompt_fault(message: object) -> str:
    try:
        if isinstance(message, messages.Prompt):
            asking.checked(message)
    except RequestError as error:
        return error.message
    return ""


def _allowed(message: object) -> str:
    """What may stand where something is wrong."""
    if message is None:
        return "write one JSON object a line and nothing else; what is for the log goes to stderr"
    kind = message.request if isinstance(message, Faulty) else _type(message)
    if kind not in _TYPES:
        close = nearest(kind, list(_TYPES))
        return f"did you mean `{close}`?" if close else "every message has a `type` that JP knows"
    info = inspect.type_info(_TYPES[kind])
    assert isinstance(info, inspect.StructType)
    fields = [f"`{each.encode_name}`{'' if each.required else '?'} ({_in_words(each.type)})" for each in info.fields]
    return f"the fields of `{kind}` (`?`: may be left out): {', '.join(fields) or 'none'}"


def _in_words(kind: inspect.Type) -> str:
    """What a field may hold."""
    match kind:
        case inspect.Metadata():
            return _in_words(kind.type)
        case inspect.UnionType():
            return " or ".join(_in_words(each) for each in kind.types if not isinstance(each, inspect.NoneType))
        case inspect.LiteralType():
            return " | ".join(str(each) for each in kind.values)
        case inspect.ListType():
            return f"list of {_in_words(kind.item_type)}s"
        case inspect.StrType():
            return "string"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "number" if kind.ge is None else f"{kind.ge} to {kind.le}"
    return "object"


def _passed_over(line: Line, message: Message) -> list[str]:
    """What JP ignores in a right message, and may not have been meant so."""
    known = {each.encode_name for each in msgspec.structs.fields(type(message))} | {"type"}
    given: dict[str, object] = msgspec.json.decode(line.data)
    said = [
        f"`{_type(message)}` has no field `{one_line(key)[:40]}`: JP ignores it" for key in given if key not in known
    ]
    if isinstance(message, messages.Print):
        for what, value, values in (("channel", message.channel, CHANNELS), ("format", message.format, FORMATS)):
            if value not in values:
                said.append(f"`{what}` {one_line(value)[:40]!r} is none, and counts as `{values[0]}`")
    return said


def _type(message: object) -> str:
    return type_of(message) if isinstance(message, Message) else ""


def _how(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"killed by {name_of(-status)}"


def with_stderr(hint: str | None, record: Record) -> str | None:
    """A hint, and the last that the plugin said on its stderr."""
    said = record.stderr.strip().splitlines()
    last = f"its stderr ends with: {one_line(said[-1])[:200]}" if said else ""
    return "; ".join(each for each in (hint, last) if each) or None
