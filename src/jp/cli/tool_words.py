"""Arguments of a tool as words of a command line: `key=value`, `key:=JSON`, `key=@FILE`."""

import json
import os
import re
from typing import Any, NamedTuple

from jp.cli.tool_schema import kinds, resolved
from jp.errors import JpError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jp.cli.context import Context

    Read = Callable[[str], str]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_BOOLEANS = {"true": True, "false": False}
_MOST_DIGITS = 4000


class ArgumentsError(UsageError):
    """The arguments do not fit the tool; `metadata` has each reason in `errors`."""

    code = "tool_arguments"

    def __init__(self, name: str, errors: "Sequence[str]") -> None:
        said = errors[0] if len(errors) == 1 else "\n" + "\n".join(errors)
        super().__init__(
            f"the arguments do not fit {name}:{said if len(errors) > 1 else f' {said}'}",
            hints=[f"`jp tool show {name}` tells what it takes"],
            metadata={"tool": name, "errors": list(errors)},
        )


class UnreadableArgumentError(JpError):
    """A file that an argument is in can't be read."""

    code = "unreadable_argument"


class Word(NamedTuple):
    """One word. `exact`: the value is JSON; otherwise it is text, to be made what is wanted."""

    key: str
    value: Any
    exact: bool


def split(word: str, what: str, read: "Read") -> Word:
    """A word with the file that it names read. Raises UsageError (in the name of `what`), and what `read` raises."""
    key, sign, value = word.partition("=")
    if not sign or not key.removesuffix(":"):
        raise UsageError(
            f"`{word}` is no {what}=value",
            hints=[f"write `{what}=text`, `{what}:=JSON` or `{what}=@FILE`"],
            metadata={"argument": word},
        )
    text = read(value[1:]) if value.startswith("@") and len(value) > 1 else value
    if not key.endswith(":"):
        return Word(key, text, False)
    return Word(key[:-1], from_json(text, key[:-1]), True)


def from_json(text: str, what: str) -> Any:
    """JSON from the command line. Raises UsageError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise UsageError(f"{what} is not JSON: {reason}", hints=["`key=text` takes text as it is"]) from None


def whole(text: str) -> dict[str, Any]:
    """All arguments at once. Raises UsageError."""
    found = from_json(text, "--arguments")
    if not isinstance(found, dict):
        raise UsageError("--arguments takes an object: { … }")
    return found


def read_file(ctx: "Context", name: str) -> str:
    """The text of a file, `-` being stdin. Raises UnreadableArgumentError, TooMuchTextError and Shutdown."""
    from jp.cli.stdin import UnreadableInputError, read, text_of

    if name == "-":
        return text_of(read(ctx, 0, "stdin"))
    path = os.path.join(ctx.cwd, os.path.expanduser(name))
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))  # a FIFO: waits for its writer
        try:
            return text_of(read(ctx, fd, path))
        finally:
            os.close(fd)
    except (OSError, UnreadableInputError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.message
        raise UnreadableArgumentError(
            f"can't read the argument from {path}: {reason}",
            hints=["a value that begins with `@` names a file; `key:='\"@…\"'` means the character"],
            metadata={"path": path},
        ) from error


def arguments(
    words: "Sequence[Word]", given: dict[str, Any], schema: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments that words make, over those `given`, by the types of the schema; what is wrong, by their keys."""
    properties = schema.get("properties")
    found, wrong = dict(given), dict[str, str]()
    seen: set[str] = set()
    for word in words:
        if word.key in seen:
            wrong[word.key] = f"`{word.key}` is given twice"
            continue
        seen.add(word.key)
        inner = properties.get(word.key) if isinstance(properties, dict) else None
        try:
            found[word.key] = word.value if word.exact else _typed(word, resolved(inner, schema), schema)
        except ValueError as error:
            wrong[word.key] = str(error)
    return {key: value for key, value in found.items() if key not in wrong}, wrong


def _typed(word: Word, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """A text as the type that the schema wants. Raises ValueError with a sentence."""
    wanted, text = kinds(schema, root), word.value
    if not wanted or "string" in wanted:
        return text
    said = text.strip()
    if "boolean" in wanted and said.lower() in _BOOLEANS:
        return _BOOLEANS[said.lower()]
    if wanted & {"integer", "number"} and _INTEGER.fullmatch(said) and len(said) < _MOST_DIGITS:
        return int(said)
    if "number" in wanted:
        try:
            number = json.loads(said)
            if isinstance(number, float) and number - number == 0:  # neither infinite nor no number
                return number
        except (ValueError, RecursionError):
            pass
    if "null" in wanted and said == "null":
        return None
    if wanted <= {"array", "object", "null"}:
        example = f"{word.key}:='[\"…\"]'" if "array" in wanted else f"{word.key}:='{{…}}'"
        raise ValueError(f"`{word.key}` takes {_article(wanted)}: write it as JSON, {example}")
    raise ValueError(f"`{word.key}` takes {_article(wanted)}, not {_quoted(text)}")


_ARTICLES = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list"}


def _article(wanted: set[str]) -> str:
    return " or ".join(_ARTICLES.get(kind, "an object") for kind in sorted(wanted - {"null"})) or "null"


def _quoted(text: str) -> str:
    shown = text if len(text) <= 100 else f"{text[:100]}…"
    return json.dumps(shown, ensure_ascii=False)
