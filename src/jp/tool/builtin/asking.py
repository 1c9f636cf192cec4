"""`ask_user` and `describe_tools`: what the model wants to know, of the person and about its tools."""

import json

from jp.tool.builtin.work import BadArgument
from jp.tool.outcome import Failure, NeedsInput, Question, Success
from jp.tool.question_limits import too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.tool.builtin.work import Work
    from jp.tool.definition import Definition
    from jp.tool.outcome import Outcome

ANSWER = "answer"
_KINDS = ("text", "boolean", "select")


def ask_user(work: "Work") -> "Outcome":
    """The question, which only a person may answer; the answer, once there is one."""
    text = work.text("question")
    options = work.texts("options")
    kind = work.text("kind", "select" if options else "text")
    if kind not in _KINDS:
        raise BadArgument(f"the argument `kind` must be one of {', '.join(_KINDS)}")
    if kind == "select" and not options:
        raise BadArgument("a question of the kind select needs `options` to choose from")
    answers = work.invocation.answers
    if ANSWER not in answers:
        question = Question(ANSWER, text, kind, list(options) if kind == "select" else [], exclusive=True)
        if problem := too_large(question):
            raise BadArgument(f"that can't be asked: {problem}")
        return NeedsInput(question)
    answer = answers[ANSWER]
    if isinstance(answer, bool):
        return Success("yes" if answer else "no")
    return Success(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def describe_tools(work: "Work") -> "Outcome":
    """All that is known about the tools of these names."""
    known = {tool.name: tool for tool in work.place.describe()}
    names = list(dict.fromkeys(work.texts("names")))
    if not names:
        raise BadArgument("the argument `names` is empty")
    texts = [_described(known[name]) for name in names if name in known]
    missing = [name for name in names if name not in known]
    if missing:
        there_are = f"there are: {', '.join(sorted(known))}" if known else "there are none"
        texts.append(f"There is no tool called {', '.join(missing)}; {there_are}\n")
    return Success("\n".join(texts)) if len(missing) < len(names) else Failure(texts[-1].strip())


def _described(tool: "Definition") -> str:
    parts = [f"# {tool.name}"]
    if tool.summary:
        parts.append(tool.summary)
    if tool.description and tool.description != tool.summary:
        parts.append(tool.description)
    parts.append(f"## Parameters\n\n```json\n{json.dumps(tool.parameters, indent=2, ensure_ascii=False)}\n```")
    if tool.examples:
        parts.append(f"## Examples\n\n{tool.examples}")
    return "\n\n".join(part.strip() for part in parts) + "\n"
