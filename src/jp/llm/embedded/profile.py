"""How to talk to the embedded model: what to send it, and what its refusals mean.

Reading a prompt costs it as much as writing an answer (some 40 to 160 tokens a second on two cores), so it is given
a tiny system prompt and few tools. Tool calls in its own dialect (few-shot `<tools>` tags) have their place here.
"""

from jp.errors import JpError
from jp.llm.embedded.errors import PromptTooLongError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.llm.embedded.catalogue import Model

SYSTEM_PROMPT = (
    "You are JP, an assistant for programmers in a terminal, running as a small model on the user's own machine. "
    "Answer briefly and correctly, in Markdown. Say so when you don't know."
)

_TOO_LONG = "exceed_context_size_error"


def explain(status: int, body: bytes, model: "Model", context: int) -> JpError | None:
    """A better error for an answer of the embedded model's server, None when the general one will do."""
    import json

    if status != 400:
        return None
    try:
        error = json.loads(body)["error"]
        too_long = error.get("type") == _TOO_LONG or "context size" in str(error.get("message", ""))
        tokens = int(error.get("n_prompt_tokens") or 0)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return prompt_too_long(model, context, tokens) if too_long else None


def prompt_too_long(model: "Model", context: int, tokens: int = 0) -> PromptTooLongError:
    """The conversation has `tokens` (0: unknown) and the model was started with `context`."""
    has = f"has {tokens:,} tokens" if tokens else "is too long"
    hints = ["start a new conversation (`jp query --new`), or attach less"]
    if context < model.trained_context:
        hints.append(f"the model can be given up to {model.trained_context:,} tokens, at the price of memory and time")
    return PromptTooLongError(
        f"the conversation {has}; {model.name} was started with room for {context:,}",
        hints=hints,
        metadata={"model": model.id, "tokens": tokens or None, "context": context},
    )
