"""How to talk to the embedded model: what it is told first, and what its refusals mean.

Reading a prompt costs it about as much as writing an answer (40 to 160 tokens a second on two cores), so what it is
told by default is tiny.
"""

import re

from jp.errors import JpError
from jp.llm.embedded.errors import PromptTooLongError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.llm.embedded.catalogue import Model

SYSTEM_PROMPT = (
    "You are JP, the assistant of the command line program jp. You run on the user's own computer, without the "
    "internet. Answer briefly and correctly, in Markdown. Say so when you don't know."
)

_TOO_LONG = re.compile(r"request \((\d+) tokens\) exceeds the available context size")


def explain(error: JpError, model: "Model", context: int) -> JpError:
    """What an error of the wire means for the embedded model; `error` itself when there is nothing to add."""
    found = _TOO_LONG.search(error.message)
    return prompt_too_long(model, context, int(found[1])) if found else error


def prompt_too_long(model: "Model", context: int, tokens: int) -> PromptTooLongError:
    """The conversation has `tokens`, and the model was started with `context`."""
    hints = ["start a new conversation (`jp query --new`), or attach less"]
    if context < model.trained_context:
        hints.append(f"the model can be given up to {model.trained_context:,} tokens, at the price of memory and time")
    return PromptTooLongError(
        f"the conversation has {tokens:,} tokens; {model.name} was started with room for {context:,}",
        hints=hints,
        metadata={"model": model.id, "tokens": tokens, "context": context},
    )
