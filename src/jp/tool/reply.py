"""What a local tool has printed, as an outcome (contracts, section 9).

An outcome object in either of its spellings, or nothing: then it is plain text. Only a question that can't be asked is
neither: the tool would wait for an answer that it never gets, so that is a failure that says what is wrong with it.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from jp.tool.outcome import KINDS, Failure, NeedsInput, Outcome, Question, Success
from jp.tool.question_limits import too_large


def parse(printed: bytes) -> Outcome | None:
    """The outcome that `printed` is; None when it is plain text."""
    stripped = printed.strip()
    if not (stripped.startswith(b"{") and stripped.endswith(b"}")):
        return None
    try:
        said = msgspec.json.decode(stripped.decode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    match said:
        case {"type": "success", "content": str() as content}:
            return Success(content)
        case {"type": "error", "message": str() as message}:
            return Failure(message, _trace(said.get("trace")), said.get("transient") is True)
        case {"type": "needs_input"}:
            return _question(said.get("question"))
    return None


def _trace(said: Any) -> list[str]:
    causes = said if isinstance(said, list) else [] if said is None else [said]
    return [cause if isinstance(cause, str) else msgspec.json.encode(cause).decode() for cause in causes]


class _WrongError(Exception):
    """What is wrong with a question."""


def _question(said: Any) -> NeedsInput | Failure:
    try:
        if not isinstance(said, dict):
            raise _WrongError("it has no `question`")
        text = _text(said, "text")
        kind, options = _answer_type(said.get("answer_type"))
        question = Question(
            id=_text(said, "id"),
            text=text,
            kind=kind,
            options=options,
            default=_default(said.get("default"), kind, options),
            pre_amble=pre_amble if isinstance(pre_amble := said.get("pre_amble"), str) else "",
            exclusive=said.get("exclusive") is True,
        )
        if problem := too_large(question):
            raise _WrongError(problem)
    except _WrongError as error:
        return Failure(f"The tool asked a question that can't be asked: {error}")
    return NeedsInput(question)


def _text(said: dict[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or not value:
        raise _WrongError(f"`question.{key}` must be a text" if key in said else f"`question.{key}` is missing")
    return value


def _answer_type(said: Any) -> tuple[str, list[Any]]:
    """Kind and options of either spelling: "Text", {"Select": {"options": […]}}, {"type": "select", "options": […]}."""
    if said is None:
        raise _WrongError("`question.answer_type` is missing")
    name: Any = said
    body: Any = {}
    if isinstance(said, dict):
        if "type" in said:
            name, body = said["type"], said
        elif len(said) == 1:
            ((name, body),) = said.items()
    kind = name.lower() if isinstance(name, str) else ""
    if kind not in KINDS:
        shown = msgspec.json.encode(said).decode()
        raise _WrongError(f"`question.answer_type` is `{shown[:200]}`; known are {', '.join(KINDS)}")
    if kind != "select":
        return kind, []
    options = body.get("options") if isinstance(body, dict) else None
    if not isinstance(options, list) or not options:
        raise _WrongError("`question.answer_type` is a select without `options`")
    return kind, options


def _default(said: Any, kind: str, options: list[Any]) -> Any:
    """The default where it is one of the answers that there are; a secret has none."""
    fits = {
        "boolean": isinstance(said, bool),
        "select": any(type(said) is type(option) and said == option for option in options),
        "text": isinstance(said, str),
    }
    return said if fits.get(kind) else UNSET
