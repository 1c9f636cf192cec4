"""A plugin's prompt as JP's own question, and its outcome as the response: pure functions (RFD D60, "Wire format").

What the person sees is sanitized and shortened by whoever draws or prints it; what is answered is what the plugin sent.
"""

from msgspec import UNSET

from jp.plugin.errors import RequestError
from jp.plugin.messages import Prompt, PromptResponse
from jp.prompt.outcomes import Cancelled, Outcome, Submitted
from jp.prompt.questions import Choice, Edit, Item, Option, Question, Secret, Select

MAX_OPTIONS = 1000
MAX_OPTION = 4 * 1024  # bytes
MAX_MESSAGE = 64 * 1024  # bytes
MAX_WAITING = 100  # prompts

SHOWN = 200  # characters of a message of one line that are the question itself; a longer one stands above it
SHOW_ALL = "p"
ALL = "; Ctrl-O prints all"
SHUTTING_DOWN = "shutting down"


def checked(request: Prompt) -> None:
    """Raise RequestError, naming the field, where the request is wrong."""
    default, options = request.default, request.options
    if len(request.message.encode("utf-8", "replace")) > MAX_MESSAGE:
        raise RequestError(f"`message` is longer than {MAX_MESSAGE:,} bytes")
    if request.kind == "select":
        _check_options(request)
    elif options:
        raise RequestError(f"`options` are for `select`, not for `{request.kind}`")
    if default is None or default is UNSET:
        return
    if request.kind == "confirm" and not isinstance(default, bool):
        raise RequestError("`default` of `confirm` is true or false")
    if request.kind == "select" and (not isinstance(default, str) or default not in (options or ())):
        raise RequestError("`default` of `select` is one of the `options`")
    if request.kind == "text":
        if not isinstance(default, str):
            raise RequestError("`default` of `text` is a string")
        if len(default.encode("utf-8", "replace")) > MAX_MESSAGE:
            raise RequestError(f"`default` is longer than {MAX_MESSAGE:,} bytes")
    if request.kind == "secret":
        raise RequestError("`secret` takes no `default`")


def _check_options(request: Prompt) -> None:
    options = request.options
    if not options:  # UNSET, too
        raise RequestError("`options` of `select` is a list of at least one string")
    if len(options) > MAX_OPTIONS:
        raise RequestError(f"`options` holds {len(options):,} strings; at most {MAX_OPTIONS:,} are allowed")
    for number, option in enumerate(options):
        if len(option.encode("utf-8", "replace")) > MAX_OPTION:
            raise RequestError(f"`options[{number}]` is longer than {MAX_OPTION:,} bytes")


def question(request: Prompt, plugin: str, *, mode: str = "emacs") -> Question:
    """The question as JP asks it: who asks stands above it, and so does a message that is no short line."""
    text, body = _parted(request.message, plugin)
    options, default = request.options, request.default
    match request.kind:
        case "confirm":
            keys = [Option("y", "yes"), Option("n", "no")]
            more = ""
            if text != request.message:
                keys.append(Option(SHOW_ALL, "print the whole question"))
                more = f"; {SHOW_ALL} prints all"
            chosen = {True: "y", False: "n"}.get(default, "") if isinstance(default, bool) else ""
            return Choice(text, tuple(keys), body=body, default=chosen, more=more)
        case "select":
            assert isinstance(options, list)
            items = tuple(Item(str(number), option) for number, option in enumerate(options))
            marked = str(options.index(default)) if isinstance(default, str) else ""
            return Select(text, items, marked=marked, body=body, more=ALL)
        case "secret":
            return Secret(text, body=body, more=ALL)
        case _:
            seed = default if isinstance(default, str) else ""
            return Edit(text, seed=seed, mode=mode, cancel="stop", body=body, more=ALL)


def whole(request: Prompt, plugin: str) -> str:
    """All that is asked, for the scrollback."""
    options = request.options if isinstance(request.options, list) else []
    return "\n".join([f"{plugin} asks:", request.message, *(f"  {option}" for option in options)])


def answered(request: Prompt, outcome: Outcome) -> PromptResponse | None:
    """The response to an outcome; None where the person has decided nothing."""
    if isinstance(outcome, Cancelled):
        return PromptResponse(outcome="cancelled")
    if not isinstance(outcome, Submitted):
        return None
    if request.kind == "confirm":
        return PromptResponse(outcome="answered", value=outcome.value == "y")
    if request.kind == "select":
        assert isinstance(request.options, list)
        return PromptResponse(outcome="answered", value=request.options[int(outcome.value)])
    return PromptResponse(outcome="answered", value=outcome.value)


def unavailable(reason: str) -> PromptResponse:
    """The response where nobody can be asked."""
    return PromptResponse(outcome="unavailable", reason=reason)


def _parted(message: str, plugin: str) -> tuple[str, str]:
    """The line that is the question, and what stands above it."""
    head = f"{plugin} asks:"
    *above, last = message.strip("\n").split("\n")
    if len(last) <= SHOWN:
        return last, "\n".join([head, *above])
    return last[: SHOWN - 1] + "…", f"{head}\n{message}"
